//! Rules that depend on nothing that `with` replaces are evaluated once, in whatever scope they are needed first.
//!
//! `tick` counts its calls by argument. Equal calls are made once in each scope, so a second call shows that the calling
//! rule was evaluated again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use solon::{Engine, HostFunction, Request, value};

const LIBRARY: &str = r#"package t

constant := tick("constant")

reads_input := tick("input") if input

reads_a := tick("a") if not input.a == "no"

reads_document := tick("document") if data.base

reads_x := tick("x") if not data.base.x == "no"

dynamic := tick("dynamic") if data.base[input.key]

calls := tick("calls") if f(1)

builtin := tick("builtin") if upper("a")

above := [constant, calls]

member contains tick("member")

pairs[k] := tick("pair") if k := "k"

nested := v if v := constant with input.a as "nested"

slow(n) := count([m | some m in numbers.range(1, 100); tick("slow")]) + n

f(x) := x

g(x) := [x, constant, reads_a]

original(x) := [f(x), slow(1)]
"#;

type Calls = Arc<Mutex<BTreeMap<String, u32>>>;

fn engine(calls: &Calls, memoise: bool, module: &str) -> Engine {
    let calls = calls.clone();
    let tick = HostFunction::new(
        "tick",
        "name: string => name: string",
        move |_, operands| {
            let name = operands[0].as_str().unwrap().to_owned();
            *calls.lock().unwrap().entry(name).or_default() += 1;
            Ok(operands[0])
        },
    );
    let tick = tick.unwrap();
    let tick = if memoise { tick } else { tick.without_memo() };
    let engine = Engine::builder().function(tick).unwrap().build();
    engine.set_module("t.rego", module).unwrap();
    let base = value!({"x": 1, "y": 2, "key": "y"});
    engine.put("data.base", base).unwrap();
    engine
}

/// Evaluates `p` and returns its value and the number of calls of `tick` by argument.
fn evaluate(memoise: bool, rules: &str) -> (String, BTreeMap<String, u32>) {
    let calls = Calls::default();
    let engine = engine(&calls, memoise, &format!("{LIBRARY}\n{rules}\n"));
    let document = engine.prepare_document("data.t.p").unwrap();
    let input = br#"{"a": 1, "b": 2, "key": "y"}"#;
    let result = document
        .evaluate(&Request::new().input_json(input))
        .unwrap();
    let counts = calls.lock().unwrap().clone();
    (result.unwrap().to_string(), counts)
}

fn counts(rules: &str) -> Vec<(String, u32)> {
    evaluate(true, rules).1.into_iter().collect()
}

#[test]
fn only_what_may_differ_is_evaluated_again() {
    for (rules, expected) in [
        // the input
        (
            "p := [constant | constant with input as {}]",
            vec![("constant", 1)],
        ),
        (
            "p if { reads_input; reads_input with input as 1 }",
            vec![("input", 2)],
        ),
        (
            "p if { reads_input; reads_input with input.b as 1 }",
            vec![("input", 2)],
        ),
        (
            "p if { reads_a; reads_a with input.a as 2 }",
            vec![("a", 2)],
        ),
        (
            "p if { reads_a; reads_a with input.a.c as 2 }",
            vec![("a", 2)],
        ),
        (
            "p if { reads_a; reads_a with input.b as 2 }",
            vec![("a", 1)],
        ),
        ("p if { reads_a; reads_a with input as {} }", vec![("a", 2)]),
        // documents
        (
            "p if { reads_x; reads_x with data.base.x as 2 }",
            vec![("x", 2)],
        ),
        (
            "p if { reads_x; reads_x with data.base.y as 2 }",
            vec![("x", 1)],
        ),
        (
            "p if { reads_x; reads_x with data.base as {} }",
            vec![("x", 2)],
        ),
        (
            "p if { reads_x; reads_x with data.other as {} }",
            vec![("x", 1)],
        ),
        (
            "p if { reads_document; reads_document with data.base.y as 2 }",
            vec![("document", 2)],
        ),
        (
            "p if { dynamic; dynamic with data.base.y as 2 }",
            vec![("dynamic", 2)],
        ),
        (
            "p if { dynamic; dynamic with input.key as \"x\" }",
            vec![("dynamic", 2)],
        ),
        (
            "p if { dynamic; dynamic with input.a as \"x\" }",
            vec![("dynamic", 1)],
        ),
        (
            "p if { above; above with data.t.constant as 1 }",
            vec![("calls", 1), ("constant", 1)],
        ),
        // functions
        (
            "p if { above; above with f as 2 }",
            vec![("calls", 2), ("constant", 1)],
        ),
        ("p if { calls; calls with f as 2 }", vec![("calls", 2)]),
        ("p if { calls; calls with upper as 2 }", vec![("calls", 1)]),
        (
            "p if { builtin; builtin with upper as lower }",
            vec![("builtin", 2)],
        ),
        (
            "p if { constant; constant with upper as lower }",
            vec![("constant", 1)],
        ),
        // parts of documents
        (
            "p if { member[\"member\"]; count(member) == 1 with input as 1 }",
            vec![("member", 2)],
        ),
        (
            "p if { count(member) == 1; member[\"member\"] with input as 1 }",
            vec![("member", 1)],
        ),
        (
            "p if { pairs.k; pairs.k with input as 1 }",
            vec![("pair", 1)],
        ),
        // nested scopes
        (
            "p if { nested; nested with input.b as 3; constant }",
            vec![("constant", 1)],
        ),
        (
            "p if { q with input.b as 1; q with input.b as 2 }\nq if { reads_a with data.base.y as 1; reads_x with data.base.y as 2 }",
            vec![("a", 1), ("x", 1)],
        ),
        // replacements that are evaluated without replaced functions
        (
            "p := x if x := [v | some i in [1, 2, 3]; v := f(i)] with f as g",
            vec![("a", 1), ("constant", 1)],
        ),
        (
            "p := x if x := [v | some i in [1, 2, 3]; v := f(i)] with f as g with input.a as 5",
            vec![("a", 1), ("constant", 1)],
        ),
        (
            "p if { reads_a; q with f as g with input.a as 5; reads_a }\nq := [v | some i in [1, 2, 3]; v := f(i)]",
            vec![("a", 2), ("constant", 1)],
        ),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        assert_eq!(counts(rules), expected, "{rules}");
    }
}

#[test]
fn functions_are_memoised_across_scopes() {
    let rules = "p := [v, w, x] if { v := slow(1); w := slow(1) with input.a as 2; x := [f(1), f(2), f(3)] with f as original }";
    let (value, counts) = evaluate(true, rules);
    assert_eq!(value, "[101,101,[[1,101],[2,101],[3,101]]]");
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [("slow".to_owned(), 1)]
    );
}

#[test]
fn unrelated_rules_do_not_change_what_is_memoised() {
    let rules = "p := [v | some i in numbers.range(1, 5); v := slow(1) with input.a as i]";
    let alone = counts(rules);
    for added in [1, 31, 32, 63, 64, 255, 256] {
        let unrelated: String = (0..added)
            .map(|n| format!("\nunrelated{n}(x) := x + {n}\n"))
            .collect();
        assert_eq!(
            counts(&format!("{unrelated}{rules}")),
            alone,
            "{added} rules"
        );
    }
}

#[test]
fn calls_that_are_not_memoised_are_repeated_in_each_scope() {
    let rules =
        "p if { constant; constant with input.b as 1; constant with input.b as 2; constant }";
    let (_, counts) = evaluate(false, rules);
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [("constant".to_owned(), 3)]
    );
}

#[test]
fn prints_are_repeated_in_each_scope() {
    let engine = Engine::new();
    let module = "package t\nshown := 1 if print(\"shown\")\nabove := shown + 1\np if { above; above with input.a as 1; above with input.a as 2; shown }";
    engine.set_module("t.rego", module).unwrap();
    let document = engine.prepare_document("data.t.p").unwrap();
    let lines = std::cell::RefCell::new(Vec::new());
    let print = |line: &str| lines.borrow_mut().push(line.to_owned());
    let result = document.evaluate(&Request::new().print(&print)).unwrap();
    assert_eq!(result, Some(true.into()));
    assert_eq!(*lines.borrow(), ["shown"; 3]);
}
