//! Styles of JSON texts.

/// Where lines break and how far they are indented.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Layout<'l> {
    /// Put after each line break.
    pub prefix: &'l str,
    /// Put after it once for each level.
    pub indent: &'l str,
}

impl<'l> Layout<'l> {
    /// What is put after each line break, and after that for each level.
    pub const fn new(prefix: &'l str, indent: &'l str) -> Self {
        Self { prefix, indent }
    }
}

/// How a text looks.
///
/// ```
/// use solon::json::{self, Layout, Style};
///
/// let value = json::read(br#"{"a": "<"}"#)?;
/// let mut text = Vec::new();
/// let style = Style::default().html(true).layout(Some(Layout::new("", "  ")));
/// json::write_within(value.borrow(), style, 1000, &mut text).ok();
/// assert_eq!(text, b"{\n  \"a\": \"\\u003c\"\n}");
/// # Ok::<(), solon::json::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Style<'l> {
    /// Whether `<`, `>` and `&` are escaped.
    pub html: bool,
    /// Lines and indentation; compact without.
    pub layout: Option<Layout<'l>>,
}

impl<'l> Style<'l> {
    /// Compact, without escapes of `<`, `>` and `&`.
    pub const fn new() -> Self {
        Self {
            html: false,
            layout: None,
        }
    }

    /// Whether `<`, `>` and `&` are escaped.
    #[must_use]
    pub const fn html(mut self, html: bool) -> Self {
        self.html = html;
        self
    }

    /// Lines and indentation; compact without.
    #[must_use]
    pub const fn layout(mut self, layout: Option<Layout<'l>>) -> Self {
        self.layout = layout;
        self
    }
}
