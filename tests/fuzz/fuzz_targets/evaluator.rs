//! Any module and input (after the first zero byte): a result or an error within the limits.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use solon::Request;
use solon_fuzz::bounded;

fuzz_target!(|text: &str| {
    let (module, input) = text.split_once('\0').unwrap_or((text, "{}"));
    let engine = bounded(Duration::from_secs(2));
    if engine.set_module("fuzz.rego", module).is_err() {
        drop(engine.prepare_query(module));
        return;
    }
    let request = Request::new().input_json(input.as_bytes());
    if let Ok(document) = engine.prepare_document("data") {
        let value = document.evaluate(&request);
        let text = document.evaluate_json(&request);
        if let (Ok(Some(value)), Ok(Some(text))) = (value, text) {
            assert!(solon::internal::value::json::read(&text).is_ok(), "{value}");
        }
    }
});
