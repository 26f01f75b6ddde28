//! A compiled program: plain data for the evaluators.

pub mod canonical;
mod constant;
pub mod dump;
mod effects;
pub mod index;
mod inlined;
mod instructions;
mod intrinsic;
mod kinds;
mod parts;
pub mod plan;
mod read_index;
mod rule_subset;
pub mod rules;
mod steps;
pub mod verify;

pub use canonical::Canonical;
pub use constant::{constant, document_path};
pub use effects::Effects;
pub use index::{
    AccessPath, Answers, DecisionBranch, DecisionNode, Delimiters, Index, IndexInput, KeyPath,
    Nested, Numbers, PathRoot, Question, SelectedRules, ValueFeature, Values,
};
pub use inlined::{FusedSet, Inlined, InlinedRule};
pub use instructions::Step;
pub use intrinsic::Intrinsic;
pub use parts::{Part, PartMut};
pub use plan::{
    Aggregate, BasePath, Block, BuiltinCall, Callee, Collector, Comparison, ConstId, Every,
    FunctionCall, HostCall, Join, ModifierTarget, Operand, Plan, Precheck, Slot, TextTest, With,
};
pub use read_index::{ReadIndex, ReadRoot};
pub use rule_subset::RuleSubset;
pub use rules::{
    Chain, ConditionCoverage, NodeId, Rule, RuleId, RuleKind, RuleSet, TreeNode, VirtualDocuments,
};
pub use steps::Steps;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use solon_syntax::source::{SourceId, Span};

use crate::builtins::HostFunction;
use crate::value::Value;

/// Everything that evaluation needs to know of the modules.
#[derive(Default)]
pub struct Program {
    /// Constants of all plans, by id.
    pub constants: Vec<Value>,
    /// Rule sets by document path. Ids that are no longer used have none.
    pub rules: Vec<Arc<RuleSet>>,
    /// The tree of virtual documents, by path.
    pub tree: Arc<VirtualDocuments>,
    /// Functions of the host, by index.
    pub functions: Vec<HostFunction>,
    /// File names, for messages.
    pub files: HashMap<SourceId, Arc<str>>,
    /// Canonical bodies that the plans were lowered from.
    pub canonical: Canonical,
    /// See [`Self::reads`].
    pub read_index: OnceLock<ReadIndex>,
}

impl Program {
    /// Returns the index of a function of the host, or `None` if there is none of this name. Linear in their number.
    pub fn function(&self, name: &str) -> Option<u32> {
        let at = self
            .functions
            .iter()
            .position(|function| &*function.name == name)?;
        u32::try_from(at).ok()
    }

    /// Returns the index of everything that the rules read, which is built on first use.
    pub fn reads(&self) -> &ReadIndex {
        self.read_index.get_or_init(|| ReadIndex::new(self))
    }

    /// Returns the file and the row of a span.
    pub fn location(&self, span: Span) -> (Arc<str>, u32, u32) {
        let file = self
            .files
            .get(&span.source)
            .cloned()
            .unwrap_or_else(|| Arc::from(""));
        (file, span.row, span.col)
    }
}
