use std::collections::HashMap;

use super::{BodyContent, ParsedRequest};
use crate::envoy::descriptors::Descriptors;

async fn parse(headers: &[(&str, &str)], body: &str) -> Result<BodyContent, String> {
    let headers: HashMap<String, String> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let descriptors = Descriptors::default();
    let source = |text, bytes| ParsedRequest {
        headers: &headers,
        text,
        bytes,
        path: &[],
        descriptors: &descriptors,
    };
    let of_text = source(body, b"").parse().await;
    // a body as bytes is parsed like one as text
    assert_eq!(source("", body.as_bytes()).parse().await, of_text);
    of_text
}

#[tokio::test]
async fn bodies_are_parsed_by_their_type() {
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
        --x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: application/json\r\n\r\n{\"k\":[1]}\r\n\
        --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\r\nhello\r\n--x--\r\n";
    for (kind, body, want) in [
        ("application/json", r#"{"a":1.0}"#, r#"{"a":1.0}"#),
        ("application/json; charset=utf-8", "1", "1"),
        ("application/json-patch+json", "[]", "[]"),
        ("application/json", "", "null"),
        ("application/vnd.api+json", "1", "null"),
        ("Application/JSON", "1", "null"),
        ("text/plain", "x", "null"),
        (
            "application/x-www-form-urlencoded",
            "a=1&a=2&b=x+y%21&c",
            r#"{"a":["1","2"],"b":["x y!"],"c":[""]}"#,
        ),
        (
            "multipart/form-data; boundary=x",
            multipart,
            r#"{"a":["1",{"k":[1]}],"f":["hello"]}"#,
        ),
        ("multipart/form-data", multipart, "null"),
        ("application/grpc", "xxxxx", "null"),
    ] {
        let body = parse(&[("content-type", kind)], body).await.unwrap();
        let text = serde_json::to_string(&body.value).unwrap();
        assert_eq!((text.as_str(), body.is_truncated), (want, false), "{kind}");
    }
}

#[tokio::test]
async fn incomplete_bodies_are_null() {
    let json = ("content-type", "application/json");
    for (headers, is_truncated) in [
        (vec![("x-envoy-auth-partial-body", "true")], true),
        (vec![json, ("x-envoy-auth-partial-body", "true")], true),
        (vec![json, ("content-length", "9")], true),
        (vec![("content-length", "9")], false),
    ] {
        let body = parse(&headers, "[1]").await.unwrap();
        assert_eq!(body.is_truncated, is_truncated, "{headers:?}");
        assert_eq!(body.value, solon::Value::default(), "{headers:?}");
    }
    for length in ["3", "2", "-1"] {
        let body = parse(&[json, ("content-length", length)], "[1]")
            .await
            .unwrap();
        assert!(!body.is_truncated, "{length}");
    }
}

#[tokio::test]
async fn malformed_bodies_are_errors() {
    let json = ("content-type", "application/json");
    for (headers, body) in [
        (vec![json], " "),
        (vec![json], "{"),
        (vec![json], "x"),
        (vec![json], "1 2"),
        (vec![json, ("content-length", "abc")], "1"),
        (
            vec![("content-type", "application/x-www-form-urlencoded")],
            "a=%zz",
        ),
        (
            vec![("content-type", "application/x-www-form-urlencoded")],
            "a=1;b",
        ),
        (
            vec![("content-type", "multipart/form-data; boundary=x")],
            "--x\r\nno",
        ),
    ] {
        assert!(parse(&headers, body).await.is_err(), "{headers:?} {body}");
    }
}
