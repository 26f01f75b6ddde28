//! Memoization in an evaluation depends on the functions that it calls, not on unrelated rules of the policy.

use std::fmt::Write as _;

use solon::{Engine, Limits, Request, Value};

/// Long and short functions with equal arguments that are stored separately.
const POLICY: &str = "
a_long(xs) := count([x | some x in xs; x > 0])

z_short(xs) := count([x | some x in xs; x > 0])

answer := [a_long(input.many), z_short(input.a), z_short(input.b), z_short(input.c), z_short(input.a), a_long(input.many)]
";

/// Returns the minimum number of steps for the result in a policy with so many unrelated rules.
fn steps(unrelated: usize) -> u64 {
    let mut module = "package t\n\na_long(xs) := 0 if xs == 1\n".to_owned();
    for at in 0..unrelated {
        writeln!(module, "m_{at:04} := {at}").unwrap();
    }
    module += POLICY;
    let engine = Engine::new();
    engine.set_module("t.rego", &module).unwrap();
    let document = engine.prepare_document("data.t.answer").unwrap();
    let array = |length: i64| Value::array((0..length).map(Value::from).collect());
    let input = Value::object(vec![
        ("many".into(), array(200)),
        ("a".into(), array(5)),
        ("b".into(), array(5)),
        ("c".into(), array(5)),
    ]);
    let succeeds = |steps: u64| {
        let limits = Limits::default().steps(Some(steps));
        let answer = document.evaluate(&Request::new().input(&input).limits(&limits));
        answer.is_ok_and(|answer| answer.is_some())
    };
    let (mut low, mut high) = (1, 10_000);
    assert!(succeeds(high));
    while low < high {
        let middle = u64::midpoint(low, high);
        if succeeds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[test]
fn unrelated_rules_change_no_steps() {
    let alone = steps(0);
    for unrelated in (1..70).chain(120..132).chain(250..260) {
        assert_eq!(steps(unrelated), alone, "{unrelated} unrelated rules");
    }
}
