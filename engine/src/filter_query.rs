//! Row filters, prepared once and compiled for each input.

mod explained;
mod options;

use std::str::FromStr;
use std::sync::Arc;

use solon_syntax::ast::{Name, Ref, Term, TermKind};
use solon_syntax::source::Span;

use crate::compile::Compiled;
use crate::compile::annotations::rule_path;
use crate::error::{Error, ErrorEntry, OptionError};
use crate::filter::{
    FilterCondition, FilterLanguage, FilterTarget, Hints, Manner, MappedNames, MappingError,
    Mappings, Rejection, Statement, check, conflicts, masks, merge_masks, resolve_literals, sql,
    ucast,
};
use crate::partial::Residuals;
use crate::partial_query::{PartialInner, PinnedPartial};
use crate::query::{Pinned, Recompiling, Request};
use crate::snapshot::Snapshot;
use crate::topdown::{SearchOptions, Shortcuts};
use crate::trace::{Observer, Timer};
use crate::value::Value;

pub use options::FilterOptions;

/// The result of compiling a rule to filters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Filters {
    /// The filter for each target, in the order of the options.
    pub filters: Vec<Filter>,
    /// Replacements of column values: `{table: {column: {"replace": {"value": …}}}}`. `None` if no column is masked or
    /// no row is kept.
    pub masks: Option<Value>,
    /// Hints for names that are not in the input, but are similar to the name of an unknown.
    pub hints: Vec<ErrorEntry>,
}

/// The filter for a target. Without a query, no row is kept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Filter {
    /// The target language.
    pub target: FilterTarget,
    /// Condition on the rows that are kept, or `None` if no row is kept.
    pub query: Option<FilterQuery>,
}

/// Condition on the rows that a filter keeps. The enum is exhaustive, so that callers cannot mistake an unhandled kind
/// for a filter that keeps no row.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterQuery {
    /// SQL text, empty if every row is kept.
    Sql(Statement),
    /// UCAST tree, an empty object if every row is kept.
    Ucast(Value),
}

impl Filters {
    /// Returns the filters in the format of OPA's API: `{"query": …, "masks": …}`. For several targets it is an object
    /// by dialect; all UCAST targets share the key `ucast`, where the first one wins. Filters that keep no row are left
    /// out.
    pub fn to_response(&self, several: bool) -> Value {
        let query_value = |query: &FilterQuery| {
            let mut fields: Vec<(Value, Value)> = Vec::new();
            match query {
                FilterQuery::Sql(sql) => {
                    fields.push(("query".into(), Value::string(&sql.text)));
                    if !sql.parameters.is_empty() {
                        let parameters = Value::array(sql.parameters.clone());
                        fields.push(("parameters".into(), parameters));
                    }
                }
                FilterQuery::Ucast(tree) => fields.push(("query".into(), tree.clone())),
            }
            fields.extend(self.masks.clone().map(|masks| ("masks".into(), masks)));
            Value::object(fields)
        };
        let mut queries = self
            .filters
            .iter()
            .filter_map(|filter| Some((filter.target.key(), query_value(filter.query.as_ref()?))));
        if !several {
            return queries
                .next()
                .map_or_else(|| Value::object(Vec::new()), |(_, query)| query);
        }
        let mut all: Vec<(Value, Value)> = Vec::new();
        for (key, query) in queries {
            let key = Value::string(key);
            if all.iter().all(|(known_key, _)| *known_key != key) {
                all.push((key, query));
            }
        }
        Value::object(all)
    }
}

/// A filter that is compiled for each input. Made by [`Engine::prepare_filters`](crate::Engine::prepare_filters). After
/// a change of the engine's modules it is compiled again on its next use.
///
/// ```
/// use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\ninclude if input.rows.owner == input.user")?;
/// let options = FilterOptions::new([FilterTarget::Postgresql]).unknowns(["input.rows"]);
/// let filters = engine.prepare_filters("data.p.include", &options)?;
/// let result = filters.compile(&Request::new().input_json(br#"{"user": "alice"}"#))?;
/// let Some(FilterQuery::Sql(sql)) = &result.filters[0].query else { panic!("a filter keeps no row") };
/// assert_eq!(sql.text, "WHERE rows.owner = E'alice'");
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedFilters {
    pub(crate) handle: Arc<Recompiling<FilterInner>>,
}

/// The variable that masks are bound to.
pub(crate) const MASKS: &str = "masks";

pub(crate) struct FilterInner {
    pub partial: Arc<PartialInner>,
    /// The rules that compute masks, and the queries for them.
    pub masks: Vec<(Ref, Arc<PartialInner>)>,
    pub unknowns: Vec<String>,
    /// The names below `input` that are unknown, and whether the policy uses similar names.
    pub names: Vec<String>,
    pub hints: bool,
    pub targets: Vec<(FilterTarget, Mappings)>,
    pub shorts: Vec<String>,
    /// Paths below tables that are columns, if these may be named.
    pub paths: Vec<(String, String)>,
    pub manner: Manner,
    pub extensions: bool,
    pub bare: bool,
}

impl PreparedFilters {
    /// Compiles the rule for the input of a request.
    ///
    /// ```
    /// use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request, Value};
    ///
    /// let engine = Engine::new();
    /// let policy = "package filters\n\ninclude if input.fruits.colour in input.favourites\n";
    /// engine.set_module("filters.rego", policy)?;
    /// let options = FilterOptions::new([FilterTarget::Postgresql]).unknowns(["input.fruits"]);
    /// let filters = engine.prepare_filters("data.filters.include", &options)?;
    ///
    /// let input = solon::json::read(br#"{"favourites": ["red", "green"]}"#)?;
    /// let result = filters.compile(&Request::new().input(&input))?;
    /// let Some(FilterQuery::Sql(sql)) = &result.filters[0].query else { panic!() };
    /// assert_eq!(sql.text, "WHERE fruits.colour IN (E'red', E'green')");
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// The timer of the request receives how long each stage took: evaluating the rule (`rego_partial_eval`) and the rules
    /// for its masks, if there are any (`rego_query_eval`, within `compile_eval_mask_rule`), checking
    /// (`compile_eval_constraints`) and writing (`compile_translate_queries`). Parsing of the input is not reported.
    ///
    /// # Errors
    /// [`Error::Filter`] for conditions that no filter can express; [`Error::Eval`] if the evaluation fails;
    /// [`Error::Input`] if the input is not valid; [`Error::Compile`] if the policy has changed and no longer compiles.
    pub fn compile(&self, request: &Request<'_>) -> Result<Filters, Error> {
        let timer = request.compile_timer();
        Error::caught(|| self.compiled(&request.timer(Timer::default()), timer))
    }

    fn compiled(&self, request: &Request<'_>, timer: Timer<'_>) -> Result<Filters, Error> {
        let mut laps = timer.start();
        let pinned = self.handle.pin_for(request)?;
        let Pinned {
            snapshot,
            prepared: inner,
            ..
        } = &pinned;
        let mut hints = Hints::new(&inner.names);
        let compiled = &*snapshot.state().policy.compiled;
        let observer = inner.hints.then_some(&mut hints as &mut dyn Observer);
        let residuals = evaluate_residuals(&pinned, &inner.partial, request, observer)?;
        laps.end(|| "rego_partial_eval".to_owned());
        let (condition, mut rejections) = inner.judge(&residuals);
        laps.end(|| "compile_eval_constraints".to_owned());
        let mut masks = None;
        let mut mask_laps = timer.start();
        if !matches!(condition, Ok(FilterCondition::Never)) {
            match evaluate_masks(&pinned, request) {
                Ok(Ok(values)) => masks = values,
                Ok(Err(rejection)) => rejections.push(rejection),
                Err(error) if condition.is_ok() => return Err(error),
                Err(_) => {}
            }
        }
        if !inner.masks.is_empty() {
            mask_laps.end(|| "rego_query_eval".to_owned());
            laps.end(|| "compile_eval_mask_rule".to_owned());
        }
        let mut filters = Vec::with_capacity(inner.targets.len());
        match condition {
            Ok(condition) => {
                for (target, mappings) in &inner.targets {
                    match inner.query_for_target(&condition, *target, mappings) {
                        Ok(query) => filters.push(Filter {
                            target: *target,
                            query,
                        }),
                        Err(_) => {
                            for rejection in
                                inner.inexpressible_tests(&condition, *target, mappings)
                            {
                                if !rejections.contains(&rejection) {
                                    rejections.push(rejection);
                                }
                            }
                        }
                    }
                }
            }
            Err(first) => {
                rejections.splice(0..0, first);
            }
        }
        if !rejections.is_empty() {
            return Err(reject(compiled, rejections));
        }
        laps.end(|| "compile_translate_queries".to_owned());
        let hints = hints.finish().into_iter().map(|hint| {
            let mut entry = ErrorEntry::new("hint", hint.message);
            entry.location = source_location(compiled, hint.span);
            entry
        });
        Ok(Filters {
            filters,
            masks,
            hints: hints.collect(),
        })
    }

    /// Returns the unknowns as references: those of the options, else those of METADATA.
    ///
    /// # Errors
    /// [`Error::Compile`] if the policy has changed and no longer compiles.
    pub fn unknowns(&self) -> Result<Vec<String>, Error> {
        Ok(self.handle.pin()?.prepared.unknowns.clone())
    }

    /// Returns the reference to the rule that computes masks, if there is one; the first one of several.
    ///
    /// # Errors
    /// [`Error::Compile`] if the policy has changed and no longer compiles.
    pub fn mask_rule(&self) -> Result<Option<String>, Error> {
        let pinned = self.handle.pin()?;
        let rule = pinned.prepared.masks.first().map(|(rule, _)| rule.clone());
        Ok(rule.map(|rule| Term::new(TermKind::Ref(rule), Span::default()).to_string()))
    }
}

/// Partially evaluates a query on the snapshot of the filter. The observer, if any, receives every event.
fn evaluate_residuals(
    pinned: &Pinned<FilterInner>,
    query: &Arc<PartialInner>,
    request: &Request<'_>,
    observer: Option<&mut dyn Observer>,
) -> Result<Residuals, Error> {
    let query = PinnedPartial(Pinned {
        shared: pinned.shared.clone(),
        snapshot: pinned.snapshot.clone(),
        prepared: query.clone(),
    });
    let mut search = SearchOptions::default();
    if let Some(observer) = observer {
        // with the rule index, rules that cannot match would be left out of the events
        search.shortcuts = Shortcuts::default().indexing(false);
        search.observer = Some(observer);
    }
    query.search(request, search)
}

/// Returns the masks, or the reason why there are none.
fn evaluate_masks(
    pinned: &Pinned<FilterInner>,
    request: &Request<'_>,
) -> Result<Result<Option<Value>, Rejection>, Error> {
    let mut all = Vec::new();
    for (rule, query) in &pinned.prepared.masks {
        let residuals = evaluate_residuals(pinned, query, request, None)?;
        match masks(&residuals, &Name::from(MASKS), rule) {
            Ok(value) => all.extend(value.map(|value| (rule, value))),
            Err(rejection) => return Ok(Err(rejection)),
        }
    }
    Ok(merge_masks(all))
}

impl FilterInner {
    /// Returns the condition that remains, and the rules that may conflict.
    fn judge(
        &self,
        residuals: &Residuals,
    ) -> (Result<FilterCondition, Vec<Rejection>>, Vec<Rejection>) {
        let targets: Vec<FilterTarget> = self.targets.iter().map(|(target, _)| *target).collect();
        let names = MappedNames {
            shorts: &self.shorts,
            paths: &self.paths,
            functions: self.extensions,
            unknowns: &self.partial.inlining.unknowns,
            exact: self.manner.exact,
            targets: &self.targets,
        };
        let fragment = FilterLanguage {
            targets: &targets,
            names,
            namespace: &self.partial.inlining.namespace,
            extensions: self.extensions,
        };
        (
            check(residuals, fragment),
            conflicts(&residuals.choices, names),
        )
    }

    /// Returns every part of a condition that a target cannot express.
    fn inexpressible_tests(
        &self,
        condition: &FilterCondition,
        target: FilterTarget,
        mappings: &Mappings,
    ) -> Vec<Rejection> {
        let tests = condition.separate_tests();
        tests
            .filter_map(|test| self.query_for_target(&test, target, mappings).err())
            .collect()
    }

    fn query_for_target(
        &self,
        condition: &FilterCondition,
        target: FilterTarget,
        mappings: &Mappings,
    ) -> Result<Option<FilterQuery>, Rejection> {
        for test in condition.tests() {
            let column = &test.column;
            let path = self.paths.iter().find(|(table, steps)| {
                column.table.as_ref() == Some(table) && column.name == *steps
            });
            if let Some((table, steps)) = path.filter(|_| !mappings.names(column)) {
                let message = format!("no column of {target} is mapped to {steps} of `{table}`");
                return Err(Rejection::new(message, test.span));
            }
        }
        let condition = &resolve_literals(condition, target, mappings)?;
        if !target.is_sql() {
            return Ok(ucast(condition, target, mappings)?.map(FilterQuery::Ucast));
        }
        let statement = sql(condition, target, mappings, self.manner)?;
        Ok(statement.map(|mut statement| {
            if !self.bare && !statement.text.is_empty() {
                statement.text.insert_str(0, "WHERE ");
            }
            FilterQuery::Sql(statement)
        }))
    }
}

/// Returns file, row and column of a span in a module.
fn source_location(compiled: &Compiled, span: Span) -> Option<(String, u32, u32)> {
    let mut modules = compiled.modules.iter();
    let module = modules.find(|module| module.source.id == span.source)?;
    Some((module.source.name.to_string(), span.row, span.col))
}

/// Converts rejections to an error, with the names of the files that they refer to.
pub(crate) fn reject(compiled: &Compiled, rejections: Vec<Rejection>) -> Error {
    let file = |span: Span| source_location(compiled, span);
    let rule = |document: &Ref| {
        let rules = compiled
            .modules
            .iter()
            .flat_map(|module| module.rules.iter().map(move |rule| (module, rule)));
        let rules_of_document = rules
            .filter(|(module, rule)| rule_path(&module.package.path, rule).starts_with(document));
        // if a rule has a default, that is why it is rejected
        let rule = rules_of_document.min_by_key(|(_, rule)| !rule.default);
        rule.and_then(|(_, rule)| file(rule.span))
    };
    let entries = rejections.into_iter().map(|rejection| {
        let mut entry = ErrorEntry::new(rejection.code, rejection.message);
        entry.location = file(rejection.span).or_else(|| rule(rejection.about.as_ref()?));
        entry.details.extend(rejection.details);
        entry
    });
    Error::Filter(entries.collect())
}

impl FromStr for FilterTarget {
    type Err = Error;

    /// Parses the name of a target, for example `sql+postgresql`.
    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(Self::from_name(name).map_err(OptionError::new)?)
    }
}

impl From<MappingError> for Error {
    fn from(error: MappingError) -> Self {
        Self::Options(OptionError::new(error.to_string()))
    }
}

impl PreparedFilters {
    /// Returns the current policy and documents of the filter.
    ///
    /// # Errors
    /// [`Error::Compile`] if the policy has changed and no longer compiles.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        Ok(self.handle.pin()?.snapshot)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Engine, FilterOptions, FilterTarget, Request};

    #[test]
    fn names_nearly_right_are_hinted_at() {
        let engine = Engine::new();
        let policy = "package f\n\ninclude if input.fruits.name == \"apple\"\n\n\
            include if input.fruit.cost < input.max\n\ninclude if input.basket.n == 1\n";
        engine.set_module("f.rego", policy).unwrap();
        let options = FilterOptions::new([FilterTarget::Postgresql]);
        let hints = |unknowns: &[&str]| {
            let options = options.clone().unknowns(unknowns.iter().copied());
            let filters = engine
                .filters("data.f.include", &options, &Request::new())
                .unwrap();
            filters
                .hints
                .into_iter()
                .map(|hint| (hint.message, hint.location))
                .collect::<Vec<_>>()
        };
        let location = |row, col| Some(("f.rego".to_owned(), row, col));
        assert_eq!(
            hints(&["input.fruits"]),
            [(
                "input.fruit.cost undefined, did you mean input.fruits.cost?".to_owned(),
                location(5, 12)
            )]
        );
        assert_eq!(
            hints(&["input.fruits", "input.baskets", "input.baskett"]),
            [
                (
                    "input.fruit.cost undefined, did you mean input.fruits.cost?".to_owned(),
                    location(5, 12)
                ),
                (
                    "input.basket.n undefined, did you mean any of [input.baskets.n input.baskett.n]?"
                        .to_owned(),
                    location(7, 12)
                ),
            ]
        );
    }
}
