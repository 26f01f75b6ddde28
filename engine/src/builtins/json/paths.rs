//! Paths of JSON built-ins in the notations `"a/b"` and `["a", "b"]`.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::bug::bug;
use crate::builtins::BuiltinContext;
use crate::builtins::builtin_error::{BuiltinError, BuiltinErrorDetail};
use crate::value::{RefRepr, Repr, Value, ValueRef};

pub type Segments<'e> = SmallVec<[ValueRef<'e>; 8]>;

/// Returns the segments of a path. Leading slashes of a string are skipped. Fails if it is neither a string nor an array.
pub fn segments<'e>(
    call: &BuiltinContext<'e>,
    path: ValueRef<'e>,
) -> Result<Segments<'e>, BuiltinError> {
    if let Some(text) = path.as_text() {
        let text = text.to_str();
        if text.is_empty() {
            return Ok(Segments::new());
        }
        let parts = split(&text).map(|part| call.arena.bytes_text(&part));
        return Ok(parts.collect());
    }
    match path.as_array() {
        Some(array) => Ok(array.iter().collect()),
        None => Err(BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
            position: 2,
            want: &["one of {set, array} containing string paths or array of path segments"],
            got: path.kind().as_str().into(),
        }))),
    }
}

/// Splits a path that is a string. Works on bytes, because the separator is ASCII.
fn split(path: &str) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let path = path.trim_start_matches('/');
    let is_escaped = memchr::memchr(b'~', path.as_bytes()).is_some();
    let segments = path.as_bytes().split(|byte| *byte == b'/');
    segments.map(move |segment| {
        if !is_escaped {
            return Cow::Borrowed(segment);
        }
        let segment = String::from_utf8_lossy(segment);
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~").into_bytes())
    })
}

/// Returns the segments of a constant path if all are strings, and `None` for other and for empty paths.
pub fn text_segments(path: ValueRef<'_>) -> Option<Vec<Value>> {
    let segments: Vec<Value> = match path.as_array() {
        Some(array) => {
            let text = |part: ValueRef<'_>| part.utf8().is_some().then(|| part.to_value());
            array.iter().map(text).collect::<Option<_>>()?
        }
        None => match path.utf8()? {
            "" => return None,
            path => split(path).map(|part| Value::bytes(&part)).collect(),
        },
    };
    (!segments.is_empty()).then_some(segments)
}

/// Returns a segment of a constant path as a value of the evaluation.
pub fn segment_value<'e>(call: &BuiltinContext<'e>, segment: &Value) -> ValueRef<'e> {
    match segment {
        Value(Repr::Short(short)) => ValueRef(RefRepr::Short(*short)),
        other => {
            let text = other.utf8();
            call.arena
                .text(text.unwrap_or_else(|| bug!("a path segment is not a string")))
        }
    }
}
