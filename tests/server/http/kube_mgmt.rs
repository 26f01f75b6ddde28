//! The requests of kube-mgmt, which runs next to a server and loads ConfigMaps and objects of a cluster.

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::Server;

/// Sends a request without a content type, as kube-mgmt does, and returns the status and the code of an error.
fn send(server: &Server, method: &str, target: &str, body: &str) -> (u16, String) {
    let message = Message::new(method, target).body(body.to_owned());
    let answer = Client::connect(server.address()).send(&message);
    let error: Value = serde_json::from_str(&answer.text()).unwrap_or(Value::Null);
    let code = error["code"].as_str().unwrap_or_default();
    (answer.status, code.to_owned())
}

fn ok(status: u16) -> (u16, String) {
    (status, String::new())
}

fn read(server: &Server, path: &str) -> Value {
    let message = Message::new("GET", &format!("/v1/data/{path}"));
    let answer = Client::connect(server.address()).send(&message);
    let mut answer: Value = serde_json::from_str(&answer.text()).unwrap();
    answer["result"].take()
}

const POLICY: &str = "package kubernetes.admission\n\ndeny contains \"no\" if input.request\n";

/// A patch that removes a document.
fn removal(path: &str) -> String {
    json!([{"path": path, "op": "remove"}]).to_string()
}

#[test]
fn policies_of_config_maps_are_loaded_and_removed() {
    let server = Server::start(&[]);
    let id = "/v1/policies/opa/rules/main.rego";
    assert_eq!(send(&server, "PUT", id, POLICY), ok(200));
    assert_eq!(read(&server, "kubernetes/admission"), json!({"deny": []}));
    let (status, code) = send(
        &server,
        "PUT",
        id,
        "package kubernetes.admission\n\ndeny contains x",
    );
    assert_eq!((status, code.as_str()), (400, "invalid_parameter"));
    // the policy that was loaded before stays in force
    assert_eq!(read(&server, "kubernetes/admission"), json!({"deny": []}));
    assert_eq!(send(&server, "DELETE", id, ""), ok(200));
    assert_eq!(read(&server, "kubernetes/admission"), Value::Null);
    let (status, code) = send(&server, "DELETE", id, "");
    assert_eq!((status, code.as_str()), (404, "resource_not_found"));
}

#[test]
fn objects_are_replicated() {
    let server = Server::start(&[]);
    let tree = json!({"n": {"a": {"kind": "Pod"}}});
    let plural = "/v1/data/kubernetes/pods";
    assert_eq!(send(&server, "PUT", plural, &format!("{tree}\n")), ok(204));
    assert_eq!(
        send(
            &server,
            "PUT",
            "/v1/data/kubernetes/pods/n/b",
            "{\"kind\": \"Pod\"}\n"
        ),
        ok(204)
    );
    // a namespace without objects so far
    assert_eq!(
        send(&server, "PUT", "/v1/data/kubernetes/pods/m/c", "{}\n"),
        ok(204)
    );
    assert_eq!(
        send(&server, "PUT", "/v1/data/kubernetes/nodes/x", "{}\n"),
        ok(204)
    );
    let removed = removal("/kubernetes/pods/n/a");
    assert_eq!(send(&server, "PATCH", "/v1/data", &removed), ok(204));
    let pods = json!({"n": {"b": {"kind": "Pod"}}, "m": {"c": {}}});
    assert_eq!(
        read(&server, "kubernetes"),
        json!({"pods": pods, "nodes": {"x": {}}})
    );
    let (status, code) = send(&server, "PATCH", "/v1/data", &removed);
    assert_eq!((status, code.as_str()), (404, "resource_not_found"));
    // the whole tree again after an error
    assert_eq!(send(&server, "PUT", plural, &format!("{tree}\n")), ok(204));
    assert_eq!(read(&server, "kubernetes/pods"), tree);
}

/// kube-mgmt removes a ConfigMap once for each of its keys. The second removal fails, and kube-mgmt then replaces all documents.
const KEYS: [&str; 2] = ["/v1/data/opa/settings/a", "/v1/data/opa/settings/b"];

fn remove_config_map(server: &Server) -> (u16, String) {
    for target in KEYS {
        assert_eq!(send(server, "PUT", target, "{\"x\": 1}\n"), ok(204));
    }
    let removed = removal("/opa/settings");
    assert_eq!(send(server, "PATCH", "/v1/data", &removed), ok(204));
    let (status, code) = send(server, "PATCH", "/v1/data", &removed);
    assert_eq!((status, code.as_str()), (404, "resource_not_found"));
    send(server, "PUT", "/v1/data", "{}\n")
}

#[test]
fn the_removal_of_a_config_map_removes_all_documents_without_a_bundle() {
    let server = Server::start(&[("settings.json", "{\"limits\": {\"pods\": 1}}")]);
    assert_eq!(remove_config_map(&server), ok(204));
    assert_eq!(read(&server, "limits"), Value::Null);
}

// files with `.pem` in their names are not passed as paths
const MANIFEST: &str = r#"{"revision": "1", "roots": ["limits", "kubernetes/admission"]}"#;
const BUNDLE: [(&str, &str); 3] = [
    ("b.pem/.manifest", MANIFEST),
    ("b.pem/limits/data.json", r#"{"pods": 1}"#),
    ("b.pem/p.rego", POLICY),
];

#[test]
fn a_bundle_protects_all_documents() {
    let server = Server::start_with(&["-b", "b.pem"], &BUNDLE);
    assert_eq!(
        send(&server, "PUT", "/v1/data/kubernetes/pods", "{\"n\": {}}\n"),
        ok(204)
    );
    let (status, code) = remove_config_map(&server);
    assert_eq!((status, code.as_str()), (400, "invalid_parameter"));
    assert_eq!(read(&server, "limits"), json!({"pods": 1}));
    assert_eq!(
        read(&server, "kubernetes"),
        json!({"admission": {"deny": []}, "pods": {"n": {}}})
    );
    // the roots of the bundle
    let (status, _) = send(&server, "PUT", "/v1/data/limits/pods", "2");
    assert_eq!(status, 400);
    let (status, _) = send(&server, "PUT", "/v1/policies/opa/rules/main.rego", POLICY);
    assert_eq!(status, 400);
}

/// The authorization policy of `docs/kubernetes.md`.
const AUTHZ: &str = "package system.authz

default allow := false

allow if input.identity == data.authz.token

allow if {
	input.method == \"POST\"
	input.path[0] == \"v0\"
	input.path[1] in {\"admission\", \"gatekeeper\"}
}

allow if input.path == [\"health\"]
";

#[test]
fn only_kube_mgmt_writes() {
    let page = include_str!("../../../docs/kubernetes.md");
    assert!(page.contains(AUTHZ));
    let flags = [
        "--authentication=token",
        "--authorization=basic",
        "--bundle",
        "b.pem",
    ];
    let manifest =
        r#"{"revision": "1", "roots": ["kubernetes/admission", "system/authz", "authz"]}"#;
    let files = [
        ("b.pem/.manifest", manifest),
        ("b.pem/authz.rego", AUTHZ),
        ("b.pem/p.rego", POLICY),
        ("b.pem/authz/data.json", r#"{"token": "secret"}"#),
    ];
    let server = Server::start_with(&flags, &files);
    let status = |method: &str, target: &str, token: &str| {
        let message = Message::new(method, target).body("{}\n");
        let message = match token {
            "" => message,
            token => message.header("Authorization", &format!("Bearer {token}")),
        };
        Client::connect(server.address()).send(&message).status
    };
    for (method, target, expected) in [
        ("PUT", "/v1/data/kubernetes/pods/n/a", 204),
        ("GET", "/v1/data/authz", 200),
        ("PUT", "/v1/data/authz/token", 400),
    ] {
        assert_eq!(
            status(method, target, "secret"),
            expected,
            "{method} {target}"
        );
        assert_eq!(status(method, target, "other"), 401, "{method} {target}");
        assert_eq!(status(method, target, ""), 401, "{method} {target}");
    }
    // reviews that are not valid are denied by a response
    for (method, target) in [
        ("POST", "/v0/admission/kubernetes/admission"),
        ("POST", "/v0/gatekeeper"),
        ("GET", "/health"),
    ] {
        assert_eq!(status(method, target, ""), 200, "{method} {target}");
    }
}
