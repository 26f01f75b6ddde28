//! Query parameters.

use super::Params;

#[test]
fn switches() {
    let on = |query: &str| Params::parse(query).flag("pretty");
    for query in [
        "pretty",
        "pretty=",
        "pretty=TRUE",
        "pretty=1&pretty=true",
        "a=b&pretty",
    ] {
        assert!(on(query), "{query}");
    }
    for query in [
        "",
        "pretty=1",
        "pretty=false",
        "Pretty",
        "pretty&pretty",
        "pretty=true;a=b",
        "pretty=%zz",
    ] {
        assert!(!on(query), "{query}");
    }
}

#[test]
fn values_are_decoded_and_the_last_wins() {
    let params = Params::parse("q=x+%3D+1&q=a%26b&input=%7B%7D");
    assert_eq!(params.last("q"), Some("a&b"));
    assert_eq!(params.all("q").next(), Some("x = 1"));
    assert_eq!(params.last("input"), Some("{}"));
    assert_eq!(params.last("none"), None);
}
