//! Built-ins that go down values as deep as an evaluation may hold.

use solon::{Engine, Limits, Request, Value};

use crate::{nested_value, on_small_stack};

/// Levels of the values; calls add some.
const LEVELS: usize = 9_900;

/// Nested objects and arrays, the paths to what is innermost, and the same again.
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
