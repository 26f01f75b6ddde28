//! Reference pages of HTTP APIs, rendered from their OpenAPI descriptions.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

/// Compares a page of `docs` with the description. `BLESS=1` regenerates the page.
pub fn check(name: &str, head: &str, described: &Value) {
    let page = render(head, described);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("docs").join(name))
        .find(|path| path.parent().is_some_and(Path::is_dir))
        .unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/{name} is outdated; BLESS=1 writes it again"
    );
}

fn render(head: &str, described: &Value) -> String {
    let mut page = head.to_owned();
    page.push_str("\n## Operations\n\n| operation | description |\n|---|---|\n");
    let mut operations = String::new();
    for (path, item) in members(&described["paths"]) {
        for (method, operation) in members(item)
            .iter()
            .filter(|(name, _)| *name != "parameters")
        {
            let name = format!("{} {path}", method.to_uppercase());
            let summary = text(&operation["summary"]);
            writeln!(
                page,
                "| [`{name}`](#{}) | {} |",
                anchor(&name),
                cell(&summary)
            )
            .unwrap();
            section(&mut operations, &name, item, operation, described);
        }
    }
    page.push_str(&operations);
    page.push_str(
        "\n## Responses of all operations\n\n| status | content | description |\n|---|---|---|\n",
    );
    for (status, response) in members(&described["components"]["responses"]) {
        page.push_str(&response_row(status, response));
    }
    page.push_str("\n## Schemas\n");
    for (name, schema) in members(&described["components"]["schemas"]) {
        writeln!(page, "\n### {name}\n").unwrap();
        let description = text(&schema["description"]);
        if !description.is_empty() {
            writeln!(page, "{}.\n", description.trim_end_matches('.')).unwrap();
        }
        match schema["properties"]
            .as_object()
            .filter(|fields| !fields.is_empty())
        {
            Some(fields) => fields_table(&mut page, fields, schema),
            None => writeln!(page, "Type: {}", type_of(schema)).unwrap(),
        }
    }
    page
}

/// Writes the section of an operation.
fn section(page: &mut String, name: &str, item: &Value, operation: &Value, described: &Value) {
    let summary = text(&operation["summary"]);
    writeln!(page, "\n### `{name}`\n\n{}.", summary.trim_end_matches('.')).unwrap();
    let description = text(&operation["description"]);
    if !description.is_empty() {
        writeln!(page, "\n{description}").unwrap();
    }
    let shared = item["parameters"].as_array().into_iter().flatten();
    let own = operation["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&Value> = shared
        .chain(own)
        .map(|one| resolve(one, described))
        .collect();
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | type | description |\n|---|---|---|---|\n");
        for parameter in parameters {
            writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                text(&parameter["name"]),
                text(&parameter["in"]),
                cell(&type_of(&parameter["schema"])),
                cell(&text(&parameter["description"]))
            )
            .unwrap();
        }
    }
    let body = resolve(&operation["requestBody"], described);
    if body.is_object() {
        let optional = if body["required"] == true {
            ""
        } else {
            " (optional)"
        };
        writeln!(page, "\nBody{optional}: {}", content(&body["content"])).unwrap();
    }
    page.push_str("\n| status | content | description |\n|---|---|---|\n");
    for (status, response) in members(&operation["responses"]) {
        page.push_str(&response_row(status, resolve(response, described)));
    }
}

fn response_row(status: &str, response: &Value) -> String {
    format!(
        "| {status} | {} | {} |\n",
        cell(&content(&response["content"])),
        cell(&text(&response["description"]))
    )
}

/// Writes the fields of an object schema.
fn fields_table(page: &mut String, fields: &Map<String, Value>, schema: &Value) {
    page.push_str("| field | type | description |\n|---|---|---|\n");
    let required = schema["required"].as_array();
    for (name, field) in fields {
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        let mark = if is_required { " (required)" } else { "" };
        writeln!(
            page,
            "| `{name}`{mark} | {} | {} |",
            cell(&type_of(field)),
            cell(&text(&field["description"]))
        )
        .unwrap();
    }
}

/// Returns the media types of a body with their schemas.
fn content(kinds: &Value) -> String {
    let kinds = members(kinds).into_iter();
    let kinds = kinds.map(|(kind, body)| format!("`{kind}` {}", type_of(&body["schema"])));
    kinds.collect::<Vec<_>>().join(", ")
}

/// Returns the type of a schema in words, with links to named schemas.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for alternatives in ["oneOf", "anyOf", "allOf"] {
        if let Some(all) = schema[alternatives].as_array() {
            let separator = if alternatives == "allOf" {
                " and "
            } else {
                " or "
            };
            return all.iter().map(type_of).collect::<Vec<_>>().join(separator);
        }
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().map(|value| format!("`{value}`"));
        return values.collect::<Vec<_>>().join(" or ");
    }
    let names = match &schema["type"] {
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(" or "),
        Value::String(one) => one.clone(),
        _ => "any".to_owned(),
    };
    if schema["items"].is_object() {
        return format!("{names} of {}", type_of(&schema["items"]));
    }
    if schema["additionalProperties"].is_object() && schema["properties"].is_null() {
        return format!("{names} of {}", type_of(&schema["additionalProperties"]));
    }
    let fields = members(&schema["properties"]);
    if fields.is_empty() {
        return names;
    }
    let fields: Vec<String> = fields.iter().map(|(name, _)| format!("`{name}`")).collect();
    format!("{names} with {}", fields.join(", "))
}

/// Follows a reference.
fn resolve<'d>(value: &'d Value, described: &'d Value) -> &'d Value {
    let target = value["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
    target.map_or(value, |to| described.pointer(to).unwrap())
}

fn members(value: &Value) -> Vec<(&String, &Value)> {
    value.as_object().into_iter().flatten().collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Returns the anchor of a heading that is a code span.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}
