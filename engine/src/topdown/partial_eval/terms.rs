//! Arena for terms created during the search.

use std::cell::{Cell, OnceCell};

use solon_syntax::ast::Term;

use crate::bug::bug;

/// Capacity of the first block; each block is twice as large as the one before.
const FIRST: usize = 16;
const BLOCKS: usize = 40;

/// Arena of terms, which live as long as a partial evaluation.
pub struct Terms {
    blocks: [OnceCell<Box<[OnceCell<Term>]>>; BLOCKS],
    used: Cell<usize>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            blocks: [const { OnceCell::new() }; BLOCKS],
            used: Cell::new(0),
        }
    }
}

impl Terms {
    /// Allocates a term. Returns `None` only beyond the size of memory.
    pub fn keep(&self, term: Term) -> Option<&Term> {
        let mut at = self.used.replace(self.used.get() + 1);
        let mut size = FIRST;
        for block in &self.blocks {
            if at < size {
                let block = block.get_or_init(|| (0..size).map(|_| OnceCell::new()).collect());
                return Some(block.get(at)?.get_or_init(|| term));
            }
            at -= size;
            size *= 2;
        }
        bug!("there is no place left for a term")
    }
}
