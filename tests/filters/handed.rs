//! Data of a filter for the decision log: unknowns, mask rule, and snapshot.

use std::sync::Arc;

use solon::host::HttpResponse;
use solon::{Engine, FilterOptions, FilterTarget, FixedHost, Request, json};

const POLICY: &str = "\
# METADATA
# scope: package
# compile:
#   unknowns: [input.fruits, data.stock]
#   mask_rule: masks
package filters

masks.fruits.owner.replace.value := \"***\"

include if input.fruits.owner == input.user
";

#[test]
fn filters_return_their_preparation_options() {
    let engine = Engine::new();
    engine.set_module("filters.rego", POLICY).unwrap();
    let options = FilterOptions::new([FilterTarget::Postgresql]);
    let prepared = engine
        .prepare_filters("data.filters.include", &options)
        .unwrap();
    assert_eq!(prepared.unknowns().unwrap(), ["input.fruits", "data.stock"]);
    let rule = prepared.mask_rule().unwrap();
    assert_eq!(rule.as_deref(), Some("data.filters.masks"));
    let generation = prepared.snapshot().unwrap().generation();
    assert_eq!(generation, engine.generation());

    // options have precedence over METADATA
    let options = options.unknowns(["input.baskets"]).mask_rule("data.other");
    let options = options.allow_undefined(true);
    let asked = engine
        .prepare_filters("data.filters.include", &options)
        .unwrap();
    assert_eq!(asked.unknowns().unwrap(), ["input.baskets"]);
    assert_eq!(asked.mask_rule().unwrap().as_deref(), Some("data.other"));

    // a prepared filter follows the policy
    let changed = POLICY
        .replace("data.stock]", "input.stock]")
        .replace("#   mask_rule: masks\n", "");
    engine.set_module("filters.rego", &changed).unwrap();
    let unknowns = prepared.unknowns().unwrap();
    assert_eq!(unknowns, ["input.fruits", "input.stock"]);
    assert_eq!(prepared.mask_rule().unwrap(), None);
    assert_ne!(prepared.snapshot().unwrap().generation(), generation);
}

/// Fetched values are known, and become constants of the condition.
#[test]
fn what_is_fetched_is_a_constant() {
    let headers = vec![("Content-Type".into(), "application/json".into())];
    let answer = HttpResponse::new(200)
        .headers(headers)
        .body(r#"{"p": true}"#);
    let host = FixedHost::default().with_response("GET", "http://a/x", Ok(answer));
    let engine = Engine::builder().host(Arc::new(host)).build();
    let policy = "package filters\n\ninclude if input.foo.col == http.send(input.req).body.p\n";
    engine.set_module("filters.rego", policy).unwrap();
    let targets = [FilterTarget::Postgresql, FilterTarget::Sqlite];
    let options = FilterOptions::new(targets).unknowns(["input.foo"]);
    let input = json::read(br#"{"req": {"url": "http://a/x", "method": "get"}}"#).unwrap();
    let made = engine.filters(
        "data.filters.include",
        &options,
        &Request::new().input(&input),
    );
    let answer = made.unwrap().to_response(true).rego_text().to_string();
    for wanted in ["WHERE foo.col = TRUE", "WHERE foo.col = 1"] {
        assert!(answer.contains(wanted), "{answer}");
    }
}
