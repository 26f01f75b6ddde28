//! The query part of URLs.

use crate::builtins::call::Buffer;
use crate::builtins::operands::Members;
use crate::builtins::{BuiltinContext, Fault, Operands};
use crate::impossible::impossible;
use crate::value::{ObjectBuilder, ObjectView, V};

pub fn encode<'e>(call: &mut BuiltinContext<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let mut buffer = call.buffer();
    escape(call, &mut buffer, text.as_bytes())?;
    Ok(call.text(buffer))
}

fn escape(call: &BuiltinContext<'_>, buffer: &mut Buffer<'_>, bytes: &[u8]) -> Result<(), Fault> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    call.budget.reserve(bytes.len().saturating_mul(3))?;
    let digit = |at: u8| {
        HEX.get(usize::from(at))
            .copied()
            .unwrap_or_else(|| impossible("a digit of more than four bits"))
    };
    for byte in bytes {
        match byte {
            b'-' | b'_' | b'.' | b'~' => buffer.push(*byte),
            b' ' => buffer.push(b'+'),
            byte if byte.is_ascii_alphanumeric() => buffer.push(*byte),
            byte => buffer.extend([b'%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    Ok(())
}

pub fn decode<'e>(call: &mut BuiltinContext<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    unescape(call, text.as_bytes())
}

fn unescape<'e>(call: &BuiltinContext<'e>, bytes: &[u8]) -> Result<V<'e>, Fault> {
    call.budget.reserve(bytes.len())?;
    if memchr::memchr2(b'+', b'%', bytes).is_none() {
        return Ok(call.arena.bytes_text(bytes));
    }
    let mut buffer = call.buffer();
    let mut rest = bytes;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'+' => buffer.push(b' '),
            b'%' => {
                let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
                let Some((high, low)) = digit(0).zip(digit(1)) else {
                    let escape = after.get(..2).unwrap_or(after);
                    let escape = V::to_string(&call.arena.bytes_text(&[b"%", escape].concat()));
                    return Err(Fault::error(format!("invalid URL escape {escape}")));
                };
                buffer.extend(u8::try_from(high * 16 + low));
                rest = after.get(2..).unwrap_or_default();
            }
            byte => buffer.push(*byte),
        }
    }
    Ok(call.text(buffer))
}

pub fn encode_object<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[V<'e>],
) -> Result<V<'e>, Fault> {
    let refuse =
        || Fault::type_error("operand 1 values must be string, array[string], or set[string]");
    let mut pairs: Vec<(Vec<u8>, Vec<V<'e>>)> = Vec::new();
    for (key, value) in operands.object(0)?.iter() {
        let key = match key.as_text() {
            Some(key) => key.as_bytes().to_vec(),
            None => key.to_string().into_bytes(),
        };
        let values = match Members::of(value) {
            Some(members) => members.iter().collect(),
            None => vec![value],
        };
        if values.iter().any(|value| value.as_text().is_none()) {
            return Err(refuse());
        }
        pairs.push((key, values));
    }
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    let mut buffer = call.buffer();
    for (key, values) in &pairs {
        call.budget.spend_len(values.len())?;
        for value in values {
            if !buffer.is_empty() {
                buffer.push(b'&');
            }
            escape(call, &mut buffer, key)?;
            buffer.push(b'=');
            let value = value.as_text().ok_or_else(refuse)?;
            escape(call, &mut buffer, value.as_bytes())?;
        }
    }
    Ok(call.text(buffer))
}

pub fn decode_object<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[V<'e>],
) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let mut keys = ObjectBuilder::new(call.arena);
    let mut values: Vec<Vec<V<'e>>> = Vec::new();
    // the first broken escape, unless there is a semicolon somewhere
    let mut problem = None;
    for part in text.as_bytes().split(|byte| *byte == b'&') {
        call.budget.step()?;
        if part.is_empty() {
            continue;
        }
        if part.contains(&b';') {
            problem = Some(Fault::error("invalid semicolon separator in query"));
            continue;
        }
        let (key, value) = match memchr::memchr(b'=', part) {
            Some(at) => part.split_at(at),
            None => (part, &[][..]),
        };
        let value = value.get(1..).unwrap_or_default();
        match unescape(call, key).and_then(|key| Ok((key, unescape(call, value)?))) {
            Ok((key, value)) => {
                let at = keys.get(key).and_then(|value| value.as_number());
                let held = at.and_then(|at| values.get_mut(at.as_index()?));
                if let Some(held) = held {
                    held.push(value);
                } else {
                    keys.put(key, call.arena.number(values.len().into()));
                    values.push(vec![value]);
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
    Ok(call.arena.object_from(pairs.map(|(key, at)| {
        let held = at.as_number().and_then(|at| values.get(at.as_index()?));
        (key, call.arena.array(held.map_or(&[], Vec::as_slice)))
    })))
}
