//! What is wrong: a code to branch on, a message to show, and both with every detail as JSON.
//!
//! C has no namespaces, so the variants of [`Code`] carry the prefix that the header shows.

use std::ffi::c_int;

use serde::Serialize;

use crate::argument;
use crate::bytes::Text;
use crate::guard::guard_or;

/// What kind of error. Numbers never change; new ones come at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// No error: the code of NULL.
    SolonOk = 0,
    /// A fault of the engine itself. Please report it.
    SolonErrorInternal = 1,
    /// An argument against the rules of this header: a NULL, or text that is not UTF-8.
    SolonErrorArgument = 2,
    /// A module does not parse, or the modules together do not compile.
    SolonErrorCompile = 3,
    /// An evaluation ended early.
    SolonErrorEval = 4,
    /// A base document cannot stand where it was to be written.
    SolonErrorStore = 5,
    /// An input, or data, is not JSON.
    SolonErrorInput = 6,
    /// A value does not fit the form it was asked in.
    SolonErrorOutput = 7,
    /// There is no module of that name.
    SolonErrorUnknownModule = 8,
    /// An option that means nothing.
    SolonErrorOptions = 9,
    /// There is neither a rule nor a document at that path.
    SolonErrorUnknownPath = 10,
    /// Files that cannot be loaded.
    SolonErrorLoad = 11,
}

impl Code {
    fn word(self) -> &'static str {
        match self {
            Self::SolonOk => "ok",
            Self::SolonErrorInternal => "internal",
            Self::SolonErrorArgument => "argument",
            Self::SolonErrorCompile => "compile",
            Self::SolonErrorEval => "eval",
            Self::SolonErrorStore => "store",
            Self::SolonErrorInput => "input",
            Self::SolonErrorOutput => "output",
            Self::SolonErrorUnknownModule => "unknown_module",
            Self::SolonErrorOptions => "options",
            Self::SolonErrorUnknownPath => "unknown_path",
            Self::SolonErrorLoad => "load",
        }
    }
}

/// An error. Several threads may read it at once.
pub struct Error {
    code: Code,
    message: String,
    json: String,
    entries: Vec<Entry>,
}

/// One of the things that are wrong. Texts live as long as the error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ErrorEntry {
    /// Its published code, like `rego_type_error`.
    pub code: Text,
    /// What is wrong.
    pub message: Text,
    /// The file; empty for queries and inputs, and where there is no place.
    pub file: Text,
    /// The row, from 1; 0 where there is no place.
    pub row: u32,
    /// The column, from 1; 0 where there is no place.
    pub column: u32,
}

/// The JSON form.
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
    /// The queries that were running, innermost first.
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
    /// An error of this crate, which has no entries.
    pub(crate) fn new(code: Code, message: String) -> Self {
        Self::with_entries(code, message, Vec::new())
    }

    fn with_entries(code: Code, message: String, entries: Vec<Entry>) -> Self {
        let form = Form {
            kind: code.word(),
            message: &message,
            errors: &entries,
        };
        // strings and numbers only: this cannot fail
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
        let code = match &error {
            ::engine::Error::Compile(_) | ::engine::Error::Filter(_) => Code::SolonErrorCompile,
            ::engine::Error::Eval(_) => Code::SolonErrorEval,
            ::engine::Error::Store(_) => Code::SolonErrorStore,
            ::engine::Error::Input(_) => Code::SolonErrorInput,
            ::engine::Error::Output(_) => Code::SolonErrorOutput,
            ::engine::Error::UnknownModule(_) => Code::SolonErrorUnknownModule,
            ::engine::Error::Options(_) | ::engine::Error::EmptyQuery => Code::SolonErrorOptions,
            ::engine::Error::UnknownPath(_) => Code::SolonErrorUnknownPath,
            ::engine::Error::Load(_) => Code::SolonErrorLoad,
            // `Internal`, and whatever this crate does not know yet
            _ => Code::SolonErrorInternal,
        };
        // text has a place, but no file
        let place = match &error {
            ::engine::Error::Input(error) => error.place(),
            _ => None,
        };
        let place = place.map(|(row, col)| Location {
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
                .or_else(|| place.clone()),
            details: entry.details,
            stack: entry.stack.into_iter().map(Frame::from).collect(),
        });
        Self::with_entries(code, error.to_string(), entries.collect())
    }
}

/// The code; `SOLON_OK` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_code(error: *const Error) -> Code {
    guard_or(Code::SolonErrorInternal, || {
        // SAFETY: NULL or an error, by the rules
        unsafe { error.as_ref() }.map_or(Code::SolonOk, |error| error.code)
    })
}

/// The message, one line for each thing that is wrong; empty for NULL. It lives as long as the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_message(error: *const Error) -> Text {
    guard_or(Text::of(""), || {
        // SAFETY: NULL or an error, by the rules
        unsafe { error.as_ref() }.map_or(Text::of(""), |error| Text::of(&error.message))
    })
}

/// All of it as JSON: `{"kind", "message", "errors": [{"code", "message", "location": {"file", "row", "col"},
/// "details"}]}`; empty for NULL. It lives as long as the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_json(error: *const Error) -> Text {
    guard_or(Text::of(""), || {
        // SAFETY: NULL or an error, by the rules
        unsafe { error.as_ref() }.map_or(Text::of(""), |error| Text::of(&error.json))
    })
}

/// How many things are wrong; 0 for NULL, and for errors that are about the call itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_count(error: *const Error) -> usize {
    guard_or(0, || {
        // SAFETY: NULL or an error, by the rules
        unsafe { error.as_ref() }.map_or(0, |error| error.entries.len())
    })
}

/// Reads one of the things that are wrong, by its position from 0: 1 if there is one, and 0 otherwise, which leaves `out`
/// untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_entry_at(
    error: *const Error,
    index: usize,
    out: *mut ErrorEntry,
) -> c_int {
    guard_or(0, || {
        // SAFETY: NULL or an error, by the rules, and likewise for the output
        let (error, out) = unsafe { (error.as_ref(), argument::output(out, "out")) };
        let entry = error.and_then(|error| error.entries.get(index));
        let (Some(entry), Ok(out)) = (entry, out) else {
            return 0;
        };
        let location = entry.location.as_ref();
        out.write(ErrorEntry {
            code: Text::of(&entry.code),
            message: Text::of(&entry.message),
            file: Text::of(location.map_or("", |location| &location.file)),
            row: location.map_or(0, |location| location.row),
            column: location.map_or(0, |location| location.col),
        });
        1
    })
}

/// Frees an error; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_free(error: *mut Error) {
    // SAFETY: the guard made it of a box, and the caller frees it once
    unsafe { argument::free(error) };
}
