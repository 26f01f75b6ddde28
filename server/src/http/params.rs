//! Query parameters.

use solon_common::escapes::are_valid;

/// The parameters of a request, in the order they were sent.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Reads the part of a target behind the question mark. Pairs with a semicolon or a bad escape do not count.
    pub fn parse(query: &str) -> Self {
        let pairs = query.split('&');
        let pairs = pairs.filter(|pair| !pair.contains(';') && are_valid(pair));
        let pairs = pairs.flat_map(|pair| form_urlencoded::parse(pair.as_bytes()));
        Self(
            pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// Every value of a parameter.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0
            .iter()
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// All names and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The value of a parameter; of several the last.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Whether a switch is on: given once without a value, or `true` among its values.
    pub fn flag(&self, name: &str) -> bool {
        let mut values = self.all(name);
        let Some(first) = values.next() else {
            return false;
        };
        let is_true = |value: &str| value.eq_ignore_ascii_case("true");
        match values.next() {
            None => first.is_empty() || is_true(first),
            Some(second) => is_true(first) || is_true(second) || values.any(is_true),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/params.rs"]
mod tests;
