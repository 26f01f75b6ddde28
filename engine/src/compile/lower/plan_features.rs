//! Features of plans, recorded while they are built.

use crate::program::{Effects, Step};

/// Features of a plan that later passes look for. Most plans have few of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanFeatures {
    pub collection: bool,
    pub loops: bool,
    /// A loop that stores its keys, or a walk that stores its paths.
    pub keys: bool,
    pub patterns: bool,
    /// Number of lookups that may be repeated.
    pub lookups: u32,
}

impl PlanFeatures {
    /// Records a step, but not those of its inner blocks.
    pub fn see(&mut self, step: &Step) {
        self.collection |= matches!(step, Step::Collect { .. });
        self.loops |= matches!(step, Step::Scan { .. });
        self.patterns |= matches!(step, Step::IsArray(..));
        self.lookups += u32::from(step.effects().has(Effects::SHAREABLE));
        self.keys |= matches!(
            step,
            Step::Scan { key: Some(_), .. } | Step::Descend { path: Some(_), .. } | Step::Every(_)
        );
    }
}
