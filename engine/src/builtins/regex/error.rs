//! Syntax errors of patterns, in Go's words.

use std::fmt;

use crate::builtins::BuiltinError;

#[derive(Debug, PartialEq, Eq)]
pub struct RegexError {
    pub problem: RegexErrorKind,
    pub part: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexErrorKind {
    CharRange,
    Escape,
    NamedCapture,
    PerlOperator,
    NestedRepeat,
    RepeatSize,
    Utf8,
    MissingBracket,
    MissingParenthesis,
    MissingRepeatArgument,
    TrailingBackslash,
    UnexpectedParenthesis,
    Nesting,
    TooLarge,
}

impl RegexErrorKind {
    pub fn for_part(self, part: impl Into<String>) -> RegexError {
        RegexError {
            problem: self,
            part: part.into(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::CharRange => "invalid character class range",
            Self::Escape => "invalid escape sequence",
            Self::NamedCapture => "invalid named capture",
            Self::PerlOperator => "invalid or unsupported Perl syntax",
            Self::NestedRepeat => "invalid nested repetition operator",
            Self::RepeatSize => "invalid repeat count",
            Self::Utf8 => "invalid UTF-8",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParenthesis => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParenthesis => "unexpected )",
            Self::Nesting => "expression nests too deeply",
            Self::TooLarge => "expression too large",
        }
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, part } = self;
        write!(f, "error parsing regexp: {}: `{part}`", problem.as_str())
    }
}

impl std::error::Error for RegexError {}

impl From<RegexError> for BuiltinError {
    fn from(error: RegexError) -> Self {
        Self::error(error.to_string())
    }
}
