//! Cache of results of non-deterministic built-in functions.

use std::ffi::c_char;

use ::engine::{NdBuiltinCache, json};

use crate::argument::{self, arguments};
use crate::bytes::Bytes;
use crate::error::{Error, SOLON_ERROR_INPUT};
use crate::guard::guard;

/// Results of non-deterministic functions (`time.now_ns`, `rand.intn`, `http.send` …) in a decision, so that it can be explained
/// or repeated. Only one thread at a time may use it.
pub struct NdCache(pub(crate) NdBuiltinCache);

/// Creates a cache: empty for NULL, otherwise from the JSON of `solon_nd_cache_json`, so that a decision repeats.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_nd_cache_new(
    json: *const c_char,
    json_length: usize,
    out: *mut *mut NdCache,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (results, out) = unsafe {
            let results = argument::bytes(json, json_length, "json")?;
            let results = match results {
                Some(_) => Some(argument::value(json, json_length, "json")?),
                None => None,
            };
            (results, argument::output(out, "out")?)
        };
        if results
            .as_ref()
            .is_some_and(|value| value.as_object().is_none())
        {
            let message = "`json` is not an object of results by function".to_owned();
            return Err(Error::new(SOLON_ERROR_INPUT, message));
        }
        let cache = results.as_ref().map(NdBuiltinCache::from_value);
        out.give(NdCache(cache.unwrap_or_default()));
        Ok(())
    })
}

/// Returns the cache as JSON: results by function and arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_nd_cache_json(cache: *const NdCache, out: *mut Bytes) -> *mut Error {
    guard(|| {
        let (cache, out) = arguments!(handle(cache), output(out));
        let mut text = Vec::new();
        json::write(cache.0.to_value().borrow(), &mut text);
        out.write(Bytes::new(Some(text)));
        Ok(())
    })
}

/// Frees a cache; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_nd_cache_free(cache: *mut NdCache) {
    // SAFETY: `solon_nd_cache_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(cache) };
}
