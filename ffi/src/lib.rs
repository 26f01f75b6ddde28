//! The C ABI of the Solon policy engine. `include/solon.h` is generated from `ffi/src`, and begins with these lines.
//!
//! # Rules
//!
//! **Names.** `solon_TYPE_VERB` is a function of a type, and its first argument is the handle. A suffix says how data is passed:
//!
//! - no suffix: as a `solon_value`, or as another handle
//! - `_json`, `_yaml`: as text of that format
//! - `_with`: as a `solon_request`, where the function without `_with` takes an input as JSON text
//! - `_new` creates a handle, `_free` frees it, `_count` and `_at` read a list
//!
//! **Handles.** Every type is opaque, except views of bytes, options and requests. Objects that `_new` or an output returns
//! belong to the caller, who passes them to `_free` once; `_free` accepts NULL. Handles may be freed in any order.
//!
//! **Constness.** A call does not change what a `const T *` points to. Functions that change an object take a `T *`.
//!
//! **Threads.** The comment of each type says if several threads may use it at once. For engines and cancellation handles that
//! includes the functions that change them. `_free` is always the last use.
//!
//! **Arguments.** Inputs come first, outputs last. NULL is `SOLON_ERROR_ARGUMENT` for an output, and for an input unless its
//! documentation gives NULL a meaning.
//!
//! **Text** is UTF-8, a pointer and a length in bytes. It need not end in NUL, and NULL with length 0 is the empty text. The length
//! `SIZE_MAX` means that the text ends in NUL. `SOLON_STR("authz/allow")` is both arguments of a literal, without a call of `strlen`.
//! Both also apply to texts in structures. Returned text does not end in NUL.
//!
//! **Names of documents** are references (`data.authz.allow`) or paths with slashes below `data` (`authz/allow`), wherever an argument
//! is called `path` and is not a file. A name that begins with a slash is always a path: `/data.x` is the key `data.x`.
//! Text that starts with `data.` or `data[` and is not a reference, and a reference to anything else, such as `authz.allow`, are
//! `SOLON_ERROR_OPTIONS`.
//!
//! **Errors.** A function that can fail returns NULL, or an error that the caller frees. On an error outputs are untouched, and
//! the engine is unchanged. Compilers warn if the error is dropped (`SOLON_MUST_USE`). Codes never change; new ones are added at
//! the end, so treat an unknown code like `SOLON_ERROR_INTERNAL`.
//!
//! **Decisions** are the exception to untouched outputs: a `bool *allowed` is set to `false` before the function reads any other
//! argument, and is `false` on every error. It is `true` only after a decision that is exactly `true`.
//!
//! **Constants** (`SOLON_ERROR_…`, `SOLON_KIND_…`, `SOLON_REGO_…` and the like) have 32-bit types with every compiler.
//!
//! **Panics** of Rust never cross into C: every function runs inside one guard, which converts them to `SOLON_ERROR_INTERNAL`.
//!
//! **Callbacks** run on the evaluating thread, several at once, and may call the library, even with the handle that is being
//! evaluated. They must return: no `longjmp` and no exception may leave them.
//!
//! **Structures** of options and requests begin with their size: `solon_request request = {.size = sizeof request};`. Zero fields
//! have their defaults. A newer library accepts the structure of an older header.
//!
//! **Files.** There is one file for each kind of handle; `tests/ffi/c` has programs that use each.

#![expect(
    unsafe_code,
    reason = "C passes raw pointers; each is checked for NULL, and the rules above say what else the caller owes"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the obligations of the caller are the same everywhere and are documented above"
)]

mod argument;
pub mod bundle;
pub mod bytes;
pub mod cancel;
pub mod change;
pub mod coverage;
pub mod data;
mod decision;
pub mod document;
pub mod engine;
pub mod error;
pub mod explanation;
#[cfg(test)]
mod faults;
pub mod filter;
pub mod format;
pub mod function;
mod guard;
pub mod load;
pub mod metadata;
pub mod metrics;
pub mod modules;
pub mod nd_cache;
pub mod options;
pub mod pairs;
pub mod partial;
pub mod profile;
pub mod query;
pub mod request;
pub mod residuals;
pub mod snapshot;
pub mod solutions;
pub mod value;
pub mod version;

/// Checks that types that several threads may use at once are `Sync`.
const _: () = {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<cancel::Cancel>();
    assert_shared::<document::Document>();
    assert_shared::<engine::Engine>();
    assert_shared::<error::Error>();
    assert_shared::<explanation::Explanation>();
    assert_shared::<filter::Filter>();
    assert_shared::<filter::Filters>();
    assert_shared::<function::Function>();
    assert_shared::<snapshot::Snapshot>();
    assert_shared::<partial::Partial>();
    assert_shared::<query::Query>();
    assert_shared::<residuals::Residuals>();
    assert_shared::<solutions::Solutions>();
    assert_shared::<value::Value>();
};
