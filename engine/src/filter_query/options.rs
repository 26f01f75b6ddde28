//! What filters are made for.

use crate::filter::FilterTarget;
use crate::value::Value;

/// What a filter is compiled for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FilterOptions {
    /// The targets. Each must be able to say the whole filter.
    pub targets: Vec<FilterTarget>,
    /// What is unknown: the rows, by references like `input.fruits`. Where there is none, the METADATA of the rule tells.
    pub unknowns: Vec<String>,
    /// The rule that computes masks of columns: a reference, or the last steps of one beside the filter's rule. Without,
    /// the METADATA of the rule tells.
    pub mask_rule: Option<String>,
    /// Rules that compute masks of further columns, named likewise, where `extensions` or `exact` allow several.
    pub more_masks: Vec<String>,
    /// The documents that are not inlined, by reference.
    pub disable_inlining: Vec<String>,
    /// The names that the database has for tables and columns: an object of tables, or one of those for each dialect.
    pub mappings: Option<Value>,
    /// Whether SQL has placeholders, with the values beside it.
    pub parameters: bool,
    /// Whether SQL is the condition alone, without `WHERE`.
    pub bare: bool,
    /// Whether the rows that are kept are exactly those that are true, of every table that is as `mappings` declare it:
    /// there each named column is an object with `kind` (`text`, `integer`, `decimal`, `boolean`), `nullable` and, of texts,
    /// `collation`. SQL only.
    pub exact: bool,
    /// Whether what the published targets refuse is said where it can be said exactly, as `exact` does too: negations of
    /// all comparisons, and texts within texts in SQLite.
    pub extensions: bool,
}

impl FilterOptions {
    /// For these targets.
    pub fn new(targets: impl Into<Vec<FilterTarget>>) -> Self {
        Self {
            targets: targets.into(),
            ..Self::default()
        }
    }

    /// Returns the SQL condition that is never true, with `WHERE` unless `bare`. Language bindings use it for a filter that
    /// keeps no row, so that a caller who appends the condition without a check selects nothing.
    pub fn never_true(&self) -> &'static str {
        if self.bare { "1 = 0" } else { "WHERE 1 = 0" }
    }

    /// With these references unknown.
    #[must_use]
    pub fn unknowns<S: Into<String>>(mut self, unknowns: impl IntoIterator<Item = S>) -> Self {
        self.unknowns = unknowns.into_iter().map(Into::into).collect();
        self
    }

    /// With a rule that computes masks.
    #[must_use]
    pub fn mask_rule(mut self, rule: impl Into<String>) -> Self {
        self.mask_rule = Some(rule.into());
        self
    }

    /// With rules that compute masks of further columns.
    #[must_use]
    pub fn more_masks<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.more_masks = rules.into_iter().map(Into::into).collect();
        self
    }

    /// With documents that are not inlined, by reference.
    #[must_use]
    pub fn disable_inlining(mut self, references: Vec<String>) -> Self {
        self.disable_inlining = references;
        self
    }

    /// With the database's names for tables and columns.
    #[must_use]
    pub fn mappings(mut self, mappings: Value) -> Self {
        self.mappings = Some(mappings);
        self
    }

    /// With placeholders in SQL, and the values beside it.
    #[must_use]
    pub fn parameters(mut self, parameters: bool) -> Self {
        self.parameters = parameters;
        self
    }

    /// With exactly the rows that are true, of every table that is as the mappings declare it.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// With what the published targets refuse, where it can be said exactly.
    #[must_use]
    pub fn extensions(mut self, extensions: bool) -> Self {
        self.extensions = extensions;
        self
    }

    /// With the condition alone, without `WHERE`.
    #[must_use]
    pub fn bare(mut self, bare: bool) -> Self {
        self.bare = bare;
        self
    }
}
