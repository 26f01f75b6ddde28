//! What items name of one another.

use std::collections::{BTreeMap, BTreeSet};

use super::{Address, Kind};

/// A source or secret that an item names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind of what is named.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The field that names it: `requirements[0].source`.
    pub place: String,
    /// Where a secret is sent, if that is certain.
    pub address: Option<Address>,
}

/// A way from a source back to itself over what sources require, the first one again at its end.
pub fn cycle(start: &str, requires: &BTreeMap<String, Vec<String>>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    // where each source was met first, to tell the way back
    let mut from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in requires.get(at).into_iter().flatten() {
            if next == start {
                let mut way = vec![start.to_owned(), at.to_owned()];
                let mut back = at;
                while let Some(&before) = from.get(back) {
                    way.push(before.to_owned());
                    back = before;
                }
                if at == start {
                    way.truncate(1);
                }
                if way.last().is_none_or(|last| last != start) || way.len() == 1 {
                    way.push(start.to_owned());
                }
                way.reverse();
                return Some(way);
            }
            if seen.insert(next.as_str()) {
                from.insert(next, at);
                open.push(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::cycle;
    use std::collections::BTreeMap;

    #[test]
    fn ways_back_are_told() {
        let graph = |edges: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
            let owned = |(from, to): &(&str, &[&str])| {
                let to = to.iter().map(|&to| to.to_owned()).collect();
                ((*from).to_owned(), to)
            };
            edges.iter().map(owned).collect()
        };
        let told = |edges| cycle("a", &graph(edges)).map(|way| way.join(" → "));
        assert_eq!(told(&[("a", &["b"]), ("b", &["c"])]), None);
        assert_eq!(told(&[("a", &["a"])]).as_deref(), Some("a → a"));
        assert_eq!(
            told(&[("a", &["b"]), ("b", &["c", "d"]), ("c", &["a"])]).as_deref(),
            Some("a → b → c → a")
        );
        assert_eq!(told(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]), None);
    }
}
