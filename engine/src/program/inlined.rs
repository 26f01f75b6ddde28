//! Bodies of rules and functions that plans contain in place of a call.

use super::RuleId;
use super::plan::{Block, FunctionCall, Operand, Slot};
use crate::bug::bug;

/// A rule that is `true` or undefined, as its bodies.
#[derive(Clone)]
pub struct InlinedRule {
    /// The rule, for evaluation with replaced documents.
    pub rule: RuleId,
    /// Its bodies, of which one must have a solution.
    pub blocks: Box<[Block]>,
}

/// A call of a function, and its bodies, of which the first that holds provides the result.
#[derive(Clone)]
pub struct Inlined {
    /// The call, for evaluation with replaced functions.
    pub call: FunctionCall,
    /// The bodies, tried in order.
    pub blocks: Box<[Block]>,
    /// Result of each body.
    pub values: Box<[Operand]>,
    /// The slot that receives the result.
    pub out: Slot,
}

/// A consumer of a set, fused with the bodies that produce the members, in two versions.
#[derive(Clone)]
pub struct FusedSet {
    /// First the version that builds the set, which is used if documents are replaced. In the others, each body of the
    /// rule continues with the members that it produces.
    pub blocks: Box<[Block]>,
}

impl FusedSet {
    /// Returns the version that builds the set, and the bodies of the other. Invariant: there is a first block.
    pub fn versions(&self) -> (&Block, &[Block]) {
        match self.blocks.split_first() {
            Some(versions) => versions,
            None => bug!("a fused set without blocks"),
        }
    }
}
