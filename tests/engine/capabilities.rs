//! Capabilities of the engine, and engines with fewer capabilities.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use solon::internal::builtins::HostFunction;
use solon::internal::builtins::capabilities::current_json;
use solon::{Capabilities, Engine, Error, FixedHost, Request};
use solon_syntax::ast::Version;

fn current(version: Version) -> Json {
    serde_json::from_slice(&current_json(version)).unwrap()
}

fn by_name(functions: &Json) -> BTreeMap<String, Json> {
    let functions = functions.as_array().unwrap().iter();
    functions
        .map(|function| {
            (
                function["name"].as_str().unwrap().to_owned(),
                function.clone(),
            )
        })
        .collect()
}

#[test]
fn the_table_equals_that_of_opa() {
    let record = include_str!("../cases/capabilities/table.json");
    let record: Json = serde_json::from_str(record).unwrap();
    let published = by_name(&record["builtins"]);
    let mut own = by_name(&current(Version::V1)["builtins"]);
    for (name, function) in &mut own {
        // these descriptions are Solon's own
        let described = function.as_object_mut().unwrap().remove("description");
        assert!(described.is_some(), "{name} has no description");
        assert_eq!(Some(&*function), published.get(name), "{name}");
    }
    let missing: Vec<&String> = published
        .keys()
        .filter(|name| !own.contains_key(*name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (version, field) in [(Version::V0, "v0"), (Version::V1, "v1")] {
        let own = current(version);
        assert_eq!(own["features"], record[field]["features"], "{field}");
        assert_eq!(
            own["future_keywords"], record[field]["future_keywords"],
            "{field}"
        );
    }
}

fn engine(change: impl FnOnce(&mut Json)) -> Engine {
    let mut json = current(Version::V1);
    change(&mut json);
    let capabilities = Capabilities::from_json(json.to_string().as_bytes()).unwrap();
    Engine::builder()
        .host(Arc::new(FixedHost::default()))
        .capabilities(capabilities)
        .build()
}

fn without(json: &mut Json, names: &[&str]) {
    let functions = json["builtins"].as_array_mut().unwrap();
    functions.retain(|function| !names.contains(&function["name"].as_str().unwrap()));
}

/// Returns the first line of the error that rejects a module.
fn rejection(engine: &Engine, module: &str) -> String {
    let error = engine.set_module("t.rego", module).unwrap_err().to_string();
    let mut lines = error.lines();
    let first = lines.next().unwrap();
    if first.ends_with("occurred:") {
        lines.next().unwrap().to_owned()
    } else {
        first.to_owned()
    }
}

fn strict(engine: &Engine, query: &str) -> String {
    let query = engine.prepare_query(query).unwrap();
    let solutions = query.solutions(&Request::new().strict_builtin_errors(true));
    match solutions {
        Ok(solutions) => solutions[0].values[0].rego_text().to_string(),
        Err(error) => error.entries()[0].message.clone(),
    }
}

#[test]
fn full_capabilities_reject_nothing() {
    let engine = engine(|_| {});
    engine
        .set_module(
            "t.rego",
            "package t\n\nimport future.keywords.not\n\nx := $\"{1 + 1}\"\n",
        )
        .unwrap();
    assert_eq!(strict(&engine, "data.t.x"), "\"2\"");
}

#[test]
fn functions_that_are_not_named_do_not_exist() {
    let engine = engine(|json| without(json, &["http.send", "plus"]));
    let end = |text: &str, wanted: &str| {
        let refused = rejection(&engine, text);
        assert!(refused.ends_with(wanted), "{refused}");
    };
    end(
        "package t\n\nx := http.send({})",
        "t.rego:3: rego_type_error: undefined function http.send",
    );
    end(
        "package t\n\nx := input.y + 1",
        "t.rego:3: rego_type_error: undefined function plus",
    );
    assert!(matches!(
        engine.prepare_query("1 + input.x").err(),
        Some(Error::Compile(_))
    ));
    assert_eq!(strict(&engine, "2 - 1"), "1");
}

#[test]
fn language_features_can_be_removed() {
    let features = |json: &mut Json, gone: &str| {
        let features = json["features"].as_array_mut().unwrap();
        features.retain(|feature| feature != gone);
    };
    for (gone, module, wanted) in [
        (
            "rego_v1",
            "package t",
            "rego_parse_error: illegal capabilities: rego_v1 feature required for parsing v1 Rego",
        ),
        (
            "template_strings",
            "package t\n\nx := $\"a{1}\"",
            "t.rego:3: rego_parse_error: template strings are not supported by current capabilities",
        ),
        (
            "keywords_in_refs",
            "package t\n\nx := data.if",
            "t.rego:3: rego_parse_error: unexpected if keyword: expected identifier",
        ),
    ] {
        let engine = engine(|json| features(json, gone));
        let refused = rejection(&engine, module);
        assert!(refused.ends_with(wanted), "{refused}");
    }
    let engine = engine(|json| json["future_keywords"] = json!([]));
    let error = engine.set_module("t.rego", "package t\n\nimport future.keywords.and\n");
    assert!(error.is_err());
}

#[test]
fn imports_of_newer_versions_need_their_features() {
    let import = |version: &str, features: &[&str]| {
        let mut json = current(Version::V0);
        json["features"] = json!(features);
        let capabilities = Capabilities::from_json(json.to_string().as_bytes()).unwrap();
        let engine = Engine::builder()
            .version(Version::V0)
            .capabilities(capabilities)
            .build();
        let module = format!("package t\nimport rego.{version}\np if true");
        engine.set_module("t.rego", &module).is_ok()
    };
    for (version, features, allowed) in [
        ("v1", &["rego_v2"][..], true),
        ("v1", &["rego_v1"], true),
        ("v1", &["rego_v1_import"], true),
        ("v1", &["rego_v2_import"], false),
        ("v1", &[], false),
        ("v2", &["rego_v2"], true),
        ("v2", &["rego_v2_import"], true),
        ("v2", &["rego_v1", "rego_v1_import"], false),
    ] {
        assert_eq!(import(version, features), allowed, "{version} {features:?}");
    }
    // the import alone does not select the syntax of v1
    let engine = engine(|json| json["features"] = json!(["rego_v1_import"]));
    assert!(rejection(&engine, "package t\np := 1").contains("rego_v1 feature required"));
}

#[test]
fn hosts_that_are_not_allowed_are_not_called() {
    let engine = engine(|json| json["allow_net"] = json!(["localhost"]));
    assert_eq!(
        strict(
            &engine,
            r#"http.send({"method": "get", "url": "http://127.0.0.1:1/"})"#
        ),
        "http.send: disallowed host: 127.0.0.1"
    );
    assert_eq!(
        strict(
            &engine,
            r#"http.send({"method": "get", "url": "http://localhost:1/"})"#
        ),
        "http.send: Get \"http://localhost:1/\": no response is recorded"
    );
    assert_eq!(
        strict(&engine, r#"net.lookup_ip_addr("elsewhere")"#),
        "net.lookup_ip_addr: disallowed host: elsewhere"
    );
    assert_eq!(
        strict(&engine, r#"net.lookup_ip_addr("localhost")"#),
        "{\"127.0.0.1\"}"
    );
}

#[test]
fn functions_of_other_engines_compile_and_fail() {
    let declared = json!({
        "name": "my.function",
        "decl": {"type": "function", "args": [{"type": "string"}], "result": {"type": "number"}},
    });
    let engine = engine(|json| {
        json["builtins"]
            .as_array_mut()
            .unwrap()
            .push(declared.clone());
    });
    engine
        .set_module("t.rego", "package t\n\nx := my.function(input.y)\n")
        .unwrap();
    assert_eq!(
        strict(&engine, r#"data.t.x with input.y as "z""#),
        "unsupported built-in: my.function"
    );
    let wrong = engine.prepare_query("my.function(1, 2, 3)");
    assert!(wrong.is_err());
    // a host with the capability is called
    let mut json = current(Version::V1);
    json["builtins"].as_array_mut().unwrap().push(declared);
    let capabilities = Capabilities::from_json(json.to_string().as_bytes()).unwrap();
    let engine = Engine::builder()
        .capabilities(capabilities)
        .function(
            HostFunction::new("my.function", "x: string => y: number", |_, _| {
                Ok(solon::ValueRef::from(7_i64))
            })
            .unwrap(),
        )
        .unwrap()
        .build();
    assert_eq!(strict(&engine, r#"my.function("z")"#), "7");
}

#[test]
fn malformed_files_are_rejected() {
    for (text, wanted) in [
        (
            "{",
            "invalid capabilities: EOF while parsing an object at line 1 column 1",
        ),
        (
            r#"{"builtins": [{"name": "f", "decl": {"type": "string"}}]}"#,
            "invalid capabilities: f: its declaration is not a function",
        ),
        (
            r#"{"builtins": [{"name": "f", "decl": {"type": "function", "args": [7]}}]}"#,
            "invalid capabilities: f: `7` is not a type",
        ),
    ] {
        let error = Capabilities::from_json(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), wanted);
    }
    assert!(Capabilities::from_json(b"{}").is_ok());
}
