//! Hexadecimal digits.

use crate::builtins::{Call, Fault, Operands};
use crate::value::V;

pub fn encode<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    call.budget
        .reserve(text.as_bytes().len().saturating_mul(2))?;
    Ok(call.arena.text(&hex::encode(text.as_bytes())))
}

pub fn decode<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let bytes = text.as_bytes();
    call.budget.reserve(bytes.len())?;
    if let Ok(decoded) = hex::decode(bytes) {
        return Ok(call.arena.bytes_text(&decoded));
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
