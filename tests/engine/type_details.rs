//! Details of type errors as JSON for tools.

use serde_json::{Value as Json, json};
use solon::internal::compile::{Options, compile};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

fn details(rules: &str) -> Vec<Json> {
    let text = format!("package t\n\n{rules}\n");
    let source = Source::new(SourceId(0), "t.rego", text);
    let module = parse_module(&source, &ParseOptions::default()).unwrap();
    let compiled = compile(vec![module], &Options::default(), None, |_, _| {});
    let errors = compiled.map(|_| ()).unwrap_err().0;
    errors
        .into_iter()
        .filter_map(|error| error.details_json)
        .collect()
}

#[test]
fn mismatches_name_both_types() {
    assert_eq!(
        details("p if {\"a\": [1]} == {\"a\": set(), 1: input.x}"),
        [json!({
            "a": {
                "type": "object",
                "static": [{"key": "a", "value": {"type": "array", "static": [{"type": "number"}]}}],
            },
            "b": {
                "type": "object",
                "static": [
                    {"key": 1, "value": {"type": "any"}},
                    {"key": "a", "value": {"type": "set"}},
                ],
            },
        })]
    );
}

#[test]
fn references_name_the_step() {
    assert_eq!(
        details("p := {\"a\": 1}\n\nq if p.b\n\nr if data.t.p.a.b"),
        [
            json!({
                "ref": [
                    {"type": "var", "value": "data"},
                    {"type": "string", "value": "t"},
                    {"type": "string", "value": "p"},
                    {"type": "string", "value": "b"},
                ],
                "pos": 3,
                "want": {"type": "string"},
                "oneOf": ["a"],
            }),
            json!({
                "ref": [
                    {"type": "var", "value": "data"},
                    {"type": "string", "value": "t"},
                    {"type": "string", "value": "p"},
                    {"type": "string", "value": "a"},
                    {"type": "string", "value": "b"},
                ],
                "pos": 3,
                "have": {"type": "number"},
            }),
        ]
    );
}

#[test]
fn calls_set_operands_against_parameters() {
    assert_eq!(
        details("p if lower(1) == \"a\""),
        [json!({
            "have": [{"type": "number"}, null],
            "want": {
                "args": [{"type": "string", "name": "x"}, {"type": "string", "name": "y"}],
            },
        })]
    );
}
