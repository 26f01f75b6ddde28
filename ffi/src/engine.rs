//! The engine: creation, changes, snapshots.

use std::ffi::c_char;

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::change::Change;
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::snapshot::Snapshot;
use ::engine::CheckOptions;

/// A policy engine. Several threads may change and evaluate it at once. A decision uses the modules and the data of one snapshot,
/// and never waits.
pub struct Engine(pub(crate) ::engine::Engine);

/// Creates an engine. It has no modules and data, except those of `options->store_path`. `options` may be NULL for the defaults.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_new(
    options: *const Options,
    out: *mut *mut Engine,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, out) = unsafe {
            let options = argument::extensible(options, "options")?;
            let out = argument::output(out, "out")?;
            (options.build()?, out)
        };
        out.give(Engine(engine));
        Ok(())
    })
}

/// Frees an engine that no thread uses any more; does nothing for NULL. Prepared documents and queries keep what they need of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_free(engine: *mut Engine) {
    // SAFETY: `solon_engine_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(engine) };
}

/// Returns the number of changes so far; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_generation(engine: *const Engine) -> u64 {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { engine.as_ref() }.map_or(0, |engine| engine.0.generation())
    })
}

/// Applies a change atomically: a decision uses all of it or nothing, and on an error nothing changes. The change is empty
/// afterwards in both cases. `metrics` may be NULL; otherwise the times of parsing and compiling are added to it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_apply(
    engine: *mut Engine,
    change: *mut Change,
    metrics: *mut Metrics,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, change, metrics) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::handle_mut(change, "change")?,
                metrics.as_ref(),
            )
        };
        let change = std::mem::take(&mut change.0);
        match metrics {
            None => Ok(engine.0.apply(change)?),
            Some(metrics) => metrics.timed(|timer| engine.0.apply_with(|_| Ok(change), timer)),
        }
    })
}

/// Checks a change without applying it: returns the snapshot that it would create, which can be evaluated like any other, or the
/// error. The change stays as it is.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_check(
    engine: *const Engine,
    change: *const Change,
    out: *mut *mut Snapshot,
) -> *mut Error {
    guard(|| {
        let (engine, change, out) = arguments!(handle(engine), handle(change), output(out));
        out.give(Snapshot(
            engine.0.check(change.0.clone(), CheckOptions::default())?,
        ));
        Ok(())
    })
}

/// Returns a snapshot of the current policy and data, for several decisions on the same state.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_snapshot(
    engine: *const Engine,
    out: *mut *mut Snapshot,
) -> *mut Error {
    guard(|| {
        let (engine, out) = arguments!(handle(engine), output(out));
        out.give(Snapshot(engine.0.snapshot()));
        Ok(())
    })
}

/// Evaluates a document, like `data.authz.allow` or `authz/allow`, and returns it as JSON. For repeated evaluations, prepare the
/// document instead.
///
/// The input is JSON; NULL leaves `input` undefined. If the document is undefined, `out->data` is NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_evaluate_json(
    engine: *const Engine,
    path: *const c_char,
    path_length: usize,
    input_json: *const c_char,
    input_json_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (engine, path, request, out) = arguments!(
            handle(engine),
            path(path, path_length),
            request(input_json, input_json_length),
            output(out),
        );
        let document = engine.0.document(&path);
        out.write(Bytes::new(document.evaluate_json(&request)?));
        Ok(())
    })
}

/// Frees memory that is cached for later evaluations, in the shared pool and in the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn solon_release_memory() {
    guard_or((), ::engine::release_memory);
}
