//! Cases of `tests/cases/envoy`: inputs, decisions and errors.
//!
//! A case has a `note`, a `check` (see `checks::check`), optionally `settings` of the plugin and the body of a `policy`, and
//! expects an `input`, of which the policy returns a copy, or a `response`.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::checks::{Authorization, check, response_json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default)]
    settings: Value,
    policy: Option<String>,
    check: Value,
    input: Option<Value>,
    response: Option<Value>,
}

/// A policy whose decision is a copy of the input.
const COPY: &str = "allow := {\"allowed\": true, \"dynamic_metadata\": {\"input\": input}}";

fn cases(file: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/envoy");
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn inputs_contain_what_is_set() {
    let server = Authorization::start(&json!({}), &[], &format!("package envoy.authz\n{COPY}"));
    for case in cases("inputs.json") {
        let settings = &case.settings;
        let own = (!settings.is_null())
            .then(|| Authorization::start(settings, &[], &format!("package envoy.authz\n{COPY}")));
        let response = own.as_ref().unwrap_or(&server).check(check(&case.check));
        let shown = response_json(&response.unwrap());
        let want = case.input.unwrap();
        assert_eq!(shown["metadata"]["input"], want, "{}", case.note);
    }
}

#[test]
fn decisions_become_responses() {
    for file in ["decisions.json", "errors.json"] {
        for case in cases(file) {
            let policy = case.policy.unwrap_or_default();
            let policy = format!("package envoy.authz\n{policy}");
            let server = Authorization::start(&case.settings, &[], &policy);
            let response = server.check(check(&case.check)).unwrap();
            assert_eq!(
                response_json(&response),
                case.response.unwrap(),
                "{}",
                case.note
            );
        }
    }
}
