//! Plans: the instructions that find the solutions of a body, and their operands.

use std::sync::{Arc, OnceLock};

use solon_syntax::source::Span;

use super::RuleId;
use super::canonical::Conditions;
use super::instructions::Step;
use super::intrinsic::Intrinsic;
use crate::builtins::{Aggregation, BuiltinEntry, IntrinsicResult, Prepared, TextRelation};

/// Index of a slot in the frame of a running plan.
pub type Slot = u32;

/// Index of a constant. Those of a query follow those of the program.
pub type ConstId = u32;

/// Steps that run in order.
pub type Block = Box<[Step]>;

/// Source of a step's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A slot of the frame.
    Slot(Slot),
    /// A constant of the program or the query.
    Const(ConstId),
}

/// The steps of a body and the size of its frame.
#[derive(Default)]
pub struct Plan {
    /// Slots of the frame; arguments and known head terms come first.
    pub slots: u32,
    /// What is run.
    pub steps: Block,
    /// See [`Self::is_plain`].
    plain: OnceLock<bool>,
}

impl Plan {
    /// Creates a plan of instructions and the size of their frame.
    pub fn new(slots: u32, steps: Block) -> Self {
        Self {
            slots,
            steps,
            ..Self::default()
        }
    }

    /// Returns `true` if the fast path can evaluate each instruction.
    #[inline]
    pub fn is_plain(&self) -> bool {
        let plain = || self.steps.iter().all(Step::is_plain);
        *self.plain.get_or_init(plain)
    }
}

/// Comparisons that are tested without building a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Collection that a comprehension or a fused aggregate produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// `[x | …]`
    Array,
    /// An array whose order is not used.
    Bag,
    /// `{x | …}`
    Set,
    /// `{k: v | …}`
    Object,
}

/// The path of a base document below `data`. A separate type keeps the step small.
#[derive(Clone)]
pub struct BasePath(pub Box<[Operand]>);

/// A hash join: a loop that runs repeatedly over one collection, each time for the elements with one value.
#[derive(Clone)]
pub struct Join {
    /// Enumerated collection.
    pub from: Operand,
    /// Receives the index, key or member.
    pub key: Option<Slot>,
    /// Receives the element, value or member.
    pub out: Slot,
    /// `true` if the value is at or below the key instead of the element.
    pub by_key: bool,
    /// Path from there: constants.
    pub path: Box<[Operand]>,
    /// `true` if the path has keys of base documents, as in `Step::BaseChild`.
    pub is_base: bool,
    /// Path of `from` below `data`, as in `Step::Scan`.
    pub base: Option<Box<BasePath>>,
    /// The value that elements are compared with.
    pub known: Operand,
    /// Loop-invariant steps that compute the value, if it is computed within the loop: lookups, and calls of built-ins.
    pub lookup: Box<[Step]>,
    /// `true` if built-ins are called before the test. An evaluation that ends with the first error then visits all
    /// elements.
    pub calls: bool,
}

impl Join {
    /// Number of elements up to which a collection is always scanned.
    pub const FEW: usize = 32;
}

/// Conditions that are tested before a body.
#[derive(Clone)]
pub struct Precheck {
    /// The conditions for entering the rule.
    pub conditions: Conditions,
    /// `true` if they are always tested; otherwise only if errors of built-ins end the evaluation.
    pub always: bool,
}

/// A call of a built-in, with what was prepared for its constant operands.
#[derive(Clone)]
pub struct BuiltinCall {
    /// The built-in and its declared type.
    pub entry: &'static BuiltinEntry,
    /// Its operands, in order.
    pub args: Box<[Operand]>,
    /// The call specialised for its constant operands.
    pub prepared: Option<Arc<dyn Prepared>>,
    /// `true` if the operands after the first are the elements of the array that is the second. The call is specialised
    /// for the first operand and takes the elements alone.
    pub elements: bool,
    /// Intrinsic that evaluates the call for common operands in place.
    pub intrinsic: Option<Intrinsic>,
    /// Source location of the expression.
    pub span: Span,
}

impl BuiltinCall {
    /// Operands that the specialised call takes.
    #[inline]
    pub fn taken(&self) -> &[Operand] {
        match &*self.args {
            [_, elements @ ..] if self.elements => elements,
            args => args,
        }
    }
}

/// Test of a text that replaces a call of a built-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// The relation of two texts.
    Related(TextRelation),
    /// A call whose other operands are constant.
    Prepared,
    /// An intrinsic with a boolean result.
    Intrinsic,
}

impl TextTest {
    /// Returns the test of a call, or `None` if the built-in must be called. A prepared operand takes precedence.
    pub fn of_call(call: &BuiltinCall) -> Option<Self> {
        let prepared = call.prepared.as_ref();
        if prepared.is_some_and(|prepared| prepared.tested().is_some()) {
            return Some(Self::Prepared);
        }
        if call
            .intrinsic
            .is_some_and(|intrinsic| intrinsic.answer() == Some(IntrinsicResult::Bool))
        {
            return Some(Self::Intrinsic);
        }
        call.entry.builtin.relation.map(Self::Related)
    }
}

/// A call of a function of the host, which may block.
#[derive(Clone)]
pub struct HostCall {
    /// Index among the program's functions of the host.
    pub function: u32,
    /// Its arguments, in order.
    pub args: Box<[Operand]>,
    /// Source location of the expression.
    pub span: Span,
}

/// A call of a function of the policy: a rule set with arguments.
#[derive(Clone)]
pub struct FunctionCall {
    /// The rule set of the function.
    pub rule: RuleId,
    /// Its arguments, in order.
    pub args: Box<[Operand]>,
    /// Source location of the expression.
    pub span: Span,
}

/// An aggregate that consumes the elements of a comprehension one by one.
#[derive(Clone)]
pub struct Aggregate {
    /// The aggregate that the built-in computes.
    pub aggregation: Aggregation,
    /// Collection of the comprehension.
    pub into: Collector,
    /// The block that produces the elements.
    pub block: Block,
    /// Holds the collection if the built-in is replaced, since the replacement receives it.
    pub slot: Slot,
    /// The call that the aggregate replaces, for errors and replaced functions.
    pub call: BuiltinCall,
    /// The slot that receives the result.
    pub out: Slot,
}

/// `every key, value in domain { … }`
#[derive(Clone)]
pub struct Every {
    /// Enumerated collection.
    pub domain: Operand,
    /// The slot that receives the key, if it is used.
    pub key: Option<Slot>,
    /// The slot that receives the value.
    pub value: Slot,
    /// Must have a solution for each element.
    pub block: Block,
}

/// The modifiers of one expression, in source order.
#[derive(Clone)]
pub struct With {
    /// Targets and replacements, in the order of the source.
    pub modifiers: Box<[ModifierTarget]>,
    /// Source location of the expression.
    pub span: Span,
}

/// Target and replacement of one modifier.
#[derive(Clone)]
pub enum ModifierTarget {
    /// The input below a path.
    Input(Box<[ConstId]>, Operand),
    /// Documents below a path of `data`.
    Data(Box<[ConstId]>, Operand),
    /// A built-in or a function, by a function of the policy.
    ByRule(Callee, RuleId),
    /// A built-in or a function, replaced by a built-in.
    ByBuiltin(Callee, &'static BuiltinEntry),
    /// A built-in or a function, by a value.
    ByValue(Callee, Operand),
    /// A path with a step that is not a string: nothing to replace.
    Nowhere,
}

/// A callable function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function of the policy, by its rule set.
    Rule(RuleId),
    /// A built-in, by name.
    Builtin(&'static str),
    /// A function of the host, by its index.
    HostFunction(u32),
}
