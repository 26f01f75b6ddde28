//! Inline caches: positions of constants among the keys of shapes, kept between evaluations.

use std::cell::Cell;

use crate::program::ConstId;
use crate::value::object::InlineCache;

/// Last position of each constant of one policy among the keys of objects. The objects of one list mostly share a
/// shape, and so do documents that are read repeatedly.
pub struct InlineCaches {
    /// Version id of the policy of the constants, if there is one.
    policy: Cell<Option<u64>>,
    caches: [Cell<InlineCache>; 64],
}

impl Default for InlineCaches {
    fn default() -> Self {
        Self {
            policy: Cell::new(None),
            caches: [const { Cell::new(InlineCache::EMPTY) }; 64],
        }
    }
}

impl InlineCaches {
    /// Returns the caches for the constants of a policy, by its version id. Without one, constants differ in each
    /// evaluation, and nothing is cached.
    #[inline]
    pub fn of_policy(&self, policy: Option<u64>) -> &Self {
        if policy.is_none() || policy != self.policy.get() {
            self.clear(policy);
        }
        self
    }

    #[inline(never)]
    fn clear(&self, policy: Option<u64>) {
        self.policy.set(policy);
        for cache in &self.caches {
            cache.set(InlineCache::EMPTY);
        }
    }

    /// Returns the cache of a constant. Several constants share a cache (direct mapped).
    #[inline]
    pub(super) fn of_constant(&self, constant: ConstId) -> Option<&Cell<InlineCache>> {
        self.caches.get(constant as usize % self.caches.len())
    }
}
