//! `GET /openapi.json`: the OpenAPI description of this server. Paths and methods are taken from the routing table.
//! `operations.json` describes their parameters and responses, and `components.json` the shared parts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ApiError;
use super::call::Call;
use super::provenance::VERSION;
use super::routes::{Action, Route, served};
use super::state::State;
use crate::config::{Authentication, Authorization, ServerOptions};
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::answer_text;

/// Descriptions of operations, by `METHOD /path`.
const OPERATIONS: &str = include_str!("openapi/operations.json");
const COMPONENTS: &str = include_str!("openapi/components.json");

/// `GET /openapi.json`, for the options of this server.
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let document = describe(&state.options)
        .map_err(|error| ApiError::internal(format!("internal error: {error}")))?;
    let text = answer_text(&document, request.pretty());
    Ok(response::json(Status::OK, text))
}

/// Returns the OpenAPI 3.1 description of a server.
fn describe(options: &ServerOptions) -> Result<Value, serde_json::Error> {
    let operations: Map<String, Value> = serde_json::from_str(OPERATIONS)?;
    let mut components: Map<String, Value> = serde_json::from_str(COMPONENTS)?;
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for (route, action) in served(options) {
        for (path, operation) in descriptions(&operations, route, action) {
            let item = paths.entry(path).or_insert_with(|| path_item(path));
            let method = action.method.to_lowercase();
            item.insert(method, Value::Object(spelled_out(operation, options)));
        }
    }
    let mut security = Vec::new();
    if options.authentication == Authentication::Token {
        let token = json!({"token": {"type": "http", "scheme": "bearer"}});
        components.insert("securitySchemes".to_owned(), token);
        security.push(json!({"token": []}));
    }
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Solon",
            "summary": "A policy engine: decisions, policies and documents over HTTP",
            "version": VERSION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": security,
        "paths": paths,
        "components": components,
    }))
}

/// Returns the descriptions of a method of a route, by path: that of the route, and a template for the paths below it.
fn descriptions<'a>(
    operations: &'a Map<String, Value>,
    route: &Route,
    action: &Action,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    operations.iter().filter_map(|(name, operation)| {
        let (method, path) = name.split_once(' ')?;
        let is_here = match path.strip_prefix(route.path)? {
            "" => route.is_reached(path),
            suffix => route.below && suffix.starts_with("/{"),
        };
        (method == action.method && is_here).then_some((path, operation))
    })
}

/// Returns a path item without methods, with the path parameter.
fn path_item(path: &str) -> Map<String, Value> {
    let mut item = Map::new();
    if let Some((_, name)) = path.split_once('{') {
        let parameter = json!({
            "name": name.trim_end_matches('}'),
            "in": "path",
            "required": true,
            "description": "Any number of segments; within one a slash is `%2F`",
            "schema": {"type": "string", "minLength": 1},
        });
        item.insert("parameters".to_owned(), json!([parameter]));
    }
    item
}

fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// Converts media types with schema names to media types with schemas. Returns `None` if there are none.
fn content(kinds: &Value) -> Option<Value> {
    let kinds = kinds.as_object().filter(|kinds| !kinds.is_empty())?;
    let kinds = kinds.iter().map(|(kind, name)| {
        let schema = reference("schemas", name.as_str().unwrap_or_default());
        (kind.clone(), json!({"schema": schema}))
    });
    Some(Value::Object(kinds.collect()))
}

/// Returns an operation in OpenAPI form.
fn spelled_out(operation: &Value, options: &ServerOptions) -> Map<String, Value> {
    let mut operation_object = Map::new();
    let mut add = |name: &str, value: Value| drop(operation_object.insert(name.to_owned(), value));
    add("operationId", operation["id"].clone());
    add("summary", operation["summary"].clone());
    if let Some(names) = operation["parameters"].as_array() {
        let names = names.iter().filter_map(Value::as_str);
        let all = names.map(|name| reference("parameters", name));
        add("parameters", all.collect());
    }
    let body = content(&operation["body"]);
    let mut responses = Map::new();
    for (status, kinds) in operation["answers"].as_object().into_iter().flatten() {
        let code = status
            .parse()
            .ok()
            .and_then(|code| Status::from_u16(code).ok());
        let reason = code.and_then(|code| code.canonical_reason());
        let response = match content(kinds) {
            Some(content) => json!({"description": reason, "content": content}),
            None => json!({"description": reason}),
        };
        responses.insert(status.clone(), response);
    }
    for status in common(body.is_some(), options) {
        let reference_of_status = || reference("responses", status);
        responses.entry(status).or_insert_with(reference_of_status);
    }
    add("responses", Value::Object(responses));
    if let Some(content) = body {
        // a body that may be YAML may also be absent
        let required = content.get("application/yaml").is_none();
        let body = json!({"content": content, "required": required});
        add("requestBody", body);
    }
    operation_object
}

/// Returns the responses that are common to all requests.
fn common(has_body: bool, options: &ServerOptions) -> Vec<&'static str> {
    let mut common = vec!["400", "500", "503"];
    if options.authorization == Authorization::Basic {
        common.push("401");
        // the policy reads only bodies of bounded length
        if has_body {
            common.push("413");
        }
    }
    if options.authentication == Authentication::Off {
        common.push("403");
    }
    if has_body {
        common.push("408");
    }
    common
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value};

    use super::{COMPONENTS, OPERATIONS, describe, descriptions};
    use crate::api::routes::served;
    use crate::config::ServerOptions;

    fn all_options() -> ServerOptions {
        ServerOptions {
            ui: true,
            ..ServerOptions::default()
        }
    }

    #[test]
    fn every_method_of_every_route_is_described_and_nothing_else() {
        let operations: Map<String, Value> = serde_json::from_str(OPERATIONS).unwrap();
        let mut described_ids = BTreeSet::new();
        for (route, action) in served(&all_options()) {
            let described: Vec<_> = descriptions(&operations, route, action).collect();
            // HEAD is GET without the response body
            assert!(
                !described.is_empty() || action.method == "HEAD",
                "{} {}",
                action.method,
                route.path
            );
            described_ids.extend(
                described
                    .into_iter()
                    .map(|(path, _)| format!("{} {path}", action.method)),
            );
        }
        let all_ids: BTreeSet<String> = operations.keys().cloned().collect();
        assert_eq!(all_ids, described_ids);
    }

    #[test]
    fn routes_that_are_not_served_are_not_described() {
        let paths = |options: &ServerOptions| {
            let document = describe(options).unwrap();
            document["paths"].as_object().unwrap().clone()
        };
        assert!(paths(&all_options()).contains_key("/ui"));
        assert!(!paths(&ServerOptions::default()).contains_key("/ui"));
        let read_only = paths(&ServerOptions {
            read_only: true,
            ..ServerOptions::default()
        });
        let methods = |path: &str| {
            let methods = read_only[path].as_object().unwrap().keys();
            methods.map(String::as_str).collect::<Vec<_>>()
        };
        assert_eq!(methods("/v1/data/{path}"), ["get", "parameters", "post"]);
        assert_eq!(methods("/v1/policies/{id}"), ["get", "parameters"]);
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_component_is_used() {
        let document = describe(&all_options()).unwrap();
        let mut references = BTreeSet::new();
        let mut open = vec![&document];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(to)) = members.get("$ref") {
                        assert!(
                            document.pointer(to.trim_start_matches('#')).is_some(),
                            "{to}"
                        );
                        references.insert(to.trim_start_matches("#/components/").to_owned());
                    }
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        // these statuses are possible only with an authorization policy
        references.extend(["401", "413"].map(|status| format!("responses/{status}")));
        let components: Map<String, Value> = serde_json::from_str(COMPONENTS).unwrap();
        for (kind, all) in components {
            for name in all.as_object().unwrap().keys() {
                assert!(
                    references.contains(&format!("{kind}/{name}")),
                    "{kind}/{name}"
                );
            }
        }
    }
}
