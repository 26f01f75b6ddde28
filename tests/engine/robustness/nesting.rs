//! Deep nesting, long chains and deep calls.

use std::fmt::Write;

use solon::internal::value::{Arena, Value, json, yaml};
use solon::{Change, Engine, PartialOptions, Path, Request};

use crate::{answer, evaluate, message, on_small_stack};

const LEVELS: usize = 100_000;

const TOO_DEEP: &str = "max parsing recursion depth exceeded";

/// Brackets that are closed, and brackets that are not closed.
fn nested(open: &str, close: &str) -> [String; 2] {
    [
        format!("{}1{}", open.repeat(LEVELS), close.repeat(LEVELS)),
        open.repeat(LEVELS),
    ]
}

#[test]
fn brackets_in_modules_and_queries() {
    for (open, close) in [
        ("[", "]"),
        ("{", "}"),
        ("(", ")"),
        ("{\"a\":", "}"),
        ("f(", ")"),
    ] {
        for text in nested(open, close) {
            let what = format!("{LEVELS} times {open}");
            assert_eq!(
                message(answer(&what, &format!("package t\np := {text}"))),
                TOO_DEEP
            );
            assert_eq!(message(evaluate(&what, &text)), TOO_DEEP);
        }
    }
}

#[test]
fn brackets_in_json_and_yaml() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for text in nested(open, close) {
            on_small_stack("data", || {
                json::read(text.as_bytes()).unwrap_err();
                json::read_into(&Arena::new(), text.as_bytes())
                    .map(|_| ())
                    .unwrap_err();
                assert!(!json::is_valid(text.as_bytes()));
                yaml::read(text.as_bytes()).unwrap_err();
            });
            let asked = on_small_stack("input", || {
                let engine = Engine::new();
                let query = engine.prepare_query("input").unwrap();
                query.solutions(&Request::new().input_json(text.as_bytes()))
            });
            asked.unwrap_err();
            let call = on_small_stack("unmarshal", || {
                let engine = Engine::new();
                let query = "[json.is_valid(input), yaml.is_valid(input)]; not json.unmarshal(input); not yaml.unmarshal(input)";
                let input = Value::string(&text);
                let asked = engine.prepare_query(query).unwrap();
                asked.solutions(&Request::new().input(&input))
            });
            assert_eq!(
                call.unwrap()[0].values[0].rego_text().to_string(),
                "[false, false]"
            );
        }
    }
    // Block style nests by indentation.
    let mut text = String::new();
    for level in 0..3_000 {
        writeln!(text, "{}a:", " ".repeat(level)).unwrap();
    }
    let indented = on_small_stack("indented", || yaml::read(text.as_bytes()).unwrap());
    on_small_stack("drop", move || drop(indented));
    let dashes = "- ".repeat(LEVELS);
    on_small_stack("dashes", || yaml::read(dashes.as_bytes()).unwrap_err());
}

#[test]
fn the_deepest_values_are_accepted() {
    let levels = solon::internal::limits::VALUE_NESTING - 1;
    let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    on_small_stack("deepest", || {
        let value = json::read(text.as_bytes()).unwrap();
        // Indented texts of this depth take some gigabytes.
        let limits = solon::Limits::default().memory(None);
        let engine = Engine::builder().limits(limits).build();
        engine.put("data.deep", value.clone()).unwrap();
        engine
            .set_module("t.rego", "package t\np := [input == data.deep, count([1 | walk(input, _)]), json.unmarshal(json.marshal(input)) == input, {input}, sprintf(\"%v\", [input]), yaml.unmarshal(yaml.marshal(input)) == input]")
            .unwrap();
        let document = engine.prepare_document("data.t.p").unwrap();
        let found = document.evaluate(&Request::new().input(&value)).unwrap();
        assert!(found.is_some());
        let written = document.evaluate_json(&Request::new().input_json(text.as_bytes()));
        assert!(written.unwrap().is_some());
    });
}

/// Values may be deeper than any parsed text, and traversals must support them.
#[test]
fn values_nested_by_evaluation() {
    let mut module = "package t\np0 := 1\n".to_owned();
    for level in 1..12_000 {
        writeln!(module, "p{level} := [p{}]", level - 1).unwrap();
    }
    module.push_str("p := p11999\n");
    let refused = message(answer("rules around rules", &module));
    assert_eq!(refused, "evaluation is nested too deeply");

    let mut module = "package t\np if {\nx0 := 1\n".to_owned();
    for level in 1..12_000 {
        writeln!(module, "x{level} := {{\"a\": x{}}}", level - 1).unwrap();
    }
    module.push_str("count(x11999) == 1\n}\n");
    let refused = message(answer("a body", &module));
    assert_eq!(refused, "evaluation is nested too deeply");

    let mut module = format!(
        "package t\nf0(x) := {}x{}\n",
        "[".repeat(150),
        "]".repeat(150)
    );
    for level in 1..10 {
        let below = level - 1;
        writeln!(module, "f{level}(x) := f{below}(f{below}(f{below}(x)))").unwrap();
    }
    // Not a constant, whose type would not fit.
    module.push_str("p := f9(input)\n");
    let refused = message(on_small_stack("functions", || {
        let engine = Engine::new();
        engine.set_module("t.rego", &module)?;
        let document = engine.prepare_document("data.t.p")?;
        document.evaluate(&Request::new().input(&1.into()))
    }));
    assert_eq!(refused, "evaluation is nested too deeply");
}

/// The deepest value that an evaluation may build around the deepest parsed one.
#[test]
fn the_deepest_value_that_can_be_built() {
    use solon::internal::limits::VALUE_NESTING;
    let wrapped = |levels: usize| {
        let mut module = "package t\np0 := input\n".to_owned();
        for level in 1..=levels {
            writeln!(module, "p{level} := [p{}]", level - 1).unwrap();
        }
        module.push_str(&format!("p := p{levels}\n"));
        let text = format!("{}{}", "[".repeat(VALUE_NESTING), "]".repeat(VALUE_NESTING));
        let input = json::read(text.as_bytes()).unwrap();
        on_small_stack("wrapped", || {
            let engine = Engine::new();
            engine.set_module("t.rego", &module)?;
            let found = engine.prepare_document("data.t.p")?;
            let read = found.evaluate_json(&Request::new().input_json(text.as_bytes()))?;
            let value = found.evaluate(&Request::new().input(&input))?.unwrap();
            assert_eq!(value.rego_text().to_string().into_bytes(), read.unwrap());
            assert_eq!(value, value.clone());
            Ok::<_, solon::Error>(value.rego_text().to_string().len())
        })
    };
    assert_eq!(wrapped(VALUE_NESTING).unwrap(), 4 * VALUE_NESTING);
    assert_eq!(
        message(wrapped(VALUE_NESTING + 1)),
        "evaluation is nested too deeply"
    );
}

#[test]
fn long_paths() {
    let path = "a/".repeat(LEVELS);
    on_small_stack("paths", || {
        let engine = Engine::new();
        let mut change = Change::default();
        change.put(Path::from_slashes(&path), 1.into());
        let refused = message(engine.apply(change));
        assert!(
            refused.ends_with("document nests deeper than 10000 levels"),
            "{refused}"
        );
        let documents = engine.data_snapshot();
        documents.read(&Path::from_slashes(&path)).unwrap_err();
        let found = engine
            .document(&Path::from_slashes(&path))
            .evaluate(&Request::new());
        assert_eq!(found.unwrap(), None);
    });
}

#[test]
fn chains_of_rules_and_functions() {
    const LENGTH: usize = 10_000;
    let mut rules = "package t\n".to_owned();
    let mut functions = "package t\n".to_owned();
    for at in 0..LENGTH {
        writeln!(rules, "r{at} := r{}", at + 1).unwrap();
        writeln!(functions, "f{at}(x) := f{}(x)", at + 1).unwrap();
    }
    writeln!(rules, "r{LENGTH} := 7\np := r0").unwrap();
    writeln!(functions, "f{LENGTH}(x) := x\np := f0(7)").unwrap();
    for (what, module) in [("rules", &rules), ("functions", &functions)] {
        assert_eq!(answer(what, module).unwrap(), Some(7.into()), "{what}");
    }
}

#[test]
fn recursion_across_all_rules_is_rejected() {
    let mut rules = "package t\n".to_owned();
    for at in 0..10_000 {
        writeln!(rules, "r{at} := r{}", (at + 1) % 10_000).unwrap();
    }
    assert!(message(answer("a cycle", &rules)).contains("recursive"));
}

#[test]
fn generators_in_one_body() {
    const LENGTH: usize = 5_000;
    let mut module = "package t\np := x0 if {\n".to_owned();
    for at in 0..LENGTH {
        writeln!(module, "some x{at} in [{at}]").unwrap();
    }
    module.push_str("}\n");
    assert_eq!(answer("generators", &module).unwrap(), Some(0.into()));
}

#[test]
fn comprehensions_nest_too_deeply() {
    const LEVELS: usize = 5_000;
    let module = format!(
        "package t\np := {}1{}",
        "[x | x := ".repeat(LEVELS),
        "]".repeat(LEVELS)
    );
    assert_eq!(message(answer("comprehensions", &module)), TOO_DEEP);
    let levels = 190;
    let module = format!(
        "package t\np := {}1{}",
        "[x | x := ".repeat(levels),
        "]".repeat(levels)
    );
    assert_eq!(
        answer("fewer comprehensions", &module)
            .unwrap()
            .unwrap()
            .rego_text()
            .to_string(),
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    );
}

#[test]
fn long_else_chains() {
    const LENGTH: usize = 10_000;
    let mut module = "package t\np := 0 if input.n == 0\n".to_owned();
    for at in 1..LENGTH {
        writeln!(module, "else := {at} if input.n == {at}").unwrap();
    }
    module.push_str("else := \"last\"\n");
    assert_eq!(answer("else chain", &module).unwrap(), Some("last".into()));
    let found = on_small_stack("the last but one", || {
        let engine = Engine::new();
        engine.set_module("t.rego", &module).unwrap();
        let document = engine.prepare_document("data.t.p").unwrap();
        let input = Value::object(vec![("n".into(), 9_999.into())]);
        document.evaluate(&Request::new().input(&input))
    });
    assert_eq!(found.unwrap(), Some(9_999.into()));
}

/// Operators of a chain are nested in left operands, as deep as the chain is long.
#[test]
fn long_chains_of_operators() {
    const LENGTH: usize = solon::internal::limits::CHAIN;
    let bracket = |inside: &str| format!("{}{inside}{}", "[".repeat(180), "]".repeat(180));
    let sum = (LENGTH + 1).to_string();
    let deep = format!("[1,{}]", bracket("1"));
    let bracketed = format!("{{{}}}", bracket("input.x"));
    for (first, operator, operand, longest, want) in [
        ("count(input)", "+", "input.x", LENGTH, &*sum),
        ("{2}", "|", "{input.x}", LENGTH, "[1,2]"),
        (&*bracketed, "|", "{input.x}", LENGTH, &*deep),
        // A chain in an operand is part of the chain around it.
        ("{3}", "|", "{y | y := {1} | {2}}", LENGTH - 1, "[3,[1,2]]"),
    ] {
        let term = |operators: usize| {
            format!(
                "{first}{}",
                format!(" {operator} {operand}").repeat(operators)
            )
        };
        for text in [
            term(longest),
            format!("({})", term(longest)),
            format!("[0, {}][1]", term(longest)),
        ] {
            let module = format!("package t\np := {text}\n");
            let shown = &text[..40.min(text.len())];
            on_small_stack(shown, || {
                let engine = Engine::new();
                engine.set_module("t.rego", &module).unwrap();
                let input = Value::object(vec![("x".into(), 1.into())]);
                let request = Request::new().input(&input);
                let document = engine.prepare_document("data.t.p").unwrap();
                let written = document.evaluate_json(&request).unwrap().unwrap();
                assert_eq!(String::from_utf8(written).unwrap(), *want, "{shown}");
                let found = document.evaluate(&request).unwrap().unwrap();
                let query = engine.prepare_query(&format!("x := {text}")).unwrap();
                let solutions = query.solutions(&request).unwrap();
                assert_eq!(solutions[0].bindings[0].1, found, "{shown}");
                let partial =
                    engine.partial("x := data.t.p", &PartialOptions::default(), &Request::new());
                partial.unwrap();
                engine.remove_module("t.rego").unwrap();
            });
        }
        let refused = message(answer(
            "too long",
            &format!("package t\np := {}", term(longest + 1)),
        ));
        assert_eq!(refused, TOO_DEEP);
        assert_eq!(message(evaluate("too long", &term(longest + 1))), TOO_DEEP);
    }
}

#[test]
fn many_withs() {
    let chain = "with input.a as 1 ".repeat(5_000);
    let found = answer(
        "withs of one expression",
        &format!("package t\np if input.a == 1 {chain}"),
    );
    assert_eq!(found.unwrap(), Some(true.into()));

    let mut module = "package t\nr0 := input.x\n".to_owned();
    for at in 1..3_000 {
        writeln!(
            module,
            "r{at} := x if x := r{} with input.x as {at}",
            at - 1
        )
        .unwrap();
    }
    module.push_str("p := r2999\n");
    assert_eq!(
        answer("rules that nest with", &module).unwrap(),
        Some(1.into())
    );

    let mut path = "input".to_owned();
    for _ in 0..5_000 {
        path.push_str(".a");
    }
    let found = answer(
        "a long target",
        &format!("package t\np if {path} == 1 with {path} as 1"),
    );
    assert!(found.is_err());
}

#[test]
fn long_paths_of_builtins() {
    let path = "a/".repeat(LEVELS);
    let keys = Value::array(vec!["a".into(); LEVELS]);
    let edges: Vec<(Value, Value)> = (0..LEVELS)
        .map(|at| {
            let next = (at + 1).to_string();
            (
                Value::string(&at.to_string()),
                Value::array(vec![Value::string(&next)]),
            )
        })
        .collect();
    let input = Value::object(vec![
        ("path".into(), Value::string(&path)),
        ("keys".into(), keys),
        ("graph".into(), Value::object(edges)),
    ]);
    for call in [
        "json.filter({\"a\": 1}, [input.path, input.keys])",
        "json.remove({\"a\": 1}, [input.path, input.keys])",
        "json.patch({\"a\": {}}, [{\"op\": \"add\", \"path\": input.path, \"value\": 1}])",
        "object.get({\"a\": 1}, input.keys, 2)",
        "graph.reachable(input.graph, {\"0\"})",
        "graph.reachable_paths(input.graph, {\"99000\"})",
        "object.union_n([{k: 1} | some k in input.keys])",
        "x := {input.keys: {input.keys: input.keys}}; x[input.keys]",
    ] {
        let limits = solon::Limits::default().memory(Some(256 << 20));
        on_small_stack(call, || {
            let query = Engine::new().prepare_query(call).unwrap();
            drop(query.solutions(&Request::new().input(&input).limits(&limits)));
        });
    }
}

#[test]
fn huge_references() {
    for segment in [".a", "[0]", "[_]", "[input.x]"] {
        let module = format!("package t\np := 1 if input{}", segment.repeat(20_000));
        let found = answer(&format!("20,000 times {segment}"), &module);
        if let Ok(found) = found {
            assert_eq!(found, None);
        }
        let module = format!("package t\np{}.b := 1 if true", segment.repeat(5_000));
        assert!(answer(&format!("head of 5,000 times {segment}"), &module).is_err());
    }
    let module = format!("package t\np{} := 1", ".a".repeat(390));
    assert!(answer("head of 391 parts", &module).unwrap().is_some());
    for length in [400, LEVELS] {
        let package = format!("package t{}\np := 1", ".a".repeat(length));
        let refused = message(answer("long package", &package));
        assert!(
            refused.ends_with("parts exceeds the limit of 400"),
            "{refused}"
        );
    }
}
