//! What is wrong: a code to branch on, a message to show, and both with every detail as JSON.
//!
//! C has no namespaces, so the variants of [`Code`] carry the prefix that the header shows.

use serde::Serialize;

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
        }
    }
}

/// An error.
pub struct Error {
    code: Code,
    message: String,
    json: String,
}

/// The JSON form.
#[derive(Serialize)]
struct Form<'a> {
    kind: &'a str,
    message: &'a str,
    errors: Vec<Entry>,
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

#[derive(Serialize)]
struct Location {
    file: String,
    row: u32,
    col: u32,
}

impl Error {
    /// An error of this crate, which has no entries.
    pub(crate) fn new(code: Code, message: String) -> Self {
        Self::with_entries(code, message, Vec::new())
    }

    fn with_entries(code: Code, message: String, errors: Vec<Entry>) -> Self {
        let form = Form {
            kind: code.word(),
            message: &message,
            errors,
        };
        // strings and numbers only: this cannot fail
        let json = serde_json::to_string(&form).unwrap_or_default();
        Self {
            code,
            message,
            json,
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
            ::engine::Error::Compile(_) => Code::SolonErrorCompile,
            ::engine::Error::Eval(_) => Code::SolonErrorEval,
            ::engine::Error::Store(_) => Code::SolonErrorStore,
            ::engine::Error::Input(_) => Code::SolonErrorInput,
            ::engine::Error::Output(_) => Code::SolonErrorOutput,
            ::engine::Error::UnknownModule(_) => Code::SolonErrorUnknownModule,
            ::engine::Error::Options(_) | ::engine::Error::EmptyQuery => Code::SolonErrorOptions,
            ::engine::Error::UnknownPath(_) => Code::SolonErrorUnknownPath,
            // `Internal`, and whatever this crate does not know yet
            _ => Code::SolonErrorInternal,
        };
        let entries = error.entries().into_iter().map(|entry| Entry {
            code: entry.code,
            message: entry.message,
            location: entry
                .location
                .map(|(file, row, col)| Location { file, row, col }),
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

/// Frees an error; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_error_free(error: *mut Error) {
    guard_or((), || {
        if !error.is_null() {
            // SAFETY: the guard made it of a box, and the caller frees it once
            drop(unsafe { Box::from_raw(error) });
        }
    });
}
