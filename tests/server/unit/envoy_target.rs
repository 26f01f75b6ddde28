use super::{parameters, segments, split};

#[test]
fn paths_are_decoded_before_they_are_split() {
    for (path, want) in [
        ("", vec![""]),
        ("/", vec![""]),
        ("//", vec![""]),
        ("/a/", vec!["a", ""]),
        ("//a//b/", vec!["a", "", "b", ""]),
        ("a/b", vec!["a", "b"]),
        ("*", vec!["*"]),
        ("h:443", vec!["h:443"]),
        ("http://h/p", vec!["http:", "", "h", "p"]),
        ("/a%00b", vec!["a\0b"]),
        ("/a%2Fb/c", vec!["a", "b", "c"]),
        ("/a%20b", vec!["a b"]),
        ("/a+b", vec!["a+b"]),
        ("/%ff", vec!["\u{fffd}"]),
        ("/a/../b", vec!["a", "..", "b"]),
        ("/a;v=1/b", vec!["a;v=1", "b"]),
        ("/a%3Fb", vec!["a?b"]),
        ("/a#frag", vec!["a#frag"]),
    ] {
        assert_eq!(segments(path).unwrap(), want, "{path}");
    }
    for (path, escape) in [
        ("/%zz", "%zz"),
        ("/a%", "%"),
        ("/%1", "%1"),
        ("/%%20", "%%2"),
    ] {
        let want = format!("invalid URL escape \"{escape}\"");
        assert_eq!(segments(path).unwrap_err(), want, "{path}");
    }
}

#[test]
fn queries_follow_the_rules_of_forms() {
    for (query, want) in [
        ("", "{}"),
        ("x=1&x=2&y=", r#"{"x":["1","2"],"y":[""]}"#),
        ("c", r#"{"c":[""]}"#),
        ("b=c?d=e", r#"{"b":["c?d=e"]}"#),
        ("=v", r#"{"":["v"]}"#),
        ("a=x+y%21", r#"{"a":["x y!"]}"#),
        ("&&a=1&", r#"{"a":["1"]}"#),
        ("x[]=1", r#"{"x[]":["1"]}"#),
        ("a=%ff", "{\"a\":[\"\u{fffd}\"]}"),
    ] {
        let parsed = serde_json::to_string(&parameters(query).unwrap()).unwrap();
        assert_eq!(parsed, want, "{query}");
    }
    let semicolon = "invalid semicolon separator in query";
    assert_eq!(parameters("a=1;b=2").unwrap_err(), semicolon);
    assert_eq!(parameters("a=%z").unwrap_err(), "invalid URL escape \"%z\"");
    let many = vec!["a"; 10_001].join("&");
    assert!(parameters(&many).unwrap_err().contains("exceeded limit"));
    assert!(parameters(many.strip_prefix("a&").unwrap()).is_ok());
}

#[test]
fn targets_are_split_at_the_first_query_delimiter() {
    assert_eq!(split("/a?b=c?d"), ("/a", "b=c?d"));
    assert_eq!(split("/a?"), ("/a", ""));
    assert_eq!(split("/a"), ("/a", ""));
}
