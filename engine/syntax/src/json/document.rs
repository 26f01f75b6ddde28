//! A JSON document that retains the spelling of numbers, and errors of decoding it.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::ParseOptions;

/// The reason why a text is not valid AST JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    /// Path to the error, outermost step last.
    path: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Error {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: Vec::new(),
        }
    }

    pub(super) fn at_key(mut self, key: &str) -> Self {
        self.path.push(Step::Key(key.to_owned()));
        self
    }

    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.path.push(Step::Index(index));
        self
    }

    /// Returns the message, with the path of the node that it is about.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid AST JSON")?;
        if !self.path.is_empty() {
            f.write_str(" at `")?;
            for (depth, step) in self.path.iter().rev().enumerate() {
                match step {
                    Step::Key(key) if depth == 0 => f.write_str(key)?,
                    Step::Key(key) => write!(f, ".{key}")?,
                    Step::Index(index) => write!(f, "[{index}]")?,
                }
            }
            f.write_str("`")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}

/// A JSON document. Numbers are stored as text.
#[derive(Debug)]
pub(super) enum Document<'a> {
    Null,
    Boolean(bool),
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Document<'a>>),
    /// Members in source order. If keys are equal, the last one counts.
    Object(Vec<(Cow<'a, str>, Document<'a>)>),
}

/// Maximum nesting depth of documents: every level of terms needs at most eight levels of JSON, a call two, and an
/// `and` or `or` three.
pub(super) const NESTING: usize =
    8 * super::read::NESTING as usize + 3 * ParseOptions::CHAIN as usize;

impl<'a> Document<'a> {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    pub(super) fn from_value(value: &'a Value) -> Result<Self, Error> {
        Self::from_value_at(value, NESTING)
    }

    fn from_value_at(value: &'a Value, levels: usize) -> Result<Self, Error> {
        let Some(remaining) = levels.checked_sub(1) else {
            return Err(Self::too_deep());
        };
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => Self::Number(number.to_string().into()),
            Value::String(text) => Self::String(text.into()),
            Value::Array(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| Self::from_value_at(element, remaining));
                Self::Array(elements.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| Ok((key.into(), Self::from_value_at(value, remaining)?)));
                Self::Object(members.collect::<Result<_, _>>()?)
            }
        })
    }

    pub(super) fn too_deep() -> Error {
        Error::new(format!("nested deeper than {NESTING} levels"))
    }

    /// Returns the nesting depth of arrays and objects. Not recursive.
    pub(super) fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open = vec![(self, 1)];
        while let Some((document, depth)) = open.pop() {
            deepest = deepest.max(depth);
            match document {
                Self::Array(elements) => {
                    open.extend(elements.iter().map(|child| (child, depth + 1)));
                }
                Self::Object(members) => {
                    open.extend(members.iter().map(|(_, child)| (child, depth + 1)));
                }
                _ => {}
            }
        }
        deepest
    }
}

/// Returns the nesting depth of arrays and objects of a value. Not recursive.
pub(super) fn value_depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(elements) => open.extend(elements.iter().map(|child| (child, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|child| (child, depth + 1))),
            _ => {}
        }
    }
    deepest
}
