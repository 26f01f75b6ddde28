//! Queries that are asked while something is unknown.

use std::ffi::{c_char, c_int};

use ::engine::{ExplainOptions, PartialOptions as EngineOptions, PreparedPartial, QueryContext};

use crate::argument::{self, Extensible};
use crate::engine::Engine;
use crate::error::Error;
use crate::explanation::{self, DetailLevel, Explanation, Told};
use crate::guard::guard;
use crate::query::{self, QueryOptions};
use crate::request::{Asked, Request};
use crate::residuals::Residuals;

/// A prepared query that is asked while something is unknown. Several threads may ask it at once; it follows its engine as
/// queries do.
pub struct Partial {
    prepared: PreparedPartial,
    engine: ::engine::Engine,
}

/// What is unknown, and how far rules are inlined. What is zero is as usual:
/// `solon_partial_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PartialOptions {
    /// `sizeof(solon_partial_options)`
    pub size: usize,
    /// What is unknown, a JSON array of references into `input` and `data`; NULL is `["input"]`.
    pub unknowns_json: *const c_char,
    /// How many bytes.
    pub unknowns_json_length: usize,
    /// The documents that are not inlined, a JSON array of references; NULL is none.
    pub disable_inlining_json: *const c_char,
    /// How many bytes.
    pub disable_inlining_json_length: usize,
    /// Whether no rule that depends on the unknown is inlined, and nothing is simplified.
    pub shallow_inlining: c_int,
    /// Whether functions that are not deterministic are called when their arguments are known.
    pub nondeterministic_builtins: c_int,
    /// Whether a default of `false` is left out where a rule only has to hold.
    pub skip_false_defaults: c_int,
    /// Whether support rules stand where the policy's own do, to take their place.
    pub skip_namespace: c_int,
    /// The package below `data` that support rules stand in; NULL is `partial`.
    pub package: *const c_char,
    /// How many bytes.
    pub package_length: usize,
}

// SAFETY: it begins with its size; numbers and pointers may be zero
unsafe impl Extensible for PartialOptions {}

impl PartialOptions {
    /// # Safety
    /// The pointers are NULL or lead to what the fields say.
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

/// Prepares a query that is asked while something is unknown. Both kinds of options may be NULL.
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
        // SAFETY: the caller keeps the rules of the header
        let (engine, prepared, out) = unsafe {
            let engine = &argument::handle(engine, "engine")?.0;
            let text = argument::text(text, text_length, "text")?;
            let options = argument::extensible(options, "options")?.read()?;
            let out = argument::output(out, "out")?;
            let compile =
                |context: &QueryContext<'_>| engine.prepare_partial(text, &options, context);
            (engine.clone(), query::prepare(query_options, compile)?, out)
        };
        out.give(Partial { prepared, engine });
        Ok(())
    })
}

/// Asks by a request, which may be NULL, what the query still depends on.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_partial_ask(
    partial: *const Partial,
    request: *const Request,
    out: *mut *mut Residuals,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (partial, mut asked, out) = unsafe {
            let partial = argument::handle(partial, "partial")?;
            let asked = Asked::read(request, partial.engine.limits())?;
            (partial, asked, argument::output(out, "out")?)
        };
        let left = asked.answer(
            |request| partial.prepared.evaluate(request),
            |request, search| partial.prepared.evaluate_as(request, search),
        );
        out.give(Residuals::of(&left?));
        Ok(())
    })
}

/// Asks by a request, and tells how the answer was found, as `solon_document_explain` does.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_partial_explain(
    partial: *const Partial,
    request: *const Request,
    detail: DetailLevel,
    out: *mut *mut Explanation,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (partial, mut asked, out) = unsafe {
            let partial = argument::handle(partial, "partial")?;
            let asked = Asked::read(request, partial.engine.limits())?;
            (partial, asked, argument::output(out, "out")?)
        };
        let detail = explanation::detail(detail)?;
        let told = asked.searched(|request, search| {
            partial
                .prepared
                .explain(request, ExplainOptions::new(detail).search(search))
        });
        out.give(Explanation(Told::Partial(Box::new(told))));
        Ok(())
    })
}

/// Frees a partial query that no thread uses any more; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_partial_free(partial: *mut Partial) {
    // SAFETY: `solon_engine_prepare_partial` made it of a box, and the caller frees it once
    unsafe { argument::free(partial) };
}
