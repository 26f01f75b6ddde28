//! What plans hold, noted while they are made.

use crate::program::Step;

/// Which steps a plan holds that later passes look for: most hold few of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanFeatures {
    /// A comprehension.
    pub collection: bool,
    /// A loop.
    pub loops: bool,
    /// A loop that notes its keys, or a walk that notes its paths.
    pub keys: bool,
    /// A pattern of an array.
    pub patterns: bool,
    /// How many lookups there are that may be made again.
    pub lookups: u32,
}

impl PlanFeatures {
    /// Notes a step.
    pub fn see(&mut self, step: &Step) {
        match step {
            Step::Collect { .. } => self.collection = true,
            Step::Each { key, .. } => {
                self.loops = true;
                self.keys |= key.is_some();
            }
            Step::Descend { path, .. } => self.keys |= path.is_some(),
            Step::Every(_) => self.keys = true,
            Step::IsArray(..) => self.patterns = true,
            Step::Input { .. }
            | Step::GetPath { .. }
            | Step::Base { .. }
            | Step::BaseChild { .. }
            | Step::Rule { .. }
            | Step::Call { .. }
            | Step::Array { .. } => {
                self.lookups += 1;
            }
            _ => {}
        }
    }
}
