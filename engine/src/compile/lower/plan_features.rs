//! Features of plans, recorded while they are built.

use crate::program::Step;

/// Features of a plan that later passes look for. Most plans have few of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanFeatures {
    /// A comprehension.
    pub collection: bool,
    /// A loop.
    pub loops: bool,
    /// A loop that stores its keys, or a walk that stores its paths.
    pub keys: bool,
    /// A pattern of an array.
    pub patterns: bool,
    /// Number of lookups that may be repeated.
    pub lookups: u32,
}

impl PlanFeatures {
    /// Records a step.
    pub fn see(&mut self, step: &Step) {
        match step {
            Step::Collect { .. } => self.collection = true,
            Step::Scan { key, .. } => {
                self.loops = true;
                self.keys |= key.is_some();
            }
            Step::Descend { path, .. } => self.keys |= path.is_some(),
            Step::Every(_) => self.keys = true,
            Step::IsArray(..) => self.patterns = true,
            Step::Input { .. }
            | Step::Dot { .. }
            | Step::Base { .. }
            | Step::BaseChild { .. }
            | Step::Rule { .. }
            | Step::Call { .. }
            | Step::MakeArray { .. } => {
                self.lookups += 1;
            }
            _ => {}
        }
    }
}
