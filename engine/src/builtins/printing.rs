//! `print` and template strings.

use super::buffer::{Writer, push};
use super::{Builtin, BuiltinContext, BuiltinError, EvalErrorCode, Members, Observed, Operands};
use crate::value::{Kind, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "print",
        "...: any => void",
        "Writes values to the output of the evaluation.",
        print,
    )
    .observed(Observed::Print),
    Builtin::new(
        PRINT_EACH,
        "array[set[any]] => void",
        "Shows the values of `print`, each of which may have none or several.",
        print_each,
    )
    .observed(Observed::Print),
    Builtin::new(
        TEMPLATE_STRING,
        "array[any] => string",
        "A template string's parts as one string.",
        template_string,
    ),
    Builtin::new(
        "trace",
        "note: string => result: boolean",
        "Adds a note to the trace.",
        trace,
    )
    .listed(&["tracing"])
    .observed(Observed::Note),
    Builtin::new(
        TEST_CASE,
        "array[any] => void",
        "Names a case of a test with several cases.",
        |_, _| Ok(ValueRef(RefRepr::Bool(true))),
    )
    .observed(Observed::TestCase),
];

/// Replacement for `print` in compiled policies.
pub const PRINT_EACH: &str = "internal.print";
/// Names a case of a test.
pub const TEST_CASE: &str = "internal.test_case";
/// Replacement for template strings in compiled policies.
pub const TEMPLATE_STRING: &str = "internal.template_string";

const UNDEFINED: &str = "<undefined>";

fn print<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    if let Some(print) = call.hooks.print {
        let texts = operands.iter().map(|value| show(call, *value));
        print(&texts.collect::<Result<Vec<_>, _>>()?.join(" "));
    }
    Ok(ValueRef(RefRepr::Bool(true)))
}

fn print_each<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let parts = operands.array(0)?;
    if let Some(print) = call.hooks.print {
        let parts = parts
            .iter()
            .map(|part| alternatives(call, part))
            .collect::<Result<Vec<_>, _>>()?;
        combine(call, &parts, |line| print(&line.join(" ")))?;
    }
    Ok(ValueRef(RefRepr::Bool(true)))
}

fn template_string<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let parts = operands.array(0)?;
    // kinds that templates do not support are reported before parts with several values
    let mut all = parts.iter();
    if let Some(part) = all.find(|part| matches!(part.kind(), Kind::Array | Kind::Object)) {
        return Err(illegal(part));
    }
    let mut buffer = call.buffer();
    for part in parts.iter() {
        let part = match part.as_set() {
            Some(set) => {
                let mut members = set.iter_unordered();
                match (members.next(), members.next()) {
                    (Some(only), None) => only,
                    (None, _) => {
                        push(call, &mut buffer, UNDEFINED.as_bytes())?;
                        continue;
                    }
                    _ => {
                        return Err(BuiltinError::halt(
                            EvalErrorCode::Conflict,
                            "template-strings must not produce multiple outputs",
                        ));
                    }
                }
            }
            None => part,
        };
        match (part, part.string_bytes()) {
            (ValueRef(RefRepr::Int(i)), _) => {
                push(call, &mut buffer, itoa::Buffer::new().format(i).as_bytes())?;
            }
            (_, Some(text)) => push(call, &mut buffer, text)?,
            _ => Writer::new(call, &mut buffer).value(part)?,
        }
    }
    Ok(call.text(buffer))
}

fn illegal(part: ValueRef<'_>) -> BuiltinError {
    BuiltinError::halt(
        EvalErrorCode::Internal,
        format!("illegal argument type: {}", part.kind()),
    )
}

/// Returns the texts of an argument: one for each member of a set, or one for any other value.
fn alternatives(
    call: &BuiltinContext<'_>,
    part: ValueRef<'_>,
) -> Result<Vec<String>, BuiltinError> {
    match part.kind() {
        Kind::Set => match Members::from_value(part) {
            Some(members) if !members.is_empty() => {
                members.iter().map(|member| show(call, member)).collect()
            }
            _ => Ok(vec![UNDEFINED.to_owned()]),
        },
        Kind::Array | Kind::Object => Err(illegal(part)),
        _ => Ok(vec![show(call, part)?]),
    }
}

/// Formats a value: strings verbatim, all others as Rego.
fn show(call: &BuiltinContext<'_>, value: ValueRef<'_>) -> Result<String, BuiltinError> {
    match value.as_text() {
        Some(text) => Ok(text.to_str().into_owned()),
        None => call.display_text(value),
    }
}

/// Calls `each` with the Cartesian product of the texts, with the last part changing fastest.
fn combine(
    call: &mut BuiltinContext<'_>,
    operands: &[Vec<String>],
    each: impl Fn(&[&str]),
) -> Result<(), BuiltinError> {
    let mut choice = vec![0; operands.len()];
    loop {
        call.budget.step()?;
        let line: Vec<&str> = operands
            .iter()
            .zip(&choice)
            .filter_map(|(part, index)| part.get(*index).map(String::as_str))
            .collect();
        each(&line);
        let next = choice
            .iter_mut()
            .zip(operands)
            .rev()
            .find_map(|(index, part)| {
                *index = if *index + 1 < part.len() {
                    *index + 1
                } else {
                    0
                };
                (*index > 0).then_some(())
            });
        if next.is_none() {
            return Ok(());
        }
    }
}

fn trace<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    operands.text(0)?;
    Ok(ValueRef(RefRepr::Bool(true)))
}
