//! What modules are compiled to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use solon_syntax::ast::Module;
use solon_syntax::source::Diagnostics;

use super::next_version_id;
use crate::compile::Compiled;
use crate::compile::lower::LoweringRecord;
use crate::filter::{Blocks, input_names};
use crate::program::Program;

/// Modules, and all that compiling made of them.
pub(crate) struct Policy {
    /// Tells it from all other policies of all engines; later ones have larger stamps.
    pub version_id: u64,
    /// The modules as they were parsed, by name.
    pub modules: BTreeMap<String, Arc<Module>>,
    pub compiled: Arc<Compiled>,
    pub program: Arc<Program>,
    /// What the program was made of.
    pub record: Arc<LoweringRecord>,
    /// How long each stage of compiling took, by its published name.
    pub stages: Vec<(String, Duration)>,
    notes: OnceLock<FilterNotes>,
}

/// What filters ask of a policy. It is read when the first is prepared.
pub(crate) struct FilterNotes {
    /// What METADATA says of rules; what does not parse is told to each who asks.
    pub blocks: Result<Blocks, Diagnostics>,
    /// The first names below `input` that rules ask for.
    pub input_names: BTreeSet<String>,
}

impl Policy {
    pub fn new(
        modules: BTreeMap<String, Arc<Module>>,
        compiled: Compiled,
        program: Program,
        record: LoweringRecord,
    ) -> Self {
        Self {
            version_id: next_version_id(),
            modules,
            compiled: Arc::new(compiled),
            program: Arc::new(program),
            record: Arc::new(record),
            stages: Vec::new(),
            notes: OnceLock::new(),
        }
    }

    /// What filters ask of it.
    pub fn notes(&self) -> &FilterNotes {
        self.notes.get_or_init(|| {
            let parsed = self.modules.values().map(|module| &**module);
            let modules = self.compiled.modules.iter();
            let bodies = modules.flat_map(|module| module.rules.iter().map(|rule| &rule.body));
            FilterNotes {
                blocks: Blocks::of_modules(parsed),
                input_names: input_names(bodies),
            }
        })
    }

    /// The same, compiled in stages.
    pub fn compiled_in(mut self, stages: Vec<(String, Duration)>) -> Self {
        self.stages = stages;
        self
    }
}
