//! JSON Pointers in the syntax of Rego's built-ins.

use std::borrow::Cow;

/// Returns the segments of a path like `/a/b~1c`. Leading slashes are ignored; the empty path has no segments, `/` has
/// one, the empty string.
pub fn segments(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let inner = (!path.is_empty()).then(|| path.trim_start_matches('/'));
    inner
        .into_iter()
        .flat_map(|path| path.split('/'))
        .map(unescape)
}

/// Decodes a segment: `~1` is a slash, `~0` a tilde; other tildes are literal.
pub fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// Encodes a segment: `~` as `~0` and `/` as `~1`. Copies only if there is one.
pub fn escape(segment: &str) -> Cow<'_, str> {
    if segment.contains(['~', '/']) {
        Cow::Owned(segment.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, segments, unescape};

    #[test]
    fn paths() {
        for (path, expected) in [
            ("", &[] as &[&str]),
            ("/", &[""]),
            ("a", &["a"]),
            ("/a/b~1c", &["a", "b/c"]),
            ("a/d~0e/", &["a", "d~e", ""]),
            ("//b", &["b"]),
            ("/~2/~/~01", &["~2", "~", "~1"]),
        ] {
            assert_eq!(segments(path).collect::<Vec<_>>(), expected, "{path}");
        }
        assert_eq!(escape("a~/b"), "a~0~1b");
        assert_eq!(unescape(&escape("~1/~0")), "~1/~0");
    }
}
