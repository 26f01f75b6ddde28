//! Nested loops that are equality joins take as many iterations as there are elements and solutions.

use solon::{Engine, Limits, Request, Value};

use crate::{message, on_small_stack};

const MODULE: &str = "package t

asked := numbers.range(1, 2000)
ids := [sprintf(\"%d\", [x]) | some x in asked]
list := [{\"at\": {\"id\": id}, \"n\": id} | some id in ids]
object := {id: {\"at\": {\"id\": id}} | some id in ids}

lists := count([b | some a in list; some b in list; a.at.id == b.at.id])
behind := count([b | some a in list; some b in list; b.n > \"\"; b.at.id == a.at.id])
objects := count([b | some a in list; some b in object; b.at.id == a.at.id])
keys := count([k | some a in list; some k, _ in object; k == a.n])
sets := count([b | some a in list; some b in members; b.at.id == a.n])
members contains x if some x in list
others := [sprintf(\"-%d\", [x]) | some x in asked]
called := count([b | some a in list; some b in list; b.n == lower(a.n)])
next := count([i | some i; ids[i] != ids[i + 1]])
inputs := count([x | some a in ids; input.list[_] == a; x := a])

found(id) := x if { some x in list; x.n == id }
functions := count([x | some id in ids; x := found(id).n])

negated := count([a | some a in list; not has(a.n)])
has(id) if { some x in list; x.n == id }

all if every id in ids { some x in list; x.n == id }
among := count([a | some a in ids; a in ids; not a in others])
";

const ASKED: [&str; 12] = [
    "lists",
    "behind",
    "objects",
    "keys",
    "sets",
    "functions",
    "negated",
    "all",
    "among",
    "called",
    "next",
    "inputs",
];

fn engine() -> Engine {
    let engine = Engine::new();
    engine.set_module("t.rego", MODULE).unwrap();
    engine
}

fn input() -> Value {
    let ids = (1..=2000).map(|id: usize| Value::string(&id.to_string()));
    Value::object(vec![("list".into(), Value::array(ids.collect()))])
}

fn evaluate(engine: &Engine, name: &str, limits: &Limits) -> Result<Value, String> {
    let document = engine.prepare_document(&format!("data.t.{name}")).unwrap();
    let input = input();
    match document.evaluate(&Request::new().input(&input).limits(limits)) {
        Ok(value) => Ok(value.unwrap()),
        Err(error) => Err(message(Err::<(), _>(error))),
    }
}

#[test]
fn joins_take_few_iterations() {
    let engine = engine();
    // half a million would be too few for a nested loop
    let limits = Limits::default().steps(Some(80_000));
    for name in ASKED {
        let found = on_small_stack(name, || evaluate(&engine, name, &limits));
        let expected = match name {
            "all" => Value::from(true),
            "negated" => 0.into(),
            "next" => 1999.into(),
            _ => 2000.into(),
        };
        assert!(found == Ok(expected), "{name}: {}", found.is_ok());
    }
}

/// Join tables are built only within the memory limit: they do not fail evaluations that succeed without them.
#[test]
fn joins_stay_within_the_memory_limit() {
    let engine = engine();
    let mut refused = 0;
    for memory in (0..64).map(|part| part << 15) {
        let limits = Limits::default().memory(Some(memory));
        match on_small_stack("lists", || evaluate(&engine, "lists", &limits)) {
            Ok(found) => assert!(found == 2000),
            Err(message) => {
                assert_eq!(message, "evaluation exceeds its memory limit");
                refused += 1;
            }
        }
    }
    assert!(refused < 64);
}
