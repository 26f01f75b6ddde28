//! `/openapi.json` matches the recorded requests and responses.

#[path = "../../openapi/page.rs"]
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use solon::{Engine, PreparedQuery, Request};

use crate::client::get;
use crate::process::Server;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns the description of a server with all features.
fn description() -> Value {
    let flags = ["--ui", "--authorization", "basic"];
    let files = [("a.rego", "package system.authz\n\nallow := true\n")];
    let server = Server::start_with(&flags, &files);
    let answer = get(server.address(), "/openapi.json");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    serde_json::from_str(&answer.text()).unwrap()
}

/// A recorded request with its response.
struct Recorded {
    request_line: String,
    method: String,
    path: String,
    body: Option<Value>,
    status: u64,
    kind: Option<String>,
    json: Option<Value>,
}

fn recorded() -> Vec<Recorded> {
    let mut all = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder("tests/cases/server"))
        .unwrap()
        .collect();
    files.sort_by_key(|file| file.as_ref().unwrap().path());
    for file in files {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
        for exchange in cases
            .iter()
            .flat_map(|case| case["requests"].as_array().unwrap())
        {
            let ask = exchange["ask"].as_str().unwrap();
            let (method, target) = ask.split_once(' ').unwrap();
            let body = exchange.get("body").filter(|body| !body.is_string());
            // in both spellings
            for want in ["want", "opa"].iter().filter_map(|name| exchange.get(name)) {
                let text = || serde_json::from_str(want["text"].as_str()?).ok();
                all.push(Recorded {
                    request_line: ask.to_owned(),
                    method: method.to_owned(),
                    path: target.split('?').next().unwrap().to_owned(),
                    body: body.cloned(),
                    status: want["status"].as_u64().unwrap(),
                    kind: want["type"].as_str().map(str::to_owned),
                    json: want.get("json").cloned().or_else(text),
                });
            }
        }
    }
    all
}

/// Returns the operation of a request, with its name in the description.
fn operation<'d>(paths: &'d Value, asked: &Recorded) -> Option<(String, &'d Value)> {
    // the description has methods in lower case, requests in upper case
    let method = asked.method.to_lowercase();
    if asked.method != method.to_uppercase() {
        return None;
    }
    let fits = |template: &str| match template.split_once("/{") {
        Some((route, _)) => asked
            .path
            .strip_prefix(route)
            .and_then(|below| below.strip_prefix('/'))
            .is_some_and(|below| !below.is_empty()),
        None => template == asked.path,
    };
    let found = paths
        .as_object()?
        .iter()
        .filter(|(template, _)| fits(template));
    // the most specific template applies
    let (template, operations) = found.max_by_key(|(template, _)| template.len())?;
    let operation = operations.get(&method)?;
    Some((format!("{} {template}", asked.method), operation))
}

/// Validates values against schemas of the description.
struct Validator {
    engine: PreparedQuery,
    components: Value,
}

impl Validator {
    fn new(description: &Value) -> Self {
        let query = "x := json.match_schema(input.document, input.schema)";
        Self {
            engine: Engine::new().prepare_query(query).unwrap(),
            components: description["components"].clone(),
        }
    }

    fn complaint(&self, document: &Value, schema: &Value) -> Option<String> {
        // the built-in function accepts only objects.
        let schema = json!({"properties": {"it": schema}, "components": self.components});
        let input = json!({"document": {"it": document}, "schema": schema}).to_string();
        let request = Request::new()
            .input_json(input.as_bytes())
            .strict_builtin_errors(true);
        let found = self.engine.solutions(&request).unwrap();
        let (_, answer) = &found[0].bindings[0];
        let answer = answer.to_string();
        (!answer.starts_with("[true")).then_some(answer)
    }
}

#[test]
fn recorded_answers_are_as_described() {
    let description = description();
    let validator = Validator::new(&description);
    // the validator reports errors at all.
    let found = json!({"$ref": "#/components/schemas/Error"});
    assert!(
        validator
            .complaint(&json!({"code": 1, "message": ""}), &found)
            .is_some()
    );
    assert!(
        validator
            .complaint(&json!({"code": "a", "message": ""}), &found)
            .is_none()
    );
    let mut shown: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut faults = Vec::new();
    for one in recorded() {
        let Some((name, operation)) = operation(&description["paths"], &one) else {
            // paths and methods that do not exist, or are spelled differently.
            let is_refused = matches!(one.status, 200 | 301 | 307 | 401 | 404 | 405 | 500);
            assert!(is_refused, "{}: {}", one.request_line, one.status);
            continue;
        };
        if matches!(one.status, 301 | 307) {
            continue;
        }
        shown.entry(name).or_default().insert(one.status);
        let mut response = &operation["responses"][one.status.to_string()];
        if let Some(to) = response["$ref"].as_str() {
            response = description.pointer(to.trim_start_matches('#')).unwrap();
        }
        if response.is_null() {
            faults.push(format!(
                "{}: {} is not described",
                one.request_line, one.status
            ));
            continue;
        }
        let content = &response["content"];
        match &one.kind {
            None => {
                if content.is_object() {
                    faults.push(format!("{}: {} has no body", one.request_line, one.status));
                }
            }
            Some(kind) => {
                // vendor prefixes of the media types of filters are equivalent
                let kind = kind
                    .replace("vnd.opa.", "vnd.engine.")
                    .replace("vnd.styra.", "vnd.engine.");
                let Some(media) = content.get(&kind) else {
                    faults.push(format!(
                        "{}: {} is not told to be {kind}",
                        one.request_line, one.status
                    ));
                    continue;
                };
                if let Some(document) = &one.json
                    && let Some(complaint) = validator.complaint(document, &media["schema"])
                {
                    faults.push(format!("{}: {document}: {complaint}", one.request_line));
                }
            }
        }
        // an accepted body must match the schema
        if let Some(body) = one.body.filter(|_| one.status < 300) {
            let content = operation["requestBody"]["content"].as_object();
            let schema = content.and_then(|content| content.values().next());
            match schema {
                Some(media) if media["schema"]["$ref"] != "#/components/schemas/Module" => {
                    if let Some(complaint) = validator.complaint(&body, &media["schema"]) {
                        faults.push(format!("{}: takes {body}: {complaint}", one.request_line));
                    }
                }
                Some(_) => {}
                None => faults.push(format!("{}: takes a body", one.request_line)),
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    // and every described response of an operation itself was recorded
    let common = ["400", "401", "403", "408", "413", "500", "503"];
    let mut missing = Vec::new();
    for (path, operations) in description["paths"].as_object().unwrap() {
        for (method, operation) in operations
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "parameters")
        {
            let name = format!("{} {path}", method.to_uppercase());
            // other tests cover the page and this description; counts and states differ between runs
            let elsewhere = [
                "/ui",
                "/ui/{file}",
                "/openapi.json",
                "/metrics",
                "/metrics/alloc_bytes",
                "/v1/status",
            ];
            if elsewhere.contains(&path.as_str()) {
                continue;
            }
            for status in operation["responses"].as_object().unwrap().keys() {
                let number = status.parse().unwrap();
                if !common.contains(&status.as_str())
                    && !shown
                        .get(&name)
                        .is_some_and(|shown| shown.contains(&number))
                {
                    missing.push(format!("{name}: {status}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "never shown:\n{}", missing.join("\n"));
}

#[test]
fn parameters_that_are_read_are_described() {
    let description = description();
    let parameters = description["components"]["parameters"]
        .as_object()
        .unwrap()
        .values();
    let described: BTreeSet<&str> = parameters
        .filter(|one| one["in"] == "query")
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let mut read = BTreeSet::new();
    let mut folders = vec![folder("server/src/api"), folder("server/src/http")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for call in ["flag(\"", "last(\"", "all(\""] {
                for (at, _) in text.match_indices(call) {
                    let before = &text[..at];
                    let before = before.trim_end_matches(['.', ' ', '\n']);
                    if before.ends_with("params") || before.ends_with("params()") {
                        let name = text[at + call.len()..].split('"').next().unwrap();
                        read.insert(name.to_owned());
                    }
                }
            }
        }
    }
    let read: BTreeSet<&str> = read.iter().map(String::as_str).collect();
    assert_eq!(described, read);
}

const HEAD: &str = "# HTTP API reference

Every operation of the policy server, generated from its OpenAPI description: `GET /openapi.json` of a running server describes
the operations that its options permit, for generators of clients. The tables are those of a server with all options.

- [The server over HTTP](http.md) describes errors, limits, optional response fields and previews,
  [Migrating from OPA](migrate-from-opa.md) which clients of OPA need `--compat opa`.
- Errors are JSON ([Error](#error)). [Error codes](error-codes.md) lists every code with its status.
- Limits of bodies, heads, targets and time are in [Bounds](http.md#bounds). A request that exceeds one is rejected with 400, 408, 413,
  414 or 431, and with 503 if the server is overloaded.
- Responses are not paginated: lists of policies and documents are complete. Lists of the control plane are paginated, see
  [Control plane](control-plane.md#reading-and-writing).
";

/// `docs/http-api.md` is the description, rendered. `BLESS=1` regenerates it.
#[test]
fn the_reference_page_is_the_description() {
    page::check("http-api.md", HEAD, &description());
}
