//! Sinks: targets of the terminators of running blocks.

use crate::builtins::Fold;
use crate::program::Rule;
use crate::runtime::DocumentBuilder;
use crate::value::{ObjectBuilder, SetBuilder, ValueRef};

/// A terminator does not match its sink.
pub(super) const WRONG_SINK: &str = "a plan produces what nobody collects";

/// Target of the innermost running block.
#[derive(Default)]
pub(super) enum Sink<'e> {
    #[default]
    None,
    Array(bumpalo::collections::Vec<'e, ValueRef<'e>>),
    Set(SetBuilder<'e>),
    Object(ObjectBuilder<'e>),
    /// The document of a partial rule.
    DocumentBuilder(DocumentBuilder<'e>),
    Fold(Fold<'e>),
    /// Solutions of a query.
    Rows(Vec<Vec<ValueRef<'e>>>),
}

/// Order of the array that is being filled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FillOrder {
    Preserved,
    Free,
    /// Elements were added in another order.
    Lost,
}

/// The value of a running complete rule or function so far. Separate from the sinks because it is small and most rules
/// need nothing else.
#[derive(Clone, Copy)]
pub(super) struct Produced<'e> {
    pub found: Option<ValueRef<'e>>,
    /// `true` if the first value ends the search.
    pub early: bool,
    /// `true` if the running rule has produced a value.
    pub hit: bool,
    /// The running rule, or member of its `else` chain.
    pub rule: Option<&'e Rule>,
}

impl<'e> Produced<'e> {
    /// Creates the state of a running rule without a value.
    pub fn by(rule: &'e Rule, early: bool) -> Self {
        Self {
            rule: Some(rule),
            ..Self::nothing(early)
        }
    }

    /// Creates a state without a value.
    pub fn nothing(early: bool) -> Self {
        Self {
            found: None,
            early,
            hit: false,
            rule: None,
        }
    }
}
