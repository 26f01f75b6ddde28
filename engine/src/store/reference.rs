//! Paths as Rego references.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use solon_syntax::ast::TermKind;
use solon_syntax::print::is_plain_key;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_term};

use super::Path;
use crate::value::{Value, json};

/// The reason why a text is not a reference to a document: it is not a reference, does not start with `data`, or has
/// steps that are not strings and integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    text: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text } = self;
        write!(
            f,
            "invalid path `{text}`: expected a reference without variables, such as `data.authz.allow`"
        )
    }
}

impl std::error::Error for PathError {}

impl FromStr for Path {
    type Err = PathError;

    /// Parses a Rego reference that starts with `data`; its steps are strings and integers: `data.a[0]["x-y"]`.
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text).ok_or_else(|| PathError {
            text: text.to_owned(),
        })
    }
}

impl Path {
    fn parse(text: &str) -> Option<Self> {
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
        for text in ["data", "data.a[0][\"x-y\"].b"] {
            assert_eq!(text.parse::<Path>().unwrap().reference(), text);
        }
        for text in [
            "input.a",
            "data.a[x]",
            "1",
            "data.a; true",
            "data[",
            "data.a[-1]",
        ] {
            let error = text.parse::<Path>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("invalid path `{text}`: ")),
                "{error}"
            );
        }
    }
}
