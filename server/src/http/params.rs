//! Query parameters.

use super::path::has_valid_escapes;

/// The parameters of a request, in the order they were sent.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Reads the part of a target behind the question mark. Pairs with a semicolon or a bad escape do not count.
    pub fn parse(query: &str) -> Self {
        let pairs = query.split('&');
        let pairs = pairs.filter(|pair| !pair.contains(';') && has_valid_escapes(pair));
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
mod tests {
    use super::Params;

    #[test]
    fn switches() {
        let on = |query: &str| Params::parse(query).flag("pretty");
        for query in [
            "pretty",
            "pretty=",
            "pretty=TRUE",
            "pretty=1&pretty=true",
            "a=b&pretty",
        ] {
            assert!(on(query), "{query}");
        }
        for query in [
            "",
            "pretty=1",
            "pretty=false",
            "Pretty",
            "pretty&pretty",
            "pretty=true;a=b",
            "pretty=%zz",
        ] {
            assert!(!on(query), "{query}");
        }
    }

    #[test]
    fn values_are_decoded_and_the_last_wins() {
        let params = Params::parse("q=x+%3D+1&q=a%26b&input=%7B%7D");
        assert_eq!(params.last("q"), Some("a&b"));
        assert_eq!(params.all("q").next(), Some("x = 1"));
        assert_eq!(params.last("input"), Some("{}"));
        assert_eq!(params.last("none"), None);
    }
}
