//! Query parameters, decoded and in order.

use solon_common::escapes::are_valid;

/// Parameters of a request, in the order of the query.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Parses a query, without its question mark. Pairs with a semicolon or an invalid escape are ignored.
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

    /// Returns all values of a parameter, decoded, in the order of the query string.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0
            .iter()
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns all names and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the last value of a parameter, or `None` if it is missing.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Returns `true` if a boolean parameter is set: it occurs once without a value, or one of its values is `true`.
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
