//! Built-ins that write, read and check JSON texts.

use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::json::{self, JsonLayout, Style, TooLong};
use crate::value::{RefRepr, TextView, TextViewRepr, ValueRef};

/// Initial capacity in bytes, enough for most texts.
const ROOM: usize = 256;

pub fn marshal<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    json_text(call, operands.operand(0), Vec::with_capacity(ROOM), None)
}

/// Appends the JSON text of a value to a buffer.
fn json_text<'e>(
    call: &BuiltinContext<'e>,
    value: ValueRef<'_>,
    mut text: Vec<u8>,
    layout: Option<JsonLayout<'_>>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let style = Style { html: true, layout };
    let goes_on = || call.budget.check().is_ok();
    let limit = call.budget.remaining_memory();
    if let Err(TooLong) = json::write_while(value, style, limit, &goes_on, &mut text) {
        call.budget.check()?;
        return Err(BuiltinError::memory());
    }
    call.budget.reserve(text.len())?;
    Ok(call.arena.bytes_text(&text))
}

pub fn marshal_with_options<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (mut pretty, mut explicit_pretty) = (false, None);
    let (mut indent, mut prefix) = ("\t".to_owned(), String::new());
    for (index, (key, value)) in operands.object(1)?.iter().enumerate() {
        let mismatch =
            |value: ValueRef<'_>| format!("operand 0 must be string but got {}", value.kind());
        let Some(name) = key.as_text() else {
            return Err(BuiltinError::type_error(format!(
                "operand 2 failed to stringify key {key} at index {index}: {}",
                mismatch(key),
                key = key.rego_text()
            )));
        };
        let text = || match value.as_text() {
            Some(text) => Ok(text.to_str().into_owned()),
            None => Err(BuiltinError::type_error(format!(
                "operand 2 key {key} failed cast to string: {}",
                mismatch(value),
                key = key.rego_text()
            ))),
        };
        match name.as_bytes() {
            b"indent" => (pretty, indent) = (true, text()?),
            b"prefix" => (pretty, prefix) = (true, text()?),
            b"pretty" => match value {
                ValueRef(RefRepr::Bool(is_pretty)) => explicit_pretty = Some(is_pretty),
                _ => {
                    return Err(BuiltinError::type_error(format!(
                        "operand 2 key {key} failed cast to bool",
                        key = key.rego_text()
                    )));
                }
            },
            _ => {
                return Err(BuiltinError::type_error(format!(
                    "operand 2 object contained unknown key {key}",
                    key = key.rego_text()
                )));
            }
        }
    }
    if !explicit_pretty.unwrap_or(pretty) {
        return marshal(call, operands);
    }
    let text = prefix.clone().into_bytes();
    let layout = JsonLayout {
        prefix: &prefix,
        indent: &indent,
    };
    json_text(call, operands.operand(0), text, Some(layout))
}

/// Implements `json.unmarshal`: parses a JSON text. O(n) in its length, which counts against the budgets of steps and memory.
///
/// # Errors
/// Fails if the operand is not a string, the text is not JSON, or a budget is exceeded.
pub fn unmarshal<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.spend_len(text.as_bytes().len() / 16)?;
    call.budget.reserve(text.as_bytes().len())?;
    let text: &'e [u8] = match text {
        // a short string is stored in the operand itself, so it is copied to where the result can refer to it
        TextView(TextViewRepr::Short(text)) => call.arena.bump().alloc_slice_copy(text.as_bytes()),
        TextView(TextViewRepr::Utf8(text)) => text.as_bytes(),
        TextView(TextViewRepr::Bytes(bytes)) => bytes,
    };
    json::unmarshal(call.arena, text).map_err(BuiltinError::error)
}

pub fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let valid = operands
        .operand(0)
        .as_text()
        .is_some_and(|text| json::is_valid(text.as_bytes()));
    Ok(ValueRef(RefRepr::Bool(valid)))
}
