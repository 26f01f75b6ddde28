//! Names of sources and paths of their files.

use crate::limits;

/// Escapes the name of a source or a library for paths: `#` becomes `##`, then `:` becomes `#`.
pub fn escaped(name: &str) -> String {
    name.replace('#', "##").replace(':', "#")
}

/// Returns the problem of the path of a file, if any. Paths become entries of archives, which other systems unpack.
pub fn problem(path: &str) -> Option<&'static str> {
    if path.len() > limits::SOURCE_PATH {
        Some("is longer than 4096 bytes")
    } else if path.chars().any(char::is_control) {
        Some("contains a control character")
    } else if path.contains('\\') {
        Some("contains a backslash")
    } else if path.split('/').any(|step| matches!(step, "" | "." | "..")) {
        Some("is not a relative path of names")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{escaped, problem};

    #[test]
    fn names_are_escaped() {
        for (name, wanted) in [
            ("plain", "plain"),
            ("a:b", "a#b"),
            ("a#b", "a##b"),
            ("a#:b", "a###b"),
            ("git/x:y", "git/x#y"),
            ("", ""),
        ] {
            assert_eq!(escaped(name), wanted);
        }
    }

    #[test]
    fn paths_are_checked() {
        for path in ["a", "a/b.rego", ".github/x", "..a", "a b", "é"] {
            assert_eq!(problem(path), None, "{path}");
        }
        let long = "a".repeat(5000);
        for path in [
            "", "/a", "a/", "a//b", "./a", "a/../b", "..", "a\nb", "a\\b", "\u{7f}", &long,
        ] {
            assert!(problem(path).is_some(), "{path:?}");
        }
    }
}
