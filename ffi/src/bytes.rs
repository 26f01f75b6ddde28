//! Bytes that cross the border.

use std::ffi::c_char;
use std::ptr;

use serde::Serialize;

use crate::error::{Error, SOLON_ERROR_INTERNAL};
use crate::guard::guard_or;

/// Bytes that the caller owns and hands to `solon_bytes_free`. `data` is NULL when there is nothing, which is not
/// the same as an empty text.
#[repr(C)]
pub struct Bytes {
    /// First byte.
    pub data: *mut c_char,
    /// How many.
    pub length: usize,
}

/// A view of text. What the library gives belongs to the object it was asked from, and lives as long as that.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    /// First byte; never NULL where the library gives it.
    pub data: *const c_char,
    /// How many.
    pub length: usize,
}

impl Bytes {
    /// The JSON of something.
    pub(crate) fn json(what: &impl Serialize) -> Result<Self, Error> {
        let text = serde_json::to_vec(what);
        let text = text.map_err(|error| Error::new(SOLON_ERROR_INTERNAL, error.to_string()))?;
        Ok(Self::new(Some(text)))
    }

    pub(crate) fn new(bytes: Option<Vec<u8>>) -> Self {
        match bytes {
            None => Self {
                data: ptr::null_mut(),
                length: 0,
            },
            Some(bytes) => {
                let length = bytes.len();
                Self {
                    data: Box::into_raw(bytes.into_boxed_slice()).cast(),
                    length,
                }
            }
        }
    }
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub(crate) fn of_bytes(text: &[u8]) -> Self {
        Self {
            data: text.as_ptr().cast(),
            length: text.len(),
        }
    }
}

/// Frees bytes that a function gave; nothing happens when `data` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_bytes_free(bytes: Bytes) {
    guard_or((), || {
        if !bytes.data.is_null() {
            let slice = ptr::slice_from_raw_parts_mut(bytes.data.cast::<u8>(), bytes.length);
            // SAFETY: `Bytes::new` made it of a box of this length, and the caller frees it once
            drop(unsafe { Box::from_raw(slice) });
        }
    });
}
