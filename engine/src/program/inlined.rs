//! Bodies in the place of what asks for them.

use super::RuleId;
use super::plan::{Block, FunctionCall, Operand, Slot};

/// A rule that is `true` or nothing, as the bodies that make it so.
#[derive(Clone)]
pub struct Any {
    /// The rule, asked where documents are replaced.
    pub rule: RuleId,
    /// Its bodies.
    pub blocks: Box<[Block]>,
}

/// A call of a function, and the bodies of it, of which the first that holds gives the result.
#[derive(Clone)]
pub struct Inlined {
    /// The call, for where functions are replaced.
    pub call: FunctionCall,
    /// The bodies.
    pub blocks: Box<[Block]>,
    /// What each of them gives.
    pub values: Box<[Operand]>,
    /// Receives the result.
    pub out: Slot,
}

/// What asks for the members of a set that a rule makes, in two ways.
#[derive(Clone)]
pub struct FusedSet {
    /// The set is made first; for where documents are replaced.
    pub plain: Block,
    /// Each body of the rule goes on with the members as it finds them.
    pub fused: Box<[Block]>,
}
