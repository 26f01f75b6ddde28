//! Answers that outlive their evaluation, with a server that says how long.

use solon::Request;

use crate::engine::{decide, engine};
use crate::server::Server;

/// How often a server is asked by two evaluations, given the headers of its answers and further fields.
fn count_requests(headers: &str, fields: &str) -> u32 {
    let server = Server::start();
    let url = server.url(&format!("/fresh?{headers}"));
    let engine = engine(&format!(
        "http.send({{\"method\": \"get\", \"url\": \"{url}\"{fields}}}).raw_body"
    ));
    let first = decide(&engine, &Request::new()).unwrap();
    let second = decide(&engine, &Request::new()).unwrap();
    if server.count() == 1 {
        assert_eq!(first, second);
    }
    server.count()
}

const LATER: &str = "Expires=Fri,+01+Jan+2100+00:00:00+GMT";
const EARLIER: &str = "Expires=Mon,+01+Jan+2001+00:00:00+GMT";

#[test]
fn servers_say_how_long_answers_are_good() {
    const CACHE: &str = ", \"cache\": true";
    for (headers, fields, times) in [
        (LATER, "", 2),
        (LATER, CACHE, 1),
        (EARLIER, CACHE, 2),
        ("Expires=0", CACHE, 2),
        ("Cache-Control=no-store", CACHE, 2),
        (
            EARLIER,
            ", \"force_cache\": true, \"force_cache_duration_seconds\": 60",
            1,
        ),
        (
            EARLIER,
            ", \"force_cache\": true, \"force_cache_duration_seconds\": 0",
            2,
        ),
        // without a duration, `force_cache` has no effect
        (
            LATER,
            ", \"force_cache\": true, \"force_cache_duration_seconds\": 0",
            1,
        ),
        (
            "Cache-Control=no-store&Expires=Fri,+01+Jan+2100+00:00:00+GMT",
            ", \"force_cache\": true, \"force_cache_duration_seconds\": -1",
            2,
        ),
        (LATER, ", \"cache\": true, \"caching_mode\": \"other\"", 2),
        (
            LATER,
            ", \"cache\": true, \"caching_mode\": \"deserialized\"",
            1,
        ),
    ] {
        assert_eq!(count_requests(headers, fields), times, "{headers} {fields}");
    }
}

#[test]
fn stale_responses_are_requested_again() {
    let server = Server::start();
    let url = server.url(&format!("/fresh?{EARLIER}&Etag=x"));
    let engine = engine(&format!(
        "http.send({{\"method\": \"get\", \"url\": \"{url}\", \"cache\": true}}).raw_body"
    ));
    for asked in 1..4 {
        // the server says that nothing changed, so the first answer stays
        assert_eq!(decide(&engine, &Request::new()), Ok("0".into()));
        assert_eq!(server.count(), asked);
    }
}

#[test]
fn equal_requests_of_an_evaluation_are_one() {
    let server = Server::start();
    let (fine, failing) = (server.url("/number"), server.url("/status/500"));
    let engine = engine(&format!(
        "[[http.send({{\"method\": \"get\", \"url\": \"{fine}\", \"headers\": {{\"x\": \"y\"}}}}).raw_body |
            some _ in [1, 2, 3]],
            [http.send({{\"method\": \"get\", \"url\": \"{failing}\"}}).status_code | some _ in [1, 2, 3]]]"
    ));
    let answer = decide(&engine, &Request::new()).unwrap();
    assert_eq!(answer[0], serde_json::json!(["0", "0", "0"]));
    assert!(server.count() >= 2);
}
