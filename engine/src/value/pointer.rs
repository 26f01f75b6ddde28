//! JSON Pointers as Rego's built-ins take them.

use std::borrow::Cow;

/// The segments of a path like `/a/b~1c`. Leading slashes do not count; the empty path has no segments, `/` has
/// one, the empty string.
pub fn segments(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let inner = (!path.is_empty()).then(|| path.trim_start_matches('/'));
    inner
        .into_iter()
        .flat_map(|path| path.split('/'))
        .map(unescape)
}

/// A segment without its escapes: `~1` stands for a slash, `~0` for a tilde; other tildes for themselves.
pub fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// A segment as it stands in a path.
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
        for (path, want) in [
            ("", &[] as &[&str]),
            ("/", &[""]),
            ("a", &["a"]),
            ("/a/b~1c", &["a", "b/c"]),
            ("a/d~0e/", &["a", "d~e", ""]),
            ("//b", &["b"]),
            ("/~2/~/~01", &["~2", "~", "~1"]),
        ] {
            assert_eq!(segments(path).collect::<Vec<_>>(), want, "{path}");
        }
        assert_eq!(escape("a~/b"), "a~0~1b");
        assert_eq!(unescape(&escape("~1/~0")), "~1/~0");
    }
}
