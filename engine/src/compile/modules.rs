//! The modules of a compilation: those that the passes work on, and those that stay as an earlier one left them.

use std::ops::Deref;
use std::sync::Arc;

use solon_syntax::ast::Module;

use super::part::Part;

/// Modules ordered by file name.
pub struct Modules {
    all: Vec<Arc<Module>>,
    /// What an earlier compilation made of each module that stays; the others are open.
    kept: Vec<Option<Arc<Part>>>,
}

impl Modules {
    /// Modules as they were parsed, all of them open.
    pub fn new(parsed: &[Arc<Module>]) -> Self {
        let nothing = parsed.iter().map(|_| None).collect();
        Self::keeping(parsed, nothing)
    }

    /// Modules as they were parsed, but those that stay as they were left.
    pub fn keeping(parsed: &[Arc<Module>], kept: Vec<Option<Arc<Part>>>) -> Self {
        let both = parsed.iter().zip(&kept);
        let all = both.map(|(parsed, kept)| match kept {
            Some(part) => Arc::clone(&part.canonical),
            None => Arc::new(Module::clone(parsed)),
        });
        Self {
            all: all.collect(),
            kept,
        }
    }

    /// The modules that passes work on.
    pub fn open(&self) -> impl Iterator<Item = &Module> {
        let both = self.all.iter().zip(&self.kept);
        both.filter_map(|(module, kept)| kept.is_none().then_some(&**module))
    }

    /// The same, to be changed.
    pub fn open_mut(&mut self) -> impl Iterator<Item = &mut Module> {
        let both = self.all.iter_mut().zip(&self.kept);
        both.filter_map(|(module, kept)| kept.is_none().then(|| Arc::make_mut(module)))
    }

    /// All modules, each with what an earlier compilation made of it, if it stays.
    pub fn parts(&self) -> impl Iterator<Item = (&Arc<Module>, Option<&Arc<Part>>)> {
        self.all.iter().zip(self.kept.iter().map(Option::as_ref))
    }

    /// What an earlier compilation made of the module at a position, if it stays.
    pub fn kept(&self, position: u32) -> Option<&Arc<Part>> {
        self.kept.get(position as usize)?.as_ref()
    }
}

impl Deref for Modules {
    type Target = [Arc<Module>];

    fn deref(&self) -> &[Arc<Module>] {
        &self.all
    }
}
