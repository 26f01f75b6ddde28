//! Answers that lie within each other: texts that begin with others, networks within networks.

use std::cmp::Ordering;

use super::Node;
use crate::builtins::net;

/// What may lie within another of its kind.
pub trait Nests {
    /// What is looked for.
    type Sought: ?Sized;

    /// An order in which outer ones come before inner ones, with nothing else between.
    fn outer_first(&self, other: &Self) -> Ordering;

    /// Whether it does not come behind what is looked for in that order.
    fn is_before(&self, sought: &Self::Sought) -> bool;

    /// Whether what is looked for lies within.
    fn covers(&self, sought: &Self::Sought) -> bool;

    /// Whether another one lies within.
    fn holds(&self, inner: &Self) -> bool;
}

/// Answers in order, outer ones before inner ones.
///
/// Whatever covers what is looked for holds the last answer that does not come after it, or is that answer. So one
/// binary search finds them all.
pub struct Nested<K> {
    answers: Box<[Answer<K>]>,
}

struct Answer<K> {
    key: K,
    /// The next outer one.
    outer: Option<u32>,
    node: Node,
}

impl<K: Nests> Nested<K> {
    /// Of different keys and what is below them.
    pub fn new(mut nodes: Vec<(K, Node)>) -> Self {
        nodes.sort_by(|a, b| a.0.outer_first(&b.0));
        let mut answers: Vec<Answer<K>> = Vec::with_capacity(nodes.len());
        for (key, node) in nodes {
            let mut outer = answers.len().checked_sub(1);
            while let Some(answer) = outer.and_then(|at| answers.get(at))
                && !answer.key.holds(&key)
            {
                outer = answer.outer.map(|at| at as usize);
            }
            let outer = outer.and_then(|at| u32::try_from(at).ok());
            answers.push(Answer { key, outer, node });
        }
        Self {
            answers: answers.into(),
        }
    }

    /// Visits what is below the answers that cover something.
    pub fn find<'e>(&'e self, sought: &K::Sought, mut visit: impl FnMut(&'e Node)) {
        let behind = self
            .answers
            .partition_point(|answer| answer.key.is_before(sought));
        let mut next = behind.checked_sub(1).and_then(|at| self.answers.get(at));
        let mut covers = false;
        while let Some(answer) = next {
            // what holds one that covers covers as well
            covers = covers || answer.key.covers(sought);
            if covers {
                visit(&answer.node);
            }
            next = answer.outer.and_then(|at| self.answers.get(at as usize));
        }
    }

    /// What is below each answer.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.answers.iter().map(|answer| &answer.node)
    }

    /// The answers and what is below them.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Node)> {
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

    fn holds(&self, inner: &Self) -> bool {
        inner.starts_with(self)
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

    fn holds(&self, inner: &Self) -> bool {
        self.contains(*inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Nested, Node};

    fn found(keys: &[&str], text: &str) -> Vec<u32> {
        let nodes = keys.iter().zip(0..).map(|(key, at)| {
            let rules: Box<[u32]> = [at].into();
            (Box::from(key.as_bytes()), Node::Rules(rules))
        });
        let nested: Nested<Box<[u8]>> = Nested::new(nodes.collect());
        let mut found = Vec::new();
        nested.find(text.as_bytes(), |node| {
            if let Node::Rules(rules) = node {
                found.extend_from_slice(rules);
            }
        });
        found.sort_unstable();
        found
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
