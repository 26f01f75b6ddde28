//! Constraints of Gatekeeper, which the server reads from files and decides by at `POST /v0/gatekeeper`.

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::process::{Folder, Server};
use crate::waiting::wait_until;

const PATHS: [&str; 2] = ["--set", "server.admission.gatekeeper.paths={k.pem}"];

// files with `.pem` in their names are not passed as paths
const TEMPLATES: &str = "k.pem/templates.yaml";
const CONSTRAINTS: &str = "k.pem/constraints.yaml";

const TEMPLATE: &str = r#"apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: requiredlabel}
spec:
  crd:
    spec:
      names: {kind: RequiredLabel}
      validation:
        openAPIV3Schema: {type: object, properties: {label: {type: string}}}
  targets:
    - target: admission.k8s.gatekeeper.sh
      rego: |
        package requiredlabel
        violation[{"msg": msg, "details": {"label": label}}] {
          label := input.parameters.label
          not input.review.object.metadata.labels[label]
          msg := sprintf("missing label %v", [label])
        }
---
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: fails}
spec:
  crd: {spec: {names: {kind: Fails}}}
  targets:
    - target: admission.k8s.gatekeeper.sh
      rego: |
        package fails
        violation[{"msg": f(1)}] { true }
        f(x) = "a" { x == 1 }
        f(x) = "b" { x == 1; input.review.uid }
---
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: uniquehost}
spec:
  crd: {spec: {names: {kind: UniqueHost}}}
  targets:
    - target: admission.k8s.gatekeeper.sh
      rego: |
        package uniquehost
        violation[{"msg": sprintf("host of %v", [name])}] {
          data.inventory.namespace[_][_].Ingress[name].spec.host == input.review.object.spec.host
        }
"#;

/// Returns a constraint as YAML.
fn constraint(kind: &str, name: &str, spec: &Value) -> String {
    let constraint = json!({
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    });
    format!("---\n{constraint}\n")
}

fn label(name: &str, label: &str, action: &str) -> String {
    let parameters = json!({"label": label});
    let spec = json!({"enforcementAction": action, "parameters": parameters});
    constraint("RequiredLabel", name, &spec)
}

/// Returns a review of an object that is created in the namespace `n`.
fn review(object: &Value) -> Value {
    let kind = json!({"group": "", "version": "v1", "kind": object["kind"]});
    let request = json!({
        "uid": "u1", "kind": kind, "operation": "CREATE", "namespace": "n", "object": object, "oldObject": null,
    });
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

fn pod(labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": labels}})
}

fn send(server: &Server, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let message = Message::new(method, target).body(body.to_string());
    let answer = Client::connect(server.address()).send(&message);
    let text = answer.text();
    (
        answer.status,
        serde_json::from_str(&text).unwrap_or(Value::Null),
    )
}

/// Sends a review and returns the `response` of its review.
fn decide(server: &Server, object: &Value) -> Value {
    let (status, mut answer) = send(server, "POST", "/v0/gatekeeper", &review(object));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1");
    let response = answer["response"].take();
    assert_eq!(response["uid"], "u1");
    response
}

#[test]
fn violations_deny_warn_or_are_logged() {
    let constraints = [
        label("owner", "owner", "deny"),
        label("team", "team", "warn"),
        label("cost", "cost", "dryrun"),
    ];
    let flags = [&PATHS[..], &["--set", "decision_logs.console=true"]].concat();
    let files = [(TEMPLATES, TEMPLATE), (CONSTRAINTS, &constraints.concat())];
    let mut server = Server::start_with(&flags, &files);
    assert_eq!(
        decide(&server, &pod(&json!({}))),
        json!({
            "uid": "u1",
            "allowed": false,
            "status": {"code": 403, "reason": "Forbidden", "message": "[owner] missing label owner"},
            "warnings": ["[team] missing label team"],
        })
    );
    assert_eq!(
        decide(&server, &pod(&json!({"owner": "a"}))),
        json!({"uid": "u1", "allowed": true, "status": {"code": 299}, "warnings": ["[team] missing label team"]})
    );
    assert_eq!(
        decide(&server, &pod(&json!({"owner": "a", "team": "b"}))),
        json!({"uid": "u1", "allowed": true})
    );
    let events: Vec<Value> = {
        let lines = server.log().iter();
        let events = lines.filter(|line| line["msg"] == "Decision Log");
        events.cloned().collect()
    };
    assert_eq!(events.len(), 3);
    let last = events.last().unwrap();
    assert_eq!(last["path"], "gatekeeper");
    assert_eq!(last["input"]["request"]["uid"], "u1");
    let violation = json!({
        "constraint": {"kind": "RequiredLabel", "name": "cost"},
        "actions": ["dryrun"],
        "msg": "missing label cost",
        "details": {"label": "cost"},
    });
    assert_eq!(
        last["result"],
        json!({"allowed": true, "violations": [violation], "failures": []})
    );
    assert_eq!(events.first().unwrap()["result"]["allowed"], false);
}

#[test]
fn reviews_without_a_decision_are_denied() {
    let fails = constraint("Fails", "f", &json!({}));
    let files = [(TEMPLATES, TEMPLATE), (CONSTRAINTS, &*fails)];
    let mut server = Server::start_with(&PATHS, &files);
    let denied = json!({
        "uid": "u1",
        "allowed": false,
        "status": {"code": 500, "message": "the admission policy made no decision"},
    });
    assert_eq!(decide(&server, &pod(&json!({}))), denied);
    let line = server.logged_message("A constraint cannot be evaluated.");
    assert!(
        line["err"].as_str().unwrap().starts_with("Fails/f: "),
        "{line}"
    );
    for body in [
        json!(1),
        json!({}),
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "Other"}),
    ] {
        let (status, answer) = send(&server, "POST", "/v0/gatekeeper", &body);
        assert_eq!(
            (status, &answer["response"]["allowed"]),
            (200, &json!(false))
        );
        assert_eq!(answer["response"]["status"]["code"], 400);
    }
    let mut deletion = review(&Value::Null);
    deletion["request"]["operation"] = json!("DELETE");
    deletion["request"]["kind"]["kind"] = json!("Pod");
    let (_, answer) = send(&server, "POST", "/v0/gatekeeper", &deletion);
    assert_eq!(
        answer["response"]["status"],
        json!({"code": 400, "message": "malformed admission review: `request.oldObject` of a deletion must be an object"})
    );
    // without constraints
    let server = Server::start(&[]);
    assert_eq!(decide(&server, &pod(&json!({}))), denied);
    // the API server decides about failures
    let flags = [
        &PATHS[..],
        &["--set", "server.admission.failure_response=error"],
    ]
    .concat();
    let server = Server::start_with(&flags, &files);
    let (status, answer) = send(&server, "POST", "/v0/gatekeeper", &review(&pod(&json!({}))));
    assert_eq!((status, &answer["code"]), (500, &json!("internal_error")));
}

#[test]
fn invalid_constraints_end_the_start() {
    let fail = |template: &str, constraints: &str| {
        let folder = Folder::with(&[("t.yaml", template), ("c.yaml", constraints)]);
        let path = folder.path().display().to_string();
        let paths = format!("server.admission.gatekeeper.paths={{{path}}}");
        let (code, text) = Server::fail(&["--addr", "127.0.0.1:0", "--set", &paths]);
        assert_eq!(code, Some(1), "{text}");
        text.replace(&path, "FOLDER")
    };
    assert_eq!(
        fail(TEMPLATE, &label("owner", "owner", "forbid")),
        "error: load error: FOLDER/c.yaml: RequiredLabel/owner: `spec.enforcementAction`: unknown action `forbid`: \
         expected `deny`, `warn`, `dryrun` or `scoped`\n"
    );
    let broken = TEMPLATE.replace("input.review.object.spec.host", "data.hosts");
    assert_eq!(
        fail(&broken, &label("owner", "owner", "deny")),
        "error: load error: FOLDER/t.yaml: ConstraintTemplate/uniquehost: invalid ConstraintTemplate: invalid data references: \
         check refs failed on module {template}: disallowed ref data.hosts\n"
    );
    assert_eq!(
        fail(TEMPLATE, ""),
        "error: load error: no constraints in FOLDER\n"
    );
    let (code, text) = Server::fail(&["--set", "server.admission.gatekeeper.path={a}"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("gatekeeper"), "{text}");
}

#[test]
fn changed_files_are_loaded_again() {
    let files = [
        (TEMPLATES, TEMPLATE),
        (CONSTRAINTS, &*label("owner", "owner", "deny")),
    ];
    let mut server = Server::start_with(&[&PATHS[..], &["--watch"]].concat(), &files);
    let is_allowed =
        |server: &Server, labels: &Value| decide(server, &pod(labels))["allowed"] == true;
    assert!(is_allowed(&server, &json!({"owner": "a"})));
    let write = |server: &Server, text: &str| {
        std::fs::write(server.folder().join(CONSTRAINTS), text).unwrap();
    };
    write(&server, &label("team", "team", "deny"));
    wait_until("the constraint is loaded", || {
        is_allowed(&server, &json!({"team": "a"})) && !is_allowed(&server, &json!({"owner": "a"}))
    });
    write(&server, "kind: Other\n");
    let message =
        "Files of constraints changed, and cannot be loaded; the constraints stay as they were.";
    let line = server.logged_message(message);
    assert_eq!(
        line["err"].as_str().unwrap().split(": unsupported").next(),
        Some("k.pem/constraints.yaml: Other without a name")
    );
    assert!(is_allowed(&server, &json!({"team": "a"})));
    assert!(!is_allowed(&server, &json!({"owner": "a"})));
    // a folder that is removed does not remove its constraints
    std::fs::remove_dir_all(server.folder().join("k.pem")).unwrap();
    server.logged(message, 2, |line| line["msg"] == message);
    assert!(!is_allowed(&server, &json!({"owner": "a"})));
}

#[test]
fn templates_read_the_inventory_and_namespaces_that_clients_write() {
    let selected = json!({
        "match": {"namespaceSelector": {"matchLabels": {"env": "prod"}}},
        "parameters": {"label": "owner"},
    });
    let constraints = [
        constraint(
            "UniqueHost",
            "hosts",
            &json!({"match": {"kinds": [{"kinds": ["Ingress"]}]}}),
        ),
        constraint("RequiredLabel", "prod", &selected),
    ];
    let files = [(TEMPLATES, TEMPLATE), (CONSTRAINTS, &constraints.concat())];
    let server = Server::start_with(&PATHS, &files);
    let unknown = "[prod] `namespaceSelector` needs the labels of the namespace `n`, which is not in the inventory";
    let message = |object: &Value| decide(&server, object)["status"]["message"].clone();
    assert_eq!(message(&pod(&json!({}))), unknown);
    let put = |target: &str, body: &Value| assert_eq!(send(&server, "PUT", target, body).0, 204);
    let labelled = |env: &str| json!({"metadata": {"labels": {"env": env}}});
    put(
        "/v1/data/kubernetes/namespaces",
        &json!({"n": labelled("prod")}),
    );
    assert_eq!(message(&pod(&json!({}))), "[prod] missing label owner");
    put("/v1/data/kubernetes/namespaces/n", &labelled("test"));
    assert_eq!(message(&pod(&json!({}))), Value::Null);
    let ingress =
        |name: &str| json!({"kind": "Ingress", "metadata": {"name": name}, "spec": {"host": "h"}});
    // a template that reads the inventory cannot be evaluated without it
    assert_eq!(
        message(&ingress("b")),
        "the admission policy made no decision"
    );
    put("/v1/data/inventory", &json!({}));
    assert_eq!(message(&ingress("b")), Value::Null);
    put(
        "/v1/data/inventory/namespace/m/networking.k8s.io%2Fv1/Ingress/a",
        &ingress("a"),
    );
    assert_eq!(message(&ingress("b")), "[hosts] host of a");
    // the inventory has precedence
    put(
        "/v1/data/inventory/cluster/v1/Namespace/n",
        &labelled("prod"),
    );
    assert_eq!(message(&pod(&json!({}))), "[prod] missing label owner");
}
