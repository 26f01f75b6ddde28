//! Prechecks of names that avoid most lookups.

use std::sync::LazyLock;

use super::{BuiltinEntry, all};
use crate::index::Indexed as _;

/// Returns `false` if no deprecated built-in has a name with this first segment. May return `true` for others: it
/// compares only length and first letter.
pub fn may_be_deprecated_below(part: &str) -> bool {
    static DEPRECATED: LazyLock<NameFilter> =
        LazyLock::new(|| NameFilter::from_entries(all().filter(|entry| entry.builtin.deprecated)));
    DEPRECATED.have(part)
}

/// Returns `false` if no built-in without dots has this name. May return `true` for others.
pub fn may_be_plain(name: &str) -> bool {
    static PLAIN: LazyLock<NameFilter> = LazyLock::new(|| {
        NameFilter::from_entries(all().filter(|entry| !entry.builtin.name.contains('.')))
    });
    PLAIN.have(name)
}

/// Lengths of the first segments of names, as bits, by first letter.
struct NameFilter([u64; 256]);

impl NameFilter {
    fn from_entries<'t>(entries: impl Iterator<Item = &'t BuiltinEntry>) -> Self {
        let mut filter = [0; 256];
        for entry in entries {
            let part = entry.builtin.name.split('.').next().unwrap_or_default();
            let (first, length) = Self::outline(part);
            *filter.item_mut(first) |= length;
        }
        Self(filter)
    }

    fn outline(name: &str) -> (usize, u64) {
        let first = name.bytes().next().unwrap_or_default();
        (usize::from(first), 1 << (name.len() % 64))
    }

    fn have(&self, name: &str) -> bool {
        let (first, length) = Self::outline(name);
        self.0
            .get(first)
            .is_some_and(|lengths| lengths & length != 0)
    }
}
