//! Inline caches of lookups by constant keys.

/// Cached position of a constant key in the objects of one shape.
#[derive(Clone, Copy)]
pub struct InlineCache {
    pub(super) shape: u64,
    pub(super) constant: u32,
    /// Out of range if the shape does not contain the key.
    pub(super) at: u32,
}

impl InlineCache {
    /// An empty cache, which fits no object.
    pub const EMPTY: Self = Self {
        shape: 0,
        constant: 0,
        at: u32::MAX,
    };
}
