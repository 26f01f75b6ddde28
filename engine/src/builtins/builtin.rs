//! One row of the table of built-ins.

use std::sync::Arc;

use super::{Aggregation, BuiltinContext, BuiltinError, IntrinsicFunction, IntrinsicResult};
use crate::value::{TextView, ValueRef};

/// A function of the table.
pub type Function =
    for<'e> fn(&mut BuiltinContext<'e>, &[ValueRef<'e>]) -> Result<ValueRef<'e>, BuiltinError>;

/// Prepares a call some of whose operands are constants; `None` when that gains nothing. A constant that
/// makes every call fail must not be prepared: the failure belongs to the evaluation.
pub type Specialise = fn(&[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>>;

/// A call whose constant operands were worked on at compile time (a compiled regular expression).
pub trait Prepared: Send + Sync {
    /// Calls it with all operands, the constant ones too.
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError>;

    /// The same call for the elements of its second and last operand, an array of so many; the first one is constant.
    /// `None` when the call wants the array.
    fn with_elements(&self, _elements: usize) -> Option<Arc<dyn Prepared>> {
        None
    }

    /// The position of the one operand that the call is a test of, when that is a string.
    fn tested(&self) -> Option<usize> {
        None
    }

    /// What [`Self::call`] answers for a string at that position.
    fn test(&self, _text: &TextView<'_>) -> bool {
        false
    }

    /// The position of the one operand that is not constant, and what [`Self::answer`] stands for, when that is worth
    /// asking.
    fn intrinsic_operand(&self) -> Option<(usize, IntrinsicResult)> {
        None
    }

    /// The answer for a string at that position, as far as [`IntrinsicFunction`] knows it.
    fn intrinsic_result(&self, _text: &[u8]) -> Option<i64> {
        None
    }
}

/// One entry of the table.
pub struct Builtin {
    /// Published name.
    pub name: &'static str,
    /// Declaration: `haystack: string, needle: string => output: boolean`, in the notation of
    /// `types::parse`; `...: any => void` for variadic and void functions.
    pub signature: &'static str,
    /// One line for capabilities and documentation.
    pub doc: &'static str,
    /// The headings under which capabilities list it, but for the first part of its name, which goes without saying.
    pub categories: &'static [&'static str],
    /// The operator that stands for it between operands (`+`); empty for others.
    pub infix: &'static str,
    /// Whether equal calls may answer differently.
    pub nondeterministic: bool,
    /// Whether v1 modules may not call it.
    pub deprecated: bool,
    /// How it is evaluated.
    pub run: Run,
    /// Preparation of calls with constant operands.
    pub specialise: Option<Specialise>,
    /// The answer for strings in their usual forms.
    pub intrinsic: Option<IntrinsicFunction>,
    /// Whether it waits for the outside, so that its calls may take long.
    pub waits: bool,
    /// Whether it only holds, compares or hashes the elements of collections, so that it may take collections with more
    /// parts than anybody may go through.
    pub accepts_oversized: bool,
    /// The aggregate that it is, which can be fused with the comprehension it is asked of.
    pub aggregation: Option<Aggregation>,
    /// The relation of two texts that it tells.
    pub relation: Option<TextRelation>,
    /// What those who listen to an evaluation see of its calls.
    pub observed: Option<Observed>,
    /// Whether it neither fails nor is seen, whatever it is called with.
    pub silent: bool,
    /// What an index asks in its place.
    pub test: Option<IndexTest>,
}

/// What a call tests, as an index asks for it without the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTest {
    /// Whether both operands are the same.
    Equality,
    /// Whether the first operand is in the second.
    Member,
    /// Whether the first operand begins with the second, or with one of its texts.
    Prefix,
    /// Whether the first operand ends with the second, or with one of its texts.
    Suffix,
    /// Whether the second operand lies in the network that the first one is.
    Network,
    /// Whether the second operand matches the regular expression that the first one is.
    Pattern,
    /// Whether the third operand matches the glob that the first one is, between the delimiters of the second.
    Glob,
    /// What the parts of the first operand are, between the delimiters that the second one is.
    Split,
}

impl IndexTest {
    /// Whether the published index asks for it too, equality apart.
    pub fn is_in_opa_index(self) -> bool {
        matches!(
            self,
            Self::Member | Self::Prefix | Self::Suffix | Self::Glob
        )
    }
}

/// A relation of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRelation {
    /// The first begins with the second.
    Starts,
    /// The first ends with the second.
    Ends,
    /// The first contains the second.
    Contains,
}

/// What those who listen to an evaluation see of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A printed line.
    Print,
    /// A note of a trace.
    Note,
    /// The name of a case of a test.
    TestCase,
}

/// How a built-in is evaluated.
#[derive(Clone, Copy)]
pub enum Run {
    /// By a function.
    Function(Function),
    /// By the evaluator itself: `eq`, `assign`, `walk`.
    Evaluator,
}

impl Builtin {
    /// A deterministic function without an operator.
    pub const fn new(
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
        run: Function,
    ) -> Self {
        Self::plain(name, signature, doc, Run::Function(run))
    }

    /// A built-in that the evaluator itself carries out.
    pub const fn evaluator(name: &'static str, signature: &'static str, doc: &'static str) -> Self {
        Self::plain(name, signature, doc, Run::Evaluator)
    }

    const fn plain(
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
        run: Run,
    ) -> Self {
        Self {
            name,
            signature,
            doc,
            categories: &[],
            infix: "",
            nondeterministic: false,
            deprecated: false,
            run,
            specialise: None,
            intrinsic: None,
            waits: false,
            accepts_oversized: false,
            aggregation: None,
            relation: None,
            observed: None,
            silent: false,
            test: None,
        }
    }

    /// With an operator.
    #[must_use]
    pub const fn infix(mut self, operator: &'static str) -> Self {
        self.infix = operator;
        self
    }

    /// Marked as deprecated.
    #[must_use]
    pub const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    /// Marked as nondeterministic.
    #[must_use]
    pub const fn nondeterministic(mut self) -> Self {
        self.nondeterministic = true;
        self
    }

    /// With a preparation for constant operands.
    #[must_use]
    pub const fn specialise(mut self, prepare: Specialise) -> Self {
        self.specialise = Some(prepare);
        self
    }

    /// With an answer for strings in their usual forms.
    #[must_use]
    pub const fn quick(mut self, quick: IntrinsicFunction) -> Self {
        self.intrinsic = Some(quick);
        self
    }

    /// Marked as one that waits for the outside.
    #[must_use]
    pub const fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Marked as one that only holds, compares or hashes elements.
    #[must_use]
    pub const fn holding(mut self) -> Self {
        self.accepts_oversized = true;
        self
    }

    /// Marked as an aggregate.
    #[must_use]
    pub const fn aggregating(mut self, aggregation: Aggregation) -> Self {
        self.aggregation = Some(aggregation);
        self
    }

    /// Marked as a relation of two texts.
    #[must_use]
    pub const fn relating(mut self, relation: TextRelation) -> Self {
        self.relation = Some(relation);
        self
    }

    /// Listed under headings.
    #[must_use]
    pub const fn listed(mut self, categories: &'static [&'static str]) -> Self {
        self.categories = categories;
        self
    }

    /// Marked as one that neither fails nor is seen.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// With what an index asks in its place.
    #[must_use]
    pub const fn testing(mut self, test: IndexTest) -> Self {
        self.test = Some(test);
        self
    }

    /// Marked as one that is seen to be called.
    #[must_use]
    pub const fn observed(mut self, observed: Observed) -> Self {
        self.observed = Some(observed);
        self
    }
}
