//! Values that take few steps to build and more memory than there is to write: with shared nodes their text, order and
//! hash have the full size.

use std::fmt::Write;

use solon::{Engine, Limits, Path, Request, Value};

use crate::{message, on_small_stack};

const MEMORY: &str = "evaluation exceeds its memory limit";

/// Returns nested rules: `form` with the rule below it in place of `P`.
fn tower(levels: usize, form: &str) -> Engine {
    let mut module = "package t\np0 := input.x\n".to_owned();
    for level in 1..=levels {
        let below = format!("p{}", level - 1);
        writeln!(module, "p{level} := {}", form.replace('P', &below)).unwrap();
    }
    writeln!(
        module,
        "top := p{levels}\nother := {}",
        form.replace('P', &format!("p{}", levels - 1))
    )
    .unwrap();
    for (name, term) in [
        ("as_equal", "top == other"),
        ("as_ordered", "sort([top, other])"),
        ("as_member", "count({top, other})"),
        ("as_key", "object.get({top: 1}, other, 2)"),
        ("as_json", "count(json.marshal(top))"),
        (
            "as_pretty",
            "count(json.marshal_with_options(top, {\"pretty\": true}))",
        ),
        ("as_yaml", "count(yaml.marshal(top))"),
        ("as_shown", "count(sprintf(\"%v\", [top]))"),
        ("as_extra", "count(sprintf(\"\", [top]))"),
        ("as_walked", "count([1 | walk(top, [_, 1])])"),
        ("as_patched", "json.patch(top, [])"),
    ] {
        writeln!(module, "{name} := {term}").unwrap();
    }
    module.push_str("as_printed if print(top)\n");
    let engine = Engine::new();
    engine.set_module("t.rego", &module).unwrap();
    engine
}

const ASKED: [&str; 13] = [
    "top",
    "as_equal",
    "as_ordered",
    "as_member",
    "as_key",
    "as_json",
    "as_pretty",
    "as_yaml",
    "as_shown",
    "as_extra",
    "as_walked",
    "as_patched",
    "as_printed",
];

fn evaluate(engine: &Engine, name: &str) -> [Result<(), String>; 2] {
    let limits = Limits::default().memory(Some(16 << 20));
    let input = Value::object(vec![("x".into(), 1.into())]);
    let print = |line: &str| assert!(line.len() <= 16 << 20);
    on_small_stack(name, || {
        let document = engine.prepare_document(&format!("data.t.{name}")).unwrap();
        let asked = Request::new().input(&input).limits(&limits).print(&print);
        let brief = |message: Result<_, _>| {
            message
                .map(drop)
                .map_err(|error| crate::message(Err::<(), _>(error)))
        };
        [
            brief(document.evaluate(&asked).map(|_| ())),
            brief(document.evaluate_json(&asked).map(|_| ())),
        ]
    })
}

#[test]
fn values_that_double() {
    for form in [
        "[P, P]",
        "{\"a\": P, \"b\": [P]}",
        "{[P, 1], [P, 2]}",
        "{[1, P]: P}",
    ] {
        let engine = tower(100, form);
        for name in ASKED {
            for answer in evaluate(&engine, name) {
                assert_eq!(answer, Err(MEMORY.to_owned()), "{name} of {form}");
            }
        }
    }
}

/// The largest value that may be traversed, and the smallest one that may only be held.
#[test]
fn as_many_nodes_as_allowed() {
    let engine = Engine::new();
    // 2^12 times an array of 2^13 - 1 numbers has 2^25 nodes, and the array around them one more
    let module = r#"package t
part := numbers.range(2, input.n)
many := [part | some _ in numbers.range(1, 4096)]
within := [count(many), many == [part | some _ in numbers.range(1, 4096)]]
more := [[part | some _ in numbers.range(1, 4096)] | some _ in [1, 2]]
other := [[part | some _ in numbers.range(1, 4096)] | some _ in [1, 2]]
f(x) := count(x[0])
g(x, _) := x
named := {name: more | some name in ["a", "b"]}
held := [count(more), count(more[1]), f(more), count(g(more, more)), more == more, more != [], is_array(more),
	count(array.concat(more, more)), count(named), count(named.b), object.get(named, "c", 1), sum([count(x) | some x in more])]
compared := more == other
hashed := count({more, other})
keyed := {more: 1}
found := more in {other}
member if other in [more]
written := json.marshal(more)
text := sprintf("%v", [more])
told := count(object.union(named, {"a": 1}))
walked := count([1 | walk(more, [[_, _, 3], _])])
"#;
    engine.set_module("t.rego", module).unwrap();
    let input = Value::object(vec![("n".into(), (1 << 13).into())]);
    let asked = |name: &str| {
        let document = engine.document(&Path::from_slashes(name));
        document.evaluate(&Request::new().input(&input))
    };
    assert_eq!(
        asked("t/within").unwrap().unwrap().rego_text().to_string(),
        "[4096, true]"
    );
    assert_eq!(
        asked("t/held").unwrap().unwrap().rego_text().to_string(),
        "[2, 4096, 4096, 2, true, true, true, 4, 2, 2, 1, 8192]"
    );
    for name in [
        "more", "compared", "hashed", "keyed", "found", "member", "written", "text", "told",
        "walked",
    ] {
        let answer = asked(&format!("t/{name}")).map(|_| name);
        assert_eq!(
            answer.map_err(|error| message(Err::<(), _>(error))),
            Err(MEMORY.to_owned())
        );
    }
}

/// A part of the data that many elements share.
#[test]
fn oversized_values_that_are_not_traversed() {
    let engine = Engine::new();
    let module = "package t
y := [z | some z in data.u]
xs := {i: y | some i in numbers.range(1, 3000)}
p := [count(xs), xs[7][29999].id, count([1 | some x in xs; x[0].id == 0])]
";
    engine.set_module("t.rego", module).unwrap();
    let rows = (0..30_000).map(|at| Value::object(vec![("id".into(), at.into())]));
    let rows: Vec<Value> = rows.collect();
    engine.put("data.u", rows.into()).unwrap();
    let document = engine.prepare_document("data.t.p").unwrap();
    let found = document.evaluate(&Request::new()).unwrap().unwrap();
    assert_eq!(found.rego_text().to_string(), "[3000, 29999, 3000]");
    let whole = engine.prepare_document("data.t.xs").unwrap();
    assert_eq!(message(whole.evaluate(&Request::new())), MEMORY);
}

/// Keys are written as text within text, whose quotes are escaped again on each level.
#[test]
fn keys_within_keys() {
    let engine = tower(100, "{P: 1}");
    for name in ["as_json", "as_pretty", "as_yaml"] {
        let [answer, _] = evaluate(&engine, name);
        assert_eq!(answer, Err(MEMORY.to_owned()), "{name}");
    }
    let [value, text] = evaluate(&engine, "top");
    assert_eq!((value, text), (Ok(()), Err(MEMORY.to_owned())));
}

/// A key that is not a string is last in sort order. It does not cause other keys to be written twice.
#[test]
fn late_keys_that_are_not_strings() {
    let engine = tower(300, "{\"a\": P, [1]: 0}");
    for name in ASKED {
        for answer in evaluate(&engine, name) {
            assert_eq!(answer, Ok(()), "{name}");
        }
    }
}

/// Long strings that many elements share.
#[test]
fn texts_of_shared_strings() {
    let engine = Engine::new();
    let module = "package t\nlist := [input | some _ in numbers.range(1, 10000)]\nwritten := json.marshal(list)\nshown := sprintf(\"%v\", [list])\n";
    engine.set_module("t.rego", module).unwrap();
    let input = Value::string(&"a".repeat(1 << 20));
    let limits = Limits::default().memory(Some(64 << 20));
    let asked = Request::new().input(&input).limits(&limits);
    for name in ["t/written", "t/shown"] {
        let document = engine.document(&Path::from_slashes(name));
        assert_eq!(message(document.evaluate(&asked)), MEMORY, "{name}");
    }
    let list = engine.prepare_document("data.t.list").unwrap();
    assert!(list.evaluate(&asked).unwrap().is_some());
    assert_eq!(message(list.evaluate_json(&asked)), MEMORY);
}
