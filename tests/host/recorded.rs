//! Answers that another engine gave of the same servers.
//!
//! `tests/cases/http/send.json` is a list of expressions with the answers; in both, `SERVER` is replaced by the address
//! of the server and `FREE` by an address without a listener.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::engine::{evaluate, module};
use crate::server::Server;
use solon_lines::Process;

/// Placeholders of addresses in the record.
struct Addresses(Vec<(&'static str, String)>);

impl Addresses {
    fn fill(&self, text: &str) -> String {
        let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        self.0.iter().fold(text.to_owned(), fill)
    }

    fn strip(&self, json: &Json) -> Json {
        let strip = |text: String, (name, value): &(&str, String)| text.replace(value, name);
        let text = self.0.iter().fold(json.to_string(), strip);
        serde_json::from_str(&text).unwrap()
    }
}

fn own(expression: &str) -> Json {
    match evaluate(expression) {
        Ok(value) => json!({"value": value}),
        Err(error) => json!({"error": error}),
    }
}

fn of_oracle(oracle: &mut Process, expression: &str) -> Json {
    let request = json!({
        "modules": {"t.rego": module(expression)},
        "query": "x := data.t.p",
        "strict_builtin_errors": true,
    });
    let answer = oracle.request(&request.to_string()).unwrap();
    let answer: Json = serde_json::from_str(&answer).unwrap();
    match &answer["bindings"][0] {
        Json::Null => {
            let error = &answer["errors"][0];
            if error.is_null() {
                return json!({"error": "undefined"});
            }
            let text = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
            json!({"error": format!("{}: {}", text("code"), text("message"))})
        }
        bindings => json!({"value": bindings["x"]}),
    }
}

/// Removes headers that depend on how an engine frames bodies.
fn compared(mut json: Json) -> Json {
    if let Some(raw) = json.pointer_mut("/value/raw_body")
        && raw.as_str().is_some_and(|raw| raw.contains("\"headers\""))
    {
        *raw = Json::Null;
    }
    json
}

#[test]
fn answers_are_those_of_the_record() {
    let server = Server::start();
    let places = Addresses(vec![
        ("SERVER", server.address.to_string()),
        // a reserved port without a listener
        ("FREE", "127.0.0.1:1".to_owned()),
    ]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/http/send.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    if let Ok(program) = std::env::var("SOLON_RECORD") {
        let mut oracle = Process::new(&program);
        for case in &mut cases {
            let expression = places.fill(case["ask"].as_str().unwrap());
            case["answer"] = places.strip(&of_oracle(&mut oracle, &expression));
        }
        let lines: Vec<String> = cases.iter().map(ToString::to_string).collect();
        std::fs::write(&path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
    }
    let mut failures = Vec::new();
    for case in &cases {
        let expression = places.fill(case["ask"].as_str().unwrap());
        let found = compared(places.strip(&own(&expression)));
        let wanted = compared(case["answer"].clone());
        if found != wanted {
            failures.push(format!(
                "{}\n  found  {found}\n  wanted {wanted}",
                case["ask"]
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    assert!(cases.len() > 100, "few cases");
}
