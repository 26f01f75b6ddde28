//! Paths of documents: parsing, text, and lookups of values.

use std::fmt::{self, Write as _};

use super::StoreError;
use crate::value::{Object, Repr, Value};

/// Maximum length of an array index in characters, without its sign.
const INDEX_LENGTH: usize = 19;

/// Keys from the root down. A key of digits is an index in an array and a name in an object.
///
/// Functions that take the name of a document as text parse it: `data.users.alice` and `users/alice` are the same path.
///
/// ```
/// use solon::Path;
///
/// let path: Path = "data.users.alice".parse()?;
/// assert_eq!(path, "users/alice".parse()?);
/// assert_eq!(path, Path::new(["users", "alice"]));
/// assert_eq!(path, Path::from_slashes("users/alice"));
/// assert_eq!(path.reference(), "data.users.alice");
/// # Ok::<(), solon::store::PathError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    segments: Vec<String>,
}

impl Path {
    /// Creates a path from its keys, without decoding them.
    pub fn new(segments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            segments: segments.into_iter().map(Into::into).collect(),
        }
    }

    /// Creates a path from text with slashes. Empty steps are ignored, so an empty text and `/` are the root. Nothing is decoded.
    pub fn from_slashes(text: &str) -> Self {
        Self::new(text.split('/').filter(|segment| !segment.is_empty()))
    }

    /// Returns the keys from the root on.
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// Returns `true` for the root, which has no keys.
    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns this path followed by the keys of another one.
    #[must_use]
    pub fn join(&self, relative: &Self) -> Self {
        Self::new(self.segments.iter().chain(&relative.segments).cloned())
    }

    /// Returns `true` if one of the two paths contains the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.segments
            .iter()
            .zip(&other.segments)
            .all(|(a, b)| a == b)
    }

    /// Returns the document at this path, or `None` if there is none. A key that is an integer is an index in arrays.
    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.segments
            .iter()
            .try_fold(root, |node, segment| child(node, segment))
    }

    /// Returns the document at this path, or the reason why there is none.
    pub(super) fn read<'a>(&self, root: &'a Value) -> Result<&'a Value, StoreError> {
        self.read_from(root, &self.segments)
    }

    /// Follows the last keys of this path from a document on. Errors name the whole path.
    pub(super) fn read_from<'a>(
        &self,
        node: &'a Value,
        keys: &[String],
    ) -> Result<&'a Value, StoreError> {
        keys.iter().try_fold(node, |node, key| {
            child(node, key).ok_or_else(|| match node {
                Value(Repr::Array(_)) => StoreError::bad_index(self, bad_index(key)),
                _ => StoreError::not_found(self),
            })
        })
    }

    /// Returns `true` if there is a document at this path, or a value above it that is not an object.
    pub fn is_occupied(&self, root: &Value) -> bool {
        let mut node = root;
        for segment in &self.segments {
            let Value(Repr::Object(object)) = node else {
                return true;
            };
            let Some(next) = object.get_str(segment) else {
                return false;
            };
            node = next;
        }
        true
    }
}

/// Returns the document under a key or an index.
fn child<'a>(value: &'a Value, segment: &str) -> Option<&'a Value> {
    match value {
        Value(Repr::Object(object)) => Object::get_str(object, segment),
        Value(Repr::Array(items)) => items.get(index(segment.as_bytes())?),
        _ => None,
    }
}

/// Returns the message for an index that an array does not have.
pub(super) fn bad_index(segment: &str) -> &'static str {
    let unsigned = segment.strip_prefix('-').unwrap_or(segment);
    if index(unsigned.as_bytes()).is_some() {
        "array index out of range"
    } else {
        "array index must be integer"
    }
}

/// Parses an array index: a sign, digits, and zeros after a point are allowed (`1`, `01`, `+1`, `1.0`).
pub(crate) fn index(text: &[u8]) -> Option<usize> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > INDEX_LENGTH {
        return None;
    }
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let (integer, fraction) = (parts.next()?, parts.next().unwrap_or(&[]));
    if !fraction.iter().all(|digit| *digit == b'0') {
        return None;
    }
    let number = integer.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })?;
    if is_negative && number != 0 {
        return None;
    }
    usize::try_from(i64::try_from(number).ok()?).ok()
}

/// Formats the path as in a URL, with Go's escaping of segments.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            return f.write_str("/");
        }
        for segment in &self.segments {
            f.write_char('/')?;
            for byte in segment.bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&byte) {
                    f.write_char(char::from(byte))?;
                } else {
                    write!(f, "%{byte:02X}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, index};

    #[test]
    fn array_indexes_are_parsed_from_texts() {
        for (text, expected) in [
            ("0", 0),
            ("7", 7),
            ("01", 1),
            ("+1", 1),
            ("-0", 0),
            ("1.0", 1),
            ("1.00", 1),
            ("-0.0", 0),
            ("0000000000000000001", 1),
        ] {
            assert_eq!(index(text.as_bytes()), Some(expected), "{text}");
        }
        for text in [
            "",
            "-",
            "+",
            "-1",
            "1e0",
            "1.5",
            "1.0.0",
            " 1",
            "1_0",
            "00000000000000000001",
            "9223372036854775808",
            "٣",
            "x",
        ] {
            assert_eq!(index(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn messages_show_paths_as_in_urls() {
        let path = Path::new(["a/b", "c d", "é", "x-y_z.~$&+=:@", "%;,?\0"]);
        assert_eq!(
            path.to_string(),
            "/a%2Fb/c%20d/%C3%A9/x-y_z.~$&+=:@/%25%3B%2C%3F%00"
        );
        assert_eq!(Path::default().to_string(), "/");
    }
}
