//! References between items.

use std::collections::{BTreeMap, BTreeSet};

use super::{Address, Kind};

/// A reference to a source or secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind of the referenced item.
    pub kind: Kind,
    /// The name of the referenced item.
    pub name: String,
    /// The field that contains the reference: `requirements[0].source`.
    pub field: String,
    /// The destination of a secret, if it is unambiguous.
    pub address: Option<Address>,
}

/// Returns a cycle of requirements from a source back to itself, with that source at both ends.
pub fn cycle(start: &str, requires: &BTreeMap<String, Vec<String>>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    // the predecessor of each source in the breadth-first search, which reconstructs the path
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
