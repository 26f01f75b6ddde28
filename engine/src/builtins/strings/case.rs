//! Case and reversal.

use crate::builtins::{Call, Fault, Operands, runes};
use crate::value::V;

pub fn lower<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    map(call, operands, u8::to_ascii_lowercase, simple_lower)
}

pub fn upper<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    map(call, operands, u8::to_ascii_uppercase, simple_upper)
}

fn map<'e>(
    call: &mut Call<'e>,
    operands: &[V<'e>],
    ascii: fn(&u8) -> u8,
    simple: fn(char) -> char,
) -> Result<V<'e>, Fault> {
    let operand = operands.at(0);
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    if bytes.is_ascii() {
        if bytes.iter().all(|byte| ascii(byte) == *byte) {
            return Ok(operand);
        }
        call.budget.reserve(bytes.len())?;
        let mut buffer = call.buffer();
        buffer.extend(bytes.iter().map(ascii));
        return Ok(call.text(buffer));
    }
    call.budget.reserve(2 * bytes.len())?;
    let mut mapped = bumpalo::collections::String::with_capacity_in(bytes.len(), call.arena.bump());
    mapped.extend(text.to_str().chars().map(simple));
    Ok(call.text(mapped.into_bytes()))
}

/// The simple mapping: always one character. Where the full mapping has more, the simple one is itself, but
/// for the dotted I.
pub fn simple_lower(c: char) -> char {
    if c == 'İ' {
        return 'i';
    }
    let mut full = c.to_lowercase();
    match (full.next(), full.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// The simple mapping: always one character. Where the full mapping has more, the simple one is itself, but
/// for Greek letters with an iota below, which have a title case of their own.
fn simple_upper(c: char) -> char {
    let title = match c {
        'ᾀ'..='ᾇ' | 'ᾐ'..='ᾗ' | 'ᾠ'..='ᾧ' => u32::from(c) + 8,
        'ᾳ' | 'ῃ' | 'ῳ' => u32::from(c) + 9,
        _ => {
            let mut full = c.to_uppercase();
            return match (full.next(), full.next()) {
                (Some(one), None) => one,
                _ => c,
            };
        }
    };
    char::from_u32(title).unwrap_or(c)
}

pub fn reverse<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
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
