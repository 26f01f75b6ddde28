//! Built-in functions: the one table, and a file for each family.

#![allow(
    clippy::unnecessary_wraps,
    reason = "all functions of the table have one signature"
)]

pub mod call;
pub mod custom;
pub mod fault;
pub mod operands;
pub mod patterns;
mod runes;

mod aggregates;
mod arithmetic;
mod arrays;
mod bits;
mod comparison;
mod conversions;
mod encoding;
mod glob;
mod graph;
mod graphql;
mod hashes;
mod json;
mod net;
mod numbers;
mod objects;
mod occurrences;
mod parsing;
mod printing;
mod regex;
mod semver;
mod sets;
mod sprintf;
mod strings;
mod surroundings;
mod time;
mod types;
mod units;
mod uuid;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

pub use call::{Budget, Call};
pub use custom::{Custom, CustomBody};
pub use fault::{Fault, FaultCode, FaultError};
pub use operands::{Members, Operands};
pub use patterns::Patterns;

use crate::types::Type;
use crate::value::V;

/// A function of the table.
pub type Function = for<'e> fn(&mut Call<'e>, &[V<'e>]) -> Result<V<'e>, Fault>;

/// Prepares a call some of whose operands are constants; `None` when that gains nothing. A constant that
/// makes every call fail must not be prepared: the failure belongs to the evaluation.
pub type Specialise = fn(&[Option<V<'_>>]) -> Option<Arc<dyn Prepared>>;

/// A call whose constant operands were worked on at compile time (a compiled regular expression).
pub trait Prepared: Send + Sync {
    /// Calls it with all operands, the constant ones too.
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault>;
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
        Self {
            name,
            signature,
            doc,
            infix: "",
            nondeterministic: false,
            deprecated: false,
            run: Run::Function(run),
            specialise: None,
        }
    }

    /// A built-in that the evaluator itself carries out.
    pub const fn evaluator(name: &'static str, signature: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            signature,
            doc,
            infix: "",
            nondeterministic: false,
            deprecated: false,
            run: Run::Evaluator,
            specialise: None,
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
    hashes::TABLE,
    uuid::TABLE,
    time::TABLE,
];

/// An entry with its parsed declaration.
pub struct Entry {
    /// The entry.
    pub builtin: &'static Builtin,
    /// Its function type.
    pub declaration: Type,
}

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

/// Finds a built-in by its published name.
pub fn lookup(name: &str) -> Option<&'static Entry> {
    TABLE.get(name)
}

/// All built-ins, in no order.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    TABLE.values()
}
