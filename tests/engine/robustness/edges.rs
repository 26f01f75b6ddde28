//! Bounds at their edges: the largest size that is allowed works, one more is refused with words that say why.

use std::fmt::Write;

use solon::limits::{
    ERRORS, GRAPHQL_NESTING, LARGE_OPERAND, LOOKUP_COMBINATIONS, NUMBER_BITS, TEMPLATE_DEPTH,
    TYPE_NESTING,
};
use solon::{Cancel, Engine, Error, Request, Value};

use crate::on_small_stack;

/// A bound of what a policy may do.
struct Edge {
    name: &'static str,
    largest: usize,
    /// A module whose `p` takes something of a size, and the input.
    policy: fn(usize) -> (String, Value),
    /// What `p` is at the largest size.
    answer: &'static str,
    /// What one more is told.
    refused: &'static str,
}

const EDGES: &[Edge] = &[
    Edge {
        name: "NUMBER_BITS",
        largest: NUMBER_BITS as usize,
        policy: |size| {
            let shift = (size - 1).to_string();
            let text = format!("p := bits.rsh(bits.lsh(input, {shift}), {shift})");
            (text, 1.into())
        },
        answer: "1",
        refused: "bits.lsh: number too big",
    },
    Edge {
        name: "NUMBER_EXPONENT",
        // 2^100000 lies between this power of ten and the next
        largest: 30_102,
        policy: |size| (format!("p := 1e{size} > input"), 1.into()),
        answer: "true",
        refused: "number too big",
    },
    Edge {
        name: "TEMPLATE_DEPTH",
        largest: TEMPLATE_DEPTH,
        policy: |size| {
            let template = "{{define \"t\"}}{{if .}}{{template \"t\" (slice . 1)}}{{end}}{{end}}{{template \"t\" .a}}";
            let text = format!("p := strings.render_template(`{template}`, {{\"a\": input}})");
            (text, Value::array(vec![1.into(); size - 1]))
        },
        answer: "\"\"",
        refused: "exceeded maximum template depth (10000)",
    },
    Edge {
        name: "LOOKUP_COMBINATIONS",
        largest: LOOKUP_COMBINATIONS,
        policy: |size| {
            let keys: Vec<String> = (0..size).map(|at| format!("\"k{at}\"")).collect();
            let keys = keys.join(", ");
            let text = format!(
                "r.z := 1 if {{ some k in [{keys}]; data.t.r[k] }}\np := count(data.t.r) + input"
            );
            (text, 1.into())
        },
        answer: "1",
        refused: "rule data.t.r.z may be recursive",
    },
];

fn ask(edge: &Edge, size: usize) -> Result<Option<Value>, Error> {
    let (policy, input) = (edge.policy)(size);
    on_small_stack(edge.name, || {
        let engine = Engine::new();
        engine.set_module("t.rego", &format!("package t\n{policy}\n"))?;
        let request = Request::new().input(&input).strict_builtin_errors(true);
        engine.prepare_document("t/p")?.evaluate(&request)
    })
}

#[test]
fn the_largest_works_and_one_more_is_refused() {
    for edge in EDGES {
        let largest = ask(edge, edge.largest);
        let largest = largest.map(|found| found.map(|found| found.to_string()));
        assert_eq!(
            largest.unwrap().as_deref(),
            Some(edge.answer),
            "{}",
            edge.name
        );
        let error = ask(edge, edge.largest + 1).unwrap_err();
        let message = error.entries().remove(0).message;
        assert!(
            message.contains(edge.refused),
            "{} is told: {message}",
            edge.name
        );
    }
}

#[test]
fn as_many_errors_as_allowed_are_told() {
    let told = |unsafe_rules: usize| {
        let rules = (0..unsafe_rules).map(|at| format!("p{at} := x{at}\n"));
        let module = format!("package t\n{}", rules.collect::<String>());
        let error = Engine::new().set_module("t.rego", &module).unwrap_err();
        let mut entries = error.entries();
        (entries.len(), entries.pop().unwrap().message)
    };
    let last = |at: usize| format!("var x{at} is unsafe");
    assert_eq!(told(ERRORS - 1), (ERRORS - 1, last(ERRORS - 2)));
    // reaching the limit is told too, as OPA tells it
    let reached = || (ERRORS + 1, "error limit reached".to_owned());
    assert_eq!(told(ERRORS), reached());
    assert_eq!(told(ERRORS + 1), reached());
}

#[test]
fn types_are_known_as_deep_as_allowed() {
    // the innermost element is one level more
    let mistaken = |levels: usize| {
        let module = format!(
            "package t\nx := {}input{}\np if x{} == [1]\n",
            "{\"a\": ".repeat(levels),
            "}".repeat(levels),
            ".a".repeat(levels - 1)
        );
        Engine::new().set_module("t.rego", &module).is_err()
    };
    assert!(mistaken(TYPE_NESTING - 1));
    assert!(!mistaken(TYPE_NESTING));
}

#[test]
fn graphql_nests_as_deep_as_allowed() {
    // a field and the fragment spread in it are two levels
    let is_valid = |levels: usize| {
        let mut text = "{ ...F0 } ".to_owned();
        for at in 0..levels {
            write!(
                text,
                "fragment F{at} on Query {{ a {{ ...F{} }} }} ",
                at + 1
            )
            .unwrap();
        }
        write!(text, "fragment F{levels} on Query {{ b }}").unwrap();
        on_small_stack("graphql", || {
            let query = "graphql.is_valid(input, \"type Query { a: Query b: Int }\")";
            let query = Engine::new().prepare_query(query).unwrap();
            let found = query.solutions(&Request::new().input(&Value::string(&text)));
            found.unwrap()[0].values[0].to_string()
        })
    };
    assert_eq!(is_valid(GRAPHQL_NESTING / 2 - 1), "true");
    assert_eq!(is_valid(GRAPHQL_NESTING / 2), "false");
}

/// A used handle ends an evaluation at its first look at it.
fn is_seen_cancelled(query: &str, input: &Value) -> bool {
    let query = Engine::new().prepare_query(query).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    match query.solutions(&Request::new().input(input).cancel(&cancel)) {
        Ok(_) => false,
        Err(error) => {
            let message = error.entries().remove(0).message;
            assert_eq!(message, "caller cancelled query execution");
            true
        }
    }
}

fn numbers(len: usize) -> Value {
    Value::array((0..).take(len).map(Value::Int).collect())
}

#[test]
fn large_operands_are_looked_at() {
    let query = "count(input) > 0";
    assert!(!is_seen_cancelled(query, &numbers(LARGE_OPERAND)));
    assert!(is_seen_cancelled(query, &numbers(LARGE_OPERAND + 1)));
}
