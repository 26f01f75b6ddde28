//! The C ABI of the Solon policy engine. `include/solon.h` is made from `ffi/src`, and these lines open it.
//!
//! # Rules
//!
//! **Handles.** Every type is opaque, but for views of bytes, options and requests. What `_new` or an output gives
//! belongs to the caller, who hands it to `_free` once; `_free` accepts NULL. Handles may be freed in any order.
//!
//! **Threads.** What is reached through `const T *` may be used by several threads at once. What is taken as `T *`
//! may not be in use elsewhere.
//!
//! **Arguments.** Inputs come first, outputs last. A NULL output, or a NULL input where that is not said to mean
//! something, is `SOLON_ERROR_ARGUMENT`.
//!
//! **Text** is UTF-8, a pointer and a length in bytes; it need not end in NUL, and NULL with length 0 is the empty
//! text. Text that comes back is not ended by NUL either.
//!
//! **Errors.** A function that can fail returns NULL, or an error that the caller frees. Outputs are untouched then,
//! and nothing has changed in the engine. Compilers warn where the error is dropped (`SOLON_MUST_USE`). Codes keep their
//! numbers for ever; new ones are added at the end, so treat an unknown one like `SOLON_ERROR_INTERNAL`.
//!
//! **Decisions** are the exception to untouched outputs: a `bool *allowed` is `false` before the function looks at any
//! other argument, and on every error. It is `true` only after a decision that is exactly `true`.
//!
//! **Constants** (`SOLON_ERROR_…`, `SOLON_KIND_…`, `SOLON_REGO_…` and the like) have types of 32 bits, whatever compiles the
//! program.
//!
//! **Panics** of Rust never cross into C: every function runs inside one guard, which makes `SOLON_ERROR_INTERNAL` of
//! them.
//!
//! **Callbacks** run on the evaluating thread, several at once, and may call the library, even the very handle that
//! runs them. They must return: no `longjmp` and no exception may leave them.
//!
//! **Structures** of options and requests begin with their size: `solon_request request = {.size = sizeof request};`.
//! What is zero is as usual. A newer library takes the structure of an older header.
//!
//! **Files.** One file for each kind of handle; `tests/ffi/c` has programs that use each.

#![expect(
    unsafe_code,
    reason = "C passes raw pointers; each is checked for NULL, and the rules above say what else the caller owes"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what the caller owes is the same everywhere and stands above"
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
pub mod function;
mod guard;
pub mod load;
pub mod metadata;
pub mod metrics;
pub mod modules;
pub mod moment;
pub mod nd_cache;
pub mod options;
pub mod pairs;
pub mod partial;
pub mod profile;
pub mod query;
pub mod request;
pub mod residuals;
pub mod solutions;
pub mod value;
pub mod version;

/// What several threads may use at once really can be.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<cancel::Cancel>();
    shared::<document::Document>();
    shared::<engine::Engine>();
    shared::<error::Error>();
    shared::<explanation::Explanation>();
    shared::<filter::Filter>();
    shared::<filter::Filtered>();
    shared::<function::Function>();
    shared::<moment::Moment>();
    shared::<partial::Partial>();
    shared::<query::Query>();
    shared::<residuals::Residuals>();
    shared::<solutions::Solutions>();
    shared::<value::Value>();
};
