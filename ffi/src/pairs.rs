//! Iteration over the pairs of objects.

use std::ffi::c_int;

use ::engine::Value as EngineValue;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::{guard, guard_or};
use crate::value::Value;

/// Iterator over the pairs of an object. Only one thread at a time may use it.
pub struct Pairs {
    /// Keeps the values alive that the other fields point to.
    _object: EngineValue,
    rest: std::vec::IntoIter<(*const Value, *const Value)>,
}

/// Creates an iterator over the pairs of an object, sorted by key. For any other value it is empty.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_pairs_new(value: *const Value, out: *mut *mut Pairs) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(handle(value), output(out));
        let object = value.0.clone();
        let pairs = value.0.as_object().into_iter();
        let pairs = pairs.flat_map(|object| object.iter());
        let pairs = pairs.map(|(key, value)| (Value::handle_of(key), Value::handle_of(value)));
        let rest = pairs.collect::<Vec<_>>().into_iter();
        out.give(Pairs {
            _object: object,
            rest,
        });
        Ok(())
    })
}

/// Returns the next pair, whose key and value live as long as the object. The result is 1 if there is one, 0 at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_pairs_next(
    pairs: *mut Pairs,
    key: *mut *const Value,
    value: *mut *const Value,
) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
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

/// Frees the iterator; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_pairs_free(pairs: *mut Pairs) {
    // SAFETY: `solon_pairs_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(pairs) };
}
