//! Differential test: the crate graphql-parser parses every recorded GraphQL document as Solon does.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use solon::internal::graphql::{self, Encode};
use solon::internal::value::{Arena, json};

fn as_json(tree: &impl Encode) -> Json {
    let arena = Arena::new();
    let mut text = Vec::new();
    json::write(tree.encode(&arena), &mut text);
    serde_json::from_slice(&text).unwrap()
}

fn query(text: &str) -> Option<Json> {
    graphql::parse_query(text).ok().map(|tree| as_json(&tree))
}

fn schema(text: &str) -> Option<Json> {
    graphql::parse_schema(text).ok().map(|tree| as_json(&tree))
}

/// Removes what graphql-parser does not preserve: comments, the kinds of strings, the texts of numbers, and the order
/// and the duplicates of fields in objects.
fn reduce(tree: &mut Json) {
    match tree {
        Json::Array(items) => items.iter_mut().for_each(reduce),
        Json::Object(members) => {
            members.retain(|key, _| !key.ends_with("Comment"));
            members.values_mut().for_each(reduce);
            match members.get("Kind").and_then(Json::as_u64) {
                Some(2) => {
                    let number: f64 = members["Raw"].as_str().unwrap().parse().unwrap();
                    members["Raw"] = number.to_string().into();
                    // graphql-parser prints them without a fraction.
                    if number.fract() == 0.0 {
                        members["Kind"] = 1.into();
                    }
                }
                Some(4) => members["Kind"] = 3.into(),
                Some(9) => {
                    let fields = members.get_mut("Children").and_then(Json::as_array_mut);
                    if let Some(fields) = fields {
                        fields.reverse();
                        fields.sort_by_key(|field| field["Name"].to_string());
                        fields.dedup_by_key(|field| field["Name"].to_string());
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Returns `true` if a tree contains syntax that graphql-parser does not parse (directives of variables, numbers out of
/// its range) or does not print (variables of a subscription without a name).
fn is_beyond(tree: &Json) -> bool {
    match tree {
        Json::Array(items) => items.iter().any(is_beyond),
        Json::Object(members) => {
            let variable = members.contains_key("Variable") && members.contains_key("Directives");
            let raw = members
                .get("Raw")
                .and_then(Json::as_str)
                .unwrap_or_default();
            let number = match members.get("Kind").and_then(Json::as_u64) {
                Some(1) => raw.parse::<i64>().is_err(),
                Some(2) => raw.parse::<f64>().is_ok_and(f64::is_infinite),
                _ => false,
            };
            let nameless = members.get("Name").is_some_and(|name| name == "");
            let subscription = members
                .get("Operation")
                .is_some_and(|it| it == "subscription");
            let variables = members.contains_key("VariableDefinitions");
            let unprinted = subscription && nameless && variables;
            variable || number || unprinted || members.values().any(is_beyond)
        }
        _ => false,
    }
}

/// Compares a document's tree with that of the text that graphql-parser prints for it.
fn compare(text: &str, read: fn(&str) -> Option<Json>, printed: Option<String>) -> Option<String> {
    let (mut tree, printed) = match (read(text), printed) {
        (Some(tree), _) if is_beyond(&tree) => return None,
        (Some(tree), Some(printed)) => (tree, printed),
        (None, None) => return None,
        (tree, _) => return Some(format!("{text}\n  Solon reads it: {}", tree.is_some())),
    };
    let Some(mut other) = read(&printed) else {
        return Some(format!("{text}\n  becomes {printed}"));
    };
    reduce(&mut tree);
    reduce(&mut other);
    (tree != other).then(|| format!("{text}\n  {tree}\n  {other}"))
}

#[test]
fn both_parsers_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/graphql");
    let (mut compared, mut wrong) = (0, Vec::new());
    for file in ["rules.json", "generated.json"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let groups: Json = serde_json::from_str(&text).unwrap();
        for group in groups.as_array().unwrap() {
            let text = group["schema"].as_str().unwrap();
            let other = graphql_parser::parse_schema::<String>(text);
            wrong.extend(compare(text, schema, other.ok().map(|it| it.to_string())));
            for case in group["queries"].as_array().unwrap() {
                let text = case["query"].as_str().unwrap();
                let other = graphql_parser::parse_query::<String>(text);
                wrong.extend(compare(text, query, other.ok().map(|it| it.to_string())));
                compared += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 400);
}
