//! The HTTP server that data sources of scenarios read.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::sync::http_server::{HttpServer, Received, response};

const USERS: &str = r#"{"users": [{"name": "alice", "roles": ["admin"]}, {"name": "bob", "roles": ["viewer", "editor"]}]}
"#;

const TEAMS: &str = r#"{"teams": ["policies"]}"#;

static SERVER: LazyLock<HttpServer> = LazyLock::new(|| HttpServer::start(respond));

/// Returns the address of the server.
pub fn address() -> &'static str {
    &SERVER.address
}

fn respond(request: &Received) -> Vec<u8> {
    match request.target.as_str() {
        "/users" => response("200 OK", &[], USERS),
        "/teams" => response("200 OK", &[], TEAMS),
        "/headers" => {
            let headers = request.headers.iter();
            let header = |(name, value): (&String, &String)| {
                (go_name(name), Value::from(vec![value.as_str()]))
            };
            let headers: Map<String, Value> = headers.map(header).collect();
            response("200 OK", &[], &Value::from(headers).to_string())
        }
        _ => response("404 Not Found", &[], "no such document"),
    }
}

/// Returns the name of a header as Go's library writes it: `X-Team` for `x-team`.
fn go_name(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}
