//! JSON as in Rego: number texts are kept, error messages are those of Go's decoder, sets are written as arrays, and
//! keys that are not strings as their JSON text.

mod arena;
mod error;
mod lexer;
mod member;
mod owned;
mod parser;
mod repeats;
mod style;
mod write;

use std::str::FromStr;

use lexer::JsonLexer;

pub use error::{JsonError, JsonErrorKind, TOO_DEEP};
pub use member::read_member;
pub(super) use parser::Lists;
pub use style::{JsonLayout, Style};
pub(super) use write::text_keys;
pub use write::{
    TooLong, write, write_go, write_go_layout, write_pretty, write_styled, write_while,
    write_within,
};

pub use super::number::NumberError;
use super::text::lossy;
use super::{Arena, Repr, Value, ValueRef};

/// Parses a document into an owned value. Objects with the same keys in the same order share their keys.
///
/// # Errors
/// The text is not valid JSON, or exceeds the limits of nesting and of numbers. The error has the line and the column.
///
/// ```
/// let value = solon::json::read(br#"{"rate": 1.50}"#).unwrap();
/// let mut text = Vec::new();
/// solon::json::write(value.borrow(), &mut text);
/// // numbers stay as they are written
/// assert_eq!(text, br#"{"rate":1.50}"#);
/// ```
pub fn read(text: &[u8]) -> Result<Value, JsonError> {
    JsonReader::new(text.len()).read(text)
}

impl Value {
    /// Returns the value as compact JSON. Sets become arrays in order, and keys that are not strings their JSON text.
    ///
    /// ```
    /// use solon::{Value, value};
    ///
    /// let user = value!({"name": "alice", "rate": 0.5, "roles": ["dev"]});
    /// assert_eq!(user.to_json(), r#"{"name":"alice","rate":0.5,"roles":["dev"]}"#);
    /// assert_eq!(Value::set(vec![2.into(), 1.into()]).to_json(), "[1,2]");
    /// assert_eq!(user.to_json().parse(), Ok(user));
    /// ```
    pub fn to_json(&self) -> String {
        text(self.borrow())
    }
}

/// Returns compact JSON. Invalid UTF-8 becomes U+FFFD.
pub(super) fn text(value: ValueRef<'_>) -> String {
    let mut text = Vec::new();
    write(value, &mut text);
    match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => lossy(error.as_bytes()).into_owned(),
    }
}

/// Parses JSON.
///
/// ```
/// use solon::Value;
///
/// let value: Value = r#"{"rate": 1.50}"#.parse()?;
/// assert_eq!(value.to_json(), r#"{"rate":1.50}"#);
/// let error = "[1,".parse::<Value>().unwrap_err();
/// assert_eq!((error.line(), error.column()), (1, 4));
/// # Ok::<(), solon::json::JsonError>(())
/// ```
impl FromStr for Value {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        read(text.as_bytes())
    }
}

/// Parses several documents. Their objects share keys, and repeated parts are stored once. Invalid UTF-8 becomes U+FFFD.
pub(crate) struct JsonReader(owned::Owned);

impl JsonReader {
    /// Creates a reader for documents of `length` bytes in total.
    pub fn new(length: usize) -> Self {
        Self(owned::Owned::new(length))
    }

    /// Parses the next document.
    ///
    /// # Errors
    /// If the text is not valid JSON.
    pub fn read(&mut self, text: &[u8]) -> Result<Value, JsonError> {
        let build = &mut self.0;
        match std::str::from_utf8(text) {
            Ok(valid) => parser::document(valid, build).map_err(|fail| JsonError::new(fail, text)),
            Err(_) => parser::document(&lossy(text), build)
                .map_err(|fail| JsonError::new(fail.in_original(text), text)),
        }
    }
}

/// Parses a document into the arena. Strings without escapes are borrowed from the text; objects keep the order of the
/// source.
pub fn read_into<'e>(arena: &'e Arena, text: &'e [u8]) -> Result<ValueRef<'e>, JsonError> {
    let build = &mut arena::ArenaBuild::new(arena);
    if let Ok(valid) = std::str::from_utf8(text) {
        return parser::document(valid, build).map_err(|fail| JsonError::new(fail, text));
    }
    let fixed = arena.bump().alloc_str(&lossy(text));
    parser::document(fixed, build).map_err(|fail| JsonError::new(fail.in_original(text), text))
}

/// Returns `true` if the text is one JSON document. Numbers may be of any size.
///
/// ```
/// assert!(solon::json::is_valid(b"{\"n\": 1e999999999}"));
/// assert!(!solon::json::is_valid(b"[1,]"));
/// ```
pub fn is_valid(text: &[u8]) -> bool {
    let fixed = lossy(text);
    match parser::document(&fixed, &mut parser::Nothing) {
        Ok(()) => true,
        Err(fail) => matches!(fail.kind, JsonErrorKind::Number(_)),
    }
}

/// Parses a document like the built-in `json.unmarshal`. The error is that built-in's message.
pub fn unmarshal<'e>(arena: &'e Arena, text: &'e [u8]) -> Result<ValueRef<'e>, String> {
    let fixed = readable(arena, text);
    let mut lexer = JsonLexer::new(fixed);
    let stream = |fail| stream_error(fail, fixed, text);
    let value = parser::value(&mut lexer, &mut arena::ArenaBuild::new(arena));
    if let Err(fail) = value
        && !matches!(fail.kind, JsonErrorKind::Number(_))
    {
        return Err(stream(fail));
    }
    // the message names the first token that follows; a `null` is ignored
    let Some(byte) = lexer.token() else {
        return value.map_err(stream);
    };
    let start = match byte {
        b'{' | b'[' => char::from(byte).to_string(),
        _ => match parser::value(&mut lexer, &mut owned::Owned::default()) {
            Ok(Value(Repr::Null)) => return value.map_err(stream),
            Ok(Value(Repr::Bool(b))) => format!("%!s(bool={b})"),
            Ok(token) => match token.borrow().as_text() {
                Some(text) => text.to_str().into_owned(),
                None => token.rego_text().to_string(),
            },
            Err(fail) => return Err(stream(fail)),
        },
    };
    Err(format!(
        "error: invalid character '{start}' after top-level value"
    ))
}

/// Returns the message of Go's JSON decoder, which OPA's clients know, for a text that is not one JSON document.
///
/// The result is unspecified if [`is_valid`] returns `true` for the text.
///
/// ```
/// let message = solon::json::error_message(b"[1,]");
/// assert_eq!(message, "invalid character ']' looking for beginning of value");
/// ```
pub fn error_message(text: &[u8]) -> String {
    match unmarshal(&Arena::new(), text) {
        Err(message) => message,
        // `json.unmarshal` ignores a trailing `null`
        Ok(_) => "error: invalid character 'null' after top-level value".to_owned(),
    }
}

/// Parses the first document of a text. Returns `true` with it if no text follows. The error is that of [`unmarshal`].
pub fn first<'e>(arena: &'e Arena, text: &'e [u8]) -> Result<(ValueRef<'e>, bool), String> {
    let fixed = readable(arena, text);
    let mut lexer = JsonLexer::new(fixed);
    let value = parser::value(&mut lexer, &mut arena::ArenaBuild::new(arena))
        .map_err(|fail| stream_error(fail, fixed, text))?;
    Ok((value, lexer.token().is_none()))
}

/// Parses the first document of a text into an owned value and ignores the rest, like Go's stream decoder.
///
/// # Errors
/// The decoder's message.
pub fn read_first(text: &[u8]) -> Result<Value, String> {
    let fixed = lossy(text);
    let mut lexer = JsonLexer::new(&fixed);
    parser::value(&mut lexer, &mut owned::Owned::default())
        .map_err(|fail| stream_error(fail, &fixed, text))
}

/// Returns the text with invalid UTF-8 replaced.
fn readable<'e>(arena: &'e Arena, text: &'e [u8]) -> &'e str {
    match std::str::from_utf8(text) {
        Ok(valid) => valid,
        Err(_) => arena.bump().alloc_str(&lossy(text)),
    }
}

/// Returns the message of Go's stream decoder for a failure.
fn stream_error(fail: error::Fail, fixed: &str, text: &[u8]) -> String {
    match fail.kind {
        JsonErrorKind::End if fixed.trim_ascii().is_empty() => "EOF".to_owned(),
        JsonErrorKind::End => "unexpected EOF".to_owned(),
        _ => JsonError::new(fail.in_original(text), text).to_string(),
    }
}

#[cfg(test)]
mod tests;
