//! Every built-in returns what OPA returns, as recorded in `tests/cases/builtins`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

#[path = "builtins/differential.rs"]
mod differential;
#[path = "builtins/graphql.rs"]
mod graphql;
#[path = "builtins/graphql_parser.rs"]
mod graphql_parser_agrees;
#[cfg(feature = "crypto")]
#[path = "builtins/page.rs"]
mod page;
#[path = "builtins/text.rs"]
mod text;
#[cfg(feature = "crypto")]
#[path = "builtins/tokens.rs"]
mod tokens;

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use solon::host::HostError;
use solon::internal::value::{Arena, ValueRef};
use solon::{Engine, Error, Request};

/// Hides a value's type from the type checker.
const HIDE: &str = "package k\n\nhide(x) := x\n";

/// Evaluates one call as a strict query.
fn outcome(engine: &Engine, call: &str) -> Result<String, String> {
    let query = format!("x := {}", call.replace("hide(", "data.k.hide("));
    let show_error = |error: Error| {
        let entry = error.entries().into_iter().next().unwrap();
        format!("{}: {}", entry.code, entry.message)
    };
    let query = engine.prepare_query(&query).map_err(show_error)?;
    let request = Request::new().strict_builtin_errors(true);
    let solutions = query.solutions(&request).map_err(show_error)?;
    match solutions.as_slice() {
        [] => Err("undefined".to_owned()),
        [one] => Ok(text::show(one.bindings[0].1.borrow())),
        _ => panic!("{call}: several solutions"),
    }
}

/// Returns the recorded outcome in the format of [`outcome`].
fn recorded(case: &Json) -> Result<String, String> {
    if let Some(result) = case["result"].as_str() {
        let arena = Arena::new();
        let value: ValueRef<'_> = text::Reader::new(result).literal(&arena);
        return Ok(text::show(value));
    }
    if case["undefined"] == true {
        return Err("undefined".to_owned());
    }
    let error = &case["error"];
    let text = |field: &str| {
        error[field]
            .as_str()
            .unwrap_or_else(|| panic!("{case}: no {field}"))
    };
    Err(format!("{}: {}", text("code"), text("message")))
}

#[test]
fn results_equal_those_of_opa() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/builtins");
    let only = std::env::var("FAMILY").ok();
    // tokens and certificates of the year 2000 have expired, and those up to 2040 have not
    let host = solon::FixedHost::at_time(1_700_000_000_000_000_000);
    let engine = Engine::builder().host(std::sync::Arc::new(host)).build();
    engine.set_module("k.rego", HIDE).unwrap();
    let (mut passed, mut failures) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let family = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "json")
            || only.as_ref().is_some_and(|only| *only != family)
        {
            continue;
        }
        let cases: Vec<Json> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for case in &cases {
            let call = case["call"].as_str().unwrap();
            let (found, wanted) = (outcome(&engine, call), recorded(case));
            if found == wanted {
                passed += 1;
            } else {
                failures.push(format!(
                    "{family}: {call}\n    found  {found:?}\n    wanted {wanted:?}"
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{passed} passed, {} failed\n  {}\n",
        failures.len(),
        failures.join("\n  ")
    );
    assert!(passed > 0, "no cases");
}

/// Returns the printed lines of a module, and the value of its `p` or an error.
fn run(module: &str) -> (String, Result<String, String>) {
    let engine = Engine::new();
    engine.set_module("t.rego", module).unwrap();
    let printed = std::cell::RefCell::new(String::new());
    let print = |line: &str| {
        printed.borrow_mut().push_str(line);
        printed.borrow_mut().push('\n');
    };
    let request = Request::new().print(&print).strict_builtin_errors(true);
    let document = engine.prepare_document("data.t.p").unwrap();
    let found = match document.evaluate(&request) {
        Ok(Some(value)) => Ok(text::show(value.borrow())),
        Ok(None) => Err("undefined".to_owned()),
        Err(error) => {
            let entry = error.entries().into_iter().next().unwrap();
            Err(format!("{}: {}", entry.code, entry.message))
        }
    };
    (printed.into_inner(), found)
}

#[test]
fn print_shows_every_combination() {
    for (body, printed) in [
        (
            r#"print({"a": "b"}, ["c", 1.0], {1, "z"}, null, set(), 1e3)"#,
            "{\"a\": \"b\"} [\"c\", 1.0] {1, \"z\"} null set() 1e3\n",
        ),
        (
            r#"print(input.x, "a", data.foo)"#,
            "<undefined> a <undefined>\n",
        ),
        ("print()", "\n"),
        (
            r#"internal.print([{1, 2}, {"a", "b"}, set()])"#,
            "1 a <undefined>\n1 b <undefined>\n2 a <undefined>\n2 b <undefined>\n",
        ),
        (r#"trace("x")"#, ""),
        ("internal.test_case([1])", ""),
    ] {
        let found = run(&format!("package t\n\np if {body}"));
        assert_eq!(found, (printed.to_owned(), Ok("true".to_owned())), "{body}");
    }
}

#[test]
fn templates_have_one_value() {
    for (value, expected) in [
        (
            r#"$"a {1} {input.x} {"s"} {[1,"a"]} {{1}} {{"k": null}} {1.50} {true}""#,
            Ok(r#"a 1 <undefined> s [1, "a"] {1} {"k": null} 1.50 true"#),
        ),
        (
            r#"internal.template_string(["a", {1}, {"x"}, set(), {[1]}])"#,
            Ok("a1x<undefined>[1]"),
        ),
        (
            r#"internal.template_string(["a", {1, 2}])"#,
            Err("eval_conflict_error: template-strings must not produce multiple outputs"),
        ),
        (
            r#"internal.template_string(["a", [1]])"#,
            Err("eval_internal_error: illegal argument type: array"),
        ),
    ] {
        let (_, found) = run(&format!("package t\n\np := {value}"));
        let expected = expected
            .map(|text| format!("\"{}\"", text.escape_default()))
            .map_err(str::to_owned);
        assert_eq!(found, expected, "{value}");
    }
}

/// A host with default methods only.
struct Bare;

impl solon::Host for Bare {
    fn now_ns(&self) -> i64 {
        5
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(7);
        Ok(())
    }
}

#[test]
fn surroundings_come_from_the_host() {
    let module = "package t\n\np := [time.now_ns(), opa.runtime(), rand.intn(\"a\", 10) == rand.intn(\"a\", -10)]";
    let asked = |host: std::sync::Arc<dyn solon::Host>| {
        let engine = Engine::builder().host(host).build();
        engine.set_module("t.rego", module).unwrap();
        let document = engine.prepare_document("data.t.p").unwrap();
        let found = document.evaluate(&Request::new());
        text::show(found.unwrap().unwrap().borrow())
    };
    let told = |env: &str| {
        let version = env!("CARGO_PKG_VERSION");
        let program = format!(
            r#""authorization_enabled": false, "commit": "", "env": {env}, "skip_known_schema_check": false, "version": "{version}""#
        );
        format!("[5, {{{program}}}, true]")
    };
    let mut fixed = solon::FixedHost::at_time(5);
    assert_eq!(asked(std::sync::Arc::new(fixed.clone())), "[5, {}, true]");
    fixed.variables.insert("MODE".into(), "test".into());
    assert_eq!(
        asked(std::sync::Arc::new(fixed)),
        told(r#"{"MODE": "test"}"#)
    );
    assert_eq!(asked(std::sync::Arc::new(Bare)), told("{}"));
}
