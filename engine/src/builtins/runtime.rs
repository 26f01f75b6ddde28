//! Environment of an evaluation: clock, program, current rule.

use super::{Builtin, BuiltinContext, BuiltinError};
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "time.now_ns",
        "=> now: number",
        "Nanoseconds since 1970 at the start of the evaluation.",
        now_ns,
    )
    .nondeterministic(),
    Builtin::new(
        "opa.runtime",
        "=> output: object[string: any]",
        "Information about the program that runs the policy.",
        runtime,
    )
    .nondeterministic(),
    Builtin::new(
        "rego.metadata.chain",
        "=> chain: array[any]",
        "The annotations of the current rule and of its scopes.",
        |_, _| Err(not_in_a_rule("rego.metadata.chain")),
    ),
    Builtin::new(
        "rego.metadata.rule",
        "=> output: any",
        "The annotations of the current rule.",
        |_, _| Err(not_in_a_rule("rego.metadata.rule")),
    ),
];

/// Returns the error of a metadata call that the compiler did not replace, because it is not in a rule.
fn not_in_a_rule(name: &str) -> BuiltinError {
    BuiltinError::error(format!(
        "the {name} function must only be called within the scope of a rule"
    ))
}

fn now_ns<'e>(
    call: &mut BuiltinContext<'e>,
    _: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(ValueRef(RefRepr::Int(call.now_ns())))
}

fn runtime<'e>(
    call: &mut BuiltinContext<'e>,
    _: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(call.arena.copy_of(&call.host.runtime()))
}
