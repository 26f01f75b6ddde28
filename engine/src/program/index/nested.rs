//! Nested answers: prefixes of prefixes, networks within networks.

use std::cmp::Ordering;

use super::DecisionNode;
use crate::builtins::net;
use crate::value::text::padded;

/// A key that may contain other keys of its kind.
pub trait Nests {
    type Sought: ?Sized;

    /// Orders outer keys before inner ones, with nothing else between.
    fn outer_first(&self, other: &Self) -> Ordering;

    /// Returns `true` if the key is not after the searched value in that order.
    fn is_before(&self, sought: &Self::Sought) -> bool;

    /// Returns `true` if the key contains the searched value.
    fn covers(&self, sought: &Self::Sought) -> bool;

    /// Returns `true` if the key contains another key.
    fn encloses(&self, inner: &Self) -> bool;

    /// Length of the common prefix of this key and a later one, and therefore of all between them.
    fn common(&self, last: &Self) -> usize;

    /// Returns `true` if the searched value has this common prefix.
    fn begins(&self, common: usize, sought: &Self::Sought) -> bool;

    /// A number that is monotonic in the order of keys with this common prefix.
    fn rank(&self, common: usize) -> u64;

    /// The number of the searched value in this order.
    fn rank_of(sought: &Self::Sought, common: usize) -> u64;
}

/// Keys with their subtrees, outer keys before inner ones.
///
/// All keys that contain the searched value lie on the parent chain of its predecessor in sort order, so one binary
/// search and a walk along the parents find them all. The search compares adjacent integers: most keys differ in the
/// first bytes after their common prefix.
pub struct Nested<K> {
    common: usize,
    ranks: Box<[u64]>,
    answers: Box<[Answer<K>]>,
}

struct Answer<K> {
    key: K,
    /// Index of the next outer key.
    outer: Option<u32>,
    node: DecisionNode,
}

impl<K: Nests> Nested<K> {
    /// Creates the structure from distinct keys and their subtrees.
    pub fn new(mut nodes: Vec<(K, DecisionNode)>) -> Self {
        nodes.sort_by(|a, b| a.0.outer_first(&b.0));
        let mut answers: Vec<Answer<K>> = Vec::with_capacity(nodes.len());
        for (key, node) in nodes {
            let mut outer = answers.len().checked_sub(1);
            while let Some(answer) = outer.and_then(|at| answers.get(at))
                && !answer.key.encloses(&key)
            {
                outer = answer.outer.map(|at| at as usize);
            }
            let outer = outer.and_then(|at| u32::try_from(at).ok());
            answers.push(Answer { key, outer, node });
        }
        let common = match (answers.first(), answers.last()) {
            (Some(first), Some(last)) => first.key.common(&last.key),
            _ => 0,
        };
        let ranks = answers.iter().map(|answer| answer.key.rank(common));
        Self {
            common,
            ranks: ranks.collect(),
            answers: answers.into(),
        }
    }

    /// Visits the subtrees of all keys that contain the searched value.
    pub fn find<'e>(&'e self, sought: &K::Sought, mut visit: impl FnMut(&'e DecisionNode)) {
        let first = self.answers.first();
        if !first.is_some_and(|first| first.key.begins(self.common, sought)) {
            return;
        }
        let behind = self.behind(sought);
        let mut next = behind.checked_sub(1).and_then(|at| self.answers.get(at));
        let mut covers = false;
        while let Some(answer) = next {
            // a key that contains a matching key matches as well
            covers = covers || answer.key.covers(sought);
            if covers {
                visit(&answer.node);
            }
            next = answer.outer.and_then(|at| self.answers.get(at as usize));
        }
    }

    /// Number of keys that are not after the searched value.
    #[inline]
    fn behind(&self, sought: &K::Sought) -> usize {
        let rank = K::rank_of(sought, self.common);
        let from = self.ranks.partition_point(|other| *other < rank);
        let alike = self.ranks.get(from..).unwrap_or_default();
        if alike.first() != Some(&rank) {
            return from;
        }
        let alike = alike.partition_point(|other| *other == rank);
        let alike = self.answers.get(from..from + alike).unwrap_or_default();
        from + alike.partition_point(|answer| answer.key.is_before(sought))
    }

    /// Iterates over the subtrees.
    pub fn nodes(&self) -> impl Iterator<Item = &DecisionNode> {
        self.answers.iter().map(|answer| &answer.node)
    }

    /// Iterates over the keys and their subtrees.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &DecisionNode)> {
        self.answers
            .iter()
            .map(|answer| (&answer.key, &answer.node))
    }
}

impl Nests for Box<[u8]> {
    type Sought = [u8];

    fn outer_first(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn is_before(&self, sought: &[u8]) -> bool {
        **self <= *sought
    }

    fn covers(&self, sought: &[u8]) -> bool {
        sought.starts_with(self)
    }

    fn encloses(&self, inner: &Self) -> bool {
        inner.starts_with(self)
    }

    fn common(&self, last: &Self) -> usize {
        let pairs = self.iter().zip(last);
        pairs.take_while(|(a, b)| a == b).count()
    }

    fn begins(&self, common: usize, sought: &[u8]) -> bool {
        self.get(..common)
            .is_some_and(|common| sought.starts_with(common))
    }

    fn rank(&self, common: usize) -> u64 {
        Self::rank_of(self, common)
    }

    fn rank_of(sought: &[u8], common: usize) -> u64 {
        let rest = sought.get(common..).unwrap_or_default();
        if let Some(bytes) = rest.first_chunk() {
            return u64::from_be_bytes(*bytes);
        }
        padded(rest, 0).swap_bytes()
    }
}

impl Nests for net::Range {
    type Sought = Self;

    fn outer_first(&self, other: &Self) -> Ordering {
        Self::outer_first(self, other)
    }

    fn is_before(&self, sought: &Self) -> bool {
        Self::outer_first(self, sought).is_le()
    }

    fn covers(&self, sought: &Self) -> bool {
        self.contains(*sought)
    }

    fn encloses(&self, inner: &Self) -> bool {
        self.contains(*inner)
    }

    fn common(&self, _: &Self) -> usize {
        0
    }

    fn begins(&self, _: usize, _: &Self) -> bool {
        true
    }

    fn rank(&self, _: usize) -> u64 {
        Self::rank(self)
    }

    fn rank_of(sought: &Self, _: usize) -> u64 {
        Self::rank(sought)
    }
}

#[cfg(test)]
mod tests {
    use super::{DecisionNode, Nested, net};

    fn found(keys: &[&str], text: &str) -> Vec<u32> {
        let nodes = keys.iter().zip(0..).map(|(key, at)| {
            let rules: Box<[u32]> = [at].into();
            (Box::from(key.as_bytes()), DecisionNode::Rules(rules))
        });
        let nested: Nested<Box<[u8]>> = Nested::new(nodes.collect());
        let mut found = Vec::new();
        nested.find(text.as_bytes(), |node| {
            if let DecisionNode::Rules(rules) = node {
                found.extend_from_slice(rules);
            }
        });
        found.sort_unstable();
        found
    }

    /// Keys that differ after their common prefix, at the eighth byte, in their lengths, or by zero bytes alone.
    #[test]
    fn keys_that_begin_alike_are_found() {
        let parts = [
            "",
            "\0",
            "\0\0",
            "a",
            "a\0",
            "b",
            "12345678",
            "1234567",
            "123456789",
            "\u{7f}",
        ];
        let mut keys = Vec::new();
        for first in parts {
            for second in parts {
                for common in ["", "/api/v1/"] {
                    keys.push(format!("{common}{first}{second}"));
                }
            }
        }
        keys.sort();
        keys.dedup();
        let texts: Vec<String> = keys
            .iter()
            .flat_map(|key| [key.clone(), format!("{key}x")])
            .collect();
        for begin in ["", "/", "/api/v1/", "/api/v1/1234"] {
            let some: Vec<&str> = keys
                .iter()
                .map(String::as_str)
                .filter(|key| key.starts_with(begin))
                .collect();
            for text in &texts {
                let want: Vec<u32> = (0..)
                    .zip(&some)
                    .filter(|(_, key)| text.starts_with(**key))
                    .map(|(at, _)| at)
                    .collect();
                assert_eq!(found(&some, text), want, "{begin:?} {text:?}");
            }
        }
    }

    #[test]
    fn ranks_follow_the_order_of_networks() {
        let mut ranges: Vec<net::Range> = [
            "10.0.0.0/8",
            "10.1.0.0/16",
            "10.1.2.3/32",
            "0.0.0.0/0",
            "255.255.255.255/32",
            "192.168.0.0/16",
            "::/0",
            "fe80::/10",
            "2001:db8::/32",
            "2001:db8::1/128",
            "2001:db8::2/128",
            "::ffff:10.0.0.0/104",
            "ffff::/16",
        ]
        .into_iter()
        .filter_map(net::range)
        .collect();
        assert_eq!(ranges.len(), 13);
        ranges.sort_by(net::Range::outer_first);
        assert!(ranges.is_sorted_by_key(net::Range::rank));
    }

    #[test]
    fn all_prefixes_are_found() {
        let keys = ["/a", "/a/b", "/a/b/c", "/ab", "", "/b", "/a/c"];
        assert_eq!(found(&keys, "/a/b/x"), [0, 1, 4]);
        assert_eq!(found(&keys, "/a/b/c"), [0, 1, 2, 4]);
        assert_eq!(found(&keys, "/abc"), [0, 3, 4]);
        assert_eq!(found(&keys, "/"), [4]);
        assert_eq!(found(&keys, "/z"), [4]);
        assert_eq!(found(&keys[..3], "x"), [0_u32; 0]);
    }
}
