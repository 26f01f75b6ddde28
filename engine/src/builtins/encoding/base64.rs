//! Base64. As in Go, line breaks are ignored and unused bits of the last character are not checked.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};

use crate::bug::{Within, bug};
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{RefRepr, ValueRef};

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::RequireCanonical);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const PLAIN: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    CONFIG.with_decode_padding_mode(DecodePaddingMode::RequireNone),
);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

pub fn encode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    encode_by(call, operands, &STANDARD)
}

pub fn url_encode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    encode_by(call, operands, &URL_SAFE)
}

pub fn url_encode_no_pad<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    encode_by(call, operands, &general_purpose::URL_SAFE_NO_PAD)
}

fn encode_by<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    engine: &GeneralPurpose,
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let text = text.as_bytes();
    call.budget.reserve(text.len().saturating_mul(2))?;
    let length = base64::encoded_len(text.len(), true).ok_or_else(BuiltinError::memory)?;
    let room = call.arena.bump().alloc_slice_fill_copy(length, 0);
    let length_written = engine
        .encode_slice(text, room)
        .unwrap_or_else(|_| bug!("text in base64 is longer than it was said to be"));
    let encoded = room.within(..length_written);
    Ok(call.arena.borrowed_bytes(encoded))
}

pub fn decode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.reserve(text.as_bytes().len())?;
    let text = text.as_bytes();
    let arena = call.arena;
    let room = arena
        .bump()
        .alloc_slice_fill_copy(text.len().div_ceil(4) * 3, 0);
    if let Ok(length) = STANDARD.decode_slice(text, room) {
        return Ok(arena.borrowed_bytes(room.within(..length)));
    }
    let bytes = standard(text).map_err(BuiltinError::error)?;
    Ok(arena.bytes_text(&bytes))
}

/// Decodes text in the standard alphabet. The error is the message.
pub fn standard(text: &[u8]) -> Result<Vec<u8>, String> {
    decode_by(text, &STANDARD, *b"+/").map_err(illegal)
}

pub fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let valid = operands
        .operand(0)
        .as_text()
        .is_some_and(|text| decode_by(text.as_bytes(), &STANDARD, *b"+/").is_ok());
    Ok(ValueRef(RefRepr::Bool(valid)))
}

pub fn url_decode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let reserved = text.as_bytes().len().saturating_mul(2);
    call.budget.reserve(reserved)?;
    let bytes = url_safe_in(call, text.as_bytes()).map_err(BuiltinError::error)?;
    Ok(call.arena.borrowed_bytes(bytes))
}

/// Decodes like [`url_safe`], into the arena, with a fast path for text without padding.
pub fn url_safe_in<'e>(call: &BuiltinContext<'e>, text: &[u8]) -> Result<&'e [u8], String> {
    let arena = call.arena.bump();
    if !text.ends_with(b"=") {
        let room = arena.alloc_slice_fill_copy(text.len().div_ceil(4) * 3, 0);
        if let Ok(length) = PLAIN.decode_slice(text, room) {
            return Ok(room.within(..length));
        }
    }
    url_safe(text).map(|bytes| &*arena.alloc_slice_copy(&bytes))
}

/// Decodes text in the URL-safe alphabet, with or without padding. The error is the message.
pub fn url_safe(text: &[u8]) -> Result<Vec<u8>, String> {
    let missing = match text.len() % 4 {
        _ if text.ends_with(b"=") => 0,
        2 => 2,
        3 => 1,
        0 => 0,
        _ => {
            let text = String::from_utf8_lossy(text);
            return Err(format!("illegal base64url string: {text}"));
        }
    };
    let mut padded = Vec::with_capacity(text.len() + missing);
    padded.extend(text);
    padded.resize(text.len() + missing, b'=');
    decode_by(&padded, &URL_SAFE, *b"-_").map_err(illegal)
}

fn illegal(offset: usize) -> String {
    format!("illegal base64 data at input byte {offset}")
}

/// Decodes text. The error is the position of the first invalid byte. Valid text takes a fast path; the slow path
/// ignores line breaks and tracks positions.
fn decode_by(text: &[u8], engine: &GeneralPurpose, special: [u8; 2]) -> Result<Vec<u8>, usize> {
    engine
        .decode(text)
        .or_else(|_| decode_slowly(text, special))
}

fn decode_slowly(text: &[u8], [c62, c63]: [u8; 2]) -> Result<Vec<u8>, usize> {
    let line_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut input = text
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, byte)| !line_break(byte));
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut digits_held) = (0_u32, 0);
    let padded_at = loop {
        let Some((offset, byte)) = input.next() else {
            // Go reports the start of the last group of four characters, line breaks not counted
            return if digits_held == 0 {
                Ok(out)
            } else {
                Err(text.len() - digits_held)
            };
        };
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ if byte == c62 => 62,
            _ if byte == c63 => 63,
            b'=' => break offset,
            _ => return Err(offset),
        };
        bits = bits << 6 | u32::from(six);
        digits_held += 1;
        if digits_held == 4 {
            let [_, group @ ..] = bits.to_be_bytes();
            out.extend(group);
            (bits, digits_held) = (0, 0);
        }
    };
    match digits_held {
        2 => {
            match input.next() {
                None => return Err(text.len()),
                Some((_, b'=')) => {}
                Some((offset, _)) => return Err(offset - 1),
            }
            let [.., byte] = (bits >> 4).to_be_bytes();
            out.push(byte);
        }
        3 => {
            let [.., first, second] = (bits >> 2).to_be_bytes();
            out.extend([first, second]);
        }
        _ => return Err(padded_at),
    }
    input.next().map_or(Ok(out), |(offset, _)| Err(offset))
}
