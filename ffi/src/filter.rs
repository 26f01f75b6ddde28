//! Filters of rows.

use std::ffi::{c_char, c_int};

use ::engine::{FilterOptions as EngineOptions, FilterQuery, Filters, PreparedFilters, json};

use crate::argument::{self, Extensible};
use crate::bytes::Text;
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::request::{Asked, Request};

/// A rule that is prepared to become a filter of rows. Several threads may ask it at once; it follows its engine as queries
/// do.
pub struct Filter {
    prepared: PreparedFilters,
    /// The condition of SQL that is never true.
    never_true: &'static str,
    engine: ::engine::Engine,
}

/// What a filter is made for. What is zero is as usual: `solon_filter_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FilterOptions {
    /// `sizeof(solon_filter_options)`
    pub size: usize,
    /// The targets, a JSON array of names like `"sql+postgresql"` and `"ucast+prisma"`.
    pub targets_json: *const c_char,
    /// How many bytes.
    pub targets_json_length: usize,
    /// What is unknown, a JSON array of references like `"input.fruits"`; NULL is what the rule's METADATA says.
    pub unknowns_json: *const c_char,
    /// How many bytes.
    pub unknowns_json_length: usize,
    /// The database's names for tables and columns, a JSON object; NULL is none.
    pub mappings_json: *const c_char,
    /// How many bytes.
    pub mappings_json_length: usize,
    /// The rule that computes masks of columns; NULL is what the rule's METADATA says.
    pub mask_rule: *const c_char,
    /// How many bytes.
    pub mask_rule_length: usize,
    /// Whether SQL has placeholders, with the values beside it.
    pub parameters: c_int,
    /// Whether SQL is the condition alone, without `WHERE`.
    pub bare: c_int,
    /// Whether SQL keeps exactly the rows that are true, of tables that are as the mappings declare them.
    pub exact: c_int,
    /// The documents that are not inlined, a JSON array of references; NULL is none.
    pub disable_inlining_json: *const c_char,
    /// How many bytes.
    pub disable_inlining_json_length: usize,
    /// Whether what the published targets refuse is said where it can be said exactly, as with `exact`.
    pub extensions: c_int,
}

// SAFETY: it begins with its size; numbers and pointers may be zero
unsafe impl Extensible for FilterOptions {}

impl FilterOptions {
    /// # Safety
    /// The pointers are NULL or lead to what the fields say.
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
            names.iter().map(|name| name.parse()).collect();
        let mut options = EngineOptions::new(targets?)
            .unknowns(unknowns.unwrap_or_default())
            .disable_inlining(disabled.unwrap_or_default())
            .parameters(self.parameters != 0)
            .bare(self.bare != 0)
            .exact(self.exact != 0)
            .extensions(self.extensions != 0);
        if let Some(mappings) = mappings {
            let read = json::read(mappings.as_bytes()).map_err(::engine::Error::from)?;
            options = options.mappings(read);
        }
        options.mask_rule = mask.map(str::to_owned);
        Ok(options)
    }
}

/// The filter of a target.
struct Made {
    keeps: bool,
    query: String,
    parameters: String,
}

/// A filter for each target. Several threads may read it at once.
pub struct Filtered {
    made: Vec<Made>,
    masks: String,
    json: String,
}

impl Filtered {
    fn of(filters: &Filters, never_true: &str) -> Self {
        let made = filters.filters.iter().map(|filter| {
            let (query, parameters) = match &filter.query {
                Some(FilterQuery::Sql(sql)) => {
                    let values = ::engine::Value::array(sql.parameters.clone());
                    (sql.text.clone(), written(&values))
                }
                Some(FilterQuery::Ucast(tree)) => (written(tree), "[]".to_owned()),
                None if filter.target.is_sql() => (never_true.to_owned(), "[]".to_owned()),
                None => (String::new(), "[]".to_owned()),
            };
            Made {
                keeps: filter.query.is_some(),
                query,
                parameters,
            }
        });
        Self {
            made: made.collect(),
            masks: filters.masks.as_ref().map(written).unwrap_or_default(),
            json: written(&filters.to_response(filters.filters.len() > 1)),
        }
    }
}

fn written(value: &::engine::Value) -> String {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Prepares the rule at a path with slashes, like `filters/include`, to become a filter of rows.
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
        // SAFETY: the caller keeps the rules of the header
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

/// Makes the filter for the input of a request, which may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_filter_make(
    filter: *const Filter,
    request: *const Request,
    out: *mut *mut Filtered,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (filter, mut asked, out) = unsafe {
            let filter = argument::handle(filter, "filter")?;
            let asked = Asked::read(request, filter.engine.limits())?;
            (filter, asked, argument::output(out, "out")?)
        };
        let made = asked.answer(
            |request| filter.prepared.compile(request),
            |request, _| filter.prepared.compile(request),
        );
        out.give(Filtered::of(&made?, filter.never_true));
        Ok(())
    })
}

/// Frees a filter that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filter_free(filter: *mut Filter) {
    // SAFETY: `solon_engine_prepare_filter` made it of a box, and the caller frees it once
    unsafe { argument::free(filter) };
}

/// The condition of what there is no filter for.
const NEVER_TRUE: &str = "WHERE 1 = 0";

/// # Safety
/// `filtered` is NULL or live.
unsafe fn text(
    filtered: *const Filtered,
    otherwise: &'static str,
    part: impl FnOnce(&Filtered) -> Option<&str>,
) -> Text {
    guard_or(Text::of(otherwise), || {
        // SAFETY: by this function's contract
        let filtered = unsafe { filtered.as_ref() };
        Text::of(filtered.and_then(part).unwrap_or(otherwise))
    })
}

/// Whether the filter for a target, by its position from 0, keeps any row. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_keeps(filtered: *const Filtered, index: usize) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        let filtered = unsafe { filtered.as_ref() };
        let made = filtered.and_then(|filtered| filtered.made.get(index));
        c_int::from(made.is_some_and(|made| made.keeps))
    })
}

/// The condition for a target, by its position from 0. It lives as long as the filter.
///
/// SQL is empty where every row is kept. Where no row is kept it is a condition that is never true, `WHERE 1 = 0` (`1 = 0`
/// with `bare`), as it is for NULL and for a position without a target. UCAST is the JSON of a tree: `{}` where every row is
/// kept, and empty, which is not JSON, where no row is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_query(filtered: *const Filtered, index: usize) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe {
        text(filtered, NEVER_TRUE, |filtered| {
            Some(&*filtered.made.get(index)?.query)
        })
    }
}

/// The values of the placeholders of a target, by its position from 0: a JSON array, in the order of the placeholders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_parameters(
    filtered: *const Filtered,
    index: usize,
) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe {
        text(filtered, "", |filtered| {
            Some(&*filtered.made.get(index)?.parameters)
        })
    }
}

/// What is shown in the place of columns, a JSON object; empty where nothing is masked or no row is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_masks(filtered: *const Filtered) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe { text(filtered, "", |filtered| Some(&filtered.masks)) }
}

/// All of it as the HTTP API answers: a JSON object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_json(filtered: *const Filtered) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe { text(filtered, "", |filtered| Some(&filtered.json)) }
}

/// Frees what a filter was made to; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_filtered_free(filtered: *mut Filtered) {
    // SAFETY: `solon_filter_make` made it of a box, and the caller frees it once
    unsafe { argument::free(filtered) };
}
