//! Paths of request targets: normalization, segments, escapes.

use percent_encoding::percent_decode_str;
use solon_common::escapes;

// rejects invalid UTF-8: with U+FFFD in its place, two different names would become equal
pub use solon_common::escapes::decode;

/// Result of removing empty segments, `.` and `..` from a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// The path was already normalized.
    Same,
    To(String),
}

/// Removes `//`, `/./` and `/../` from a path. Escapes are not decoded, so `%2E%2E` is an ordinary name.
pub fn clean(path: &str) -> Cleaned {
    let is_odd = |pair: &[u8]| matches!(pair, [b'/', b'/' | b'.']);
    if !path.as_bytes().windows(2).any(is_odd) {
        return Cleaned::Same;
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    let mut clean = format!("/{}", segments.join("/"));
    if path.ends_with('/') && clean.len() > 1 {
        clean.push('/');
    }
    if clean == path {
        Cleaned::Same
    } else {
        Cleaned::To(clean)
    }
}

/// Returns the segments of a path, each decoded by [`decode`]. An escaped slash is part of its segment.
pub fn segments(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    path.split('/').map(decode).collect()
}

/// Decodes percent escapes. Returns `None` if one is malformed. Invalid UTF-8 becomes U+FFFD.
pub fn unescape(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text);
    escapes::are_valid(text).then(|| decoded.decode_utf8_lossy().into())
}

#[cfg(test)]
#[path = "../../../tests/server/unit/path.rs"]
mod tests;
