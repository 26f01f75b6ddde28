//! Traversals of the deepest values and trees, each on a small stack of its own.

use solon::internal::limits::{NESTING, VALUE_NESTING};
use solon::internal::value::{Arena, Value, json, order, yaml};
use solon_syntax::ast::Module;
use solon_syntax::json as ast_json;
use solon_syntax::print::display_body;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use crate::{nested_value, on_small_stack};

/// Returns a parsed value of the maximum depth, surrounded by the maximum depth that an evaluation may add.
fn deepest(read: (&str, &str), around: impl Fn(Value) -> Value) -> Value {
    let (open, close) = read;
    let inner = on_small_stack("reading", || nested_value(open, close, VALUE_NESTING));
    (0..VALUE_NESTING).fold(inner, |inner, _| around(inner))
}

fn deepest_values() -> [(&'static str, Value); 4] {
    let list = ("[", "]");
    [
        ("arrays", deepest(list, |inner| Value::array(vec![inner]))),
        ("sets", deepest(list, |inner| Value::set(vec![inner]))),
        (
            "values",
            deepest(("{\"a\":", "}"), |inner| {
                Value::object(vec![("a".into(), inner)])
            }),
        ),
        (
            "keys",
            deepest(list, |inner| Value::object(vec![(inner, 1.into())])),
        ),
    ]
}

#[test]
fn values() {
    for ((what, value), (_, other)) in deepest_values().into_iter().zip(deepest_values()) {
        let walk =
            |name: &str, run: &(dyn Fn() + Sync)| on_small_stack(&format!("{what}, {name}"), run);
        walk("equal", &|| assert_eq!(value, other));
        walk("ordered", &|| assert!(value.cmp(&other).is_eq()));
        walk("hash", &|| {
            assert_eq!(order::hash(value.borrow()), order::hash(other.borrow()));
        });
        walk("text", &|| {
            assert!(value.rego_text().to_string().len() > 2 * VALUE_NESTING);
            assert!(format!("{value:?}").len() > 2 * VALUE_NESTING);
        });
        walk("copies", &|| {
            // one level deeper than an evaluation may build, so the outermost is left out
            let arena = Arena::new();
            assert_eq!(arena.copy_of(&value).to_value(), Value::NULL);
        });
        // keys within keys have texts that double with each level
        if what != "keys" {
            walk("JSON", &|| {
                let mut text = Vec::new();
                json::write(value.borrow(), &mut text);
                assert!(text.len() > 2 * VALUE_NESTING);
                assert!(serde_json::to_string(&value).unwrap().len() > 2 * VALUE_NESTING);
            });
            walk("YAML", &|| {
                let mut text = String::new();
                yaml::write(value.borrow(), &mut text).unwrap();
                assert!(text.len() > 2 * VALUE_NESTING);
            });
        }
        on_small_stack("drop", move || drop(value));
        on_small_stack("drop the other", move || drop(other));
    }
}

/// Returns the deepest modules that parse.
fn deepest_modules() -> Vec<String> {
    let term = |open: &str, inner: &str, close: &str, levels: usize| {
        format!(
            "package t\np if z = {}{inner}{}\n",
            open.repeat(levels),
            close.repeat(levels)
        )
    };
    let levels = NESTING - 10;
    vec![
        term("[", "1", "]", levels),
        term("{", "1", "}", levels),
        term("{\"a\": ", "1", "}", levels),
        term("{", "1", ": 1}", levels),
        term("f(", "1", ")", levels),
        term("a[", "1", "]", levels),
        term("[x | x := ", "1", "]", levels / 2),
        term("[[x | true", "", "] | true]", 1),
        term("[", "1", " | true]", levels / 2),
        term("{1: ", "1", " | true}", levels / 2),
        format!(
            "package t\np := 0 if input.n == 0\n{}",
            "else := 1 if input.n == 1\n".repeat(VALUE_NESTING)
        ),
    ]
}

#[test]
fn trees() {
    for text in deepest_modules() {
        let what: String = text.chars().skip(10).take(24).collect();
        let parse = || {
            let source = Source::new(SourceId(0), "t.rego", text.as_str());
            parse_module(&source, &ParseOptions::default()).unwrap()
        };
        let module: Module = on_small_stack("parsing", parse);
        let other = on_small_stack("parsing again", parse);
        let walk =
            |name: &str, run: &(dyn Fn() + Sync)| on_small_stack(&format!("{what}, {name}"), run);
        walk("equal", &|| {
            for (one, other) in module.rules.iter().zip(&other.rules) {
                assert!(one.head == other.head && one.body == other.body);
                assert!(one.body.cmp(&other.body).is_eq());
            }
        });
        walk("printed", &|| {
            for rule in &module.rules {
                assert!(!display_body(&rule.body).to_string().is_empty());
            }
        });
        walk("JSON", &|| {
            let text = ast_json::text(&module, ast_json::Options::default());
            assert!(text.len() > NESTING);
        });
        walk("copies", &|| drop(module.clone()));
        on_small_stack("drop", move || drop(module));
    }
}
