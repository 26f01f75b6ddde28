//! Cleaning and splitting of paths.

use super::{Cleaned, clean, segments, unescape};

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
    assert_eq!(split("%C3%A9/%00"), Some("é|\0".to_owned()));
    assert_eq!(split("%C3%A9/%ff"), None);
    assert_eq!(unescape("%C3%A9/%ff").as_deref(), Some("é/\u{fffd}"));
    assert_eq!(split("a%2"), None);
    assert_eq!(split("a%zz"), None);
}
