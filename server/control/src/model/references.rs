//! References between items, and cycles of requirements.

use std::collections::{BTreeMap, BTreeSet};

use super::{Address, Kind};

/// A reference to a source or secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind of the referenced item: a source or a secret.
    pub kind: Kind,
    /// The name of the referenced item, which may not exist.
    pub name: String,
    /// The field that contains the reference: `requirements[0].source`.
    pub field: String,
    /// The destination of a secret, if it is unambiguous.
    pub address: Option<Address>,
}

/// Returns a cycle of requirements from a source back to itself, with that source at both ends. `None` if there is none.
/// Visits each source at most once.
pub fn cycle(start: &str, requires: &BTreeMap<String, Vec<String>>) -> Option<Vec<String>> {
    let mut visited = BTreeSet::new();
    // the predecessor of each source in the search, which reconstructs the path
    let mut from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = vec![start];
    while let Some(source) = open.pop() {
        for next in requires.get(source).into_iter().flatten() {
            if next == start {
                let mut cycle = vec![start.to_owned(), source.to_owned()];
                let mut back = source;
                while let Some(&before) = from.get(back) {
                    cycle.push(before.to_owned());
                    back = before;
                }
                if source == start {
                    cycle.truncate(1);
                }
                if cycle.last().is_none_or(|last| last != start) || cycle.len() == 1 {
                    cycle.push(start.to_owned());
                }
                cycle.reverse();
                return Some(cycle);
            }
            if visited.insert(next.as_str()) {
                from.insert(next, source);
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
    fn cycles_are_reported() {
        let graph = |edges: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
            let owned = |(from, to): &(&str, &[&str])| {
                let to = to.iter().map(|&to| to.to_owned()).collect();
                ((*from).to_owned(), to)
            };
            edges.iter().map(owned).collect()
        };
        let cycle_text = |edges| cycle("a", &graph(edges)).map(|cycle| cycle.join(" → "));
        assert_eq!(cycle_text(&[("a", &["b"]), ("b", &["c"])]), None);
        assert_eq!(cycle_text(&[("a", &["a"])]).as_deref(), Some("a → a"));
        assert_eq!(
            cycle_text(&[("a", &["b"]), ("b", &["c", "d"]), ("c", &["a"])]).as_deref(),
            Some("a → b → c → a")
        );
        assert_eq!(
            cycle_text(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]),
            None
        );
    }
}
