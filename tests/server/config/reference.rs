//! The reference page of the configuration, generated from its types. `BLESS=1 cargo test -p solon-server --lib config`
//! writes it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::document::UNSUPPORTED;
use super::super::schema::schema;

/// Text of the page before its tables.
const HEAD: &str = include_str!("reference.md");

/// A key with its schema.
struct Key {
    path: String,
    schema: Value,
}

/// Collects all keys that have a value of their own.
fn keys(path: &str, schema: &Value, found: &mut Vec<Key>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (name, schema) in properties.into_iter().flatten() {
        keys(&below(name), schema, found);
    }
    let others = schema.get("additionalProperties");
    match others.filter(|others| !others.is_boolean()) {
        Some(members) => {
            // a map of texts has no keys of its own, so the description is that of the section
            let mut members = members.clone();
            if members["type"] == "string" {
                for field in ["description", "examples"] {
                    members[field] = schema.get(field).cloned().unwrap_or_default();
                }
            }
            keys(&below("NAME"), &members, found);
        }
        None if properties.is_none() => found.push(Key {
            path: path.to_owned(),
            schema: schema.clone(),
        }),
        None => {}
    }
}

/// Returns the names of the types of a schema, without `null`.
fn type_of(schema: &Value) -> String {
    let names = match &schema["type"] {
        Value::Array(names) => names.clone(),
        Value::Null => return "any".to_owned(),
        name => vec![name.clone()],
    };
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| *name != "null")
        .map(|name| match name {
            "array" => format!("array of {}s", type_of(&schema["items"])),
            name => name.to_owned(),
        })
        .collect();
    names.join(" or ")
}

fn cell(value: Option<&Value>) -> String {
    value
        .filter(|value| !value.is_null())
        .map_or_else(String::new, |value| match value {
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        })
}

fn page() -> String {
    let mut all = Vec::new();
    keys("", &schema(), &mut all);
    let (unsupported, supported): (Vec<Key>, Vec<Key>) = all
        .into_iter()
        .partition(|key| key.schema.get(UNSUPPORTED).is_some());
    let mut page = HEAD.to_owned();
    page += "\n## Keys\n\n| key | type | default | meaning | example |\n|---|---|---|---|---|\n";
    for Key { path, schema } in &supported {
        let description = schema["description"].as_str().unwrap_or_default();
        assert!(!description.is_empty(), "{path} has no description");
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let example = cell(schema.get("examples").and_then(|all| all.get(0)));
        let default = cell(schema.get("default"));
        let kind = type_of(schema);
        writeln!(
            page,
            "| `{path}` | {kind} | {default} | {description} | {example} |"
        )
        .unwrap();
    }
    page += "\n## Keys of OPA that are not supported yet\n\n\
             The server does not start if one of them is set. A value that is empty, `false` or `null` is accepted.\n\n";
    for Key { path, .. } in &unsupported {
        writeln!(page, "- `{path}`").unwrap();
    }
    page
}

#[test]
fn the_reference_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/configuration.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        recorded == page,
        "docs/configuration.md is not current: `BLESS=1 cargo test -p solon-server --lib config` writes it"
    );
}

/// Every key has a description, and every unsupported one is in the list of unsupported keys.
#[test]
fn every_key_is_on_the_page() {
    let page = page();
    for key in [
        "`default_decision` | string | `/system/main` |",
        "`labels.NAME` | string |",
        "`server.encoding.gzip.min_length` | integer | `1024` |",
        "`server.metrics.prom.http_request_duration_seconds.buckets` | array of numbers |",
        "`services.NAME.credentials.bearer.token` | string |",
        "`keys.NAME.algorithm` | string |",
        "`caching.inter_query_builtin_value_cache.named.NAME.max_num_entries` | integer |",
        "- `caching.inter_query_builtin_value_cache.named.NAME.disabled`",
        "`bundles.NAME.polling.min_delay_seconds` | integer | `60` |",
        "`discovery.resource` | string |",
        "- `storage.disk`",
    ] {
        assert!(page.contains(key), "{key}: {page}");
    }
}
