//! Paths of targets: cleaning, splitting, escapes.

use std::borrow::Cow;

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

/// The segments of a path, decoded; an escaped slash stays inside its segment. `None` for a broken escape.
pub fn segments(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    path.split('/').map(unescape).collect()
}

/// Decodes percent escapes; `None` when one is broken. Bytes that are no UTF-8 become U+FFFD.
pub fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    })
}

#[cfg(test)]
mod tests {
    use super::{Cleaned, clean, segments};

    #[test]
    fn cleaning() {
        for same in ["/", "/v1/data", "/v1/data/", "/v1/data/a.b", "/v1/%2E%2E/a"] {
            assert_eq!(clean(same), Cleaned::Same, "{same}");
        }
        for (path, want) in [
            ("//", "/"),
            ("/v1//data", "/v1/data"),
            ("/v1/./data/", "/v1/data/"),
            ("/v1/x/../data", "/v1/data"),
            ("/../..", "/"),
            ("/a/b/..", "/a"),
            ("/a/b/.", "/a/b"),
            ("/a/../b/", "/b/"),
        ] {
            assert_eq!(clean(path), Cleaned::To(want.to_owned()), "{path}");
        }
    }

    #[test]
    fn splitting() {
        let split = |path: &str| segments(path).map(|all| all.join("|"));
        assert_eq!(split(""), Some(String::new()));
        assert_eq!(split("a/b%2Fc/d+e"), Some("a|b/c|d+e".to_owned()));
        assert_eq!(split("%C3%A9/%ff"), Some("é|\u{fffd}".to_owned()));
        assert_eq!(split("a%2"), None);
        assert_eq!(split("a%zz"), None);
    }
}
