//! Limits of the type checker at their edges: larger types are valid, but less precise.

use std::fmt::Write;

use solon::Engine;
use solon::internal::limits::{TYPE_COMPARISONS, TYPE_DEPENDENTS, TYPE_NESTING, TYPE_NODES};

use crate::on_small_stack;

/// Returns `true` if a module has a type error.
fn is_mistaken(module: &str) -> bool {
    on_small_stack("types", || {
        match Engine::new().set_module("t.rego", module) {
            Ok(()) => false,
            Err(error) => {
                assert_eq!(error.entries()[0].code, "rego_type_error", "{error}");
                true
            }
        }
    })
}

/// Returns rules `x1`, `x2`, …: pairs of pairs of `x0`.
fn pairs(name: &str, first: &str, levels: usize) -> String {
    let mut module = first.to_owned();
    for level in 0..levels {
        writeln!(
            module,
            "\n{name}{} := [{name}{level}, {name}{level}]",
            level + 1
        )
        .unwrap();
    }
    module
}

#[test]
fn types_are_precise_up_to_a_depth() {
    // the innermost element is one level more
    let mistaken = |levels: usize| {
        is_mistaken(&format!(
            "package t\nx := {}input{}\np if x{} == [1]\n",
            "{\"a\": ".repeat(levels),
            "}".repeat(levels),
            ".a".repeat(levels - 1)
        ))
    };
    assert!(mistaken(TYPE_NESTING - 1));
    assert!(!mistaken(TYPE_NESTING));
}

#[test]
fn types_are_precise_up_to_a_size() {
    // an array has one node more than elements
    let mistaken = |nodes: usize| {
        let pair = TYPE_NODES / 2 - 1;
        let numbers = ", 1".repeat(nodes - 2 * pair - 1);
        let levels = (pair + 1).ilog2() as usize - 1;
        let module = pairs("x", "package t\nx0 := 1", levels);
        is_mistaken(&format!(
            "{module}\nx := [x{levels}, x{levels}{numbers}]\np if x == \"a\"\n"
        ))
    };
    assert!(mistaken(TYPE_NODES));
    assert!(!mistaken(TYPE_NODES + 1));
}

#[test]
fn types_are_compared_up_to_a_limit() {
    // leaves share only the last type of the left one, which takes nine comparisons; the last element is an error
    let mistaken = |comparisons: usize| {
        let leaf = |name: &str, values: &[&str]| {
            let rule = |value: &&str| format!("{name} := {value} if input.a == {value}\n");
            values.iter().map(rule).collect::<String>()
        };
        let levels = 12;
        let left = leaf("x0", &["null", "true", "1"]);
        let right = leaf("y0", &["1", "\"a\""]);
        let pair = 10 * (1 << levels) - 1;
        let numbers = ", 1".repeat(comparisons - pair - 2);
        is_mistaken(&format!(
            "package t\n{}{}\nx := [x{levels}{numbers}, 1]\ny := [y{levels}{numbers}, \"a\"]\np if x == y\n",
            pairs("x", &left, levels),
            pairs("y", &right, levels),
        ))
    };
    assert!(mistaken(TYPE_COMPARISONS));
    assert!(!mistaken(TYPE_COMPARISONS + 1));
}

#[test]
fn dependent_documents_are_listed_up_to_a_limit() {
    // `p` is one of them
    let mistaken = |documents: usize, other: &str| {
        let mut module = "package t\nbase := 1\nother := 1\n".to_owned();
        for at in 1..documents {
            writeln!(module, "d{at} := base").unwrap();
        }
        writeln!(
            module,
            "p if data.t.{other} == \"a\" with data.t.base as \"a\""
        )
        .unwrap();
        is_mistaken(&module)
    };
    assert!(mistaken(TYPE_DEPENDENTS, "other"));
    assert!(!mistaken(TYPE_DEPENDENTS + 1, "other"));
    // documents that depend on it can have any type, in any number
    for documents in [TYPE_DEPENDENTS, TYPE_DEPENDENTS + 1, 10 * TYPE_DEPENDENTS] {
        assert!(!mistaken(documents, "d1"));
    }
}
