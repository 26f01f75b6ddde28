//! Built-ins on values of the maximum depth, and the longest chains of `and` and `or`.

use solon::{Engine, Limits, PartialOptions, Request, SearchOptions, Value};

use crate::{SOON, nested_value, on_small_stack, on_small_stack_within};

/// Depth of the values; calls add a few levels.
const LEVELS: usize = 9_900;

/// Returns nested objects and arrays, and the paths to their innermost values.
fn input() -> Value {
    let nested = |open: &str, close: &str| nested_value(open, close, LEVELS);
    let keys = |key: Value| Value::array(vec![key; LEVELS]);
    Value::object(vec![
        ("objects".into(), nested(r#"{"a":"#, "}")),
        ("other".into(), nested(r#"{"a":"#, "}")),
        ("arrays".into(), nested("[", "]")),
        ("path".into(), Value::string(&vec!["a"; LEVELS].join("/"))),
        ("keys".into(), keys("a".into())),
        ("indices".into(), keys(0.into())),
    ])
}

#[test]
fn calls_on_the_deepest_values() {
    let input = on_small_stack("the input", input);
    for query in [
        r#"json.patch(input.objects, [{"op": "replace", "path": input.path, "value": 2}]) != input.other"#,
        r#"json.patch(input.objects, [{"op": "replace", "path": input.keys, "value": 1}]) == input.other"#,
        r#"json.patch(input.arrays, [{"op": "replace", "path": input.indices, "value": 1}]) == input.arrays"#,
        r#"json.patch(input.arrays, [{"op": "add", "path": input.indices, "value": 1}]) != input.arrays"#,
        r#"json.patch(input.objects, [{"op": "remove", "path": input.path}, {"op": "add", "path": input.path, "value": 1}]) == input.other"#,
        r#"json.patch(input.objects, [{"op": "copy", "from": input.path, "path": "b"}, {"op": "test", "path": "b", "value": 1}]).b == 1"#,
        r#"json.patch(input.objects, [{"op": "move", "from": input.path, "path": "b"}]).b == 1"#,
        r#"json.patch(input.objects, [{"op": "test", "path": "", "value": input.other}]) == input.other"#,
        "json.filter(input.objects, [input.path]) == input.other",
        "json.remove(input.objects, [input.path]) != input.other",
        "object.union(input.objects, input.other) == input.other",
        "object.union_n([input.objects, input.other, input.objects]) == input.other",
        "object.subset(input.objects, input.other)",
        "object.get(input.objects, input.keys, 0) == 1",
        "count({input.objects, input.other}) == 1",
        "count({input.arrays: 1}) == 1",
        "sort([input.objects, input.other])[0] == input.other",
        "json.unmarshal(json.marshal(input.objects)) == input.other",
        "count(json.marshal_with_options(input.arrays, {\"pretty\": false})) > 1",
        "count(sprintf(\"%v\", [input.objects])) > 1",
        "count(urlquery.encode_object({\"a\": [\"b\"]})) > 1",
        "array.flatten([input.arrays]) != []",
        "json.match_schema(input.objects, {\"type\": \"object\"})[0]",
        "graph.reachable({\"a\": [input.arrays]}, {\"a\"}) == {\"a\"}",
        "input.objects in [input.other]",
        "count(yaml.marshal(input.arrays)) > 1",
    ] {
        let limits = Limits::default().memory(Some(1 << 30));
        let found = on_small_stack(query, || {
            let query = Engine::new().prepare_query(query).unwrap();
            let request = Request::new().input(&input).limits(&limits);
            query.solutions(&request).map(|solutions| solutions.len())
        });
        assert!(matches!(found, Ok(1)), "{query}: {found:?}");
    }
    on_small_stack("dropping", move || drop(input));
}

/// Returns chains of `and` and `or` with so many operands, each with an input and whether it is true for that.
fn chains(length: usize) -> Vec<(&'static str, String, Value, bool)> {
    let joined = |connective: &str, operand: &dyn Fn(usize) -> String| {
        let operands: Vec<String> = (0..length).map(operand).collect();
        operands.join(connective)
    };
    let is = |at: usize| format!("input == {at}");
    let last = Value::from(i64::try_from(length - 1).unwrap());
    vec![
        ("or, the last", joined(" or ", &is), last.clone(), true),
        ("or, none", joined(" or ", &is), (-1).into(), false),
        (
            "and, all",
            joined(" and ", &|at| format!("input != {at}")),
            (-1).into(),
            true,
        ),
        (
            "and, not the last",
            joined(" and ", &|at| format!("input != {at}")),
            last.clone(),
            false,
        ),
        (
            "both",
            joined(" or ", &|at| format!("input == {at} and input > 1")),
            last.clone(),
            true,
        ),
        (
            "alternating",
            joined(" and true or ", &is),
            last.clone(),
            true,
        ),
        (
            "braces",
            joined(" or ", &|at| format!("{{ x := input; x == {at} }}")),
            last.clone(),
            true,
        ),
        (
            "negated",
            joined(" and ", &|at| format!("not input == {at}")),
            (-1).into(),
            true,
        ),
        (
            "groups",
            joined(" and ", &|at| format!("(input == {at} or input > -2)")),
            (-1).into(),
            true,
        ),
        (
            "calls",
            joined(" or ", &|at| format!("startswith(input, \"{at}.\")")),
            "7.".into(),
            true,
        ),
        (
            "sums",
            joined(" or ", &|at| format!("input + 1 == {at} + 1")),
            last,
            true,
        ),
        (
            "comprehensions",
            joined(" or ", &|at| {
                format!("count([x | x := input; x < {at}]) > 0")
            }),
            7.into(),
            true,
        ),
    ]
}

/// Compiles a chain, and runs it through both evaluators and partial evaluation.
fn run_chain((name, chain, input, holds): &(&'static str, String, Value, bool)) {
    let module = format!("package t\nimport rego.v2\np if {{ {chain} }}\n");
    let engine = Engine::new();
    engine.set_module("t.rego", &module).unwrap();
    let request = Request::new().input(input);
    let found = engine
        .prepare_document("data.t.p")
        .unwrap()
        .evaluate(&request);
    assert_eq!(found.unwrap(), holds.then_some(true.into()), "{name}");
    let query = engine.prepare_query("data.t.p").unwrap();
    let searched = query.search(&request, SearchOptions::default()).unwrap();
    assert_eq!(searched.len(), usize::from(*holds), "{name}");
    let options = PartialOptions::default();
    let partial = engine.partial("data.t.p", &options, &Request::new());
    assert!(!partial.unwrap().queries.is_empty(), "{name}");
}

#[test]
fn long_chains_of_and_and_or() {
    for chain in chains(1_000) {
        on_small_stack(chain.0, || run_chain(&chain));
    }
}

#[test]
fn the_longest_chain_of_or() {
    // each evaluator visits all operands, which takes long in debug builds
    let most = 4 * SOON;
    let longest = chains(10_000).swap_remove(0);
    on_small_stack_within(most, longest.0, || run_chain(&longest));
}
