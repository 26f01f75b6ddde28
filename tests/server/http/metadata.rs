//! Request metadata of callers is passed to functions of the host, and metadata of functions is returned.

use std::time::Duration;

use serde_json::{Value as Json, json};
use solon::{BuiltinError, HostFunction, Value, ValueRef};
use solon_server::{
    Authorization, BufferLimit, DecisionLogOptions, LogFileOptions, ReportingOptions,
    ReportingTrigger, Server, ServerBuilder, ServerOptions,
};

use crate::client::{Client, Message};
use crate::inside::Inside;
use crate::process::Folder;

const POLICY: &str = "package t

seen := noted(input)

silent := input

nested := {x | some x in [1, 2]; noted(x)}

undefined if noted(5) == 6

fails := {\"a\": x | some x in [noted(1), 2]}
";

/// Returns a function that returns its operand, and reports the request's metadata to the caller. Of an object it also
/// reports each member.
fn noted() -> HostFunction {
    HostFunction::new("noted", "x: any => same: any", |call, operands| {
        let operand = *operands.first().ok_or(BuiltinError::Undefined)?;
        let metadata = call.metadata().cloned().unwrap_or_default();
        call.set_response_metadata("acme/metadata", metadata);
        for (name, value) in operand
            .to_value()
            .as_object()
            .into_iter()
            .flat_map(|all| all.iter())
        {
            call.set_response_metadata(name.as_str().unwrap_or_default(), value.clone());
        }
        Ok(operand)
    })
    .unwrap()
}

fn server(options: ServerOptions) -> Inside {
    let server: ServerBuilder = Server::builder()
        .function(noted())
        .unwrap()
        .options(options);
    let policy = [
        ("t.rego", POLICY),
        ("z.rego", "package system.authz\n\nallow := true\n"),
    ];
    let inside = Inside::start(server);
    for (name, text) in policy {
        let put = Message::new("PUT", &format!("/v1/policies/{name}")).body(text);
        assert_eq!(Client::connect(inside.address()).send(&put).status, 200);
    }
    inside
}

fn evaluate(server: &Inside, target: &str, kind: &str, body: &str) -> Json {
    let message = Message::new("POST", target)
        .header("content-type", kind)
        .body(body);
    let answer = Client::connect(server.address()).send(&message);
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

/// S-045, S-179, S-212, S-213, S-215, S-216, S-219
#[test]
fn metadata_goes_to_functions_and_comes_back() {
    let server = server(ServerOptions::default());
    let kind = "application/json";
    let body = r#"{"input": 1, "acme/tenant": "eu", "n": 1.50, "list": [{"a": null}]}"#;
    let metadata = json!({"acme/tenant": "eu", "n": 1.50, "list": [{"a": null}]});
    let want = json!({"result": 1, "acme/metadata": metadata});
    assert_eq!(evaluate(&server, "/v1/data/t/seen", kind, body), want);
    // independent of the format of the response
    for parameter in [
        "ids",
        "explain=notes",
        "strict-builtin-errors=true",
        "pretty",
    ] {
        let target = format!("/v1/data/t/seen?{parameter}");
        let mut answer = evaluate(&server, &target, kind, body);
        let told = answer.as_object_mut().unwrap();
        told.remove("explanation");
        assert_eq!(answer, want, "{parameter}");
    }
    let yaml = "input: 1\nacme/tenant: eu\nn: 1.50\nlist: [{a: null}]\n";
    assert_eq!(
        evaluate(&server, "/v1/data/t/seen", "application/yaml", yaml),
        want
    );
    let nothing = json!({"result": 1, "acme/metadata": {}});
    assert_eq!(
        evaluate(&server, "/v1/data/t/seen", kind, r#"{"input": 1}"#),
        nothing
    );
    // it is returned for undefined documents, and for sets of function results
    let undefined = evaluate(&server, "/v1/data/t/undefined", kind, r#"{"a": 1}"#);
    assert_eq!(undefined, json!({"acme/metadata": {"a": 1}}));
    let nested = evaluate(&server, "/v1/data/t/nested", kind, r#"{"a": 1}"#);
    assert_eq!(nested, json!({"result": [1, 2], "acme/metadata": {"a": 1}}));
    // names are case-sensitive, except for the input's
    let cased = evaluate(&server, "/v1/data/t/seen", kind, r#"{"Input": 1, "N": 2}"#);
    assert_eq!(cased, json!({"result": 1, "acme/metadata": {"N": 2}}));
}

/// S-216, S-045
#[test]
fn metadata_never_replaces_fields_of_the_server() {
    let server = server(ServerOptions::default());
    let own = [
        "decision_id",
        "provenance",
        "explanation",
        "metrics",
        "result",
        "ids",
        "rule_labels",
        "warning",
    ];
    let mut members = serde_json::Map::new();
    for name in own {
        members.insert(name.to_owned(), "forged".into());
    }
    members.insert("acme/\"quoted\"".to_owned(), "kept".into());
    let input = Json::Object(members);
    let body = json!({ "input": input }).to_string();
    let answer = evaluate(
        &server,
        "/v1/data/t/seen?metrics&provenance",
        "application/json",
        &body,
    );
    assert_eq!(answer["result"], input);
    assert!(answer["metrics"].is_object() && answer["provenance"].is_object());
    for name in [
        "decision_id",
        "explanation",
        "ids",
        "rule_labels",
        "warning",
    ] {
        assert!(answer.get(name).is_none(), "{name}");
    }
    assert_eq!(answer["acme/\"quoted\""], "kept");
}

/// S-046, S-218
#[test]
fn nobody_tells_anything_where_no_function_does() {
    let server = server(ServerOptions::default());
    let body = r#"{"input": 1, "acme/tenant": "eu"}"#;
    let answer = evaluate(&server, "/v1/data/t/silent", "application/json", body);
    assert_eq!(answer, json!({"result": 1}));
    let bare = evaluate(
        &server,
        "/v0/data/t/seen",
        "application/json",
        r#"{"a": 1}"#,
    );
    assert_eq!(bare, json!({"a": 1}));
}

/// S-179, S-213
#[test]
fn metadata_is_not_lost_where_a_policy_sees_the_body_first() {
    let options = ServerOptions {
        authorization: Authorization::Basic,
        ..ServerOptions::default()
    };
    let engine = solon::Engine::builder()
        .function(noted().waiting())
        .unwrap()
        .build();
    engine.set_module("t.rego", POLICY).unwrap();
    let authz = "package system.authz\n\nallow if input.body.who == \"me\"\n";
    engine.set_module("z.rego", authz).unwrap();
    let server = Inside::start(Server::builder().engine(engine).options(options));
    let body = r#"{"input": 1, "who": "me"}"#;
    let answer = evaluate(&server, "/v1/data/t/seen", "application/json", body);
    assert_eq!(answer, json!({"result": 1, "acme/metadata": {"who": "me"}}));
}

/// A value that JSON cannot represent keeps its order, and nothing of it is lost.
#[test]
fn metadata_may_be_any_value() {
    let set = HostFunction::new("sets", "x: any => same: any", |call, operands| {
        call.set_response_metadata("acme/set", Value::set(vec![2.into(), 1.into()]));
        call.set_response_metadata("acme/text", "<é>".into());
        operands
            .first()
            .copied()
            .ok_or(BuiltinError::Undefined)
            .map(|x: ValueRef<'_>| x)
    });
    let server = Inside::start(Server::builder().function(set.unwrap()).unwrap());
    let put = Message::new("PUT", "/v1/policies/s").body("package s\n\np := sets(1)\n");
    assert_eq!(Client::connect(server.address()).send(&put).status, 200);
    let get = Client::connect(server.address()).send(&Message::new("GET", "/v1/data/s/p"));
    assert_eq!(
        get.text(),
        "{\"result\":1,\"acme/set\":[1,2],\"acme/text\":\"\\u003cé\\u003e\"}\n"
    );
}

/// S-040, S-041, S-214, S-217, S-383 to S-386: the event of a decision has its id, and the metadata of the request and of functions.
#[test]
fn events_of_decisions_contain_the_metadata() {
    let folder = Folder::with(&[]);
    let path = folder.path().join("decisions.jsonl");
    let options = ServerOptions {
        decision_logs: Some(DecisionLogOptions {
            console: false,
            service: None,
            resource: "/logs".to_owned(),
            mask_decision: "/system/log/mask".to_owned(),
            drop_decision: "/system/log/drop".to_owned(),
            headers: Vec::new(),
            nd_builtin_cache: false,
            reporting: ReportingOptions {
                buffer: BufferLimit::Events(1),
                upload_bytes: 32_768,
                min_delay: Duration::from_secs(1),
                max_delay: Duration::from_secs(1),
                per_second: None,
                trigger: ReportingTrigger::Periodic,
            },
            stdout: false,
            file: Some(LogFileOptions {
                path: path.clone(),
                max_bytes: u64::MAX,
                max_files: 1,
            }),
            sqlite: None,
            otlp: None,
            spool: None,
        }),
        ..ServerOptions::default()
    };
    let server = server(options);
    let kind = "application/json";
    let body = r#"{"input": {"k": "v"}, "acme/tenant": "eu"}"#;
    let answers = ["seen", "silent", "undefined"].map(|name| {
        let answer = evaluate(&server, &format!("/v1/data/t/{name}"), kind, body);
        answer["decision_id"].as_str().unwrap().to_owned()
    });
    let text = std::fs::read_to_string(path).unwrap();
    let events: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let request = json!({"acme/tenant": "eu"});
    let noted = json!({"acme/metadata": request, "k": "v"});
    let constant = json!({ "acme/metadata": request });
    let custom = [
        json!({"request_metadata": request, "response_metadata": noted}),
        json!({ "request_metadata": request }),
        json!({"request_metadata": request, "response_metadata": constant}),
    ];
    assert_eq!(events.len(), 3, "{text}");
    for ((event, id), custom) in events.iter().zip(answers).zip(custom) {
        assert_eq!(
            (&event["decision_id"], &event["custom"]),
            (&json!(id), &custom)
        );
    }
}
