//! Errors: a code, a message, and both with all details as JSON.

use std::ffi::c_int;

use ::engine::ErrorKind;
use serde::Serialize;

use crate::argument;
use crate::bytes::Text;
use crate::guard::guard_or;

/// Kind of an error: one of `SOLON_ERROR_…`, or `SOLON_OK`. Numbers never change; new ones are added at the end.
pub type Code = i32;

/// No error: the code of NULL.
pub const SOLON_OK: Code = 0;
/// A bug of the engine. Please report it.
pub const SOLON_ERROR_INTERNAL: Code = 1;
/// An invalid argument, such as NULL or text that is not UTF-8.
pub const SOLON_ERROR_ARGUMENT: Code = 2;
/// A module does not parse, or the modules together do not compile.
pub const SOLON_ERROR_COMPILE: Code = 3;
/// An evaluation failed: a conflict, a strict error of a built-in function, or nesting that is too deep.
pub const SOLON_ERROR_EVAL: Code = 4;
/// A base document that does not exist, or that cannot be written at its path.
pub const SOLON_ERROR_STORE: Code = 5;
/// An input, or data, that is not valid JSON or YAML.
pub const SOLON_ERROR_INPUT: Code = 6;
/// A value that does not fit the requested type.
pub const SOLON_ERROR_OUTPUT: Code = 7;
/// A module that does not exist.
pub const SOLON_ERROR_UNKNOWN_MODULE: Code = 8;
/// An invalid option.
pub const SOLON_ERROR_OPTIONS: Code = 9;
/// A path without a rule or a document.
pub const SOLON_ERROR_UNKNOWN_PATH: Code = 10;
/// Files that could not be loaded.
pub const SOLON_ERROR_LOAD: Code = 11;
/// An evaluation that exceeded its time limit.
pub const SOLON_ERROR_TIMEOUT: Code = 12;
/// An evaluation that exceeded its memory limit, or an explanation.
pub const SOLON_ERROR_MEMORY: Code = 13;
/// An evaluation that exceeded its step limit.
pub const SOLON_ERROR_STEPS: Code = 14;
/// An evaluation that the caller cancelled.
pub const SOLON_ERROR_CANCELLED: Code = 15;

/// Returns the code of an error of the engine. Each kind has one.
fn code_of(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Compile => SOLON_ERROR_COMPILE,
        ErrorKind::Eval => SOLON_ERROR_EVAL,
        ErrorKind::Timeout => SOLON_ERROR_TIMEOUT,
        ErrorKind::MemoryLimit => SOLON_ERROR_MEMORY,
        ErrorKind::StepLimit => SOLON_ERROR_STEPS,
        ErrorKind::Cancelled => SOLON_ERROR_CANCELLED,
        ErrorKind::Store => SOLON_ERROR_STORE,
        ErrorKind::Input => SOLON_ERROR_INPUT,
        ErrorKind::Output => SOLON_ERROR_OUTPUT,
        ErrorKind::Options => SOLON_ERROR_OPTIONS,
        ErrorKind::Load => SOLON_ERROR_LOAD,
        ErrorKind::UnknownPath => SOLON_ERROR_UNKNOWN_PATH,
        ErrorKind::UnknownModule => SOLON_ERROR_UNKNOWN_MODULE,
        // `Internal`, and kinds that this crate does not know yet
        _ => SOLON_ERROR_INTERNAL,
    }
}

/// Returns the name of a code in the JSON format.
fn name_of(code: Code) -> &'static str {
    match code {
        SOLON_OK => "ok",
        SOLON_ERROR_ARGUMENT => "argument",
        SOLON_ERROR_COMPILE => ErrorKind::Compile.as_str(),
        SOLON_ERROR_EVAL => ErrorKind::Eval.as_str(),
        SOLON_ERROR_TIMEOUT => ErrorKind::Timeout.as_str(),
        SOLON_ERROR_MEMORY => ErrorKind::MemoryLimit.as_str(),
        SOLON_ERROR_STEPS => ErrorKind::StepLimit.as_str(),
        SOLON_ERROR_CANCELLED => ErrorKind::Cancelled.as_str(),
        SOLON_ERROR_STORE => ErrorKind::Store.as_str(),
        SOLON_ERROR_INPUT => ErrorKind::Input.as_str(),
        SOLON_ERROR_OUTPUT => ErrorKind::Output.as_str(),
        SOLON_ERROR_OPTIONS => ErrorKind::Options.as_str(),
        SOLON_ERROR_LOAD => ErrorKind::Load.as_str(),
        SOLON_ERROR_UNKNOWN_PATH => ErrorKind::UnknownPath.as_str(),
        SOLON_ERROR_UNKNOWN_MODULE => ErrorKind::UnknownModule.as_str(),
        _ => ErrorKind::Internal.as_str(),
    }
}

/// An error. Several threads may read it at once.
pub struct Error {
    code: Code,
    message: String,
    json: String,
    entries: Vec<Entry>,
}

/// One entry of an error. Texts live as long as the error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ErrorEntry {
    /// OPA's error code, like `rego_type_error`.
    pub code: Text,
    /// Message.
    pub message: Text,
    /// The file; empty for queries and inputs, and without a location.
    pub file: Text,
    /// The row, from 1; 0 without a location.
    pub row: u32,
    /// The column, from 1; 0 without a location.
    pub column: u32,
}

/// The JSON format.
#[derive(Serialize)]
struct Form<'a> {
    kind: &'a str,
    message: &'a str,
    errors: &'a [Entry],
}

#[derive(Serialize)]
struct Entry {
    code: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
    /// The queries that were being evaluated, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    query_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Location {
    pub file: String,
    pub row: u32,
    pub col: u32,
}

impl Error {
    /// Creates an error of this crate, which has no entries.
    pub(crate) fn new(code: Code, message: String) -> Self {
        Self::with_entries(code, message, Vec::new())
    }

    fn with_entries(code: Code, message: String, entries: Vec<Entry>) -> Self {
        let form = Form {
            kind: name_of(code),
            message: &message,
            errors: &entries,
        };
        // cannot fail: only strings and numbers
        let json = serde_json::to_string(&form).unwrap_or_default();
        Self {
            code,
            message,
            json,
            entries,
        }
    }
}

impl From<::engine::StackFrame> for Frame {
    fn from(frame: ::engine::StackFrame) -> Self {
        let location = frame.location.map(|(file, row, col)| Location {
            file: file.to_string(),
            row,
            col,
        });
        Self {
            query_id: frame.query_id,
            location,
        }
    }
}

impl From<::engine::Error> for Error {
    fn from(error: ::engine::Error) -> Self {
        let code = code_of(error.kind());
        // text has a location, but no file
        let position = match &error {
            ::engine::Error::Input(error) => error.position(),
            _ => None,
        };
        let location = position.map(|(row, col)| Location {
            file: String::new(),
            row: u32::try_from(row).unwrap_or(u32::MAX),
            col: u32::try_from(col).unwrap_or(u32::MAX),
        });
        let entries = error.entries().into_iter().map(|entry| Entry {
            code: entry.code,
            message: entry.message,
            location: entry
                .location
                .map(|(file, row, col)| Location { file, row, col })
                .or_else(|| location.clone()),
            details: entry.details,
            stack: entry.stack.into_iter().map(Frame::from).collect(),
        });
        Self::with_entries(code, error.to_string(), entries.collect())
    }
}

/// Returns the code; `SOLON_OK` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_code(error: *const Error) -> Code {
    guard_or(SOLON_ERROR_INTERNAL, || {
        // SAFETY: NULL or a live error, by the contract of the header
        unsafe { error.as_ref() }.map_or(SOLON_OK, |error| error.code)
    })
}

/// Returns the message, one line per entry; empty for NULL. It lives as long as the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_message(error: *const Error) -> Text {
    guard_or(Text::of_str(""), || {
        // SAFETY: NULL or a live error, by the contract of the header
        unsafe { error.as_ref() }.map_or(Text::of_str(""), |error| Text::of_str(&error.message))
    })
}

/// Returns the error as JSON: `{"kind", "message", "errors": [{"code", "message", "location": {"file", "row", "col"},
/// "details"}]}`; empty for NULL. It lives as long as the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_json(error: *const Error) -> Text {
    guard_or(Text::of_str(""), || {
        // SAFETY: NULL or a live error, by the contract of the header
        unsafe { error.as_ref() }.map_or(Text::of_str(""), |error| Text::of_str(&error.json))
    })
}

/// Returns the number of entries; 0 for NULL, and for errors about the call itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_count(error: *const Error) -> usize {
    guard_or(0, || {
        // SAFETY: NULL or a live error, by the contract of the header
        unsafe { error.as_ref() }.map_or(0, |error| error.entries.len())
    })
}

/// Reads the entry at a position from 0. Returns 1 if there is one; otherwise returns 0 and leaves `out` untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_entry_at(
    error: *const Error,
    index: usize,
    out: *mut ErrorEntry,
) -> c_int {
    guard_or(0, || {
        // SAFETY: NULL or a live error, by the contract of the header, and likewise for the output
        let (error, out) = unsafe { (error.as_ref(), argument::output(out, "out")) };
        let entry = error.and_then(|error| error.entries.get(index));
        let (Some(entry), Ok(out)) = (entry, out) else {
            return 0;
        };
        let location = entry.location.as_ref();
        out.write(ErrorEntry {
            code: Text::of_str(&entry.code),
            message: Text::of_str(&entry.message),
            file: Text::of_str(location.map_or("", |location| &location.file)),
            row: location.map_or(0, |location| location.row),
            column: location.map_or(0, |location| location.col),
        });
        1
    })
}

/// Frees an error; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_free(error: *mut Error) {
    // SAFETY: the guard created it from a `Box`, and the caller frees it once
    unsafe { argument::free(error) };
}
