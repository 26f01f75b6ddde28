//! Names with a wildcard at their ends.

use serde::Deserialize;

/// A name that may begin and end with `*`, which matches any text.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Wildcard {
    name: String,
    is_open_at_start: bool,
    is_open_at_end: bool,
}

impl TryFrom<String> for Wildcard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (is_open_at_start, rest) = match text.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let (is_open_at_end, name) = match rest.strip_suffix('*') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if text.is_empty() {
            return Err("the name must not be empty".to_owned());
        }
        if name.contains('*') {
            return Err(format!(
                "invalid name `{text}`: `*` is only supported at the start and at the end"
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            is_open_at_start,
            is_open_at_end,
        })
    }
}

impl Wildcard {
    /// Returns `true` if a name matches: it contains, begins with, ends with or equals the name.
    pub fn matches(&self, name: &str) -> bool {
        match (self.is_open_at_start, self.is_open_at_end) {
            (true, true) => name.contains(&self.name),
            (true, false) => name.ends_with(&self.name),
            (false, true) => name.starts_with(&self.name),
            (false, false) => name == self.name,
        }
    }

    /// Returns `true` if each name that the API server generates from a prefix matches.
    pub fn matches_generated(&self, prefix: &str) -> bool {
        // `*` alone is open at the start only
        let is_any = self.name.is_empty() && self.is_open_at_start;
        is_any || self.is_open_at_end && self.matches(prefix)
    }
}
