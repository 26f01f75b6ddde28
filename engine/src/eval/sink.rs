//! Where the leaves of running blocks put what they find.

use crate::builtins::Fold;
use crate::program::Rule;
use crate::runtime::DocumentBuilder;
use crate::value::{ObjectBuilder, SetBuilder, ValueRef};

/// What is said of a leaf that meets what it cannot fill.
pub(super) const WRONG_SINK: &str = "a plan produces what nobody collects";

/// What the innermost running block produces.
#[derive(Default)]
pub(super) enum Sink<'e> {
    /// Nothing.
    #[default]
    None,
    /// An array.
    Array(bumpalo::collections::Vec<'e, ValueRef<'e>>),
    /// A set.
    Set(SetBuilder<'e>),
    /// An object.
    Object(ObjectBuilder<'e>),
    /// The document of a partial rule.
    DocumentBuilder(DocumentBuilder<'e>),
    /// An aggregate.
    Fold(Fold<'e>),
    /// Solutions of a query.
    Rows(Vec<Vec<ValueRef<'e>>>),
}

/// Whether the array that is being filled has an order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It has.
    Preserved,
    /// Nobody asks for it.
    Free,
    /// Elements came in another order.
    Lost,
}

/// The value that a running complete rule or function has so far. Apart from the sinks because it is small and
/// most rules need nothing else.
#[derive(Clone, Copy)]
pub(super) struct Produced<'e> {
    /// The value.
    pub found: Option<ValueRef<'e>>,
    /// Whether the first value ends the search.
    pub early: bool,
    /// Whether the rule that runs has produced a value.
    pub hit: bool,
    /// The rule, or the member of its else chain, that runs.
    pub rule: Option<&'e Rule>,
}

impl<'e> Produced<'e> {
    /// No value yet of a rule that runs.
    pub fn by(rule: &'e Rule, early: bool) -> Self {
        Self {
            rule: Some(rule),
            ..Self::nothing(early)
        }
    }

    /// No value yet.
    pub fn nothing(early: bool) -> Self {
        Self {
            found: None,
            early,
            hit: false,
            rule: None,
        }
    }
}
