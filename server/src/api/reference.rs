//! Paths as Rego writes them.

use solon::store::Path;
use solon_syntax::print::{is_plain_key, quote};

/// `data.a[0]["x-y"]` for the path `a/0/x-y`.
pub fn reference(path: &Path) -> String {
    let mut text = String::from("data");
    for segment in path.segments() {
        if segment.parse::<i64>().is_ok() {
            text.push_str(&format!("[{segment}]"));
        } else if is_plain_key(segment) {
            text.push('.');
            text.push_str(segment);
        } else {
            text.push_str(&format!("[{}]", quote(segment)));
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
