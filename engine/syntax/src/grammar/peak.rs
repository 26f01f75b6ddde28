//! Nesting depth of the parsed text.

/// Nesting depth of a tree.
#[derive(Clone, Copy, Default)]
pub(super) struct Peak {
    /// Deepest level, counted from the outermost construct.
    pub level: u32,
    /// Length of the longest chain of operators nested in left operands.
    pub links: u32,
}

impl Peak {
    pub fn max(self, other: Self) -> Self {
        Self {
            level: self.level.max(other.level),
            links: self.links.max(other.links),
        }
    }
}
