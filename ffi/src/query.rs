//! Prepared queries.

use std::ffi::c_char;

use ::engine::trace::Timer;
use ::engine::{ExplainOptions, PreparedQuery, QuerySource, Solution};

use crate::argument::{self, Extensible};
use crate::bytes::Bytes;
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, AnyExplanation, DetailLevel, Explanation};
use crate::guard::guard;
use crate::metrics::Metrics;
use crate::request::{Request, ValidRequest};
use crate::solutions::Solutions;

/// A prepared query. Several threads may evaluate it at once. It follows changes of its engine, and keeps the engine alive. After
/// modules change, the next use compiles it again, and fails with `SOLON_ERROR_COMPILE` if it does not compile any more.
pub struct Query {
    prepared: PreparedQuery,
    engine: ::engine::Engine,
}

/// Context of a query. Zero fields have their defaults: `solon_query_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QueryOptions {
    /// `sizeof(solon_query_options)`
    pub size: usize,
    /// Package whose rules it may refer to, like `authz.users`; NULL is none.
    pub package: *const c_char,
    /// Length in bytes.
    pub package_length: usize,
    /// Imports of the query, a JSON array like `["data.users as us"]`; NULL is none.
    pub imports_json: *const c_char,
    /// Length in bytes.
    pub imports_json_length: usize,
    /// Built-in functions that it must not call itself, a JSON array of names; NULL is none.
    pub unsafe_builtins_json: *const c_char,
    /// Length in bytes.
    pub unsafe_builtins_json_length: usize,
    /// Metrics that its compilation time is added to.
    pub metrics: *mut Metrics,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for QueryOptions {}

/// Prepares a query in the context of the options.
///
/// # Safety
/// `options` is NULL or points to options whose pointers are NULL or valid for what the fields describe.
pub(crate) unsafe fn prepare<R>(
    options: *const QueryOptions,
    text: &str,
    prepare: impl FnOnce(QuerySource<'_>) -> Result<R, ::engine::Error>,
) -> Result<R, Error> {
    // SAFETY: by this function's contract
    let (package, imports, unsafe_builtins, metrics) = unsafe {
        let query_options = argument::extensible(options, "options")?;
        (
            argument::optional_text(
                query_options.package,
                query_options.package_length,
                "package",
            )?,
            argument::strings(
                query_options.imports_json,
                query_options.imports_json_length,
                "imports_json",
            )?,
            argument::strings(
                query_options.unsafe_builtins_json,
                query_options.unsafe_builtins_json_length,
                "unsafe_builtins_json",
            )?,
            query_options.metrics.as_ref(),
        )
    };
    let context = |timer: Timer<'_>| {
        let mut source = QuerySource::new(text)
            .imports(imports.as_deref().unwrap_or_default())
            .unsafe_builtins(unsafe_builtins.as_deref().unwrap_or_default())
            .timer(timer);
        source.package = package;
        prepare(source)
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
        // SAFETY: the caller upholds the contract of the header
        let (engine, prepared, out) = unsafe {
            let engine = &argument::handle(engine, "engine")?.0;
            let text = argument::text(text, text_length, "text")?;
            let out = argument::output(out, "out")?;
            let compile = |source: QuerySource<'_>| engine.prepare_query(source);
            (engine.clone(), prepare(options, text, compile)?, out)
        };
        out.give(Query { prepared, engine });
        Ok(())
    })
}

/// Evaluates the query for a request, which may be NULL, and returns all solutions in the order of evaluation.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_evaluate(
    query: *const Query,
    request: *const Request,
    out: *mut *mut Solutions,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (query, mut valid_request, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let valid_request = query.read_request(request)?;
            (query, valid_request, argument::output(out, "out")?)
        };
        out.give(Solutions(query.solutions(&mut valid_request)?));
        Ok(())
    })
}

/// Evaluates the query for a request and returns all solutions as JSON: `[{"bindings": {"x": 1}, "values": [true]}]`. The values
/// are those of the expressions of the query.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_evaluate_json(
    query: *const Query,
    request: *const Request,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (query, mut valid_request, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let valid_request = query.read_request(request)?;
            (query, valid_request, argument::output(out, "out")?)
        };
        let solutions = Solutions(query.solutions(&mut valid_request)?);
        out.write(Bytes::new(Some(solutions.json())));
        Ok(())
    })
}

/// Evaluates the query for a request and explains the result, like `solon_document_explain`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_query_explain(
    query: *const Query,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (query, mut valid_request, out) = unsafe {
            let query = argument::handle(query, "query")?;
            let valid_request = query.read_request(request)?;
            (query, valid_request, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let explanation = valid_request.searched(|request, search| {
            query
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(AnyExplanation::Query(explanation)));
        Ok(())
    })
}

/// Frees a query that no thread uses any more; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_query_free(query: *mut Query) {
    // SAFETY: `solon_engine_prepare_query` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(query) };
}

impl Query {
    /// # Safety
    /// See [`ValidRequest::read`].
    unsafe fn read_request(&self, request: *const Request) -> Result<ValidRequest<'_>, Error> {
        // SAFETY: by this function's contract
        unsafe { ValidRequest::read(request, self.engine.limits()) }
    }

    fn solutions(&self, valid_request: &mut ValidRequest<'_>) -> Result<Vec<Solution>, Error> {
        valid_request.answer(
            |request| self.prepared.solutions(request),
            |request, search| self.prepared.search(request, search),
        )
    }
}
