//! Workloads.

use std::hint::black_box;

use solon::internal::value::json;
use solon::{Engine, Request, Value};

/// A prepared call.
type Call = Box<dyn FnMut()>;

/// A name, and a function that prepares the call.
type Workload = (&'static str, fn() -> Call);

/// All workloads.
pub const WORKLOADS: [Workload; 10] = [
    ("floor", floor),
    ("grants", grants),
    ("lookup", lookup),
    ("sum", sum),
    ("index", index),
    ("strings", strings),
    ("patterns", patterns),
    ("review", review),
    ("compile", compile),
    ("load", load),
];

/// Prepares a decision with parsed input.
fn decision(policy: &str, data: &str, input: &str) -> Call {
    let engine = Engine::new();
    engine.put("data", read(data)).unwrap();
    engine.set_module("p.rego", policy).unwrap();
    let document = engine.prepare_document("data.p.answer").unwrap();
    let input = read(input);
    let made = document.evaluate(&Request::new().input(&input)).unwrap();
    assert!(made.is_some(), "{policy}");
    Box::new(move || {
        drop(black_box(document.evaluate(&Request::new().input(&input))));
    })
}

fn read(text: &str) -> Value {
    json::read(text.as_bytes()).unwrap()
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(","))
}

fn floor() -> Call {
    let policy = "package p\n\ndefault answer := false\n\nanswer if input.user == \"alice\"\n";
    decision(policy, "{}", r#"{"user": "alice"}"#)
}

fn grants() -> Call {
    let policy = r#"package p

default answer := false

answer if "admin" in data.roles[input.user]

answer if {
	some grant in granted
	input.action == grant.action
	input.type == grant.type
}

granted contains grant if {
	some role in data.roles[input.user]
	some grant in data.grants[role]
}
"#;
    let data = r#"{"roles": {"bob": ["employee", "billing"]}, "grants": {
        "employee": [{"action": "read", "type": "dog"}, {"action": "update", "type": "dog"}],
        "billing": [{"action": "read", "type": "finance"}, {"action": "update", "type": "finance"}]}}"#;
    let input = r#"{"user": "bob", "action": "update", "type": "finance"}"#;
    decision(policy, data, input)
}

fn lookup() -> Call {
    let policy = r"package p

default answer := false

answer if {
	some role in data.users[input.user].roles
	data.roles[role].permitted[input.resource][input.action]
}
";
    let users: Vec<String> = (0..200)
        .map(|user| {
            format!(
                r#""user{user:03}":{{"roles":["role{}","role{}"]}}"#,
                user % 40,
                user % 7
            )
        })
        .collect();
    let roles: Vec<String> = (0..40)
        .map(|role| format!(r#""role{role}":{{"permitted":{{"res{role}":{{"read":true}}}}}}"#))
        .collect();
    let data = format!(
        r#"{{"users":{{{}}},"roles":{{{}}}}}"#,
        users.join(","),
        roles.join(",")
    );
    let input = r#"{"user": "user123", "resource": "res4", "action": "read"}"#;
    decision(policy, &data, input)
}

fn items(count: usize) -> String {
    let items = list(count, |item| {
        let status = ["open", "closed", "pending"][item % 3];
        format!(
            r#"{{"id":{item},"owner":"owner{:03}","amount":{},"status":"{status}","tags":["t{}","x"]}}"#,
            item % 50,
            item * 7 % 1000,
            item % 20
        )
    });
    format!(r#"{{"items":{items}}}"#)
}

fn sum() -> Call {
    let policy = r#"package p

answer := {
	"sum": sum([item.amount | some item in data.items]),
	"open": count([item | some item in data.items; item.status == "open"; item.amount > 500]),
	"owners": count({item.owner | some item in data.items}),
}
"#;
    decision(policy, &items(300), "null")
}

fn rules(count: usize) -> String {
    let mut policy = String::from("package p\n\ndefault answer := false\n");
    for rule in 0..count {
        policy.push_str(&format!(
            "\nanswer if {{\n\tinput.path == \"/v1/resource/{rule}\"\n\tinput.method == \"GET\"\n\tsome role in input.roles\n\trole in data.permitted.resource_{rule}\n}}\n"
        ));
    }
    policy
}

fn index() -> Call {
    let data = r#"{"permitted": {"resource_199": ["reader"]}}"#;
    let input = r#"{"path": "/v1/resource/199", "method": "GET", "roles": ["guest", "reader"]}"#;
    decision(&rules(200), data, input)
}

fn strings() -> Call {
    let policy = r#"package p

parts := split(trim(input.path, "/"), "/")

answer if {
	startswith(input.path, "/api/")
	endswith(input.path, ".json")
	count(parts) == 5
	lower(replace(input.name, "_", "-")) == "john-doe"
	concat("/", parts) == trim_prefix(input.path, "/")
	sprintf("%s:%d", [input.name, input.port]) == "John_Doe:8443"
	upper(substring(input.name, 0, 4)) == "JOHN"
}
"#;
    let input =
        r#"{"path": "/api/v1/users/john-doe/profile.json", "name": "John_Doe", "port": 8443}"#;
    decision(policy, "{}", input)
}

fn patterns() -> Call {
    let policy = r#"package p

answer if {
	regex.match(`^/api/v[0-9]+/users/[a-z0-9-]+/.*\.json$`, input.path)
	not regex.match(`(?i)(drop|delete|truncate)\s+table`, input.comment)
	glob.match("/api/*/users/*/*.json", ["/"], input.path)
	net.cidr_contains("10.20.0.0/16", input.ip)
}
"#;
    let input = r#"{"path": "/api/v1/users/john-doe/profile.json", "ip": "10.20.30.40",
        "comment": "please select the table rows and drop nothing"}"#;
    decision(policy, "{}", input)
}

/// Prepares a decision from text to text.
fn review() -> Call {
    let policy = r#"package p

answer := {"allow": count(deny) == 0, "reasons": sort(deny)}

deny contains msg if {
	some container in input.request.object.spec.containers
	not startswith(container.image, "registry.example.com/")
	msg := sprintf("container %s uses image %s", [container.name, container.image])
}

deny contains msg if {
	some container in input.request.object.spec.containers
	container.securityContext.privileged
	msg := sprintf("container %s is privileged", [container.name])
}
"#;
    let engine = Engine::new();
    engine.set_module("p.rego", policy).unwrap();
    let document = engine.prepare_document("data.p.answer").unwrap();
    let containers = list(6, |number| {
        let registry = ["docker.io", "registry.example.com"][number % 2];
        let env = list(8, |at| {
            format!(r#"{{"name":"VAR_{at}","value":"value-{number}-{at}-xxxxxxxxxxxx"}}"#)
        });
        format!(
            r#"{{"name":"c{number}","image":"{registry}/app{number}:1.0","securityContext":{{"privileged":{}}},"env":{env}}}"#,
            number == 3
        )
    });
    let text = format!(
        r#"{{"request":{{"kind":{{"kind":"Pod"}},"object":{{"spec":{{"containers":{containers}}}}}}}}}"#
    );
    let request = Request::new().input_json(text.as_bytes());
    assert!(document.evaluate_json(&request).unwrap().is_some());
    Box::new(move || {
        let request = Request::new().input_json(text.as_bytes());
        drop(black_box(document.evaluate_json(&request)));
    })
}

fn compile() -> Call {
    let policy = rules(50);
    Box::new(move || {
        let engine = Engine::new();
        engine.set_module("p.rego", &policy).unwrap();
        black_box(&engine);
    })
}

fn load() -> Call {
    let text = items(300);
    Box::new(move || drop(black_box(json::read(text.as_bytes()))))
}
