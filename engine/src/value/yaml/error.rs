//! YAML errors, with the messages of Go's library where it has one.

use std::fmt;

#[cfg(feature = "formats")]
use saphyr_parser::ScanError;
use solon_syntax::yaml::Misplaced;

/// An error of invalid YAML, or of a document that has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    message: String,
    line: Option<usize>,
    too_long: bool,
}

impl YamlError {
    pub(super) fn yaml(message: impl fmt::Display) -> Self {
        Self::other(format!("yaml: {message}"))
    }

    /// Creates an error of the conversion to JSON.
    pub(super) fn other(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: None,
            too_long: false,
        }
    }

    /// Creates the error of a text that exceeds its maximum length.
    pub(super) fn too_long() -> Self {
        Self {
            too_long: true,
            ..Self::yaml("document is too long")
        }
    }

    /// Returns `true` if a text exceeded its maximum length.
    pub fn is_too_long(&self) -> bool {
        self.too_long
    }

    pub(super) fn too_deep() -> Self {
        Self::yaml(format_args!(
            "exceeded max depth of {}",
            crate::limits::VALUE_NESTING
        ))
    }

    /// Creates the error of a number that is out of the range of 64-bit floats.
    pub(super) fn out_of_range(line: usize, number: &str) -> Self {
        Self {
            line: Some(line),
            ..Self::yaml(format_args!(
                "line {line}: number `{number}` is out of range"
            ))
        }
    }

    /// Creates the error of a text that only Go's parser rejects.
    pub(super) fn misplaced(misplaced: Misplaced) -> Self {
        let Misplaced { line, problem } = misplaced;
        match line {
            0 => Self::yaml(problem),
            line => Self {
                line: Some(line),
                ..Self::yaml(format_args!("line {line}: {problem}"))
            },
        }
    }

    /// Returns the error of a build without a parser, which names the missing feature.
    #[cfg(not(feature = "formats"))]
    pub(super) fn without_parser() -> Self {
        Self::yaml("YAML is not supported: the engine was built without the feature `formats`")
    }

    /// Converts an error of the scanner or the parser.
    #[cfg(feature = "formats")]
    pub(super) fn syntax(error: &ScanError, text: &str) -> Self {
        let line = error.marker().line();
        let at_end = error.marker().index() >= text.chars().count() && !text.ends_with('\n');
        let is_alias = error.info().ends_with("found unknown anchor");
        let index = error.marker().index();
        let problem = match is_alias.then(|| alias_problem(text, index)) {
            Some(None) => {
                let name = anchor_at(text, index);
                return Self {
                    line: Some(line),
                    ..Self::yaml(format_args!("unknown anchor '{name}' referenced"))
                };
            }
            Some(Some(problem)) => problem,
            None => problem(error.info()),
        };
        // Go counts lines from 0 and does not show line 0; its scanner is one line ahead
        let line_shown = match problem.layer {
            // at the end the parser is on an additional line
            Layer::Scanner if line > 1 + usize::from(at_end) => line - usize::from(at_end),
            Layer::Scanner => 0,
            Layer::Plain => line.max(2),
            Layer::Key | Layer::Grammar => line.saturating_sub(1),
        };
        let message = match line_shown {
            0 => format!("yaml: {}", problem.text),
            line_shown => format!("yaml: line {line_shown}: {}", problem.text),
        };
        Self {
            message,
            line: Some(line.min(text.lines().count().max(1))),
            too_long: false,
        }
    }

    /// Returns the line, from 1, or `None` if it is not known.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Returns the name after the `*` at a position, in characters.
pub(super) fn anchor_at(text: &str, index: usize) -> String {
    behind_alias(text, index)
        .take_while(|c| is_of_name(*c))
        .collect()
}

fn behind_alias(text: &str, index: usize) -> impl Iterator<Item = char> {
    let indicator = usize::from(text.chars().nth(index) == Some('*'));
    text.chars().skip(index + indicator)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns the error of Go's scanner for the alias at a position: in Go names end earlier than in this parser.
fn alias_problem(text: &str, index: usize) -> Option<YamlProblem<'static>> {
    let is_empty = !behind_alias(text, index).next().is_some_and(is_of_name);
    let end = behind_alias(text, index).find(|c| !is_of_name(*c));
    let ends = end.is_none_or(|c| {
        c.is_whitespace() || matches!(c, '?' | ':' | ',' | ']' | '}' | '%' | '@' | '`')
    });
    (is_empty || !ends).then_some(YamlProblem {
        layer: Layer::Scanner,
        text: "did not find expected alphabetic or numeric character",
    })
}

enum Layer {
    Scanner,
    /// The scanner, in a scalar of several lines: the line where it starts, or the one after the first.
    Plain,
    /// The scanner, at a key without a colon, one line later.
    Key,
    Grammar,
}

struct YamlProblem<'i> {
    layer: Layer,
    text: &'i str,
}

/// Returns Go's message. The parser mostly uses libyaml's messages, preceded by the context.
fn problem(info: &str) -> YamlProblem<'_> {
    use Layer::{Grammar, Key, Plain, Scanner};
    let (context, text) = match info.split_once(", ") {
        Some((context, text)) if context.starts_with("while ") => (context, text),
        _ => ("", info),
    };
    let (layer, text) = match text {
        "simple key expected" | "simple key expect ':'" => (Key, "could not find expected ':'"),
        "expected ',' or ']'" => (Grammar, "did not find expected ',' or ']'"),
        "misplaced bracket" | "\"-\" is only valid inside a block" => {
            (Grammar, "did not find expected node content")
        }
        "the handle wasn't declared" => (Grammar, "found undefined tag handle"),
        "did not find expected <document-start>" => {
            (Grammar, "did not find expected <document start>")
        }
        "did not find expected hexadecimal number" => {
            (Scanner, "did not find expected hexdecimal number")
        }
        "recursion limit exceeded" => (Scanner, "exceeded max depth"),
        "invalid trailing content after double-quoted scalar" => {
            (Grammar, "did not find expected key")
        }
        "invalid indentation in flow construct" => (Grammar, "did not find expected ',' or ']'"),
        "unexpected eof" => (Scanner, "found unexpected end of stream"),
        "found unprintable character" => (Scanner, "control characters are not allowed"),
        "plain scalar cannot start with '-' followed by ,[]{}" => (
            Scanner,
            "block sequence entries are not allowed in this context",
        ),
        "found a tab" => (Plain, "found a tab character that violates indentation"),
        "a block scalar content cannot start with a tab" => (
            Plain,
            "found a tab character where an indentation space is expected",
        ),
        text if text.contains("tab") || text.starts_with("unexpected character") => {
            (Scanner, "found character that cannot start any token")
        }
        text if context.contains("parsing a node")
            || context.contains("block collection")
            || context.contains("block mapping")
            || context.contains("flow mapping") =>
        {
            (Grammar, text)
        }
        text if text.contains("<document start>") => (Grammar, text),
        text => (Scanner, text),
    };
    YamlProblem { layer, text }
}
