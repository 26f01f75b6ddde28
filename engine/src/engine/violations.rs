//! Tests: a violated invariant ends an evaluation with an internal error, never with a result or undefined.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

use std::sync::Arc;

use solon_syntax::ast::Module;

use super::Engine;
use crate::builtins::HostFunction;
use crate::error::Error;
use crate::filter::FilterTarget;
use crate::filter_query::FilterOptions;
use crate::partial_query::PartialOptions;
use crate::program::{Operand, Program, RuleSet, Step};
use crate::query::Request;
use crate::topdown::SearchOptions;
use crate::value::{Repr, Value};

const POLICY: &str = "package t
constant := 7
copied := input.x
sum := count([y | some y in input.list; y > 1])
list := [y | some y in input.list]
members contains y if some y in input.list
object := {y: 1 | some y in input.list}
table[y] := 1 if some y in input.list
other := constant + 1
own := twice(input.x)
denied if input.x == 2
default allow := false
allow if not denied
";

/// Returns the rules of a document, to corrupt them.
fn set<'p>(program: &'p mut Program, name: &str) -> &'p mut RuleSet {
    let mut rules = program.rules.iter_mut();
    let rule_set = rules.find(|set| *set.name == *format!("data.t.{name}"));
    Arc::get_mut(rule_set.unwrap()).unwrap()
}

/// Returns the steps of a rule's plan, to corrupt them.
fn steps<'p>(program: &'p mut Program, name: &str) -> &'p mut [Step] {
    &mut set(program, name).rules[0].plan.steps
}

/// Returns the block of the last step but one, which builds a collection.
fn block(steps: &mut [Step]) -> &mut [Step] {
    let block = steps.iter_mut().find_map(|step| match step {
        Step::Collect { block, .. } => Some(&mut **block),
        Step::Aggregate(aggregate) => Some(&mut *aggregate.block),
        _ => None,
    });
    block.unwrap()
}

fn replace_last(steps: &mut [Step], with: Step) {
    *steps.last_mut().unwrap() = with;
}

const NOWHERE: Operand = Operand::Slot(1 << 20);

type Damage = fn(&mut Program);

/// Corrupted programs, and the documents that depend on the corrupted part.
const VIOLATIONS: &[(&str, &[&str], Damage)] = &[
    ("no constants", &["constant", "allow"], |program| {
        program.constants.clear();
    }),
    ("an unknown constant", &["constant", "other"], |program| {
        replace_last(
            steps(program, "constant"),
            Step::Value(Operand::Const(1 << 20)),
        );
    }),
    ("an unknown slot", &["copied"], |program| {
        replace_last(steps(program, "copied"), Step::Value(NOWHERE));
    }),
    ("a result in no slot", &["copied"], |program| {
        for step in steps(program, "copied") {
            if let Step::Input { out, .. } = step {
                *out = 1 << 20;
            }
        }
    }),
    ("no rules", &["other", "allow", "constant"], |program| {
        program.rules.clear();
    }),
    ("an element for a rule", &["constant"], |program| {
        let step = Step::ArrayAppend(Operand::Const(0));
        replace_last(steps(program, "constant"), step);
    }),
    ("a member for an array", &["list"], |program| {
        replace_last(block(steps(program, "list")), Step::SetAdd(NOWHERE));
    }),
    ("an element for an object", &["object"], |program| {
        let step = Step::ArrayAppend(Operand::Const(0));
        replace_last(block(steps(program, "object")), step);
    }),
    ("a solution for an aggregate", &["sum"], |program| {
        let step = Step::ResultSetAdd([].into());
        replace_last(block(steps(program, "sum")), step);
    }),
    ("a solution for a set", &["members"], |program| {
        let step = Step::ResultSetAdd([].into());
        replace_last(steps(program, "members"), step);
    }),
    ("a pair for a partial object", &["table"], |program| {
        let step = Step::ObjectInsert {
            key: Operand::Const(0),
            value: Operand::Const(0),
            span: solon_syntax::source::Span::default(),
        };
        replace_last(steps(program, "table"), step);
    }),
    ("no functions", &["own"], |program| {
        program.functions.clear();
    }),
    ("nothing produced", &["copied"], |program| {
        replace_last(steps(program, "copied"), Step::EndWith);
    }),
];

fn engine() -> Engine {
    let function = HostFunction::new("twice", "x: any => y: any", |_, operands| Ok(operands[0]));
    Engine::builder()
        .function(function.unwrap())
        .unwrap()
        .build()
}

/// Returns an engine whose program is corrupted when it is compiled.
fn damaged(damage: Damage) -> Engine {
    let engine = engine();
    *engine.inner.damage.lock() = Some(damage);
    engine.set_module("t.rego", POLICY).unwrap();
    engine
}

fn input() -> Value {
    let list = Value::array(vec![
        Value(Repr::Int(1)),
        Value(Repr::Int(2)),
        Value(Repr::Int(3)),
    ]);
    Value::object(vec![
        ("x".into(), Value(Repr::Int(2))),
        ("list".into(), list),
    ])
}

#[test]
fn a_violated_invariant_is_an_internal_error() {
    let input = input();
    let request = Request::new().input(&input);
    for (injected, documents, damage) in VIOLATIONS {
        let engine = damaged(*damage);
        for name in *documents {
            let document = engine.prepare_document(&format!("data.t.{name}")).unwrap();
            let query = format!("x := data.t.{name}");
            for _ in 0..20 {
                let results = [
                    document
                        .evaluate(&request)
                        .map(|value| format!("{value:?}")),
                    // builds that verify plans report a rule set that is not there when the query is lowered
                    engine
                        .prepare_query(&query)
                        .and_then(|query| query.solutions(&request))
                        .map(|solutions| format!("{solutions:?}")),
                ];
                for result in results {
                    let Err(Error::Internal(error)) = result else {
                        panic!("{injected}, {name}: {result:?}");
                    };
                    let message = error.message();
                    assert!(
                        message.starts_with("invariant violated: "),
                        "{injected}: {message}"
                    );
                }
            }
        }
        // the next decision of the thread is not affected
        let sound = self::engine();
        sound.set_module("t.rego", POLICY).unwrap();
        for name in *documents {
            let document = sound.prepare_document(&format!("data.t.{name}")).unwrap();
            assert!(document.evaluate(&request).unwrap().is_some(), "{name}");
        }
    }
}

/// Corrupted bodies for the tracing evaluator, residuals and filters, which must fail as decisions do. In a deny policy
/// a lost condition would grant access.
const SEARCHED: &[(&str, Damage)] = &[
    ("no modules", |program| {
        assert!(
            program
                .canonical
                .group(&["t".into(), "allow".into()])
                .is_some()
        );
        program.canonical.modules = Arc::default();
    }),
    ("modules without rules", |program| {
        assert!(
            program
                .canonical
                .group(&["t".into(), "allow".into()])
                .is_some()
        );
        let modules = program.canonical.modules.iter();
        let bare = modules.map(|module| {
            let mut bare = Module::clone(module);
            bare.rules.clear();
            Arc::new(bare)
        });
        program.canonical.modules = Arc::new(bare.collect());
    }),
];

#[test]
fn a_violated_invariant_ends_a_search() {
    let input = input();
    let request = Request::new().input(&input);
    for (injected, damage) in SEARCHED {
        let engine = damaged(*damage);
        let query = engine.prepare_query("x := data.t.allow").unwrap();
        let search = query.search(&request, SearchOptions::default());
        let options = PartialOptions::default();
        let residuals = engine
            .prepare_partial("data.t.allow", &options)
            .unwrap()
            .evaluate(&Request::new());
        let filters = FilterOptions::new([FilterTarget::Postgresql]).unknowns(["input.rows"]);
        let filters = engine.filters("data.t.denied", &filters, &request);
        for result in [
            search.map(|value| format!("{value:?}")),
            residuals.map(|value| format!("{value:?}")),
            filters.map(|value| format!("{value:?}")),
        ] {
            let Err(Error::Internal(error)) = result else {
                panic!("{injected}: {result:?}");
            };
            let message = error.message();
            assert!(
                message.starts_with("invariant violated: "),
                "{injected}: {message}"
            );
        }
        let document = engine.prepare_document("data.t.constant").unwrap();
        assert_eq!(
            document.evaluate(&request).unwrap(),
            Some(Value(Repr::Int(7))),
            "{injected}"
        );
    }
}

#[test]
fn a_panic_of_a_host_function_is_an_internal_error() {
    let boom = HostFunction::new("boom", "x: any => y: any", |_, _| panic!("injected"));
    let engine = Engine::builder().function(boom.unwrap()).unwrap().build();
    let policy = "package t\npanics := boom(input.x)\ndeny if not boom(input.x)\nsound := input.x";
    engine.set_module("t.rego", policy).unwrap();
    let input = input();
    let request = Request::new().input(&input);
    for name in ["panics", "deny", "panics"] {
        let document = engine.prepare_document(&format!("data.t.{name}")).unwrap();
        let query = engine.prepare_query(&format!("data.t.{name}")).unwrap();
        for error in [
            document.evaluate(&request).unwrap_err(),
            document.evaluate_json(&request).unwrap_err(),
            query.solutions(&request).unwrap_err(),
            query
                .search(&request, SearchOptions::default())
                .unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "internal error: injected", "{name}");
        }
    }
    let sound = engine.prepare_document("data.t.sound").unwrap();
    assert_eq!(sound.evaluate(&request).unwrap(), Some(Value(Repr::Int(2))));
}
