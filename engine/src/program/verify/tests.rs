//! Programs that violate one invariant each, and the message that names it.

mod rule_sets;

use std::sync::Arc;

use solon_syntax::source::Span;

use super::query;
use crate::builtins;
use crate::program::{
    Block, BuiltinCall, Collector, Every, FunctionCall, HostCall, Inlined, Join, Operand, Plan,
    Program, RuleKind, RuleSet, Step, TextTest, With,
};
use crate::value::{Shape, Value};

const SLOT: Operand = Operand::Slot(0);
const CONSTANT: Operand = Operand::Const(0);

fn input(out: u32) -> Step {
    Step::Input {
        keys: Box::default(),
        out,
    }
}

fn block(steps: impl Into<Block>) -> Block {
    steps.into()
}

fn call(name: &str, args: &[Operand]) -> BuiltinCall {
    BuiltinCall {
        entry: builtins::lookup(name).unwrap(),
        args: args.into(),
        prepared: None,
        elements: false,
        intrinsic: None,
        span: Span::default(),
    }
}

fn function_call(rule: u32, args: &[Operand]) -> FunctionCall {
    FunctionCall {
        rule,
        args: args.into(),
        span: Span::default(),
    }
}

fn set(name: &str, kind: RuleKind, depth: usize) -> Arc<RuleSet> {
    Arc::new(RuleSet {
        name: name.into(),
        kind,
        depth,
        ..RuleSet::default()
    })
}

/// A program with one constant, a complete rule, a function of one argument, a set and a removed rule set.
fn sample() -> Program {
    Program {
        constants: vec![Value::string("c")],
        rules: vec![
            set("data.p", RuleKind::Complete, 0),
            set("data.f", RuleKind::Function(1), 0),
            set("data.s", RuleKind::Set, 1),
            Arc::default(),
        ],
        ..Program::default()
    }
}

/// Verifies instructions as the plan of a query with two slots.
fn verified(steps: Vec<Step>) -> Result<(), String> {
    let end = Step::ResultSetAdd(Box::default());
    let steps = steps.into_iter().chain([end]).collect();
    query(&sample(), &Plan::new(2, steps), 0)
}

fn rejected(steps: Vec<Step>, violation: &str) {
    assert_eq!(verified(steps), Err(format!("query: {violation}")));
}

#[test]
fn slots_are_filled_before_they_are_read() {
    let unfilled = "`IsTruthy` reads slot 0, which is not filled";
    rejected(vec![Step::IsTruthy(SLOT)], unfilled);
    rejected(vec![Step::IsTruthy(SLOT), input(0)], unfilled);
    assert_eq!(verified(vec![input(0), Step::IsTruthy(SLOT)]), Ok(()));
    rejected(
        vec![Step::IsTruthy(Operand::Slot(7))],
        "`IsTruthy` reads slot 7 of 2",
    );
    rejected(vec![input(2)], "`Input` fills slot 2 of 2");
}

#[test]
fn slots_of_inner_blocks_are_not_filled_outside() {
    let inner = || block([input(0), Step::Exists]);
    let reader = || block([Step::IsTruthy(SLOT), Step::Exists]);
    let unfilled = "`IsTruthy` reads slot 0, which is not filled";
    for step in [
        Step::Not(inner()),
        Step::And(Box::new([inner(), inner()])),
        Step::Or(Box::new([inner(), inner()])),
    ] {
        rejected(vec![step, Step::IsTruthy(SLOT)], unfilled);
    }
    rejected(
        vec![Step::And(Box::new([inner(), reader()]))],
        &format!("`And` {unfilled}"),
    );
    let every = Every {
        domain: CONSTANT,
        key: Some(1),
        value: 0,
        block: reader(),
    };
    assert_eq!(verified(vec![Step::Every(Box::new(every.clone()))]), Ok(()));
    rejected(
        vec![Step::Every(Box::new(every)), Step::IsTruthy(SLOT)],
        unfilled,
    );
}

#[test]
fn nothing_after_a_failure_is_reached() {
    assert_eq!(verified(vec![Step::Fail, Step::IsTruthy(SLOT)]), Ok(()));
}

#[test]
fn slots_of_a_lookup_by_hash_are_filled_for_the_known_value_only() {
    let join = Join {
        from: CONSTANT,
        key: None,
        out: 0,
        by_key: false,
        path: Box::default(),
        is_base: false,
        base: None,
        known: Operand::Slot(1),
        lookup: [input(1)].into(),
        calls: false,
    };
    assert_eq!(verified(vec![Step::Join(Box::new(join.clone()))]), Ok(()));
    rejected(
        vec![
            Step::Join(Box::new(join.clone())),
            Step::IsTruthy(Operand::Slot(1)),
        ],
        "`IsTruthy` reads slot 1, which is not filled",
    );
    let lookup = [Step::Fail].into();
    rejected(
        vec![Step::Join(Box::new(Join {
            lookup,
            ..join.clone()
        }))],
        "`Join` looks up by `Fail`",
    );
    let lookup = Box::default();
    rejected(
        vec![Step::Join(Box::new(Join { lookup, ..join }))],
        "`Join` reads slot 1, which is not filled",
    );
}

#[test]
fn the_value_of_an_inlined_body_is_filled_by_that_body() {
    let body = |out| block([input(out), Step::Exists]);
    let inlined = |values: &[Operand]| {
        Step::Inlined(Box::new(Inlined {
            call: function_call(1, &[CONSTANT]),
            blocks: [body(0), body(1)].into(),
            values: values.into(),
            out: 0,
        }))
    };
    assert_eq!(verified(vec![inlined(&[SLOT, Operand::Slot(1)])]), Ok(()));
    rejected(
        vec![inlined(&[SLOT, SLOT])],
        "`Inlined` reads slot 0, which is not filled",
    );
    rejected(
        vec![inlined(&[SLOT])],
        "`Inlined` has other bodies than values",
    );
}

#[test]
fn blocks_end_with_the_terminator_of_their_consumer() {
    let collect = |into, end| Step::Collect {
        into,
        block: block([end]),
        out: 0,
    };
    rejected(
        vec![Step::Not(block([Step::SetAdd(CONSTANT)]))],
        "`Not` `SetAdd` ends the wrong block",
    );
    rejected(
        vec![collect(Collector::Array, Step::SetAdd(CONSTANT))],
        "`Collect` `SetAdd` ends the wrong block",
    );
    rejected(
        vec![collect(Collector::Object, Step::Exists)],
        "`Collect` `Exists` ends the wrong block",
    );
    rejected(
        vec![Step::Not(block([Step::IsTruthy(CONSTANT)]))],
        "`Not` `IsTruthy` ends the wrong block",
    );
    rejected(
        vec![Step::Not(Block::default())],
        "`Not` a block without a terminator",
    );
    rejected(vec![Step::Exists], "`Exists` is in the wrong position");
    let bag = collect(Collector::Bag, Step::ArrayAppend(CONSTANT));
    assert_eq!(verified(vec![bag]), Ok(()));
}

#[test]
fn replacements_end_in_their_block() {
    let with = || {
        Step::With(Box::new(With {
            modifiers: Box::default(),
            span: Span::default(),
        }))
    };
    assert_eq!(verified(vec![with(), Step::EndWith]), Ok(()));
    rejected(vec![with()], "`With` is not closed");
    rejected(vec![Step::EndWith, with()], "`EndWith` closes no `With`");
    rejected(
        vec![with(), Step::Not(block([Step::EndWith, Step::Exists]))],
        "`Not` `EndWith` closes no `With`",
    );
}

#[test]
fn constants_and_rule_sets_exist() {
    let unknown = Operand::Const(1);
    rejected(
        vec![Step::IsTruthy(unknown)],
        "`IsTruthy` has constant 1 of 1",
    );
    let base = Step::Base {
        path: [4].into(),
        out: 0,
    };
    rejected(vec![base], "`Base` has constant 4 of 1");
    for rule in [3, 4] {
        rejected(
            vec![Step::Rule { rule, out: 0 }],
            &format!("`Rule` evaluates rule set {rule}"),
        );
    }
    assert_eq!(
        query(
            &sample(),
            &Plan::new(0, [Step::ResultSetAdd([unknown].into())].into()),
            1
        ),
        Ok(())
    );
}

#[test]
fn calls_have_the_arity_of_the_callee() {
    let function = |rule, args: &[Operand]| Step::Function {
        call: Box::new(function_call(rule, args)),
        out: 0,
    };
    assert_eq!(verified(vec![function(1, &[CONSTANT])]), Ok(()));
    rejected(
        vec![function(1, &[])],
        "`Function` calls Function(1) with 0 arguments",
    );
    rejected(
        vec![function(0, &[])],
        "`Function` calls Complete with 0 arguments",
    );
    let keyed = |keys: &[Operand]| Step::Keyed {
        rule: 2,
        keys: keys.into(),
        out: 0,
    };
    assert_eq!(verified(vec![keyed(&[CONSTANT])]), Ok(()));
    rejected(vec![keyed(&[CONSTANT, CONSTANT])], "`Keyed` has 2 keys");
    let builtin = Step::Call {
        call: Box::new(call("count", &[CONSTANT, CONSTANT])),
        out: 0,
    };
    rejected(vec![builtin], "`Call` calls `count` with 2 arguments");
    let host = HostCall {
        function: 0,
        args: Box::default(),
        span: Span::default(),
    };
    rejected(
        vec![Step::HostCall {
            call: Box::new(host),
            out: 0,
        }],
        "`HostCall` calls function 0 of the host",
    );
}

#[test]
fn instructions_have_what_they_name() {
    let by_intrinsic = Step::Test(TextTest::Intrinsic, Box::new(call("count", &[CONSTANT])));
    rejected(
        vec![by_intrinsic],
        "`Test` tests by Intrinsic without such a test",
    );
    let mut elements = call("sprintf", &[CONSTANT, CONSTANT]);
    elements.elements = true;
    let step = Step::Call {
        call: Box::new(elements),
        out: 0,
    };
    rejected(vec![step], "`Call` has elements without a specialised call");
    let step = Step::MakeObject {
        pairs: Box::default(),
        shape: Some(Arc::new(Shape::new([Value::string("k")].into()))),
        out: 0,
    };
    rejected(vec![step], "`MakeObject` has a shape of other keys");
}
