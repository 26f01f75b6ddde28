//! Reading what C passes.

use std::ffi::c_char;
use std::ptr::NonNull;
use std::slice;

use ::engine::{Request, Value, json};

use crate::error::{Code, Error};
use crate::guard::guard_or;

/// What a handle points to.
///
/// # Safety
/// `pointer` is NULL or a live handle.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    // SAFETY: by this function's contract
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// What a handle points to, to be changed.
///
/// # Safety
/// `pointer` is NULL or a live handle that nobody else uses during the call.
pub(crate) unsafe fn handle_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: by this function's contract
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Bytes, or `None` for NULL.
///
/// # Safety
/// `pointer` is NULL or the start of `length` bytes that nobody writes to during the call.
pub(crate) unsafe fn bytes<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<&'a [u8]>, Error> {
    if isize::try_from(length).is_err() {
        return Err(refused(format!(
            "`{name}` is longer than the address space"
        )));
    }
    if pointer.is_null() {
        return if length == 0 {
            Ok(None)
        } else {
            Err(null(name))
        };
    }
    // SAFETY: not NULL, of a possible length, and the rest by this function's contract
    Ok(Some(unsafe {
        slice::from_raw_parts(pointer.cast(), length)
    }))
}

/// Text; NULL with length 0 is empty.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, Error> {
    // SAFETY: by this function's contract
    let bytes = unsafe { bytes(pointer, length, name) }?.unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| {
        refused(format!(
            "`{name}` is not UTF-8 from byte {} on",
            error.valid_up_to()
        ))
    })
}

/// A value as JSON text; NULL is the empty text.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn value(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Value, Error> {
    // SAFETY: by this function's contract
    let text = unsafe { bytes(pointer, length, name) }?.unwrap_or_default();
    json::read(text).map_err(|error| Error::new(Code::SolonErrorInput, error.to_string()))
}

/// A request with an input as JSON text; without one for NULL.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn request<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Request<'a>, Error> {
    // SAFETY: by this function's contract
    let input = unsafe { bytes(pointer, length, name) }?;
    Ok(match input {
        Some(text) => Request::new().input_json(text),
        None => Request::new(),
    })
}

/// Frees what a handle points to; nothing happens for NULL.
///
/// # Safety
/// `pointer` is NULL, or a handle that was made of a box and that nobody uses any more.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    guard_or((), || {
        if !pointer.is_null() {
            // SAFETY: by this function's contract
            drop(unsafe { Box::from_raw(pointer) });
        }
    });
}

/// A place for an output, asked for before the work that fills it.
pub(crate) fn output<T>(pointer: *mut T, name: &str) -> Result<NonNull<T>, Error> {
    NonNull::new(pointer).ok_or_else(|| null(name))
}

fn null(name: &str) -> Error {
    refused(format!("`{name}` is NULL"))
}

fn refused(message: String) -> Error {
    Error::new(Code::SolonErrorArgument, message)
}
