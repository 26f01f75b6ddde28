//! What modules are compiled to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use solon_syntax::ast::Module;

use super::next_stamp;
use crate::compile::Compiled;
use crate::compile::lower::LoweringRecord;
use crate::program::Program;

/// Modules, and all that compiling made of them.
pub(crate) struct Policy {
    /// Tells it from all other policies of all engines; later ones have larger stamps.
    pub stamp: u64,
    /// The modules as they were parsed, by name.
    pub modules: BTreeMap<String, Arc<Module>>,
    pub compiled: Arc<Compiled>,
    pub program: Arc<Program>,
    /// What the program was made of.
    pub record: Arc<LoweringRecord>,
    /// How long each stage of compiling took, by its published name.
    pub stages: Vec<(String, Duration)>,
}

impl Policy {
    pub fn new(
        modules: BTreeMap<String, Arc<Module>>,
        compiled: Compiled,
        program: Program,
        record: LoweringRecord,
    ) -> Self {
        Self {
            stamp: next_stamp(),
            modules,
            compiled: Arc::new(compiled),
            program: Arc::new(program),
            record: Arc::new(record),
            stages: Vec::new(),
        }
    }

    /// The same, compiled in stages.
    pub fn compiled_in(mut self, stages: Vec<(String, Duration)>) -> Self {
        self.stages = stages;
        self
    }
}
