//! Paths as Rego writes them.

use std::fmt::Write as _;

use solon_syntax::print::{is_plain_key, quote};

use super::Path;

impl Path {
    /// The path as a reference of Rego's, digits as indices of arrays: `data.a[0]["x-y"]` for `/a/0/x-y`.
    pub fn reference(&self) -> String {
        self.written(true)
    }

    /// The same with digits as names: `data.a["0"]["x-y"]`.
    pub fn named_reference(&self) -> String {
        self.written(false)
    }

    fn written(&self, indices: bool) -> String {
        // writing to a string does not fail
        let mut text = String::from("data");
        for segment in self.segments() {
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
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn references() {
        let of = |path: &str| Path::from_slashes(path).reference();
        assert_eq!(of("a/0/x-y/b"), "data.a[0][\"x-y\"].b");
        assert_eq!(of(""), "data");
        let named = Path::from_slashes("a/0/x-y").named_reference();
        assert_eq!(named, "data.a[\"0\"][\"x-y\"]");
    }
}
