//! How deep what is being read nests.

/// How deep a tree is.
#[derive(Clone, Copy, Default)]
pub(super) struct Peak {
    /// Its deepest level, counted from the outermost construct.
    pub level: u32,
    /// Operators in one another's left operands.
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
