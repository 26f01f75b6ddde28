//! Query strings of URLs.

use smallvec::{SmallVec, smallvec};

use crate::bug::{Within, bug};
use crate::builtins::buffer::Buffer;
use crate::builtins::operands::Members;
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::uri::hex;
use crate::value::{ObjectBuilder, ObjectView, ValueRef};

pub fn encode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let mut buffer = call.buffer();
    escape(call, &mut buffer, text.as_bytes())?;
    Ok(call.text(buffer))
}

#[derive(Clone, Copy)]
struct EncodedByte {
    bytes: [u8; 3],
    length: u8,
}

impl EncodedByte {
    const fn new(byte: u8) -> Self {
        const fn digit(half: u8) -> u8 {
            if half < 10 {
                b'0' + half
            } else {
                b'A' + half - 10
            }
        }
        let (bytes, length) = match byte {
            b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                ([byte, 0, 0], 1)
            }
            b' ' => ([b'+', 0, 0], 1),
            _ => ([b'%', digit(byte >> 4), digit(byte & 15)], 3),
        };
        Self { bytes, length }
    }
}

/// Encodings of all bytes, indexed by byte.
#[expect(
    clippy::indexing_slicing,
    reason = "a place beyond the end would not compile"
)]
static WRITTEN: [EncodedByte; 256] = {
    let mut table = [EncodedByte::new(0); 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let encoded = EncodedByte::new(byte as u8);
        table[byte] = encoded;
        byte += 1;
    }
    table
};

/// Encodes bytes. Branch-free: writes three bytes for each, and advances by the length of the encoding.
fn escape(
    call: &BuiltinContext<'_>,
    buffer: &mut Buffer<'_>,
    bytes: &[u8],
) -> Result<(), BuiltinError> {
    let room = bytes.len().saturating_mul(3);
    call.budget.reserve(room)?;
    let mut end = buffer.len();
    buffer.resize(end + room, 0);
    for byte in bytes {
        let target = buffer.get_mut(end..).and_then(<[u8]>::first_chunk_mut);
        let (Some(target), Some(encoded)) = (target, WRITTEN.get(usize::from(*byte))) else {
            bug!("an escaped byte is longer than three");
        };
        *target = encoded.bytes;
        end += usize::from(encoded.length);
    }
    buffer.truncate(end);
    Ok(())
}

pub fn decode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    unescape(call, text.as_bytes())
}

fn unescape<'e>(call: &BuiltinContext<'e>, bytes: &[u8]) -> Result<ValueRef<'e>, BuiltinError> {
    call.budget.reserve(bytes.len())?;
    if memchr::memchr2(b'+', b'%', bytes).is_none() {
        return Ok(call.arena.bytes_text(bytes));
    }
    let room = call.arena.bump().alloc_slice_fill_copy(bytes.len(), 0);
    let (mut target_bytes, mut rest) = (room.iter_mut(), bytes);
    while let [byte, after @ ..] = rest {
        let (byte, after) = match (byte, after) {
            (b'+', _) => (b' ', after),
            (b'%', [high, low, after @ ..]) => match hex(*high).zip(hex(*low)) {
                Some((high, low)) => (high << 4 | low, after),
                None => return Err(invalid_escape(call, rest)),
            },
            (b'%', _) => return Err(invalid_escape(call, rest)),
            (byte, after) => (*byte, after),
        };
        if let Some(target) = target_bytes.next() {
            *target = byte;
        }
        rest = after;
    }
    let length = bytes.len() - target_bytes.len();
    Ok(call.arena.borrowed_bytes(room.within(..length)))
}

#[cold]
fn invalid_escape(call: &BuiltinContext<'_>, rest: &[u8]) -> BuiltinError {
    let escape = call.arena.bytes_text(rest.get(..3).unwrap_or(rest));
    BuiltinError::error(format!(
        "invalid URL escape {escape}",
        escape = escape.rego_text()
    ))
}

pub fn encode_object<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let reject = || {
        BuiltinError::type_error("operand 1 values must be string, array[string], or set[string]")
    };
    let mut pairs: Vec<(Vec<u8>, Vec<ValueRef<'e>>)> = Vec::new();
    for (key, value) in operands.object(0)?.iter() {
        let key = match key.as_text() {
            Some(key) => key.as_bytes().to_vec(),
            None => key.rego_text().to_string().into_bytes(),
        };
        let values = match Members::from_value(value) {
            Some(members) => members.iter().collect(),
            None => vec![value],
        };
        if values.iter().any(|value| value.as_text().is_none()) {
            return Err(reject());
        }
        pairs.push((key, values));
    }
    // Of keys with equal texts the last one wins.
    pairs.reverse();
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs.dedup_by(|earlier, last| earlier.0 == last.0);
    let mut buffer = call.buffer();
    for (key, values) in &pairs {
        call.budget.spend_len(values.len())?;
        for value in values {
            if !buffer.is_empty() {
                buffer.push(b'&');
            }
            escape(call, &mut buffer, key)?;
            buffer.push(b'=');
            let value = value.as_text().ok_or_else(reject)?;
            escape(call, &mut buffer, value.as_bytes())?;
        }
    }
    Ok(call.text(buffer))
}

pub fn decode_object<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let mut keys = ObjectBuilder::new(call.arena);
    let mut values: Vec<SmallVec<[ValueRef<'e>; 1]>> = Vec::new();
    // The first invalid escape, unless there is a semicolon in the text.
    let mut problem = None;
    for part in text.as_bytes().split(|byte| *byte == b'&') {
        call.budget.step()?;
        if part.is_empty() {
            continue;
        }
        if part.contains(&b';') {
            problem = Some(BuiltinError::error("invalid semicolon separator in query"));
            continue;
        }
        let (key, value) = match memchr::memchr(b'=', part) {
            Some(position) => part.split_at(position),
            None => (part, &[][..]),
        };
        let value = value.get(1..).unwrap_or_default();
        match unescape(call, key).and_then(|key| Ok((key, unescape(call, value)?))) {
            Ok((key, value)) => {
                let index = keys.get(key).and_then(|value| value.as_number());
                let values_of_key = index.and_then(|index| values.get_mut(index.as_index()?));
                if let Some(values_of_key) = values_of_key {
                    values_of_key.push(value);
                } else {
                    keys.put(key, call.arena.number(values.len().into()));
                    values.push(smallvec![value]);
                }
            }
            Err(escape) => drop(problem.get_or_insert(escape)),
        }
    }
    if let Some(problem) = problem {
        return Err(problem);
    }
    let keys = keys.finish();
    let pairs = keys.as_object().into_iter().flat_map(ObjectView::iter);
    Ok(call.arena.object_from(pairs.map(|(key, index)| {
        let values_of_key = index
            .as_number()
            .and_then(|index| values.get(index.as_index()?));
        (
            key,
            call.arena
                .array(values_of_key.map_or(&[], SmallVec::as_slice)),
        )
    })))
}
