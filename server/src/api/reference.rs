//! Paths as Rego writes them.

use std::fmt::Write as _;

use solon::store::Path;
use solon_syntax::print::{is_plain_key, quote};

/// `data.a[0]["x-y"]` for the path `a/0/x-y`.
pub fn reference(path: &Path) -> String {
    // writing to a string does not fail
    let mut text = String::from("data");
    for segment in path.segments() {
        if segment.parse::<i64>().is_ok() {
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
    use super::{Path, reference};

    #[test]
    fn references() {
        let of = |path: &str| reference(&Path::from_slashes(path));
        assert_eq!(of("a/0/x-y/b"), "data.a[0][\"x-y\"].b");
        assert_eq!(of(""), "data");
    }
}
