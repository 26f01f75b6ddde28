//! `lower`, `upper` and `strings.reverse`, by character.

use crate::builtins::{BuiltinContext, BuiltinError, Operands, runes};
use crate::value::{RefRepr, TextView, TextViewRepr, ValueRef};

pub fn lower<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    if let TextView(TextViewRepr::Short(text)) = text
        && let Some(lower) = text.short().ascii_mapped(|byte| byte.to_ascii_lowercase())
    {
        return Ok(ValueRef(RefRepr::Short(lower)));
    }
    if !text.as_bytes().is_ascii() {
        return mapped(call, text, simple_lower);
    }
    if !text.as_bytes().iter().any(u8::is_ascii_uppercase) {
        return Ok(operands.operand(0));
    }
    let copy = copy(call, text.as_bytes())?;
    copy.make_ascii_lowercase();
    Ok(call.arena.borrowed_bytes(copy))
}

pub fn upper<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    if let TextView(TextViewRepr::Short(text)) = text
        && let Some(upper) = text.short().ascii_mapped(|byte| byte.to_ascii_uppercase())
    {
        return Ok(ValueRef(RefRepr::Short(upper)));
    }
    if !text.as_bytes().is_ascii() {
        return mapped(call, text, simple_upper);
    }
    if !text.as_bytes().iter().any(u8::is_ascii_lowercase) {
        return Ok(operands.operand(0));
    }
    let copy = copy(call, text.as_bytes())?;
    copy.make_ascii_uppercase();
    Ok(call.arena.borrowed_bytes(copy))
}

fn copy<'e>(call: &BuiltinContext<'e>, bytes: &[u8]) -> Result<&'e mut [u8], BuiltinError> {
    call.budget.reserve(bytes.len())?;
    Ok(call.arena.bump().alloc_slice_copy(bytes))
}

fn mapped<'e>(
    call: &BuiltinContext<'e>,
    text: TextView<'e>,
    simple: fn(char) -> char,
) -> Result<ValueRef<'e>, BuiltinError> {
    let length = text.as_bytes().len();
    call.budget.reserve(2 * length)?;
    let mut mapped = bumpalo::collections::String::with_capacity_in(length, call.arena.bump());
    mapped.extend(text.to_str().chars().map(simple));
    Ok(call.text(mapped.into_bytes()))
}

/// Simple lower-case mapping: always one character. If the full mapping has more, the simple one is the identity,
/// except for the dotted I.
pub fn simple_lower(c: char) -> char {
    if c == 'İ' {
        return 'i';
    }
    let mut full = c.to_lowercase();
    match (full.next(), full.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

/// Simple upper-case mapping: always one character. If the full mapping has more, the simple one is the identity,
/// except for Greek letters with iota subscript, which have a title case of their own.
pub fn simple_upper(c: char) -> char {
    let title = match c {
        'ᾀ'..='ᾇ' | 'ᾐ'..='ᾗ' | 'ᾠ'..='ᾧ' => u32::from(c) + 8,
        'ᾳ' | 'ῃ' | 'ῳ' => u32::from(c) + 9,
        _ => {
            let mut full = c.to_uppercase();
            return match (full.next(), full.next()) {
                (Some(single), None) => single,
                _ => c,
            };
        }
    };
    char::from_u32(title).unwrap_or(c)
}

pub fn reverse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len())?;
    let mut buffer = call.buffer();
    buffer.reserve_exact(bytes.len());
    let mut rest = bytes;
    while let Some((_, width)) = runes::last(rest) {
        let (head, tail) = rest.split_at(rest.len() - width);
        buffer.extend_from_slice(tail);
        rest = head;
    }
    Ok(call.text(buffer))
}
