//! Injects panics of the engine below the C functions. C receives an internal error, never a result, and the library stays
//! usable.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a panic here is a failing test"
)]

use std::ffi::{CString, c_char};
use std::ptr;

use crate::argument::Extensible as _;
use crate::bytes::{Bytes, solon_bytes_free};
use crate::document::{
    Document, solon_document_allow, solon_document_allow_with, solon_document_evaluate_json,
    solon_document_free, solon_engine_prepare,
};
use crate::engine::{Engine as Handle, solon_engine_evaluate_json, solon_engine_free};
use crate::error::{
    Code, Error, SOLON_ERROR_INTERNAL, SOLON_OK, solon_error_code, solon_error_free,
    solon_error_message,
};
use crate::request::Request;
use ::engine::{Engine, HostFunction};

const POLICY: &str = "package t
panics := boom(input.x)
sound := input.x";

/// Returns an engine with a document whose evaluation panics, and one that works.
fn engine() -> Engine {
    let boom = HostFunction::new("boom", "x: any => y: any", |_, _| panic!("injected"));
    let engine = Engine::builder()
        .function(boom.expect("a signature"))
        .expect("a name that is free")
        .build();
    engine
        .set_module("t.rego", POLICY)
        .expect("a policy that compiles");
    engine
}

/// Value of an output before a call, to check that a failed call leaves it untouched.
static UNTOUCHED: c_char = 0;

fn untouched_bytes() -> Bytes {
    Bytes {
        data: (&raw const UNTOUCHED).cast_mut(),
        length: 1,
    }
}

/// Returns the code and the message of an error, and frees it.
fn code_and_message(error: *mut Error) -> (Code, String) {
    // SAFETY: a C function just returned it
    unsafe {
        let (code, text) = (solon_error_code(error), solon_error_message(error));
        let bytes = std::slice::from_raw_parts(text.data.cast::<u8>(), text.length);
        let message = String::from_utf8_lossy(bytes).into_owned();
        solon_error_free(error);
        (code, message)
    }
}

#[test]
fn panics_become_internal_errors_in_c() {
    let handle = Box::into_raw(Box::new(Handle(engine())));
    let input = CString::new(r#"{"x": 1}"#).expect("it has no NUL");
    let (text, length) = (input.as_ptr(), input.as_bytes().len());
    for _ in 0..3 {
        for (path, expected) in [("t/panics", "internal error: injected")] {
            let (mut document, mut out) = (ptr::null_mut::<Document>(), untouched_bytes());
            // SAFETY: the handles are live, and the lengths are those of the texts
            unsafe {
                let name = path.as_ptr().cast();
                assert!(
                    solon_engine_prepare(handle, name, path.len(), &raw mut document).is_null()
                );
                for error in [
                    solon_engine_evaluate_json(
                        handle,
                        name,
                        path.len(),
                        text,
                        length,
                        &raw mut out,
                    ),
                    solon_document_evaluate_json(document, text, length, &raw mut out),
                ] {
                    let (code, message) = code_and_message(error);
                    assert_eq!(code, SOLON_ERROR_INTERNAL, "{path}: {message}");
                    assert!(message.starts_with(expected), "{path}: {message}");
                    assert_eq!(out.data.cast_const(), &raw const UNTOUCHED, "{path}");
                }
                // never `true`, whatever the output held before
                let request = Request {
                    size: size_of::<Request>(),
                    input_json: text,
                    input_json_length: length,
                    ..Request::zero()
                };
                for by_request in [false, true] {
                    let mut allowed = true;
                    let error = if by_request {
                        solon_document_allow_with(document, &raw const request, &raw mut allowed)
                    } else {
                        solon_document_allow(document, text, length, &raw mut allowed)
                    };
                    assert_eq!(code_and_message(error).0, SOLON_ERROR_INTERNAL, "{path}");
                    assert!(!allowed, "{path}");
                }
                solon_document_free(document);
            }
        }
        let (path, mut out) = ("t/sound", untouched_bytes());
        // SAFETY: as above
        unsafe {
            let name = path.as_ptr().cast();
            let error =
                solon_engine_evaluate_json(handle, name, path.len(), text, length, &raw mut out);
            assert_eq!(code_and_message(error).0, SOLON_OK);
            assert_eq!(*out.data.cast::<u8>(), b'1');
            solon_bytes_free(out);
        }
    }
    // SAFETY: it was created from a `Box` above
    unsafe { solon_engine_free(handle) };
}
