//! GraphQL queries and schemas: each of `tests/cases/graphql` is valid or not as recorded, as text and as a syntax
//! tree.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use solon::internal::value::{Value, json};
use solon::{Engine, Error, Request};

#[derive(Deserialize)]
struct Group {
    schema: String,
    queries: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    query: String,
    error: Option<String>,
    tree_error: Option<String>,
}

/// The functions, as an engine's prepared queries of `input.query` and `input.schema`.
struct Functions(Engine);

impl Functions {
    /// Returns the value of an expression of `input.query` and `input.schema`.
    fn evaluate(
        &self,
        expression: &str,
        input: &Value,
        strict: bool,
    ) -> Result<Option<Value>, Error> {
        let query = self.0.prepare_query(&format!("x := {expression}"))?;
        let request = Request::new().input(input).strict_builtin_errors(strict);
        let first = query.solutions(&request)?.into_iter().next();
        Ok(first.map(|first| first.bindings[0].1.clone()))
    }

    /// Returns the error of a call of `graphql.parse`, if it fails.
    fn error(&self, call: &str, input: &Value) -> Option<String> {
        let error = self.evaluate(call, input, true).err()?;
        let message = &error.entries()[0].message;
        Some(message.replacen("graphql.parse: ", "", 1))
    }
}

const TEXT: &str = "graphql.parse(input.query, input.schema)";
const TREE: &str = "graphql.parse(graphql.parse_query(input.query), input.schema)";

/// Returns the differences from the record.
fn differences(functions: &Functions, case: &Case, schema: &str) -> Vec<String> {
    let input = serde_json::json!({"query": case.query, "schema": schema});
    let input = &json::read(input.to_string().as_bytes()).unwrap();
    let ask =
        |expression: &str, strict| functions.evaluate(expression, input, strict).ok().flatten();
    let fits = case.error.is_none();
    let verdict = Some(Value::from(fits));
    let mut differences = Vec::new();
    let mut expect = |what: &str, found: String, wanted: String| {
        if found != wanted {
            let query = &case.query;
            differences.push(format!(
                "{query}\n  {what}\n    found  {found}\n    wanted {wanted}"
            ));
        }
    };
    let error = functions.error(TEXT, input);
    expect("error", format!("{error:?}"), format!("{:?}", case.error));
    let lax = ask(TEXT, false);
    expect("lax", lax.is_some().to_string(), fits.to_string());
    for call in [
        "graphql.is_valid(input.query, input.schema)",
        "graphql.parse_and_verify(input.query, input.schema)[0]",
    ] {
        expect(
            call,
            format!("{:?}", ask(call, true)),
            format!("{verdict:?}"),
        );
    }
    if ask("graphql.parse_query(input.query)", true).is_some() {
        let error = functions.error(TREE, input);
        expect(
            "error of tree",
            error.is_none().to_string(),
            fits.to_string(),
        );
        if case.tree_error.is_some() {
            expect(
                "error of tree",
                format!("{error:?}"),
                format!("{:?}", case.tree_error),
            );
        }
        expect(
            "trees",
            format!("{:?}", ask(TREE, true)),
            format!("{lax:?}"),
        );
    }
    differences
}

#[test]
fn queries_are_valid_as_in_opa() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/graphql");
    let functions = Functions(Engine::new());
    let (mut checked, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().extension().is_none_or(|it| it != "json") {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        let groups: Vec<Group> = serde_json::from_str(&text).unwrap();
        for group in &groups {
            for case in &group.queries {
                wrong.extend(differences(&functions, case, &group.schema));
                checked += 1;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(checked > 400, "only {checked} queries");
}
