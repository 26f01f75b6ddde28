//! The result of compiling modules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use solon_syntax::ast::Module;
use solon_syntax::source::Diagnostics;

use super::next_version_id;
use crate::compile::Compiled;
use crate::compile::lower::LoweringRecord;
#[cfg(feature = "filters")]
use crate::filter::{Blocks, input_names};
use crate::program::Program;

/// Modules and the results of compiling them.
pub(crate) struct Policy {
    /// Unique number of the policy among all engines of the process. Later policies have larger ones.
    pub version_id: u64,
    /// The modules as they were parsed, by name.
    pub modules: Arc<BTreeMap<String, Arc<Module>>>,
    pub compiled: Arc<Compiled>,
    pub program: Arc<Program>,
    /// The inputs of the lowering of the program, for incremental compilation.
    pub record: Arc<LoweringRecord>,
    /// Duration of each stage of compilation, by OPA's name of the stage.
    pub stages: Vec<(String, Duration)>,
    #[cfg(feature = "filters")]
    notes: OnceLock<FilterNotes>,
}

/// Facts about a policy for filters. Computed when the first filter is prepared.
#[cfg(feature = "filters")]
pub(crate) struct FilterNotes {
    /// METADATA of rules, or the errors of blocks that do not parse, which each caller receives.
    pub blocks: Result<Blocks, Diagnostics>,
    /// First keys below `input` that rules use.
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
            modules: Arc::new(modules),
            compiled: Arc::new(compiled),
            program: Arc::new(program),
            record: Arc::new(record),
            stages: Vec::new(),
            #[cfg(feature = "filters")]
            notes: OnceLock::new(),
        }
    }

    /// Returns the facts about the policy for filters.
    #[cfg(feature = "filters")]
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

    /// Sets the durations of the stages of compilation, by name.
    pub fn compiled_in(mut self, stages: Vec<(String, Duration)>) -> Self {
        self.stages = stages;
        self
    }
}
