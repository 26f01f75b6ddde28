//! Options of filters: targets, unknowns, mappings.

use crate::filter::FilterTarget;
use crate::value::Value;

/// Options of a filter. Mappings and unknowns apply to all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FilterOptions {
    /// The targets. Each must be able to express the whole filter.
    pub targets: Vec<FilterTarget>,
    /// References that are unknown, for example `input.fruits`: the rows. If empty, those of the rule's METADATA.
    pub unknowns: Vec<String>,
    /// The rule that computes masks of columns: a reference, a path with slashes, or the last steps of a reference next to
    /// the filter's rule. If `None`, that of the rule's METADATA.
    pub mask_rule: Option<String>,
    /// Rules that compute masks of further columns, named the same way. They need `extensions` or `exact`.
    pub more_masks: Vec<String>,
    /// The documents that are not inlined, by reference.
    pub disable_inlining: Vec<String>,
    /// The names that the database has for tables and columns: an object of tables, or one of those for each dialect.
    pub mappings: Option<Value>,
    /// `true` if SQL contains placeholders and the values are returned separately.
    pub parameters: bool,
    /// `true` if SQL is the condition alone, without `WHERE`.
    pub bare: bool,
    /// `true` if exactly the rows for which the rule is true are kept, provided that tables are as `mappings` declare
    /// them. There each named column is an object with `kind` (`text`, `integer`, `decimal`, `boolean`), `nullable`
    /// and, for texts, `collation`. SQL only.
    pub exact: bool,
    /// `true` if conditions that OPA's targets reject are translated where SQL can express them exactly, as with
    /// `exact`: negations of all comparisons, and substrings in SQLite.
    pub extensions: bool,
    /// `true` if a rule or a mask rule that does not exist is undefined, as in OPA's API: the filter keeps no row, or no
    /// column is masked. Otherwise it is an error.
    pub allow_undefined: bool,
}

impl FilterOptions {
    /// Creates options for targets, with the defaults otherwise.
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

    /// Sets the references that are unknown, such as `input.fruits`. Replaces earlier ones.
    #[must_use]
    pub fn unknowns<S: Into<String>>(mut self, unknowns: impl IntoIterator<Item = S>) -> Self {
        self.unknowns = unknowns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the rule that computes masks: `data.a.b`, `a/b`, or a name in the package of the filter. Without it the rule that the METADATA of the
    /// filter names is used, if any.
    #[must_use]
    pub fn mask_rule(mut self, rule: impl Into<String>) -> Self {
        self.mask_rule = Some(rule.into());
        self
    }

    /// Sets rules that compute masks of further columns.
    #[must_use]
    pub fn more_masks<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.more_masks = rules.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the documents that are not inlined, by reference. Replaces earlier ones.
    #[must_use]
    pub fn disable_inlining(mut self, references: Vec<String>) -> Self {
        self.disable_inlining = references;
        self
    }

    /// Sets the database's names for tables and columns.
    #[must_use]
    pub fn mappings(mut self, mappings: Value) -> Self {
        self.mappings = Some(mappings);
        self
    }

    /// Sets whether SQL contains placeholders, with the values returned separately.
    #[must_use]
    pub fn parameters(mut self, parameters: bool) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets whether exactly the rows for which the rule is true are kept, provided that tables are as the mappings
    /// declare them.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// Sets whether conditions that OPA's targets reject are translated where SQL can express them exactly.
    #[must_use]
    pub fn extensions(mut self, extensions: bool) -> Self {
        self.extensions = extensions;
        self
    }

    /// Sets whether a rule that does not exist is undefined instead of an error.
    #[must_use]
    pub fn allow_undefined(mut self, allow: bool) -> Self {
        self.allow_undefined = allow;
        self
    }

    /// Leaves out `WHERE`.
    #[must_use]
    pub fn bare(mut self, bare: bool) -> Self {
        self.bare = bare;
        self
    }
}
