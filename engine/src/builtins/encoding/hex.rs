//! Hexadecimal digits.

use crate::builtins::{Call, Fault, Operands};
use crate::value::V;

pub fn encode<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len().saturating_mul(2))?;
    Ok(written(call, bytes))
}

/// Bytes in hexadecimal digits.
pub fn written<'e>(call: &Call<'e>, bytes: &[u8]) -> V<'e> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |at: u8| char::from(DIGITS.get(usize::from(at)).copied().unwrap_or(b'0'));
    let length = bytes.len().saturating_mul(2);
    let mut text = bumpalo::collections::String::with_capacity_in(length, call.arena.bump());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    call.arena.borrowed_text(text.into_bump_str())
}

pub fn decode<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len())?;
    let decoded = call.arena.bump().alloc_slice_fill_copy(bytes.len() / 2, 0);
    if hex::decode_to_slice(bytes, decoded).is_ok() {
        return Ok(call.arena.borrowed_bytes(decoded));
    }
    Err(Fault::error(
        match bytes.iter().find(|byte| !byte.is_ascii_hexdigit()) {
            Some(byte) => format!("encoding/hex: invalid byte: {}", rune(*byte)),
            None => "encoding/hex: odd length hex string".to_owned(),
        },
    ))
}

/// A byte as the character of that number: `U+0067 'g'`, without the character when it cannot be seen.
fn rune(byte: u8) -> String {
    let visible = byte.is_ascii_graphic() || byte == b' ' || (byte > 0xa0 && byte != 0xad);
    if visible {
        format!("U+{byte:04X} '{}'", char::from(byte))
    } else {
        format!("U+{byte:04X}")
    }
}
