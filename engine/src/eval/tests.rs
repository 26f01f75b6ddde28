//! Frames and scopes of a machine without a program.

use std::rc::Rc;

use super::frame::{FIRST, OperandSource, Register};
use super::inline_caches::InlineCaches;
use super::machine::{EvalContext, InputSource, Machine, ROOT};
use super::memo_owner::ScopeChange;
use super::scope::{ExprScope, Mock};
use crate::builtins::{Budget, BuiltinContext, Patterns};
use crate::host::OfflineHost;
use crate::limits::Limits;
use crate::program::plan::Callee;
use crate::program::{Operand, Program};
use crate::value::{Arena, Value, ValueRef};

const COUNT: Callee = Callee::Builtin("count");
const SUM: Callee = Callee::Builtin("sum");

fn number(number: u32) -> ValueRef<'static> {
    ValueRef::from(i64::from(number))
}

fn run(test: impl FnOnce(&mut Machine<'_>)) {
    let (arena, program, patterns) = (Arena::new(), Program::default(), Patterns::new(8));
    let (caches, data, input) = (InlineCaches::default(), Value::NULL, Value::from(4));
    let context = EvalContext {
        program: &program,
        query_constants: &[],
        data: &data,
        input: Some(InputSource::Value(&input)),
        strict: false,
    };
    let budget = Budget::new(&Limits::default(), &arena, None);
    let call = BuiltinContext::new(&arena, &OfflineHost, &patterns, budget);
    test(&mut Machine::new(context, call, &caches));
}

fn slot(machine: &Machine<'_>, slot: u32) -> Option<i64> {
    machine.get(Operand::Slot(slot)).as_i64()
}

#[test]
fn a_frame_begins_with_its_arguments() {
    run(|machine| {
        machine.framed(3, &[number(1), number(2)], |machine| {
            machine.set(2, number(3));
            for at in 0..3 {
                assert_eq!(slot(machine, at), Some(i64::from(at) + 1));
            }
        });
    });
}

#[test]
fn inner_frames_leave_outer_slots_as_they_are() {
    run(|machine| {
        machine.framed(2, &[number(1), number(2)], |machine| {
            for _ in 0..2 {
                machine.framed(1, &[], |machine| {
                    machine.set(0, number(9));
                    machine.framed(1, &[number(8)], |machine| {
                        assert_eq!(slot(machine, 0), Some(8));
                    });
                    assert_eq!(slot(machine, 0), Some(9));
                });
                assert_eq!((slot(machine, 0), slot(machine, 1)), (Some(1), Some(2)));
            }
        });
    });
}

#[test]
fn registers_grow_with_the_depth_of_frames() {
    fn descend(machine: &mut Machine<'_>, depths: &[u32]) {
        let Some((depth, deeper)) = depths.split_first() else {
            return;
        };
        machine.framed(2, &[number(*depth)], |machine| {
            machine.set(1, number(depth + 1000));
            descend(machine, deeper);
            assert_eq!(slot(machine, 0), Some(i64::from(*depth)));
            assert_eq!(slot(machine, 1), Some(i64::from(*depth) + 1000));
        });
    }
    let depths: Vec<u32> = (0..).take(4 * FIRST).collect();
    run(|machine| descend(machine, &depths));
}

#[test]
fn a_frame_has_room_for_all_arguments() {
    run(|machine| {
        let args: Vec<_> = (0..).take(3 * FIRST).map(number).collect();
        machine.framed(0, &args, |machine| {
            for (at, arg) in (0..).zip(&args) {
                assert_eq!(slot(machine, at), arg.as_i64());
            }
        });
    });
}

fn input_of<'e>(machine: &Machine<'e>) -> Option<ValueRef<'e>> {
    machine.input.map(|input| input.value())
}

#[test]
fn scopes_restore_input_and_flags() {
    run(|machine| {
        let inner = ExprScope {
            parent: ROOT,
            input: Some(Register::Value(number(5))),
            overlay: None,
            mocks: Some(Rc::new(vec![(COUNT, Mock::Value(number(1)))])),
            memo: machine.empty_memo(),
            unmocked_memo: None,
            change: ScopeChange::WithoutMocks,
        };
        let outer = Some(number(4));
        assert!(input_of(machine) == outer && !machine.mocked);
        machine.scoped(inner, |machine| {
            assert!(input_of(machine) == Some(number(5)) && machine.mocked && !machine.overlaid);
            machine.without_mocks(|machine| {
                assert!(input_of(machine) == Some(number(5)) && !machine.mocked);
                assert!(machine.mock(COUNT).is_none());
            });
            assert!(machine.mocked);
        });
        assert!(input_of(machine) == outer && !machine.mocked && machine.scopes.is_empty());
    });
}

#[test]
fn the_last_replacement_of_a_function_counts() {
    run(|machine| {
        let mocks = [(COUNT, 1), (SUM, 2), (COUNT, 3)];
        let mocks = mocks.map(|(callee, value)| (callee, Mock::Value(number(value))));
        let scope = ExprScope {
            parent: ROOT,
            input: None,
            overlay: None,
            mocks: Some(Rc::new(mocks.to_vec())),
            memo: machine.empty_memo(),
            unmocked_memo: None,
            change: ScopeChange::WithoutMocks,
        };
        machine.scoped(scope, |machine| {
            let found = |callee| match machine.mock(callee) {
                Some(Mock::Value(value)) => value.as_i64(),
                _ => None,
            };
            assert_eq!((found(COUNT), found(SUM)), (Some(3), Some(2)));
            assert!(machine.mock(Callee::Rule(0)).is_none());
        });
    });
}
