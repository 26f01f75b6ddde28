//! Styles of JSON texts: escapes of HTML, prefixes and indents of lines.

/// Line breaks and indentation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JsonLayout<'l> {
    /// Prefix of each line.
    pub prefix: &'l str,
    /// Indentation of one level, after the prefix.
    pub indent: &'l str,
}

impl<'l> JsonLayout<'l> {
    /// Creates a layout with a prefix of each line and the indentation of one level.
    pub const fn new(prefix: &'l str, indent: &'l str) -> Self {
        Self { prefix, indent }
    }
}

/// Format of a JSON text.
///
/// ```
/// use solon::json::{self, JsonLayout, Style};
///
/// let value = json::read(br#"{"a": "<"}"#)?;
/// let mut text = Vec::new();
/// let style = Style::default().html(true).layout(Some(JsonLayout::new("", "  ")));
/// json::write_within(value.borrow(), style, 1000, &mut text).ok();
/// assert_eq!(text, b"{\n  \"a\": \"\\u003c\"\n}");
/// # Ok::<(), solon::json::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Style<'l> {
    /// `true` to escape `<`, `>` and `&` as Go does.
    pub html: bool,
    /// Line breaks and indentation, or `None` for compact text.
    pub layout: Option<JsonLayout<'l>>,
}

impl<'l> Style<'l> {
    /// Returns the compact style, without escapes of `<`, `>` and `&`.
    pub const fn new() -> Self {
        Self {
            html: false,
            layout: None,
        }
    }

    /// Sets whether `<`, `>` and `&` are escaped.
    #[must_use]
    pub const fn html(mut self, html: bool) -> Self {
        self.html = html;
        self
    }

    /// Sets line breaks and indentation; `None` for compact text.
    #[must_use]
    pub const fn layout(mut self, layout: Option<JsonLayout<'l>>) -> Self {
        self.layout = layout;
        self
    }
}
