//! Hexadecimal digits.

use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::ValueRef;

/// Implements `hex.encode`: returns the hexadecimal digits, in lower case, of the bytes of a string.
///
/// # Errors
/// Fails if the operand is not a string, or the result exceeds the memory budget.
pub fn encode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len().saturating_mul(2))?;
    Ok(written(call, bytes))
}

/// Encodes bytes in hexadecimal digits.
pub fn written<'e>(call: &BuiltinContext<'e>, bytes: &[u8]) -> ValueRef<'e> {
    // the offset of a letter is 39 more than that of a digit; without a table the loop is vectorized
    let digit = |four: u8| four + b'0' + 39 * u8::from(four > 9);
    let length = bytes.len().saturating_mul(2);
    let text = call.arena.bump().alloc_slice_fill_copy(length, 0);
    for (byte, digits) in bytes.iter().zip(text.as_chunks_mut().0) {
        *digits = [digit(byte >> 4), digit(byte & 15)];
    }
    call.arena.borrowed_bytes(text)
}

pub fn decode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len())?;
    let decoded = call.arena.bump().alloc_slice_fill_copy(bytes.len() / 2, 0);
    if hex::decode_to_slice(bytes, decoded).is_ok() {
        return Ok(call.arena.borrowed_bytes(decoded));
    }
    Err(BuiltinError::error(
        match bytes.iter().find(|byte| !byte.is_ascii_hexdigit()) {
            Some(byte) => format!("encoding/hex: invalid byte: {}", rune(*byte)),
            None => "encoding/hex: odd length hex string".to_owned(),
        },
    ))
}

/// Formats a byte as code point: `U+0067 'g'`, without the character if it is not printable.
fn rune(byte: u8) -> String {
    let visible = byte.is_ascii_graphic() || byte == b' ' || (byte > 0xa0 && byte != 0xad);
    if visible {
        format!("U+{byte:04X} '{}'", char::from(byte))
    } else {
        format!("U+{byte:04X}")
    }
}
