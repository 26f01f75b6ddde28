//! Tokens of callers that are not valid UTF-8.

use crate::client::raw;
use crate::process::Server;

/// Identity of callers by their token; callers without one may pass.
const ANONYMOUS: &str = "package system.authz

default allow := false

allow if not input.identity

allow if input.identity == \"abc\"
";

/// S-360: a token that cannot be a value is not an absent one.
#[test]
fn malformed_tokens_are_rejected_where_anonymous_callers_pass() {
    let flags = ["--authentication=token", "--authorization=basic"];
    let server = Server::start_with(&flags, &[("authz.rego", ANONYMOUS)]);
    let status = |headers: &[&[u8]]| {
        let mut request = b"GET /v1/data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".to_vec();
        for header in headers {
            request.extend_from_slice(b"Authorization: ");
            request.extend_from_slice(header);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        let answer = raw(server.address(), &request);
        (answer.get(9..12).unwrap_or_default().to_owned(), answer)
    };
    let passing: [&[&[u8]]; 8] = [
        &[],
        &[b"Bearer abc"],
        &[b"Bearer \t abc \t"],
        &[b"Basic \xff"],
        &[b"\xff"],
        &[b"bearer \xff"],
        &[b"Bearer abc", b"Bearer \xff"],
        &[b"", b"Bearer def"],
    ];
    for headers in passing {
        let (code, answer) = status(headers);
        assert_eq!(code, "200", "{headers:?}: {answer}");
    }
    let broken: [&[u8]; 9] = [
        b"Bearer t\xf6k",
        b"Bearer \xff",
        b"Bearer abc\xff",
        b"Bearer a\x80",
        b"Bearer a\x85b",
        b"Bearer \xc3",
        b"Bearer \xed\xa0\x80",
        b"Bearer \xc0\xaf",
        b"Bearer\t\xf6",
    ];
    for token in broken {
        let (code, answer) = status(&[token]);
        assert_eq!(code, "401", "{token:?}: {answer}");
        assert!(answer.contains("not valid UTF-8"), "{answer}");
    }
    let (code, answer) = status(&[b"Bearer \xff", b"Bearer abc"]);
    assert_eq!(code, "401", "the first counts: {answer}");
    let valid: [&[u8]; 2] = ["Bearer tök".as_bytes(), "Bearer €".as_bytes()];
    for token in valid {
        let (code, answer) = status(&[token]);
        assert_eq!(code, "401", "a token of another client: {answer}");
        assert!(answer.contains("administrative policy"), "{answer}");
    }
}
