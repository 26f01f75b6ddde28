//! Values without JSON text: constructors and accessors.

use std::cmp::Ordering;
use std::ffi::{c_char, c_int};
use std::ptr;

use ::engine::{Kind as EngineKind, NumberBuf, Object, Value as EngineValue, json};

use crate::argument::{self, argument_error, arguments};
use crate::bytes::{Bytes, Text};
use crate::error::Error;
use crate::guard::{guard, guard_or};

/// A value. It never changes, so several threads may read it at once.
///
/// Values that `solon_value_item`, `solon_value_get` and the like return belong to their container, live as long as it, and are
/// not freed. `solon_value_clone` returns an owned value.
pub struct Value(pub(crate) EngineValue);

// both have the same layout, so a pointer to a nested value is a handle; `repr(transparent)` would be visible in the header
const _: () = assert!(
    size_of::<Value>() == size_of::<EngineValue>()
        && align_of::<Value>() == align_of::<EngineValue>()
);

/// Kind of a value: one of `SOLON_KIND_…`, in Rego's sort order.
pub type Kind = i32;

/// No value: NULL.
pub const SOLON_KIND_UNDEFINED: Kind = 0;
/// `null`
pub const SOLON_KIND_NULL: Kind = 1;
/// `true`, `false`
pub const SOLON_KIND_BOOLEAN: Kind = 2;
/// A number of any size.
pub const SOLON_KIND_NUMBER: Kind = 3;
/// A string.
pub const SOLON_KIND_STRING: Kind = 4;
/// An array.
pub const SOLON_KIND_ARRAY: Kind = 5;
/// An object, whose keys may be of any kind.
pub const SOLON_KIND_OBJECT: Kind = 6;
/// A set.
pub const SOLON_KIND_SET: Kind = 7;

impl Value {
    /// Returns the handle of a borrowed value.
    pub(crate) fn handle_of(value: &EngineValue) -> *const Self {
        ptr::from_ref(value).cast()
    }

    pub(crate) fn boxed(value: EngineValue) -> *mut Self {
        Box::into_raw(Box::new(Self(value)))
    }
}

/// Reads from a value; returns `otherwise` for NULL.
///
/// # Safety
/// `value` is NULL or a live value.
unsafe fn read<'a, T>(
    value: *const Value,
    otherwise: T,
    read_value: impl FnOnce(&'a EngineValue) -> Option<T>,
) -> T
where
    T: Copy,
{
    guard_or(otherwise, || {
        // SAFETY: by this function's contract
        let value = unsafe { value.as_ref() };
        value
            .and_then(|value: &'a Value| read_value(&value.0))
            .unwrap_or(otherwise)
    })
}

/// Creates `null`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_null(out: *mut *mut Value) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Value(EngineValue::NULL));
        Ok(())
    })
}

/// Creates a boolean: `false` for 0, `true` otherwise.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_boolean(boolean: c_int, out: *mut *mut Value) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Value(EngineValue::from(boolean != 0)));
        Ok(())
    })
}

/// Creates an integer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_int(number: i64, out: *mut *mut Value) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Value(EngineValue::from(number)));
        Ok(())
    })
}

/// Creates a number from the shortest decimal that parses to `number`, which must be finite.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_double(number: f64, out: *mut *mut Value) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        let parsed = NumberBuf::from_f64(number);
        let number =
            parsed.ok_or_else(|| argument_error(format!("`number` is {number}: not finite")))?;
        out.give(Value(EngineValue::number(number)));
        Ok(())
    })
}

/// Creates a number from its text in JSON syntax; it stays exact.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_number(
    text: *const c_char,
    text_length: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (text, out) = arguments!(text(text, text_length), output(out));
        let parsed = NumberBuf::parse(text);
        let number =
            parsed.ok_or_else(|| argument_error("`text` is not a number, or is too large"))?;
        out.give(Value(EngineValue::number(number)));
        Ok(())
    })
}

/// Creates a string.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_string(
    text: *const c_char,
    text_length: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (text, out) = arguments!(text(text, text_length), output(out));
        out.give(Value(EngineValue::string(text)));
        Ok(())
    })
}

/// Creates a collection of values.
///
/// # Safety
/// The pointers satisfy the contract of the header.
unsafe fn collection(
    items: *const *const Value,
    item_count: usize,
    make: fn(Vec<EngineValue>) -> EngineValue,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        // SAFETY: by this function's contract
        let (items, out) = unsafe {
            (
                argument::handles(items, item_count, "items")?,
                argument::output(out, "out")?,
            )
        };
        let items = items.into_iter().map(|item| item.0.clone());
        out.give(Value(make(items.collect())));
        Ok(())
    })
}

/// Creates an array of values. The caller keeps them.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_array(
    items: *const *const Value,
    item_count: usize,
    out: *mut *mut Value,
) -> *mut Error {
    // SAFETY: the caller upholds the contract of the header
    unsafe { collection(items, item_count, EngineValue::array, out) }
}

/// Creates a set of values. The caller keeps them. Equal values are one member.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_set(
    items: *const *const Value,
    item_count: usize,
    out: *mut *mut Value,
) -> *mut Error {
    // SAFETY: the caller upholds the contract of the header
    unsafe { collection(items, item_count, EngineValue::set, out) }
}

/// Creates an object of `pair_count` keys and as many values. The caller keeps them. For equal keys the last value is used.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_object(
    keys: *const *const Value,
    values: *const *const Value,
    pair_count: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (keys, values, out) = arguments!(
            handles(keys, pair_count),
            handles(values, pair_count),
            output(out),
        );
        let pairs = keys.into_iter().zip(values);
        let pairs = pairs.map(|(key, value)| (key.0.clone(), value.0.clone()));
        out.give(Value(EngineValue::object(pairs.collect())));
        Ok(())
    })
}

/// Parses JSON text.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_from_json(
    json: *const c_char,
    json_length: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(value(json, json_length), output(out));
        out.give(Value(value));
        Ok(())
    })
}

/// Parses YAML text, as OPA parses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_from_yaml(
    yaml: *const c_char,
    yaml_length: usize,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(yaml_value(yaml, yaml_length), output(out));
        out.give(Value(value));
        Ok(())
    })
}

/// Returns an owned value that equals a value or a nested value; both share their contents.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_clone(
    value: *const Value,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(handle(value), output(out));
        out.give(Value(value.0.clone()));
        Ok(())
    })
}

/// Frees an owned value; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_free(value: *mut Value) {
    // SAFETY: it was created from a `Box`, and the caller frees it once
    unsafe { argument::free(value) };
}

/// Writes a value as JSON: sets become arrays, and keys that are not strings become their JSON text.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_value_json(value: *const Value, out: *mut Bytes) -> *mut Error {
    guard(|| {
        let (value, out) = arguments!(handle(value), output(out));
        let mut text = Vec::new();
        json::write(value.0.borrow(), &mut text);
        out.write(Bytes::new(Some(text)));
        Ok(())
    })
}

/// Returns the kind of a value; `SOLON_KIND_UNDEFINED` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_kind(value: *const Value) -> Kind {
    let kind = |value: &EngineValue| {
        Some(match value.kind() {
            EngineKind::Null => SOLON_KIND_NULL,
            EngineKind::Boolean => SOLON_KIND_BOOLEAN,
            EngineKind::Number => SOLON_KIND_NUMBER,
            EngineKind::String => SOLON_KIND_STRING,
            EngineKind::Array => SOLON_KIND_ARRAY,
            EngineKind::Object => SOLON_KIND_OBJECT,
            EngineKind::Set => SOLON_KIND_SET,
        })
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, SOLON_KIND_UNDEFINED, kind) }
}

/// Returns 1 if a value is `true`, and 0 for any other value or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_is_true(value: *const Value) -> c_int {
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, 0, |value| value.as_bool().map(c_int::from)) }
}

/// Returns the number of elements, members or pairs, or of the bytes of a string; 0 for anything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_length(value: *const Value) -> usize {
    let length = |value: &EngineValue| match value.kind() {
        EngineKind::Array => value.as_array().map(<[_]>::len),
        EngineKind::Object => value.as_object().map(Object::len),
        EngineKind::Set => value.as_set().map(|set| set.items().len()),
        _ => value.string_bytes().map(<[u8]>::len),
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, 0, length) }
}

/// Reads a number that is an integer and fits. Returns 1 if it does; otherwise returns 0 and leaves `out` untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_to_int(value: *const Value, out: *mut i64) -> c_int {
    // SAFETY: the caller upholds the contract of the header
    unsafe { put(value, out, EngineValue::as_i64) }
}

/// Reads a number as the nearest `double`. Returns 1 if the value is a number; otherwise returns 0 and leaves `out` untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_to_double(value: *const Value, out: *mut f64) -> c_int {
    // SAFETY: the caller upholds the contract of the header
    unsafe { put(value, out, EngineValue::as_f64) }
}

/// Reads a string without a copy. Returns 1 if the value is a string; otherwise returns 0 and leaves `out` untouched. The text
/// lives as long as the value, and is UTF-8 unless a policy created it from bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_to_text(value: *const Value, out: *mut Text) -> c_int {
    // SAFETY: the caller upholds the contract of the header
    unsafe { put(value, out, |value| value.string_bytes().map(Text::of_bytes)) }
}

/// Writes the result of `read_value` to an output.
///
/// # Safety
/// `value` is NULL or a live value, `out` is NULL or writable by this call.
unsafe fn put<T>(
    value: *const Value,
    out: *mut T,
    read_value: impl FnOnce(&EngineValue) -> Option<T>,
) -> c_int {
    guard_or(0, || {
        // SAFETY: by this function's contract
        let (value, out) = unsafe { (value.as_ref(), argument::output(out, "out")) };
        match (value.and_then(|value| read_value(&value.0)), out) {
            (Some(content), Ok(out)) => {
                out.write(content);
                1
            }
            _ => 0,
        }
    })
}

/// Returns the element of an array, or the member of a set in sort order, at a position from 0; NULL beyond the end and for other
/// values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_item(value: *const Value, index: usize) -> *const Value {
    let item = |value: &EngineValue| {
        let items = value.as_array().or_else(|| Some(value.as_set()?.items()))?;
        items.get(index).map(Value::handle_of)
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, ptr::null(), item) }
}

/// Returns the value of a string key in an object; NULL if there is none, and for other values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_get(
    value: *const Value,
    key: *const c_char,
    key_length: usize,
) -> *const Value {
    let get = |value: &EngineValue| {
        // SAFETY: the caller upholds the contract of the header
        let key = unsafe { argument::text(key, key_length, "key") }.ok()?;
        value.get(key).map(Value::handle_of)
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, ptr::null(), get) }
}

/// Returns the value of a key in an object, the element at an index of an array, or the member of a set that equals `key`; NULL
/// if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_lookup(
    value: *const Value,
    key: *const Value,
) -> *const Value {
    let lookup = |value: &EngineValue| {
        // SAFETY: the caller upholds the contract of the header
        let key = &unsafe { argument::handle(key, "key") }.ok()?.0;
        let member = match value.kind() {
            EngineKind::Object => value.as_object()?.get(key.borrow()),
            EngineKind::Array => value.as_array()?.get(usize::try_from(key.as_i64()?).ok()?),
            EngineKind::Set => {
                let items = value.as_set()?.items();
                items.get(items.binary_search(key).ok()?)
            }
            _ => None,
        };
        member.map(Value::handle_of)
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(value, ptr::null(), lookup) }
}

/// Compares two values by Rego's order: returns less than 0, 0 or greater than 0. NULL sorts first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_value_compare(left: *const Value, right: *const Value) -> c_int {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        let (left, right) = unsafe { (left.as_ref(), right.as_ref()) };
        match left.map(|left| &left.0).cmp(&right.map(|right| &right.0)) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    })
}
