//! Paths of targets: cleaning, splitting, escapes.

use percent_encoding::percent_decode_str;
use solon_common::escapes;

// rejects bytes that are not UTF-8: with U+FFFD in their place, two names would become one
pub use solon_common::escapes::decode;

/// What is left of a path when empty segments, `.` and `..` are taken out.
#[derive(Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// The path was clean.
    Same,
    /// The clean path.
    To(String),
}

/// Takes `//`, `/./` and `/../` out of a path. Escapes are left alone, so `%2E%2E` is a name like any other.
pub fn clean(path: &str) -> Cleaned {
    let is_odd = |pair: &[u8]| matches!(pair, [b'/', b'/' | b'.']);
    if !path.as_bytes().windows(2).any(is_odd) {
        return Cleaned::Same;
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            name => kept.push(name),
        }
    }
    let mut clean = format!("/{}", kept.join("/"));
    if path.ends_with('/') && clean.len() > 1 {
        clean.push('/');
    }
    if clean == path {
        Cleaned::Same
    } else {
        Cleaned::To(clean)
    }
}

/// The segments of a path, each decoded by [`decode`]; an escaped slash stays inside its segment.
pub fn segments(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    path.split('/').map(decode).collect()
}

/// Decodes percent escapes. Returns `None` if one is broken. Invalid UTF-8 becomes U+FFFD.
pub fn unescape(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text);
    escapes::are_valid(text).then(|| decoded.decode_utf8_lossy().into())
}

#[cfg(test)]
#[path = "../../../tests/server/unit/path.rs"]
mod tests;
