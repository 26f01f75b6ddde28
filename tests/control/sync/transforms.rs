//! Transformations of fetched documents (C-059).

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use solon_control::model::{Compat, Phase, Status};
use solon_control::sync::{FetchOptions, Fetcher};

use super::http_server::{HttpServer, response};
use super::{Folder, fetch_with, source, texts};

const USERS: &str =
    r#"{"users": [{"id": "alice", "age": 30}, {"id": "bob", "age": 9007199254740993}]}"#;

#[tokio::test]
async fn documents_are_transformed() {
    let folder = Folder::new("transform");
    let server = HttpServer::start(|request| match request.target.as_str() {
        "/text" => response("200 OK", &[], "not JSON"),
        _ => response("200 OK", &[], USERS),
    });
    let rule = "package transform\nby_id[u.id] := u.age if some u in input.users";
    let old =
        "package transform\nby_id[id] = age { u := input.users[_]; id := u.id; age := u.age }";
    let looping = "package transform\nloop := [x | some a in r; some b in r; some c in r; x := (a * b) * c; x < 0]\nr := numbers.range(1, 1000)";
    let by_id = r#"{"alice":30,"bob":9007199254740993}"#;
    let big = "[x | some a in numbers.range(1, 3000); x := [y | some y in numbers.range(1, 3000)]]";
    for (compat, module, path, query, wanted) in [
        (
            Compat::Strict,
            "",
            "/",
            "{u.id | some u in input.users}",
            Ok(r#"["alice","bob"]"#),
        ),
        (
            Compat::Strict,
            "",
            "/",
            "{u.id: u.age | some u in input.users}",
            Ok(by_id),
        ),
        (
            Compat::Strict,
            "",
            "/",
            "input.users[_].id",
            Ok(r#"["alice","bob"]"#),
        ),
        (
            Compat::Strict,
            "",
            "/",
            "input.users[0].id",
            Ok(r#""alice""#),
        ),
        (Compat::Strict, rule, "/", "data.transform.by_id", Ok(by_id)),
        (Compat::Strict, rule, "/", "data.pushed.x", Ok("1")),
        (Compat::Ocp, old, "/", "data.transform.by_id", Ok(by_id)),
        (Compat::Ocp, rule, "/", "data.transform.by_id", Ok(by_id)),
        (Compat::Strict, old, "/", "data.transform.by_id", Ok(by_id)),
        (Compat::Ocp, "", "/", "input.absent", Ok("[]")),
        (
            Compat::Strict,
            "",
            "/",
            "input.absent",
            Err("the result is undefined"),
        ),
        (
            Compat::Strict,
            "",
            "/",
            "x := 1; x",
            Err("more than one expression"),
        ),
        (Compat::Strict, "", "/", "unknown", Err("unsafe")),
        (
            Compat::Strict,
            "package x\np :=",
            "/",
            "data.x.p",
            Err("rego_parse_error"),
        ),
        (
            Compat::Strict,
            "",
            "/text",
            "input",
            Err("failed to unmarshal content: "),
        ),
        (
            Compat::Strict,
            "",
            "/",
            r#"http.send({"method": "GET", "url": "http://127.0.0.1:1"}).body"#,
            Err("the query needs the network"),
        ),
        (
            Compat::Ocp,
            "",
            "/",
            r#"[a | a := net.lookup_ip_addr("localhost")]"#,
            Err("the query needs the network"),
        ),
        (
            Compat::Strict,
            looping,
            "/",
            "data.transform.loop",
            Err("time"),
        ),
        (Compat::Strict, "", "/", big, Err("memory")),
    ] {
        let options = FetchOptions {
            compat,
            transform_timeout: Duration::from_millis(500),
            transform_memory: 16 << 20,
            ..folder.options()
        };
        let fetcher = Fetcher::new(options).unwrap();
        let datasource = json!({"name": "d", "path": "users", "type": "http",
            "config": {"url": format!("{}{path}", server.address)}, "transform_query": query});
        let mut files = json!({"pushed/data.json": STANDARD.encode("{\"x\": 1}")});
        if !module.is_empty() {
            files["transform.rego"] = STANDARD.encode(module).into();
        }
        let source = source(&json!({"name": "s", "files": files, "datasources": [datasource]}));
        for _ in 0..2 {
            let fetched = fetch_with(&fetcher, &source, None, &BTreeMap::new()).await;
            match (&fetched, wanted) {
                (Ok(fetched), Ok(wanted)) => {
                    assert_eq!(texts(&fetched.trees[1])[0].1, wanted, "{query}");
                    // the digest is that before the transformation
                    assert!(fetched.facts.http.contains_key("d"));
                }
                (Err(failure), Err(wanted)) => {
                    let message = &failure.message;
                    let prefix = "source \"s\": datasource \"d\": transform_query: ";
                    assert!(message.starts_with(prefix), "{query}: {message}");
                    assert!(message.contains(wanted), "{query}: {message}");
                    let kind = (failure.phase, failure.status);
                    assert_eq!(kind, (Phase::Transform, Status::TransformFailed));
                }
                _ => panic!("{query}: {fetched:?}"),
            }
        }
    }
}
