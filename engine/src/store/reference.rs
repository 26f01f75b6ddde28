//! Paths as Rego references, and as callers name documents.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use solon_syntax::ast::TermKind;
use solon_syntax::print::is_plain_key;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_term};

use super::Path;
use crate::value::{Value, json};

/// The reason why a text does not name a document: it is a reference that does not start with `data`, or that has steps
/// which are not strings and integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    text: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text } = self;
        write!(
            f,
            "invalid path `{text}`: expected a reference without variables, such as `data.authz.allow`, or a path with slashes, \
             such as `authz/allow` or `/authz/allow`"
        )
    }
}

impl std::error::Error for PathError {}

impl FromStr for Path {
    type Err = PathError;

    /// Parses the name of a document, in one of two forms:
    ///
    /// - a Rego reference that starts with `data`; its steps are strings and integers: `data.a[0]["x-y"]`.
    /// - a path with slashes below `data`, as by [`Path::from_slashes`]: `a/0/x-y`.
    ///
    /// Text that starts with a slash is always a path, so `/data.a` is the key `data.a`. Without it, `data`, text that starts
    /// with `data.` or `data[`, and references to anything else (`authz.allow`) are not paths.
    ///
    /// ```
    /// use solon::Path;
    ///
    /// let allow = Path::new(["authz", "allow"]);
    /// for name in ["data.authz.allow", "data[\"authz\"].allow", "authz/allow", "/authz/allow"] {
    ///     assert_eq!(name.parse(), Ok(allow.clone()));
    /// }
    /// assert_eq!("/data.authz".parse(), Ok(Path::new(["data.authz"])));
    /// assert!("authz.allow".parse::<Path>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, PathError> {
        let path = match text.strip_prefix("data") {
            Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => {
                Self::of_reference(text)
            }
            _ if text.contains('/') || !is_reference(text) => Some(Self::from_slashes(text)),
            _ => None,
        };
        path.ok_or_else(|| PathError {
            text: text.to_owned(),
        })
    }
}

/// Returns `true` if a text is a Rego reference of several steps.
fn is_reference(text: &str) -> bool {
    let source = Source::new(SourceId(0), "", text);
    text.contains(['.', '['])
        && parse_term(&source, &ParseOptions::default())
            .is_ok_and(|term| matches!(term.kind, TermKind::Ref(_)))
}

impl Path {
    fn of_reference(text: &str) -> Option<Self> {
        let source = Source::new(SourceId(0), "", text);
        let term = parse_term(&source, &ParseOptions::default()).ok()?;
        let steps = match &term.kind {
            TermKind::Var(_) => std::slice::from_ref(&term),
            TermKind::Ref(steps) => steps,
            _ => return None,
        };
        let (root, steps) = steps.split_first()?;
        let is_data = root.as_var().is_some_and(|name| &**name == "data");
        let segments: Option<Vec<String>> = steps
            .iter()
            .map(|step| match &step.kind {
                TermKind::String(text) => Some(text.to_string()),
                TermKind::Number(_) => {
                    Some(step.to_string()).filter(|text| text.parse::<u32>().is_ok())
                }
                _ => None,
            })
            .collect();
        segments.filter(|_| is_data).map(Self::new)
    }

    /// Returns the path as a Rego reference, with integers as array indices: `data.a[0]["x-y"]` for `/a/0/x-y`.
    pub fn reference(&self) -> String {
        self.reference_text(true)
    }

    /// Returns the path as a Rego reference, with digits as names: `data.a["0"]["x-y"]`.
    pub fn named_reference(&self) -> String {
        self.reference_text(false)
    }

    fn reference_text(&self, indices: bool) -> String {
        // writing to a string does not fail
        let mut text = String::from("data");
        for segment in self.segments() {
            let index = segment.parse::<i64>().ok().filter(|_| indices);
            if let Some(index) = index {
                let _ = write!(text, "[{index}]");
            } else if is_plain_key(segment) {
                text.push('.');
                text.push_str(segment);
            } else {
                let _ = write!(text, "[{}]", quote(segment));
            }
        }
        text
    }
}

/// Returns a text as a string literal of a policy. Its escapes are those of JSON, not Go's escapes, which messages use.
fn quote(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    json::write(Value::string(text).borrow(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn references() {
        let reference_of = |path: &str| Path::from_slashes(path).reference();
        assert_eq!(reference_of("a/0/x-y/b"), "data.a[0][\"x-y\"].b");
        assert_eq!(reference_of(""), "data");
        // other notations of an integer are not valid in Rego
        assert_eq!(reference_of("a/007/+1/-2/1.0"), "data.a[7][1][-2][\"1.0\"]");
        let odd = Path::new(["a\u{7}\"\u{48b92}<é"]);
        assert_eq!(odd.reference(), "data[\"a\\u0007\\\"\u{48b92}<é\"]");
        assert_eq!(odd.reference().parse(), Ok(odd));
        let named_reference = Path::from_slashes("a/0/x-y").named_reference();
        assert_eq!(named_reference, "data.a[\"0\"][\"x-y\"]");
        for text in ["data", "data.a[0][\"x-y\"].b", "data[\"a/b\"]"] {
            assert_eq!(text.parse::<Path>().unwrap().reference(), text);
        }
    }

    #[test]
    fn documents_have_names_in_two_forms() {
        let cases: &[(&str, &[&str])] = &[
            ("data", &[]),
            ("", &[]),
            ("/", &[]),
            ("data.a.b", &["a", "b"]),
            ("data[\"a.b\"][0]", &["a.b", "0"]),
            ("a/b", &["a", "b"]),
            ("/a/b", &["a", "b"]),
            ("a//b/", &["a", "b"]),
            ("data/a/b", &["data", "a", "b"]),
            ("/data", &["data"]),
            ("/data.a", &["data.a"]),
            ("/data.a/b", &["data.a", "b"]),
            ("/data[0]", &["data[0]"]),
            ("/a.b", &["a.b"]),
            ("a.b/c", &["a.b", "c"]),
            ("database", &["database"]),
            ("data-2", &["data-2"]),
            ("input", &["input"]),
            ("1", &["1"]),
            ("10.0.0.1", &["10.0.0.1"]),
            ("a b", &["a b"]),
        ];
        for (text, keys) in cases {
            assert_eq!(text.parse(), Ok(Path::new(keys.iter().copied())), "{text}");
        }
        for text in [
            "input.a",
            "authz.allow",
            "users[0]",
            "data.",
            "data.a/b",
            "data.a-b",
            "data.a b",
            "data.a[x]",
            "data.a[_]",
            "data.a; true",
            "data[",
            "data.a[-1]",
            "data.a[true]",
            "data.f(1)",
        ] {
            let error = text.parse::<Path>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("invalid path `{text}`: ")),
                "{error}"
            );
        }
    }
}
