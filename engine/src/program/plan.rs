//! Plans: the steps that find the solutions of a body.
//!
//! A step binds slots, tests, or generates; the following steps of its block run once for each way that it succeeds.
//! The last step of a block is a terminator. Bindings are decided at compile time, so there is no unification at run
//! time.

use std::sync::{Arc, OnceLock};

use solon_syntax::source::Span;

use super::RuleId;
use super::canonical::Conditions;
use super::inlined::{FusedSet, Inlined, InlinedRule};
use super::intrinsic::Intrinsic;
use crate::builtins::{Aggregation, BuiltinEntry, IntrinsicResult, Prepared, TextRelation};
use crate::value::{Kind, Shape};

/// Index of a slot in the frame of a running plan.
pub type Slot = u32;

/// Index of a constant of the program.
pub type ConstId = u32;

/// Steps that run in order.
pub type Block = Box<[Step]>;

/// Source of a step's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// In the frame.
    Slot(Slot),
    /// Among the constants.
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
    pub(super) plain: OnceLock<bool>,
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

/// One step. The discriminant is an explicit `repr`: otherwise the compiler would store it in niches of the fields, and
/// each dispatch would start with arithmetic.
#[derive(Clone)]
#[repr(u8)]
pub enum Step {
    /// Looks up a value of the input under known keys.
    Input {
        /// The keys.
        keys: Box<[Operand]>,
        /// Receives the value.
        out: Slot,
    },
    /// Looks up a value under known keys.
    Dot {
        /// Start of the path.
        from: Operand,
        /// The keys.
        keys: Box<[Operand]>,
        /// Receives the value.
        out: Slot,
    },
    /// Enumerates an array, object or set.
    Scan {
        /// Enumerated collection.
        from: Operand,
        /// Receives the index, key or member.
        key: Option<Slot>,
        /// Receives the element, value or member.
        out: Slot,
        /// Path of `from` below `data` if it is a base document. If documents are replaced, the path of an element
        /// decides.
        base: Option<Box<BasePath>>,
    },
    /// Enumerates the elements of a collection that may have a known value at a known path; a following step tests the
    /// value.
    Join(Box<Join>),
    /// A base document without rules below it.
    Base {
        /// Its path.
        path: Box<[ConstId]>,
        /// Receives it.
        out: Slot,
    },
    /// Looks up a value below a base document under known keys; a number selects the key that is its text.
    BaseChild {
        /// A base document.
        from: Operand,
        /// Receives the value.
        out: Slot,
        /// The keys.
        keys: Box<[Operand]>,
        /// Path of `from` below `data`. If documents are replaced, the whole path decides.
        path: Box<BasePath>,
    },
    /// The document of a rule: its value, or its full extent.
    Rule {
        /// The rule.
        rule: RuleId,
        /// Receives the document.
        out: Slot,
    },
    /// The value below a partial rule under known keys.
    Keyed {
        /// The rule.
        rule: RuleId,
        /// The keys, at most as many as the rule's head has.
        keys: Box<[Operand]>,
        /// Receives the value; for a member of a set, the requested key.
        out: Slot,
    },
    /// The document at a path of `data` that is known only at run time, or that mixes rules and base documents.
    Document {
        /// The path below `data`.
        path: Box<[Operand]>,
        /// Receives the document.
        out: Slot,
    },
    /// Enumerates the keys of the document at a path of `data`.
    Keys {
        /// The path below `data`.
        path: Box<[Operand]>,
        /// Receives the key.
        key: Slot,
        /// Receives the value under the key, if it is needed.
        value: Option<Slot>,
    },
    /// Calls a built-in.
    Call {
        /// The call.
        call: Box<BuiltinCall>,
        /// Receives the result.
        out: Slot,
    },
    /// Calls a function of the host.
    HostCall {
        /// The call.
        call: Box<HostCall>,
        /// Receives the result.
        out: Slot,
    },
    /// Calls a function of the policy.
    Function {
        /// The call.
        call: Box<FunctionCall>,
        /// Receives the result.
        out: Slot,
    },
    /// Enumerates each path and value of the tree below a value.
    Descend {
        /// The root.
        from: Operand,
        /// Receives the path, if it is needed.
        path: Option<Slot>,
        /// Receives the value.
        value: Slot,
    },
    /// Continues unless the value is `false`.
    IsTruthy(Operand),
    /// Continues if both are equal.
    Equal(Operand, Operand),
    /// Continues if the comparison holds.
    Compare(Comparison, Operand, Operand),
    /// Continues if a collection (the second operand) contains a value.
    Member(Operand, Operand),
    /// Same as `Member`, for a collection that is tested repeatedly.
    Among(Operand, Operand),
    /// Continues if the test of two texts holds, or the built-in that it replaces returns `true`.
    Test(TextTest, Box<BuiltinCall>),
    /// Continues if the conditions for entering the rule hold.
    Precheck(Box<Precheck>),
    /// Never continues.
    Fail,
    /// Continues if the value may equal a comprehension of a kind: it has that kind, or is a set, which OPA compares
    /// with any comprehension.
    MayEqual(Operand, Kind),
    /// Continues if the value is an array of that length.
    IsArray(Operand, u32),
    /// Continues if the value is an object of that size.
    IsObject(Operand, u32),
    /// Makes an array.
    MakeArray {
        /// The elements.
        items: Box<[Operand]>,
        /// Receives it.
        out: Slot,
    },
    /// Makes a set.
    MakeSet {
        /// The members.
        items: Box<[Operand]>,
        /// Receives it.
        out: Slot,
    },
    /// Makes an object.
    MakeObject {
        /// The pairs; in the order of the keys when these are known.
        pairs: Box<[(Operand, Operand)]>,
        /// Shape of the object, if the keys are known.
        shape: Option<Arc<Shape>>,
        /// Receives it.
        out: Slot,
    },
    /// Collects the elements that a block produces.
    Collect {
        /// Kind of collection.
        into: Collector,
        /// The body.
        block: Block,
        /// Receives the collection.
        out: Slot,
    },
    /// An aggregate of the elements that a block produces.
    Aggregate(Box<Aggregate>),
    /// Continues if the block has no solution.
    Not(Block),
    /// Continues if each element satisfies a block.
    Every(Box<Every>),
    /// Continues if both blocks have a solution.
    And(Box<(Block, Block)>),
    /// Continues if one of the blocks has a solution.
    Or(Box<(Block, Block)>),
    /// Continues if a rule that is `true` or undefined is true.
    Any(Box<InlinedRule>),
    /// Continues with the result of an inlined function.
    Inlined(Box<Inlined>),
    /// Continues inside the bodies of a fused producer; always the last step of its block.
    Fused(Box<FusedSet>),
    /// Replaces documents and functions until the matching [`Step::EndWith`].
    With(Box<With>),
    /// Ends the innermost [`Step::With`].
    EndWith,
    /// Terminator: there is a solution.
    Exists,
    /// Terminator: the requested member is in the set.
    MemberFound,
    /// Terminator: the value of a complete rule or function.
    Value(Operand),
    /// Terminator: an element of an array.
    ArrayAppend(Operand),
    /// Terminator: a member of a set.
    SetAdd(Operand),
    /// Terminator: a member of a set that all solutions have in common, so that one is enough.
    SetAddOnce(Operand),
    /// Terminator: a pair of an object; equal keys must have equal values.
    ObjectInsert {
        /// The key.
        key: Operand,
        /// The value.
        value: Operand,
        /// Source location of the key, for the conflict error.
        span: Span,
    },
    /// Terminator: a value, or a member of a set, below a partial rule.
    Produce {
        /// Keys below the rule, without known ones.
        path: Box<[Operand]>,
        /// The value or the member.
        value: Operand,
        /// `true` for a member of a set.
        member: bool,
    },
    /// Terminator: a solution of a query, with its values in these operands.
    ResultSetAdd(Box<[Operand]>),
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
    /// The compared value.
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
    /// The conditions.
    pub conditions: Conditions,
    /// `true` if they are always tested; otherwise only if errors of built-ins end the evaluation.
    pub always: bool,
}

/// A call of a built-in.
#[derive(Clone)]
pub struct BuiltinCall {
    /// The built-in.
    pub entry: &'static BuiltinEntry,
    /// Its operands.
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

/// Test of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// Relation of two texts.
    Related(TextRelation),
    /// A call whose other operands are constant.
    Prepared,
    /// An intrinsic with a boolean result.
    Intrinsic,
}

impl TextTest {
    /// Returns the test of a call.
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

/// A call of a function of the host.
#[derive(Clone)]
pub struct HostCall {
    /// Index among the program's functions of the host.
    pub function: u32,
    /// Its arguments.
    pub args: Box<[Operand]>,
    /// Source location of the expression.
    pub span: Span,
}

/// A call of a function of the policy.
#[derive(Clone)]
pub struct FunctionCall {
    /// The function.
    pub rule: RuleId,
    /// Its arguments.
    pub args: Box<[Operand]>,
    /// Source location of the expression.
    pub span: Span,
}

/// An aggregate that consumes the elements of a comprehension one by one.
#[derive(Clone)]
pub struct Aggregate {
    /// The aggregate.
    pub aggregation: Aggregation,
    /// Collection of the comprehension.
    pub into: Collector,
    /// Its body.
    pub block: Block,
    /// Holds the collection if the built-in is replaced, since the replacement receives it.
    pub slot: Slot,
    /// The call of the built-in.
    pub call: BuiltinCall,
    /// Receives the result.
    pub out: Slot,
}

/// `every key, value in domain { … }`
#[derive(Clone)]
pub struct Every {
    /// Enumerated collection.
    pub domain: Operand,
    /// Receives the key.
    pub key: Option<Slot>,
    /// Receives the value.
    pub value: Slot,
    /// Must have a solution for each element.
    pub block: Block,
}

/// The modifiers of one expression, in source order.
#[derive(Clone)]
pub struct With {
    /// Targets and replacements.
    pub modifiers: Box<[ModifierTarget]>,
    /// Source location of the expression.
    pub span: Span,
}

/// Target and replacement of a modifier.
#[derive(Clone)]
pub enum ModifierTarget {
    /// The input below a path.
    Input(Box<[ConstId]>, Operand),
    /// Documents below a path of `data`.
    Data(Box<[ConstId]>, Operand),
    /// A built-in or a function, by a function of the policy.
    ByRule(Callee, RuleId),
    /// A built-in or a function, by a built-in.
    ByBuiltin(Callee, &'static BuiltinEntry),
    /// A built-in or a function, by a value.
    ByValue(Callee, Operand),
    /// A path with a step that is not a string: nothing to replace.
    Nowhere,
}

/// A callable function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function of the policy.
    Rule(RuleId),
    /// A built-in, by name.
    Builtin(&'static str),
    /// A function of the host.
    HostFunction(u32),
}
