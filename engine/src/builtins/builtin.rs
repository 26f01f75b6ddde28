//! Rows of the table of built-ins.

use std::sync::Arc;

use super::{Aggregation, BuiltinContext, BuiltinError, IntrinsicFunction, IntrinsicResult};
use crate::value::{TextView, ValueRef};

/// Code of a built-in, called with evaluated operands. The compiler guarantees their number.
pub type Function =
    for<'e> fn(&mut BuiltinContext<'e>, &[ValueRef<'e>]) -> Result<ValueRef<'e>, BuiltinError>;

/// Prepares a call with some constant operands (`Some`). Returns `None` if preparing gains nothing.
///
/// Must return `None` for a constant that makes every call fail, because the error belongs to the evaluation.
pub type Specialise = fn(&[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>>;

/// A call whose constant operands were processed at compile time, such as a compiled regular expression.
pub trait Prepared: Send + Sync {
    /// Calls it with all operands, including the constant ones.
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError>;

    /// Returns the same call, adapted to a second and last operand with `_elements` elements that are passed one by
    /// one; the first operand is constant. Returns `None` if the call needs the array itself.
    fn with_elements(&self, _elements: usize) -> Option<Arc<dyn Prepared>> {
        None
    }

    /// Returns the index of the only operand that is not constant, if [`Self::test`] can evaluate the call for strings.
    fn tested(&self) -> Option<usize> {
        None
    }

    /// Returns the result of [`Self::call`] for a string as that operand.
    fn test(&self, _text: &TextView<'_>) -> bool {
        false
    }

    /// Returns the index of the only operand that is not constant, and the kind of [`Self::intrinsic_result`], if the
    /// call has an intrinsic.
    fn intrinsic_operand(&self) -> Option<(usize, IntrinsicResult)> {
        None
    }

    /// Returns the result for a string as that operand, or `None` if the full call must decide, as for [`IntrinsicFunction`].
    fn intrinsic_result(&self, _text: &[u8]) -> Option<i64> {
        None
    }
}

/// A row of the table.
pub struct Builtin {
    /// Name, as policies call it.
    pub name: &'static str,
    /// Signature: `haystack: string, needle: string => output: boolean`, in the notation of `types::parse`. `...: any
    /// => void` denotes variadic and void functions.
    pub signature: &'static str,
    /// One-line description for capabilities and documentation.
    pub doc: &'static str,
    /// Categories in capabilities, except for the first segment of its name, which is implied.
    pub categories: &'static [&'static str],
    /// Infix operator (`+`), or empty.
    pub infix: &'static str,
    /// `true` if equal calls may return different results.
    pub nondeterministic: bool,
    /// `true` if v1 modules must not call it.
    pub deprecated: bool,
    /// The function to call, unless the evaluators implement the built-in.
    pub run: BuiltinFn,
    /// Prepares calls with constant operands.
    pub specialise: Option<Specialise>,
    /// Fast path for strings in common formats.
    pub intrinsic: Option<IntrinsicFunction>,
    /// `true` if it waits for external I/O, so that its calls may take long.
    pub waits: bool,
    /// `true` if it only stores, compares or hashes the elements of collections. Such functions accept collections that
    /// exceed the traversal limit.
    pub accepts_oversized: bool,
    /// The aggregate that it computes, which can be fused with the comprehension in its operand.
    pub aggregation: Option<Aggregation>,
    /// The relation of two strings that it tests.
    pub relation: Option<TextRelation>,
    /// Effect of its calls that the caller can observe.
    pub observed: Option<Observed>,
    /// `true` if it has no observable effect and cannot fail, whatever its operands are.
    pub silent: bool,
    /// Test that a rule index performs instead of the call.
    pub test: Option<IndexTest>,
}

/// Test of a call that a rule index can perform without the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTest {
    /// The operands are equal.
    Equality,
    /// The second operand contains the first.
    Member,
    /// The first operand begins with the second, or with one of the strings in it.
    Prefix,
    /// The first operand ends with the second, or with one of the strings in it.
    Suffix,
    /// The network in the first operand contains the address in the second.
    Network,
    /// The second operand matches the regular expression in the first.
    Pattern,
    /// The third operand matches the glob in the first, with the delimiters in the second.
    Glob,
    /// The segments of the first operand between the delimiters in the second.
    Split,
}

impl IndexTest {
    /// Returns `true` if OPA's rule index performs this test, too. Equality is not included.
    pub fn is_in_opa_index(self) -> bool {
        matches!(
            self,
            Self::Member | Self::Prefix | Self::Suffix | Self::Glob
        )
    }
}

/// Relation of two strings, which the evaluator tests in place of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRelation {
    /// The first begins with the second.
    Starts,
    /// The first ends with the second.
    Ends,
    /// The first contains the second.
    Contains,
}

/// Observable effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A line for the handler of `print`.
    Print,
    /// A note, which traces contain.
    Note,
    /// The name of a test case, for the test runner.
    TestCase,
}

/// Implementation of a built-in: a function, or code of the evaluators.
#[derive(Clone, Copy)]
pub enum BuiltinFn {
    /// A function of this module.
    Function(Function),
    /// Implemented by the evaluator: `eq`, `assign`, `walk`.
    Evaluator,
}

impl Builtin {
    /// Returns a deterministic function without an operator.
    pub const fn new(
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
        run: Function,
    ) -> Self {
        Self::plain(name, signature, doc, BuiltinFn::Function(run))
    }

    /// Returns a built-in without a function: the evaluators implement it.
    pub const fn evaluator(name: &'static str, signature: &'static str, doc: &'static str) -> Self {
        Self::plain(name, signature, doc, BuiltinFn::Evaluator)
    }

    const fn plain(
        name: &'static str,
        signature: &'static str,
        doc: &'static str,
        run: BuiltinFn,
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

    /// Sets the infix operator, as policies write it.
    #[must_use]
    pub const fn infix(mut self, operator: &'static str) -> Self {
        self.infix = operator;
        self
    }

    /// Marks it as deprecated. Strict mode rejects its calls.
    #[must_use]
    pub const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    /// Marks it as nondeterministic: two calls with the same operands may have different results.
    #[must_use]
    pub const fn nondeterministic(mut self) -> Self {
        self.nondeterministic = true;
        self
    }

    /// Sets the preparation for constant operands.
    #[must_use]
    pub const fn specialise(mut self, prepare: Specialise) -> Self {
        self.specialise = Some(prepare);
        self
    }

    /// Sets the fast path for strings in common formats.
    #[must_use]
    pub const fn quick(mut self, quick: IntrinsicFunction) -> Self {
        self.intrinsic = Some(quick);
        self
    }

    /// Marks it as waiting for external I/O.
    #[must_use]
    pub const fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Marks it as accepting collections that exceed the traversal limit.
    #[must_use]
    pub const fn holding(mut self) -> Self {
        self.accepts_oversized = true;
        self
    }

    /// Sets the aggregate that it computes, so that no collection is built for it.
    #[must_use]
    pub const fn aggregating(mut self, aggregation: Aggregation) -> Self {
        self.aggregation = Some(aggregation);
        self
    }

    /// Sets the relation that it tests.
    #[must_use]
    pub const fn relating(mut self, relation: TextRelation) -> Self {
        self.relation = Some(relation);
        self
    }

    /// Sets its categories, under which the documentation lists it.
    #[must_use]
    pub const fn listed(mut self, categories: &'static [&'static str]) -> Self {
        self.categories = categories;
        self
    }

    /// Marks it as infallible and without observable effects.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Sets the test of a rule index that replaces it.
    #[must_use]
    pub const fn testing(mut self, test: IndexTest) -> Self {
        self.test = Some(test);
        self
    }

    /// Sets its observable effect.
    #[must_use]
    pub const fn observed(mut self, observed: Observed) -> Self {
        self.observed = Some(observed);
        self
    }
}
