//! Queries that are prepared once and asked often.

use std::ffi::c_char;

use ::engine::trace::Timer;
use ::engine::{ExplainOptions, PreparedQuery, QueryContext, Solution};

use crate::argument::{self, Extensible};
use crate::bytes::Bytes;
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, DetailLevel, Explanation, Told};
use crate::guard::guard;
use crate::metrics::Metrics;
use crate::request::{Asked, Request};
use crate::solutions::Solutions;

/// A prepared query. Several threads may ask it at once; it follows its engine, which it keeps alive: where modules change
/// it is compiled anew on its next use, which fails with `SOLON_ERROR_COMPILE` where it does not compile any more.
pub struct Query {
    prepared: PreparedQuery,
    engine: ::engine::Engine,
}

/// Where a query stands. What is zero is as usual: `solon_query_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QueryOptions {
    /// `sizeof(solon_query_options)`
    pub size: usize,
    /// The package whose rules it may name, like `authz.users`; NULL is none.
    pub package: *const c_char,
    /// How many bytes.
    pub package_length: usize,
    /// What it imports, a JSON array like `["data.users as us"]`; NULL is nothing.
    pub imports_json: *const c_char,
    /// How many bytes.
    pub imports_json_length: usize,
    /// The built-in functions that it may not call itself, a JSON array of names; NULL is none.
    pub unsafe_builtins_json: *const c_char,
    /// How many bytes.
    pub unsafe_builtins_json_length: usize,
    /// Where is added how long its compilation takes.
    pub metrics: *mut Metrics,
}

// SAFETY: it begins with its size; numbers and pointers may be zero
unsafe impl Extensible for QueryOptions {}

/// Prepares something in the context that options name.
///
/// # Safety
/// `options` is NULL or leads to options whose pointers are NULL or lead to what the fields say.
pub(crate) unsafe fn prepare<R>(
    options: *const QueryOptions,
    prepare: impl FnOnce(&QueryContext<'_>) -> Result<R, ::engine::Error>,
) -> Result<R, Error> {
    // SAFETY: by this function's contract
    let (package, imports, unsafe_builtins, metrics) = unsafe {
        let given = argument::extensible(options, "options")?;
        (
            argument::optional_text(given.package, given.package_length, "package")?,
            argument::strings(
                given.imports_json,
                given.imports_json_length,
                "imports_json",
            )?,
            argument::strings(
                given.unsafe_builtins_json,
                given.unsafe_builtins_json_length,
                "unsafe_builtins_json",
            )?,
            given.metrics.as_ref(),
        )
    };
    let context = |timer: Timer<'_>| {
        let mut context = QueryContext::default()
            .imports(imports.as_deref().unwrap_or_default())
            .unsafe_builtins(unsafe_builtins.as_deref().unwrap_or_default())
            .timer(timer);
        context.package = package;
        prepare(&context)
    };
    Ok(match metrics {
        None => context(Timer::default())?,
        Some(metrics) => metrics.timed(context)?,
    })
}

/// Prepares a query, like `x := data.roles[_]; x != input.role`. `options` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare_query(
    engine: *const Engine,
    text: *const c_char,
    text_length: usize,
    options: *const QueryOptions,
    out: *mut *mut Query,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (engine, prepared, out) = unsafe {
            let engine = &argument::handle(engine, "engine")?.0;
            let text = argument::text(text, text_length, "text")?;
            let out = argument::output(out, "out")?;
            let compile = |context: &QueryContext<'_>| engine.prepare_query_in(text, context);
            (engine.clone(), prepare(options, compile)?, out)
        };
        out.give(Query { prepared, engine });
        Ok(())
    })
}

/// Asks the query by a request, which may be NULL, and gives all solutions in the order they are found.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_ask(
    query: *const Query,
    request: *const Request,
    out: *mut *mut Solutions,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (query, mut asked, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let asked = query.asked(request)?;
            (query, asked, argument::output(out, "out")?)
        };
        out.give(Solutions(query.solutions(&mut asked)?));
        Ok(())
    })
}

/// Asks the query by a request, and gives all solutions as JSON: `[{"bindings": {"x": 1}, "values": [true]}]`, the values
/// being those of the query's expressions.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_ask_json(
    query: *const Query,
    request: *const Request,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (query, mut asked, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let asked = query.asked(request)?;
            (query, asked, argument::output(out, "out")?)
        };
        let solutions = Solutions(query.solutions(&mut asked)?);
        out.write(Bytes::new(Some(solutions.json())));
        Ok(())
    })
}

/// Asks the query by a request, and tells how the answer was found, as `solon_document_explain` does.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_explain(
    query: *const Query,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (query, mut asked, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let asked = query.asked(request)?;
            (query, asked, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let told = asked.searched(|request, search| {
            query
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(Told::Query(told)));
        Ok(())
    })
}

/// Frees a query that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_query_free(query: *mut Query) {
    // SAFETY: `solon_engine_prepare_query` made it of a box, and the caller frees it once
    unsafe { argument::free(query) };
}

impl Query {
    /// # Safety
    /// As for [`Asked::read`].
    unsafe fn asked(&self, request: *const Request) -> Result<Asked<'_>, Error> {
        // SAFETY: by this function's contract
        unsafe { Asked::read(request, self.engine.limits()) }
    }

    fn solutions(&self, asked: &mut Asked<'_>) -> Result<Vec<Solution>, Error> {
        asked.answer(
            |request| self.prepared.solutions(request),
            |request, search| self.prepared.search_as(request, search),
        )
    }
}
