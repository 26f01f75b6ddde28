//! Bytes and text that are passed between Rust and C.

use std::ffi::c_char;
use std::ptr;

use serde::Serialize;

use crate::error::{Error, SOLON_ERROR_INTERNAL};
use crate::guard::guard_or;

/// Bytes that the caller owns and frees with `solon_bytes_free`. `data` is NULL for an absent value, which differs from an empty
/// text.
#[repr(C)]
pub struct Bytes {
    /// First byte.
    pub data: *mut c_char,
    /// Length in bytes.
    pub length: usize,
}

/// View of text. Text that the library returns belongs to the object that it was read from, and lives as long as that object.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    /// First byte; never NULL in text that the library returns.
    pub data: *const c_char,
    /// Length in bytes.
    pub length: usize,
}

impl Bytes {
    /// Serializes `value` as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Error> {
        let text = serde_json::to_vec(value);
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
    pub(crate) fn of_str(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub(crate) fn of_bytes(text: &[u8]) -> Self {
        Self {
            data: text.as_ptr().cast(),
            length: text.len(),
        }
    }
}

/// Frees bytes that a function returned; does nothing if `data` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_bytes_free(bytes: Bytes) {
    guard_or((), || {
        if !bytes.data.is_null() {
            let slice = ptr::slice_from_raw_parts_mut(bytes.data.cast::<u8>(), bytes.length);
            // SAFETY: `Bytes::new` created it from a `Box` of this length, and the caller frees it once
            drop(unsafe { Box::from_raw(slice) });
        }
    });
}
