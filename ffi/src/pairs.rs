//! The pairs of objects, one after the other.

use std::ffi::c_int;

use ::engine::Value as EngineValue;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::value::Value;

/// The pairs of an object, one after the other. One thread at a time uses it.
pub struct Pairs {
    /// Keeps what the rest points into.
    _object: EngineValue,
    rest: std::vec::IntoIter<(*const Value, *const Value)>,
}

/// The pairs of an object in the order of its keys; of anything else there are none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_pairs_new(value: *const Value, out: *mut *mut Pairs) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(handle(value), output(out));
        let object = value.0.clone();
        let pairs = value.0.as_object().into_iter();
        let pairs = pairs.flat_map(|object| object.iter());
        let pairs = pairs.map(|(key, value)| (Value::within(key), Value::within(value)));
        let rest = pairs.collect::<Vec<_>>().into_iter();
        out.give(Pairs {
            _object: object,
            rest,
        });
        Ok(())
    })
}

/// Gives the next pair, whose parts live as long as the object: 1 if there is one, 0 at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_pairs_next(
    pairs: *mut Pairs,
    key: *mut *const Value,
    value: *mut *const Value,
) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        let arguments = unsafe {
            (
                argument::handle_mut(pairs, "pairs"),
                argument::output(key, "key"),
                argument::output(value, "value"),
            )
        };
        let (Ok(pairs), Ok(key), Ok(value)) = arguments else {
            return 0;
        };
        let Some(pair) = pairs.rest.next() else {
            return 0;
        };
        key.write(pair.0);
        value.write(pair.1);
        1
    })
}

/// Frees what went through pairs; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_pairs_free(pairs: *mut Pairs) {
    // SAFETY: `solon_pairs_new` made it of a box, and the caller frees it once
    unsafe { argument::free(pairs) };
}
