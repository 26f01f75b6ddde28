//! Paths as `"a/b"` or as `["a", "b"]`.

use smallvec::SmallVec;

use crate::builtins::Call;
use crate::builtins::fault::{Fault, FaultError};
use crate::value::V;

/// The segments of a path.
pub type Segments<'e> = SmallVec<[V<'e>; 8]>;

/// The segments of a path; the text of one has to start behind leading slashes.
pub fn segments<'e>(call: &Call<'e>, path: V<'e>) -> Result<Segments<'e>, Fault> {
    if let Some(text) = path.as_text() {
        let text = text.to_str();
        if text.is_empty() {
            return Ok(Segments::new());
        }
        let segment = |segment: &str| {
            if segment.contains('~') {
                call.arena
                    .text(&segment.replace("~1", "/").replace("~0", "~"))
            } else {
                call.arena.text(segment)
            }
        };
        return Ok(text
            .trim_start_matches('/')
            .split('/')
            .map(segment)
            .collect());
    }
    match path.as_array() {
        Some(array) => Ok(array.iter().collect()),
        None => Err(Fault::Error(Box::new(FaultError::Operand {
            position: 2,
            want: &["one of {set, array} containing string paths or array of path segments"],
            got: path.kind().as_str().into(),
        }))),
    }
}
