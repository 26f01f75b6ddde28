//! Comparison of two results: values equal as JSON with exact number texts, prints equal, and errors equal as sets of
//! code, message and row. Of a recursion error only the rule counts, not the reported cycle.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

/// JSON that keeps the text of its numbers.
#[derive(Debug, PartialEq)]
pub enum Exact {
    Object(BTreeMap<String, Exact>),
    Array(Vec<Exact>),
    Text(String),
    /// A number, `true`, `false` or `null`.
    Word(String),
}

impl Exact {
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let text = text.trim();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
                let pairs = fields
                    .into_iter()
                    .map(|(key, value)| Ok((key, Self::parse(value.get())?)));
                Self::Object(pairs.collect::<serde_json::Result<_>>()?)
            }
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text)?;
                let parsed = elements
                    .into_iter()
                    .map(|element| Self::parse(element.get()));
                Self::Array(parsed.collect::<serde_json::Result<_>>()?)
            }
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            _ => Self::Word(text.to_string()),
        })
    }
}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Error {
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub row: u64,
}

const RECURSION: &str = "rego_recursion_error";

impl Error {
    /// Removes the cycle of a recursion error: if there are several, OPA's choice varies.
    fn without_cycle(mut self) -> Self {
        if self.code == RECURSION
            && let Some((rule, _)) = self.message.split_once(": ")
        {
            self.message = rule.to_string();
        }
        self
    }
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    bindings: Option<&'a RawValue>,
    #[serde(borrow, default)]
    values: Option<&'a RawValue>,
    #[serde(default)]
    prints: String,
    #[serde(default)]
    errors: BTreeSet<Error>,
}

/// The compared parts of a result.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub bindings: Option<Exact>,
    values: Option<Exact>,
    prints: String,
    pub errors: BTreeSet<Error>,
}

impl Answer {
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        let fields: Fields<'_> = serde_json::from_str(line)?;
        let exact = |raw: Option<&RawValue>| raw.map(|raw| Exact::parse(raw.get())).transpose();
        let mut errors = fields.errors;
        if errors.iter().any(|error| error.code == RECURSION) {
            errors = errors.into_iter().map(Error::without_cycle).collect();
        }
        Ok(Self {
            bindings: exact(fields.bindings)?,
            values: exact(fields.values)?,
            prints: fields.prints,
            errors,
        })
    }

    pub fn has_error(&self, code: &str) -> bool {
        self.errors.iter().any(|error| error.code == code)
    }
}

/// Returns the difference between two results, each a line of JSON; `None` if they agree.
pub fn difference(expected: &str, actual: &str) -> Option<&'static str> {
    let (Ok(expected), Ok(actual)) = (Answer::parse(expected), Answer::parse(actual)) else {
        return Some("form");
    };
    if expected.errors != actual.errors {
        Some("errors")
    } else if expected.values != actual.values {
        Some("values")
    } else if expected.bindings != actual.bindings {
        Some("bindings")
    } else if expected.prints != actual.prints {
        Some("prints")
    } else {
        None
    }
}
