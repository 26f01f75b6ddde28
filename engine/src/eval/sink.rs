//! Where the leaves of running blocks put what they find.

use crate::value::{ObjectBuilder, SetBuilder, V};

use super::extent::Extent;

/// What the innermost running block produces.
pub(super) enum Sink<'e> {
    /// The value of a complete rule or function.
    Value {
        /// The value so far.
        found: Option<V<'e>>,
        /// Whether the first value ends the search.
        early: bool,
        /// Whether the rule that runs has produced a value.
        hit: bool,
    },
    /// An array.
    Array(bumpalo::collections::Vec<'e, V<'e>>),
    /// A set.
    Set(SetBuilder<'e>),
    /// An object.
    Object(ObjectBuilder<'e>),
    /// The document of a partial rule.
    Extent(Extent<'e>),
    /// Solutions of a query.
    Rows(Vec<Vec<V<'e>>>),
}
