//! Versions of the header and of the library.

use std::ffi::c_char;

use crate::guard::guard_or;

/// Version of this header: incremented for breaking changes.
pub const SOLON_VERSION_MAJOR: u32 = 0;
/// Version of this header: incremented when functions are added.
pub const SOLON_VERSION_MINOR: u32 = 1;
/// Version of this header: incremented for each fix.
pub const SOLON_VERSION_PATCH: u32 = 0;

/// ABI version: incremented when programs that were linked earlier would break.
pub const SOLON_ABI: u32 = 1;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Returns the version of the library in use, like `1.2.3`, NUL-terminated; it is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn solon_version() -> *const c_char {
    guard_or(c"".as_ptr(), || VERSION.as_ptr().cast())
}

/// Returns the `SOLON_ABI` of the library in use. A program that was compiled with another one must not continue.
#[unsafe(no_mangle)]
pub extern "C" fn solon_abi() -> u32 {
    SOLON_ABI
}
