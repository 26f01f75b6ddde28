//! Paths as Rego writes them.

use std::fmt::Write as _;

use solon::store::Path;
use solon_syntax::print::{is_plain_key, quote};

/// `data.a[0]["x-y"]` for the path `a/0/x-y`.
pub fn reference(path: &Path) -> String {
    written(path, true)
}

/// `data.a["0"]["x-y"]` for the path `a/0/x-y`.
pub fn named_reference(path: &Path) -> String {
    written(path, false)
}

fn written(path: &Path, indices: bool) -> String {
    // writing to a string does not fail
    let mut text = String::from("data");
    for segment in path.segments() {
        if indices && segment.parse::<i64>().is_ok() {
            let _ = write!(text, "[{segment}]");
        } else if is_plain_key(segment) {
            text.push('.');
            text.push_str(segment);
        } else {
            let _ = write!(text, "[{}]", quote(segment));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Path, named_reference, reference};

    #[test]
    fn references() {
        let of = |path: &str| reference(&Path::from_slashes(path));
        assert_eq!(of("a/0/x-y/b"), "data.a[0][\"x-y\"].b");
        assert_eq!(of(""), "data");
        let named = named_reference(&Path::from_slashes("a/0/x-y"));
        assert_eq!(named, "data.a[\"0\"][\"x-y\"]");
    }
}
