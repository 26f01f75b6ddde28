//! The engine: how it is made, and what changes it as a whole.

use std::ffi::c_char;

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::change::Change;
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::metrics::Metrics;
use crate::moment::Moment;
use crate::options::Options;

/// A policy engine. Several threads may change it and ask it at once: a decision sees the modules and the data of
/// one moment, and never waits.
pub struct Engine(pub(crate) ::engine::Engine);

/// Makes an engine, without modules and data but for those of `options->store_path`. `options` may be NULL: everything is
/// as usual then.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_new(
    options: *const Options,
    out: *mut *mut Engine,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (engine, out) = unsafe {
            let options = argument::extensible(options, "options")?;
            let out = argument::output(out, "out")?;
            (options.build()?, out)
        };
        out.give(Engine(engine));
        Ok(())
    })
}

/// Frees an engine that no thread uses any more; nothing happens for NULL. What was prepared keeps what it needs of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_free(engine: *mut Engine) {
    // SAFETY: `solon_engine_new` made it of a box, and the caller frees it once
    unsafe { argument::free(engine) };
}

/// How many changes there were: it grows with each; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_engine_generation(engine: *const Engine) -> u64 {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        unsafe { engine.as_ref() }.map_or(0, |engine| engine.0.generation())
    })
}

/// Applies a change: all of it happens, and every decision sees all of it or nothing, or there is an error and nothing
/// happens. The change is empty then, either way. `metrics` may be NULL; it is told how long parsing and compiling take.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_apply(
    engine: *const Engine,
    change: *mut Change,
    metrics: *mut Metrics,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
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
            Some(metrics) => metrics.timed(|timer| Ok(engine.0.apply_timed(change, timer)?)),
        }
    })
}

/// Tells what a change would do: the moment that it would lead to, which can be asked like any other, or the error.
/// Nothing happens, and the change stays as it is.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_check(
    engine: *const Engine,
    change: *const Change,
    out: *mut *mut Moment,
) -> *mut Error {
    guard(|| {
        let (engine, change, out) = arguments!(handle(engine), handle(change), output(out));
        out.give(Moment(engine.0.check(change.0.clone())?));
        Ok(())
    })
}

/// The policy and the data as they are now, for decisions that are to rest on the same.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_moment(
    engine: *const Engine,
    out: *mut *mut Moment,
) -> *mut Error {
    guard(|| {
        let (engine, out) = arguments!(handle(engine), output(out));
        out.give(Moment(engine.0.snapshot()));
        Ok(())
    })
}

/// Evaluates the document at a path below `data`, like `authz/allow`, and gives it as JSON. What is asked often is better
/// prepared.
///
/// The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
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
        let document = engine.0.prepare_document_at(&path)?;
        out.write(Bytes::new(document.evaluate_json(&request)?));
        Ok(())
    })
}

/// Gives back the memory that evaluations left to later ones: that of the pool and that of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn solon_release_memory() {
    guard_or((), ::engine::release_memory);
}
