//! Partial evaluation of queries.

use std::ffi::{c_char, c_int};

use ::engine::{ExplainOptions, PartialOptions as EngineOptions, PreparedPartial, QuerySource};

use crate::argument::{self, Extensible};
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, AnyExplanation, DetailLevel, Explanation};
use crate::guard::guard;
use crate::query::{self, QueryOptions};
use crate::request::{Request, ValidRequest};
use crate::residuals::Residuals;

/// A query prepared for partial evaluation. Several threads may evaluate it at once. It follows changes of its engine like a
/// query.
pub struct Partial {
    prepared: PreparedPartial,
    engine: ::engine::Engine,
}

/// Options of partial evaluation. Zero fields have their defaults: `solon_partial_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PartialOptions {
    /// `sizeof(solon_partial_options)`
    pub size: usize,
    /// Unknown references into `input` and `data`, a JSON array; NULL is `["input"]`.
    pub unknowns_json: *const c_char,
    /// Length in bytes.
    pub unknowns_json_length: usize,
    /// Documents that are not inlined, a JSON array of references; NULL is none.
    pub disable_inlining_json: *const c_char,
    /// Length in bytes.
    pub disable_inlining_json_length: usize,
    /// Do not inline rules that depend on unknowns, and do not simplify.
    pub shallow_inlining: c_int,
    /// Call non-deterministic functions if their arguments are known.
    pub nondeterministic_builtins: c_int,
    /// Leave out a default of `false` if a rule is only tested for truth.
    pub skip_false_defaults: c_int,
    /// Put support rules into the packages of the policy, to replace its rules.
    pub skip_namespace: c_int,
    /// Package of the support rules below `data`; NULL is `partial`.
    pub package: *const c_char,
    /// Length in bytes.
    pub package_length: usize,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for PartialOptions {}

impl PartialOptions {
    /// # Safety
    /// Each pointer is NULL or valid for what the fields describe.
    unsafe fn read(&self) -> Result<EngineOptions, Error> {
        // SAFETY: by this function's contract
        let (unknowns, disabled, package) = unsafe {
            (
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
                argument::optional_text(self.package, self.package_length, "package")?,
            )
        };
        let mut options = EngineOptions::default()
            .disable_inlining(disabled.unwrap_or_default())
            .shallow_inlining(self.shallow_inlining != 0)
            .nondeterministic_builtins(self.nondeterministic_builtins != 0)
            .skip_false_defaults(self.skip_false_defaults != 0)
            .skip_namespace(self.skip_namespace != 0);
        if let Some(unknowns) = unknowns {
            options = options.unknowns(unknowns);
        }
        if let Some(package) = package {
            options = options.namespace(package.to_owned());
        }
        Ok(options)
    }
}

/// Prepares a query for partial evaluation. Both kinds of options may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_prepare_partial(
    engine: *const Engine,
    text: *const c_char,
    text_length: usize,
    options: *const PartialOptions,
    query_options: *const QueryOptions,
    out: *mut *mut Partial,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, prepared, out) = unsafe {
            let engine = &argument::handle(engine, "engine")?.0;
            let text = argument::text(text, text_length, "text")?;
            let options = argument::extensible(options, "options")?.read()?;
            let out = argument::output(out, "out")?;
            let compile = |source: QuerySource<'_>| engine.prepare_partial(source, &options);
            let prepared = query::prepare(query_options, text, compile)?;
            (engine.clone(), prepared, out)
        };
        out.give(Partial { prepared, engine });
        Ok(())
    })
}

/// Evaluates the query partially for a request, which may be NULL, and returns the residuals.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_partial_evaluate(
    partial: *const Partial,
    request: *const Request,
    out: *mut *mut Residuals,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (partial, mut valid_request, out) = unsafe {
            let partial = argument::handle(partial, "partial")?;
            let valid_request = ValidRequest::read(request, partial.engine.limits())?;
            (partial, valid_request, argument::output(out, "out")?)
        };
        let residuals = valid_request.answer(
            |request| partial.prepared.evaluate(request),
            |request, search| partial.prepared.search(request, search),
        );
        out.give(Residuals::from_engine(&residuals?));
        Ok(())
    })
}

/// Evaluates the query partially for a request and explains the result, like `solon_document_explain`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_partial_explain(
    partial: *const Partial,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (partial, mut valid_request, out) = unsafe {
            let partial = argument::handle(partial, "partial")?;
            let valid_request = ValidRequest::read(request, partial.engine.limits())?;
            (partial, valid_request, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let explanation = valid_request.searched(|request, search| {
            partial
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(AnyExplanation::Partial(Box::new(explanation))));
        Ok(())
    })
}

/// Frees a partial query that no thread uses any more; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_partial_free(partial: *mut Partial) {
    // SAFETY: `solon_engine_prepare_partial` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(partial) };
}
