//! Which version a program was compiled for, and which it runs with.

use std::ffi::c_char;

use crate::guard::guard_or;

/// Version of this header: rises when programs must change.
pub const SOLON_VERSION_MAJOR: u32 = 0;
/// Version of this header: rises when functions are added.
pub const SOLON_VERSION_MINOR: u32 = 1;
/// Version of this header: rises with each correction.
pub const SOLON_VERSION_PATCH: u32 = 0;

/// Number of the interface between programs and the library: rises when a program that was linked before would break.
pub const SOLON_ABI: u32 = 1;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Version of the library in use, like `1.2.3`, ended by NUL; it lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn solon_version() -> *const c_char {
    guard_or(c"".as_ptr(), || VERSION.as_ptr().cast())
}

/// The `SOLON_ABI` of the library in use. A program that was compiled with another one must not go on.
#[unsafe(no_mangle)]
pub extern "C" fn solon_abi() -> u32 {
    SOLON_ABI
}
