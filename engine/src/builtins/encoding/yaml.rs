//! Built-ins that write, read and check YAML texts.

use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{RefRepr, ValueRef, yaml};

pub fn marshal<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut text = String::new();
    let limit = call.budget.remaining_memory();
    let goes_on = || call.budget.check().is_ok();
    if let Err(error) = yaml::write_while(operands.operand(0), limit, &goes_on, &mut text) {
        call.budget.check()?;
        return Err(if error.is_too_long() {
            BuiltinError::memory()
        } else {
            BuiltinError::error(error.to_string())
        });
    }
    call.budget.reserve(text.len())?;
    Ok(call.arena.text(&text))
}

pub fn unmarshal<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.spend_len(text.as_bytes().len())?;
    call.budget.reserve(text.as_bytes().len())?;
    let value =
        yaml::read(text.as_bytes()).map_err(|error| BuiltinError::error(error.to_string()))?;
    Ok(call.arena.copy_of(&value))
}

pub fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let valid = operands
        .operand(0)
        .as_text()
        .is_some_and(|text| yaml::read(text.as_bytes()).is_ok());
    Ok(ValueRef(RefRepr::Bool(valid)))
}
