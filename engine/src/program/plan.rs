//! Plans: the steps that find the solutions of a body.
//!
//! A step binds slots, tests, or generates; what follows it in its block runs once for each way it succeeds.
//! The last step of a block is a leaf. Which variable is bound where was decided when the plan was made, so
//! there is no unification at run time.

use std::sync::{Arc, OnceLock};

use solon_syntax::source::Span;

use super::RuleId;
use super::canonical::Conditions;
use super::inlined::{Any, FusedSet, Inlined};
use super::intrinsic::Intrinsic;
use crate::builtins::{Aggregation, Entry, IntrinsicResult, Prepared, TextRelation};
use crate::value::{Kind, Shape};

/// A place in the frame of a running plan.
pub type Slot = u32;

/// Number of a constant of the program.
pub type ConstId = u32;

/// Steps that are run in turn.
pub type Block = Box<[Step]>;

/// Where a step finds a value.
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

/// Comparisons that are tested without making a boolean.
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

/// What a comprehension or a fused aggregate makes of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// `[x | …]`
    Array,
    /// The same where nobody asks for its order.
    Bag,
    /// `{x | …}`
    Set,
    /// `{k: v | …}`
    Object,
}

/// One step. Its tag is a number of its own: left to the compiler it would share bits with what the steps hold, and
/// every turn of the interpreter would begin with arithmetic.
#[derive(Clone)]
#[repr(u8)]
pub enum Step {
    /// Goes down the input along known keys.
    Input {
        /// The keys.
        keys: Box<[Operand]>,
        /// Receives what is there.
        out: Slot,
    },
    /// Goes down a value along known keys.
    GetPath {
        /// Where to start.
        from: Operand,
        /// The keys.
        keys: Box<[Operand]>,
        /// Receives what is there.
        out: Slot,
    },
    /// Each element of an array, object or set.
    Each {
        /// What is walked.
        from: Operand,
        /// Receives the index, key or member.
        key: Option<Slot>,
        /// Receives the element, value or member.
        out: Slot,
        /// Path of `from` below `data` if it is a base document: where documents are replaced, the path of an element decides.
        base: Option<Box<BasePath>>,
    },
    /// Each element of a collection that may have a known value at a known place; what follows tests that it has.
    Join(Box<Join>),
    /// A base document below which there are no rules.
    Base {
        /// Its path.
        path: Box<[ConstId]>,
        /// Receives it.
        out: Slot,
    },
    /// The value below a base document along known keys, where a number is the key of its text.
    BaseChild {
        /// A base document.
        from: Operand,
        /// Receives what is there.
        out: Slot,
        /// The keys.
        keys: Box<[Operand]>,
        /// Path of `from` below `data`: where documents are replaced, the whole path decides.
        path: Box<BasePath>,
    },
    /// The document of a rule: its value, or its full extent.
    Rule {
        /// The rule.
        rule: RuleId,
        /// Receives the document.
        out: Slot,
    },
    /// What lies below a partial rule under known keys.
    Keyed {
        /// The rule.
        rule: RuleId,
        /// The keys, at most as many as the rule's head has.
        keys: Box<[Operand]>,
        /// Receives the value; a member of a set is the key asked with.
        out: Slot,
    },
    /// The document at a path of `data` that is known only now, or that mixes rules and base data.
    Document {
        /// The path below `data`.
        path: Box<[Operand]>,
        /// Receives the document.
        out: Slot,
    },
    /// Each key of the document at a path of `data`.
    Keys {
        /// The path below `data`.
        path: Box<[Operand]>,
        /// Receives the key.
        key: Slot,
        /// Receives what is under it, when that is asked for.
        value: Option<Slot>,
    },
    /// Calls a built-in.
    Call {
        /// The call.
        call: Box<BuiltinCall>,
        /// Receives the result.
        out: Slot,
    },
    /// Calls a function that the host added.
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
    /// Each path and value of the tree below a value.
    Descend {
        /// The root.
        from: Operand,
        /// Receives the path, when it is wanted.
        path: Option<Slot>,
        /// Receives the value.
        value: Slot,
    },
    /// Goes on unless the value is `false`.
    IsTruthy(Operand),
    /// Goes on when both are equal.
    Equal(Operand, Operand),
    /// Goes on when the comparison holds.
    Compare(Comparison, Operand, Operand),
    /// Goes on when a collection (the second) holds a value.
    Member(Operand, Operand),
    /// The same where one collection is asked again and again.
    Among(Operand, Operand),
    /// Goes on when the test of two texts holds, or what the built-in that it stands for answers.
    Test(TextTest, Box<BuiltinCall>),
    /// Goes on when the conditions hold without which the rule is not entered.
    Precheck(Box<Precheck>),
    /// Never goes on.
    Fail,
    /// Goes on when the value may equal what a comprehension makes of a kind: it is of that kind, or a set, with which OPA
    /// compares any.
    MayEqual(Operand, Kind),
    /// Goes on when the value is an array of that length.
    IsArray(Operand, u32),
    /// Goes on when the value is an object of that size.
    IsObject(Operand, u32),
    /// Makes an array.
    Array {
        /// The elements.
        items: Box<[Operand]>,
        /// Receives it.
        out: Slot,
    },
    /// Makes a set.
    Set {
        /// The members.
        items: Box<[Operand]>,
        /// Receives it.
        out: Slot,
    },
    /// Makes an object.
    Object {
        /// The pairs; in the order of the keys when these are known.
        pairs: Box<[(Operand, Operand)]>,
        /// The keys, when they are known.
        shape: Option<Arc<Shape>>,
        /// Receives it.
        out: Slot,
    },
    /// Collects what a block's leaf produces.
    Collect {
        /// Into what.
        into: Collector,
        /// The body.
        block: Block,
        /// Receives the collection.
        out: Slot,
    },
    /// An aggregate of what a block's leaf produces.
    Aggregate(Box<Aggregate>),
    /// Goes on when the block has no solution.
    Not(Block),
    /// Goes on when each element satisfies a block.
    Every(Box<Every>),
    /// Goes on when both blocks have a solution.
    And(Box<(Block, Block)>),
    /// Goes on when one of the blocks has a solution.
    Or(Box<(Block, Block)>),
    /// Goes on when a rule holds that is `true` or nothing.
    Any(Box<Any>),
    /// Goes on with the result of a function, whose bodies stand here.
    Inlined(Box<Inlined>),
    /// Goes on with the bodies of a rule in the place of its document; nothing follows it in its block.
    Fused(Box<FusedSet>),
    /// Replaces documents and functions until the matching [`Step::EndWith`].
    With(Box<With>),
    /// Ends the innermost [`Step::With`].
    EndWith,
    /// Leaf: there is a solution.
    Exists,
    /// Leaf: the member asked for is in the set.
    MemberFound,
    /// Leaf: the value of a complete rule or function.
    Value(Operand),
    /// Leaf: an element of an array.
    Append(Operand),
    /// Leaf: a member of a set.
    Insert(Operand),
    /// Leaf: a member of a set that all solutions have in common, so that one is enough.
    InsertOnce(Operand),
    /// Leaf: a pair of an object; equal keys must have equal values.
    Put {
        /// The key.
        key: Operand,
        /// The value.
        value: Operand,
        /// Place of the key, for the conflict error.
        span: Span,
    },
    /// Leaf: a value, or a member of a set, somewhere below a partial rule.
    Produce {
        /// Keys below the rule, known ones left out.
        path: Box<[Operand]>,
        /// The value or the member.
        value: Operand,
        /// Whether it is a member of a set.
        member: bool,
    },
    /// Leaf: a solution of a query, all of whose wanted values are in these places.
    Solution(Box<[Operand]>),
}

/// The path of a base document below `data`. A type of its own keeps the step small.
#[derive(Clone)]
pub struct BasePath(pub Box<[Operand]>);

/// A loop that is entered again and again over one collection, each time for the elements that have one value.
#[derive(Clone)]
pub struct Join {
    /// What is walked.
    pub from: Operand,
    /// Receives the index, key or member.
    pub key: Option<Slot>,
    /// Receives the element, value or member.
    pub out: Slot,
    /// Whether the value is at or below the key, not the element.
    pub by_key: bool,
    /// Where it is below that: constants.
    pub path: Box<[Operand]>,
    /// `true` if the path has keys of base documents, as in `Step::BaseChild`.
    pub is_base: bool,
    /// Path of `from` below `data`, as in `Step::Each`.
    pub base: Option<Box<BasePath>>,
    /// The value.
    pub known: Operand,
    /// The steps that find it, if only within the loop, which does not change it: lookups, and calls of built-ins.
    pub lookup: Box<[Step]>,
    /// Whether built-ins are called before the test. An evaluation that ends with the first error visits all elements.
    pub calls: bool,
}

impl Join {
    /// Elements below which a collection is gone over: that is soon done.
    pub const FEW: usize = 32;
}

/// Conditions that are looked at before a body.
#[derive(Clone)]
pub struct Precheck {
    /// The conditions.
    pub conditions: Conditions,
    /// Whether they always are; otherwise only where errors of built-ins end the evaluation.
    pub always: bool,
}

/// A call of a built-in.
#[derive(Clone)]
pub struct BuiltinCall {
    /// The built-in.
    pub entry: &'static Entry,
    /// Its operands.
    pub args: Box<[Operand]>,
    /// The call specialised for its constant operands.
    pub prepared: Option<Arc<dyn Prepared>>,
    /// Whether the operands behind the first are the elements of the array that is the second. The call takes those
    /// alone: the call is specialised for the first one.
    pub elements: bool,
    /// How it is answered for the most common operands where these lie.
    pub quick: Option<Intrinsic>,
    /// Place of the expression.
    pub span: Span,
}

impl BuiltinCall {
    /// The operands that the call takes.
    #[inline]
    pub fn taken(&self) -> &[Operand] {
        match &*self.args {
            [_, elements @ ..] if self.elements => elements,
            args => args,
        }
    }
}

/// What is tested of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// How two of them are related.
    Related(TextRelation),
    /// What a call is a test of whose other operands are constant.
    Prepared,
    /// What a call answers from strings where they lie.
    Quick,
}

impl TextTest {
    /// The test that a call makes.
    pub fn of(call: &BuiltinCall) -> Option<Self> {
        let prepared = call.prepared.as_ref();
        if prepared.is_some_and(|prepared| prepared.tested().is_some()) {
            return Some(Self::Prepared);
        }
        if call
            .quick
            .is_some_and(|quick| quick.answer() == Some(IntrinsicResult::Bool))
        {
            return Some(Self::Quick);
        }
        call.entry.builtin.relation.map(Self::Related)
    }
}

/// A call of a function that the host added.
#[derive(Clone)]
pub struct HostCall {
    /// Its position among the program's functions of that kind.
    pub function: u32,
    /// Its arguments.
    pub args: Box<[Operand]>,
    /// Place of the expression.
    pub span: Span,
}

/// A call of a function of the policy.
#[derive(Clone)]
pub struct FunctionCall {
    /// The function.
    pub rule: RuleId,
    /// Its arguments.
    pub args: Box<[Operand]>,
    /// Place of the expression.
    pub span: Span,
}

/// An aggregate that takes the elements of a comprehension one by one.
#[derive(Clone)]
pub struct Aggregate {
    /// The aggregate.
    pub aggregation: Aggregation,
    /// What the comprehension would make.
    pub into: Collector,
    /// Its body.
    pub block: Block,
    /// Holds the collection where the built-in is replaced, which sees it then.
    pub slot: Slot,
    /// The call of the built-in.
    pub call: BuiltinCall,
    /// Receives the result.
    pub out: Slot,
}

/// `every key, value in domain { … }`
#[derive(Clone)]
pub struct Every {
    /// What is walked.
    pub domain: Operand,
    /// Receives the key.
    pub key: Option<Slot>,
    /// Receives the value.
    pub value: Slot,
    /// Must have a solution each time.
    pub block: Block,
}

/// The modifiers of one expression, in source order.
#[derive(Clone)]
pub struct With {
    /// What they replace.
    pub modifiers: Box<[Target]>,
    /// Place of the expression.
    pub span: Span,
}

/// What a modifier replaces, and by what.
#[derive(Clone)]
pub enum Target {
    /// The input below a path.
    Input(Box<[ConstId]>, Operand),
    /// Documents below a path of `data`.
    Data(Box<[ConstId]>, Operand),
    /// A built-in or a function, by a function of the policy.
    ByRule(Callee, RuleId),
    /// A built-in or a function, by a built-in.
    ByBuiltin(Callee, &'static Entry),
    /// A built-in or a function, by a value.
    ByValue(Callee, Operand),
    /// A path with a step that is no string. Nothing is there to be replaced.
    Nowhere,
}

/// Something that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function of the policy.
    Rule(RuleId),
    /// A built-in, by name.
    Builtin(&'static str),
    /// A function that the host added.
    HostFunction(u32),
}
