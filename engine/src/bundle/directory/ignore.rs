//! Names of files and folders that loading skips.

/// Patterns of file and folder names: `*`, `?`, `[a-z]`, `\` before a literal character.
#[derive(Clone, Debug, Default)]
pub struct Ignore(Vec<Vec<char>>);

impl Ignore {
    /// Creates patterns from the values of a flag, each a pattern or a list with commas.
    pub fn new(patterns: &[String]) -> Self {
        Self(
            patterns
                .iter()
                .flat_map(|list| list.split(','))
                .map(|pattern| pattern.chars().collect())
                .collect(),
        )
    }

    /// Creates one pattern, in which a comma is literal.
    pub fn one(pattern: &str) -> Self {
        Self(vec![pattern.chars().collect()])
    }

    /// Returns `true` if a name is ignored: one pattern matches all of it.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.0.iter().any(|pattern| glob(pattern, &name))
    }
}

/// Returns `true` if a pattern matches the whole name. Backtracks to the last `*` only: O(pattern × name).
fn glob(pattern: &[char], name: &[char]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut retry: Option<(&[char], &[char])> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix(&['*']) {
            retry = Some((rest, name));
            pattern = rest;
            continue;
        }
        let step = match (pattern.first(), name.split_first()) {
            (None, None) => return true,
            (Some(_), Some((&c, name_rest))) => one(pattern, c).map(|rest| (rest, name_rest)),
            _ => None,
        };
        let Some((rest, name_rest)) = step else {
            let Some((after_star, name_at_star)) = retry else {
                return false;
            };
            let Some((_, shorter)) = name_at_star.split_first() else {
                return false;
            };
            retry = Some((after_star, shorter));
            (pattern, name) = (after_star, shorter);
            continue;
        };
        (pattern, name) = (rest, name_rest);
    }
}

/// Returns the rest of a pattern whose first element matches `c`.
fn one(pattern: &[char], c: char) -> Option<&[char]> {
    let (first, rest) = pattern.split_first()?;
    match first {
        '?' => Some(rest),
        '[' => class(rest, c),
        '\\' => rest
            .split_first()
            .filter(|(escaped, _)| **escaped == c)
            .map(|(_, rest)| rest),
        plain => (*plain == c).then_some(rest),
    }
}

fn class(mut pattern: &[char], c: char) -> Option<&[char]> {
    let negated = pattern.first() == Some(&'^');
    if negated {
        pattern = pattern.get(1..)?;
    }
    let mut is_member = false;
    let mut first = true;
    loop {
        let (mut low, mut rest) = pattern.split_first()?;
        if *low == ']' && !first {
            return (is_member != negated).then_some(rest);
        }
        first = false;
        if *low == '\\' {
            (low, rest) = rest.split_first()?;
        }
        let mut high = low;
        if let Some(range) = rest.strip_prefix(&['-']) {
            (high, rest) = range.split_first()?;
        }
        is_member |= (*low..=*high).contains(&c);
        pattern = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::Ignore;

    #[test]
    fn globs() {
        let covers = |pattern: &str, name: &str| Ignore::new(&[pattern.to_owned()]).matches(name);
        for (pattern, name) in [
            ("a.json", "a.json"),
            ("*.json", "a.json"),
            ("*_test.rego", "a_b_test.rego"),
            ("[a-c]?", "b1"),
            ("[^a-c]?", "d1"),
            ("a\\*b", "a*b"),
            ("x,.git", ".git"),
            ("*", ""),
            ("a*b*c", "aXbXbYc"),
        ] {
            assert!(covers(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a.json", "b.json"),
            ("*.json", "a.jsonx"),
            ("[a-c]", "d"),
            ("a?", "a"),
            ("[a", "a"),
        ] {
            assert!(!covers(pattern, name), "{pattern} {name}");
        }
    }
}
