//! Checks of heads, and the parts of requests that handlers use.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Version};

use super::{Peer, Rejection, RequestExt as _, RequestInfo, check_head};

fn check(lines: &[&str], version: Version) -> Option<Rejection> {
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    check_head(&headers, version).err()
}

#[test]
fn heads_are_checked() {
    let check11 = |lines: &[&str]| check(lines, Version::HTTP_11);
    let host = |message| Some(Rejection::Host(message));
    assert_eq!(check11(&["host: a:80"]), None);
    assert_eq!(check11(&[]), host("missing required Host header"));
    assert_eq!(check(&[], Version::HTTP_10), None);
    assert_eq!(check(&[], Version::HTTP_2), None);
    let two = &["host: a", "host: a"];
    assert_eq!(check11(two), host("too many Host headers"));
    for odd in ["host: a/b", "host: a b", "host: a@b", "host: \"a\""] {
        assert_eq!(check11(&[odd]), host("malformed Host header"), "{odd}");
    }
    let with = |value: &str| check11(&["host: a", value]);
    assert_eq!(with("transfer-encoding: Chunked"), None);
    for odd in ["gzip", "gzip, chunked", "identity", ""] {
        let rejected = with(&format!("transfer-encoding: {odd}"));
        assert_eq!(rejected, Some(Rejection::TransferEncoding), "{odd}");
    }
    let coding = "transfer-encoding: chunked";
    let twice = check11(&["host: a", coding, coding]);
    assert_eq!(twice, Some(Rejection::TransferEncoding));
    assert_eq!(with("expect: 100-Continue"), None);
    assert_eq!(with("expect: 200-ok"), Some(Rejection::Expectation));
}

#[test]
fn requests_know_what_is_below_their_route() {
    let mut request = http::Request::new(());
    *request.uri_mut() = "/v1/data/a%2Fb?x=1".parse().unwrap();
    let info = RequestInfo::from_parts(&mut request, 1, Arc::<Peer>::default(), None);
    assert_eq!(request.rest_of_path(), None);
    info.route_length.set("/v1/data".len()).unwrap();
    assert_eq!(request.rest_of_path(), Some("a%2Fb"));
    let headers = request.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("text/yaml"));
    headers.insert("content-encoding", HeaderValue::from_static("gzip"));
    assert!(request.is_yaml() && request.is_compressed());
}
