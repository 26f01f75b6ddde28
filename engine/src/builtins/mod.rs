//! Built-in functions: the one table, and a file for each family.

#![allow(
    clippy::unnecessary_wraps,
    reason = "all functions of the table have one signature"
)]

pub mod call;
pub mod capabilities;
pub mod custom;
pub mod fault;
mod folds;
pub mod operands;
mod outlines;
pub mod patterns;
mod quick;
mod recorded;
mod runes;
mod tested;

mod aggregates;
mod arithmetic;
mod arrays;
mod aws;
mod bits;
mod comparison;
mod conversions;
#[cfg(feature = "crypto")]
mod crypto;
mod encoding;
pub(crate) mod glob;
mod graph;
mod graphql;
mod hashes;
pub mod http;
mod json;
#[cfg(feature = "crypto")]
mod jwt;
mod lookup;
mod metadata;
mod nd_cache;
pub(crate) mod net;
mod numbers;
mod objects;
mod occurrences;
mod parsing;
mod pem;
mod printing;
pub(crate) mod regex;
mod semver;
mod sets;
mod sprintf;
mod strings;
mod surroundings;
mod template;
mod time;
mod types;
mod units;
mod uri;
mod uuid;

use hashbrown::HashMap;
use std::sync::{Arc, LazyLock};

pub(crate) use call::Left;
pub use call::{Budget, Call};
pub use capabilities::{Capabilities, CapabilitiesError};
pub use comparison::has_element;
pub use custom::{Custom, CustomBody};
pub use fault::{Fault, FaultCode, FaultError};
pub use folds::{Aggregation, Fold};
pub use graph::Graphs;
pub use http::SendMetrics;
pub use metadata::ResponseMetadata;
pub use nd_cache::NdBuiltinCache;
pub use operands::{Members, Operands};
pub use outlines::{may_be_deprecated_below, may_be_plain};
pub use patterns::Patterns;
pub use quick::{Answer, Quick};
pub(crate) use recorded::Recorded;
pub use regex::is_pattern;

use solon_syntax::source::Span;

use crate::limits;
use crate::types::Type;
use crate::value::{TextView, V};

/// A function of the table.
pub type Function = for<'e> fn(&mut Call<'e>, &[V<'e>]) -> Result<V<'e>, Fault>;

/// Prepares a call some of whose operands are constants; `None` when that gains nothing. A constant that
/// makes every call fail must not be prepared: the failure belongs to the evaluation.
pub type Specialise = fn(&[Option<V<'_>>]) -> Option<Arc<dyn Prepared>>;

/// A call whose constant operands were worked on at compile time (a compiled regular expression).
pub trait Prepared: Send + Sync {
    /// Calls it with all operands, the constant ones too.
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault>;

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
    fn quick(&self) -> Option<(usize, Answer)> {
        None
    }

    /// The answer for a string at that position, as far as [`Quick`] knows it.
    fn answer(&self, _text: &[u8]) -> Option<i64> {
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
    pub quick: Option<Quick>,
}

/// How a built-in is evaluated.
#[derive(Clone, Copy)]
pub enum Run {
    /// By a function.
    Function(Function),
    /// By the evaluator itself: `eq`, `assign`, `walk`, `rego.metadata.*`.
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
            infix: "",
            nondeterministic: false,
            deprecated: false,
            run,
            specialise: None,
            quick: None,
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
    pub const fn quick(mut self, quick: Quick) -> Self {
        self.quick = Some(quick);
        self
    }
}

/// All families, in the order of their files.
const FAMILIES: &[&[Builtin]] = &[
    comparison::TABLE,
    arithmetic::TABLE,
    bits::TABLE,
    numbers::TABLE,
    aggregates::TABLE,
    arrays::TABLE,
    sets::TABLE,
    objects::TABLE,
    strings::TABLE,
    sprintf::TABLE,
    template::TABLE,
    regex::TABLE,
    glob::TABLE,
    types::TABLE,
    conversions::TABLE,
    encoding::TABLE,
    units::TABLE,
    semver::TABLE,
    json::TABLE,
    graph::TABLE,
    graphql::TABLE,
    printing::TABLE,
    surroundings::TABLE,
    parsing::TABLE,
    net::TABLE,
    lookup::TABLE,
    http::TABLE,
    hashes::TABLE,
    #[cfg(feature = "crypto")]
    crypto::TABLE,
    #[cfg(feature = "crypto")]
    jwt::TABLE,
    aws::TABLE,
    uuid::TABLE,
    uri::TABLE,
    time::TABLE,
];

/// An entry with its parsed declaration.
pub struct Entry {
    /// The entry.
    pub builtin: &'static Builtin,
    /// Its function type.
    pub declaration: Type,
}

/// Whether work on an operand may take so long that it has to be asked first whether the evaluation may go on.
#[inline]
fn is_large(operand: &V<'_>) -> bool {
    match operand {
        V::Text(_) | V::Bytes(_) | V::NewText(_) => {
            operand.text_or_empty().as_bytes().len() > limits::LARGE_OPERAND
        }
        V::Array(items) => items.len() > limits::LARGE_OPERAND,
        V::NewArray(items) => items.len() > limits::LARGE_OPERAND,
        V::Object(object) => object.len() > limits::LARGE_OPERAND,
        V::NewObject(object) => object.len() > limits::LARGE_OPERAND,
        V::Set(set) => set.items().len() > limits::LARGE_OPERAND,
        V::NewSet(set) => set.len() > limits::LARGE_OPERAND,
        _ => false,
    }
}

/// The end of the evaluation, if one is due: an operand that did not fit is null, which is nothing to complain of.
#[cold]
pub fn after(call: &Call<'_>, fault: Fault) -> Fault {
    if call.arena.excess().is_some() || call.arena.ended().is_some() {
        return call.budget.check().err().unwrap_or(fault);
    }
    fault
}

impl Entry {
    /// Calls the built-in, with its constant operands worked in if `prepared` has them. Nondeterministic ones are
    /// asked once for equal operands when the decision notes their answers.
    pub fn call<'e>(
        &self,
        call: &mut Call<'e>,
        operands: &[V<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<V<'e>, Fault> {
        self.attempt(call, operands, prepared, span)
            .map_err(|fault| after(call, fault))
    }

    /// The same, but for what [`after`] makes of a fault.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a few instructions around the function, which a call would double"
    )]
    pub fn attempt<'e>(
        &self,
        call: &mut Call<'e>,
        operands: &[V<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<V<'e>, Fault> {
        if self.builtin.nondeterministic {
            return self.call_noted(call, operands, prepared, span);
        }
        self.run(call, operands, prepared)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `call`")]
    fn run<'e>(
        &self,
        call: &mut Call<'e>,
        operands: &[V<'e>],
        prepared: Option<&dyn Prepared>,
    ) -> Result<V<'e>, Fault> {
        if call.budget.is_timed() && operands.iter().any(is_large) {
            call.budget.check()?;
        }
        if call.arena.has_outsize() {
            self.refuse_outsize(operands)?;
        }
        match (prepared, self.builtin.run) {
            (Some(prepared), _) => prepared.call(call, operands),
            (None, Run::Function(function)) => function(call, operands),
            (None, Run::Evaluator) => Err(Fault::Undefined),
        }
    }

    /// Refuses operands with too many parts to go through, unless the function leaves those alone, or finds out itself.
    #[cold]
    fn refuse_outsize(&self, operands: &[V<'_>]) -> Result<(), Fault> {
        let beyond = operands.iter().any(V::is_outsize);
        if beyond && !LEAVES_ELEMENTS_ALONE.contains(&self.builtin.name) {
            return Err(Fault::memory());
        }
        Ok(())
    }

    #[cold]
    fn call_noted<'e>(
        &self,
        call: &mut Call<'e>,
        operands: &[V<'e>],
        prepared: Option<&dyn Prepared>,
        span: Span,
    ) -> Result<V<'e>, Fault> {
        call.span = span;
        let (name, arena) = (self.builtin.name, call.arena);
        let Some(cache) = call.nd_cache else {
            return self.run(call, operands, prepared);
        };
        if let Some(known) = cache.get(arena, name, operands) {
            return Ok(known);
        }
        let answer = self.run(call, operands, prepared)?;
        cache.put(arena, name, operands, answer);
        Ok(answer)
    }
}

/// Functions that only hold, compare or hash the elements of collections.
const LEAVES_ELEMENTS_ALONE: &[&str] = &[
    "and",
    "array.concat",
    "array.reverse",
    "array.slice",
    "count",
    "equal",
    "internal.member_2",
    "internal.member_3",
    "intersection",
    "is_array",
    "is_boolean",
    "is_null",
    "is_number",
    "is_object",
    "is_set",
    "is_string",
    "max",
    "min",
    "minus",
    "neq",
    "object.get",
    "object.keys",
    "object.remove",
    "or",
    "sort",
    "type_name",
    "union",
];

static TABLE: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    FAMILIES
        .iter()
        .flat_map(|family| family.iter())
        .map(|builtin| {
            (
                builtin.name,
                Entry {
                    builtin,
                    declaration: crate::types::parse_signature(builtin.signature),
                },
            )
        })
        .collect()
});

/// Whether a built-in waits for the outside, so that its calls may take long.
pub fn may_block(name: &str) -> bool {
    matches!(name, "http.send" | "net.lookup_ip_addr")
}

/// Whether such a built-in has a name of which this is the first part.
pub fn may_block_below(part: &str) -> bool {
    matches!(part, "http" | "net")
}

/// Finds a built-in by its published name.
pub fn lookup(name: &str) -> Option<&'static Entry> {
    TABLE.get(name)
}

/// All built-ins, in no order.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    TABLE.values()
}
