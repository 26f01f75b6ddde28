//! Filters of rows.

use std::ffi::{c_char, c_int};

use ::engine::{
    FilterOptions as EngineOptions, FilterQuery, FilterTarget, Filters as EngineFilters,
    OptionError, PreparedFilters, json,
};

use crate::argument::{self, Extensible};
use crate::bytes::Text;
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::request::{Request, ValidRequest};

/// A rule that is prepared to become a row filter. Several threads may evaluate it at once. It follows changes of its engine like
/// a query.
pub struct Filter {
    prepared: PreparedFilters,
    /// SQL condition that is never true.
    never_true: &'static str,
    engine: ::engine::Engine,
}

/// Options of a filter. Zero fields have their defaults: `solon_filter_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FilterOptions {
    /// `sizeof(solon_filter_options)`
    pub size: usize,
    /// The targets, a JSON array of names like `"sql+postgresql"` and `"ucast+prisma"`.
    pub targets_json: *const c_char,
    /// Length in bytes.
    pub targets_json_length: usize,
    /// Unknown references, a JSON array like `["input.fruits"]`; NULL uses the METADATA of the rule.
    pub unknowns_json: *const c_char,
    /// Length in bytes.
    pub unknowns_json_length: usize,
    /// Names of tables and columns in the database, a JSON object; NULL is none.
    pub mappings_json: *const c_char,
    /// Length in bytes.
    pub mappings_json_length: usize,
    /// The rule that computes masks of columns: its name, or its last step if it is in the package of the rule; NULL uses the
    /// METADATA of the rule.
    pub mask_rule: *const c_char,
    /// Length in bytes.
    pub mask_rule_length: usize,
    /// Generate SQL with placeholders, and return their values separately.
    pub parameters: c_int,
    /// Generate only the SQL condition, without `WHERE`.
    pub bare: c_int,
    /// Generate SQL that selects exactly the rows for which the rule is true, if the tables are as the mappings declare them.
    pub exact: c_int,
    /// Documents that are not inlined, a JSON array of references; NULL is none.
    pub disable_inlining_json: *const c_char,
    /// Length in bytes.
    pub disable_inlining_json_length: usize,
    /// Generate conditions that OPA's targets reject, if they can be expressed exactly, as with `exact`.
    pub extensions: c_int,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for FilterOptions {}

impl FilterOptions {
    /// # Safety
    /// Each pointer is NULL or valid for what the fields describe.
    unsafe fn read(&self) -> Result<EngineOptions, Error> {
        // SAFETY: by this function's contract
        let (targets, unknowns, disabled, mappings, mask) = unsafe {
            (
                argument::strings(self.targets_json, self.targets_json_length, "targets_json")?,
                argument::strings(
                    self.unknowns_json,
                    self.unknowns_json_length,
                    "unknowns_json",
                )?,
                argument::strings(
                    self.disable_inlining_json,
                    self.disable_inlining_json_length,
                    "disable_inlining_json",
                )?,
                argument::optional_text(
                    self.mappings_json,
                    self.mappings_json_length,
                    "mappings_json",
                )?,
                argument::optional_text(self.mask_rule, self.mask_rule_length, "mask_rule")?,
            )
        };
        let names = targets.unwrap_or_default();
        let targets: Result<Vec<_>, ::engine::Error> =
            names.iter().map(|name| target(name)).collect();
        let mut options = EngineOptions::new(targets?)
            .unknowns(unknowns.unwrap_or_default())
            .disable_inlining(disabled.unwrap_or_default())
            .parameters(self.parameters != 0)
            .bare(self.bare != 0)
            .exact(self.exact != 0)
            .extensions(self.extensions != 0);
        if let Some(mappings) = mappings {
            let mapping_value = json::read(mappings.as_bytes()).map_err(::engine::Error::from)?;
            options = options.mappings(mapping_value);
        }
        options.mask_rule = mask.map(str::to_owned);
        Ok(options)
    }
}

/// The filter for one target.
struct TargetFilter {
    keeps: bool,
    query: String,
    parameters: String,
}

/// A filter for each target. Several threads may read it at once.
pub struct Filters {
    targets: Vec<TargetFilter>,
    masks: String,
    json: String,
}

impl Filters {
    fn from_engine(filters: &EngineFilters, never_true: &str) -> Self {
        let targets = filters.filters.iter().map(|filter| {
            let (query, parameters) = match &filter.query {
                Some(FilterQuery::Sql(sql)) => {
                    let values = ::engine::Value::array(sql.parameters.clone());
                    (sql.text.clone(), value_text(&values))
                }
                Some(FilterQuery::Ucast(tree)) => (value_text(tree), "[]".to_owned()),
                None if filter.target.is_sql() => (never_true.to_owned(), "[]".to_owned()),
                None => (String::new(), "[]".to_owned()),
            };
            TargetFilter {
                keeps: filter.query.is_some(),
                query,
                parameters,
            }
        });
        Self {
            targets: targets.collect(),
            masks: filters.masks.as_ref().map(value_text).unwrap_or_default(),
            json: value_text(&filters.to_response(filters.filters.len() > 1)),
        }
    }
}

fn value_text(value: &::engine::Value) -> String {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Prepares a rule, like `data.filters.include` or `filters/include`, to become a row filter. Fails with
/// `SOLON_ERROR_UNKNOWN_PATH` if the rule, or the rule for masks, does not exist.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare_filter(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    options: *const FilterOptions,
    out: *mut *mut Filter,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, path, options, out) = unsafe {
            let engine = &argument::handle(engine, "engine")?.0;
            let path = argument::text(path, path_length, "path")?;
            let options = argument::extensible(options, "options")?.read()?;
            (engine, path, options, argument::output(out, "out")?)
        };
        out.give(Filter {
            prepared: engine.prepare_filters(path, &options)?,
            never_true: options.never_true(),
            engine: engine.clone(),
        });
        Ok(())
    })
}

/// Generates the filter for the input of a request, which may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_filter_evaluate(
    filter: *const Filter,
    request: *const Request,
    out: *mut *mut Filters,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (filter, mut valid_request, out) = unsafe {
            let filter = argument::handle(filter, "filter")?;
            let valid_request = ValidRequest::read(request, filter.engine.limits())?;
            (filter, valid_request, argument::output(out, "out")?)
        };
        let filters = valid_request.answer(
            |request| filter.prepared.compile(request),
            |request, _| filter.prepared.compile(request),
        );
        out.give(Filters::from_engine(&filters?, filter.never_true));
        Ok(())
    })
}

/// Frees a filter that no thread uses any more; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filter_free(filter: *mut Filter) {
    // SAFETY: `solon_engine_prepare_filter` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(filter) };
}

/// Condition for a missing filter.
const NEVER_TRUE: &str = "WHERE 1 = 0";

/// # Safety
/// `filters` is NULL or live.
unsafe fn text(
    filters: *const Filters,
    otherwise: &'static str,
    part: impl FnOnce(&Filters) -> Option<&str>,
) -> Text {
    guard_or(Text::of_str(otherwise), || {
        // SAFETY: by this function's contract
        let filters = unsafe { filters.as_ref() };
        Text::of_str(filters.and_then(part).unwrap_or(otherwise))
    })
}

/// Returns 1 if the filter for a target, by its position from 0, can select any row; 0 otherwise and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_keeps(filters: *const Filters, index: usize) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        let filters = unsafe { filters.as_ref() };
        let target = filters.and_then(|filters| filters.targets.get(index));
        c_int::from(target.is_some_and(|made| made.keeps))
    })
}

/// Returns the condition for a target, by its position from 0. It lives as long as the filter.
///
/// SQL is empty if all rows are selected. If no row is selected, it is a condition that is never true, `WHERE 1 = 0` (`1 = 0`
/// with `bare`), as it is for NULL and for a position without a target. UCAST is the JSON of a tree: `{}` if all rows are
/// selected, and empty, which is not valid JSON, if no row is selected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_query(filters: *const Filters, index: usize) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe {
        text(filters, NEVER_TRUE, |filters| {
            Some(&*filters.targets.get(index)?.query)
        })
    }
}

/// Returns the values of the placeholders for a target, by its position from 0: a JSON array, in the order of the placeholders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_parameters(filters: *const Filters, index: usize) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe {
        text(filters, "", |filters| {
            Some(&*filters.targets.get(index)?.parameters)
        })
    }
}

/// Returns the masks of columns, a JSON object; empty if nothing is masked or no row is selected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_masks(filters: *const Filters) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe { text(filters, "", |filters| Some(&filters.masks)) }
}

/// Returns the filters as one JSON object, in the format of the HTTP API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_json(filters: *const Filters) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe { text(filters, "", |filters| Some(&filters.json)) }
}

/// Frees generated filters; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filters_free(filters: *mut Filters) {
    // SAFETY: `solon_filter_evaluate` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(filters) };
}

/// Parses the name of a target. The error lists all names.
fn target(name: &str) -> Result<FilterTarget, ::engine::Error> {
    name.parse().map_err(|error: ::engine::Error| {
        let names: Vec<String> = FilterTarget::ALL.iter().map(ToString::to_string).collect();
        OptionError::new(format!("{error}: expected one of {}", names.join(", "))).into()
    })
}
