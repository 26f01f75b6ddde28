//! A module made from bytes, which mostly compiles: an answer or an error within the limits, both ways the same.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use solon::value::json;
use solon::{Engine, Limits, Request};
use solon_fuzz::{Choices, module};

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let text = module(&mut choices);
    if std::env::var_os("SOLON_SHOW").is_some() {
        eprintln!("{text}");
    }
    let limits = Limits {
        steps: Some(20_000),
        time: Some(Duration::from_secs(1)),
        memory: Some(64 << 20),
        explanation: None,
    };
    let engine = Engine::builder().limits(limits).build();
    let base = json::read(br#"{"list": [1, "a", null, {"b": [2]}], "c": {"d": 1.5}}"#).unwrap();
    engine.put("/base", base).unwrap();
    if engine.set_module("fuzz.rego", &text).is_err() {
        return;
    }
    let input = br#"{"a": {"c": [3, 1, 2], "x": "text"}, "b": [[1], {"d": 0.1}], "n": 12}"#;
    let document = engine.prepare_document("/t").unwrap();
    let asked = Request::new().input_json(input);
    if let Ok(Some(written)) = document.evaluate_json(&asked) {
        assert!(
            json::read(&written).is_ok(),
            "{}",
            String::from_utf8_lossy(&written)
        );
    }
    let strict = document.evaluate(&asked.strict_builtin_errors(true));
    drop(strict);
});
