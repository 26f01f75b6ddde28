//! A module made from bytes, which mostly compiles: a result or an error within the limits, the same in both
//! evaluators.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon::Request;
use solon::internal::value::json;
use solon_fuzz::{Choices, INPUT, module, with_base};

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let text = module(&mut choices);
    if std::env::var_os("SOLON_SHOW").is_some() {
        eprintln!("{text}");
    }
    let engine = with_base();
    if engine.set_module("fuzz.rego", &text).is_err() {
        return;
    }
    let document = engine.prepare_document("data.t").unwrap();
    let asked = Request::new().input_json(INPUT);
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
