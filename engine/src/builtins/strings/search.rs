//! Where strings occur in others.

use memchr::memmem;

use crate::builtins::{Call, Fault, Operands, occurrences, runes};
use crate::value::V;
use crate::value::text::lossy;

pub fn contains<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    Ok(V::Bool(
        memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
    ))
}

pub fn count<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    call.budget.spend_len(text.as_bytes().len() / 64)?;
    let found = if part.as_bytes().is_empty() {
        runes::count(text.as_bytes()) + 1
    } else {
        memmem::find_iter(text.as_bytes(), part.as_bytes()).count()
    };
    Ok(integer(found))
}

pub fn indexof<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    // characters are compared, so a byte that belongs to none equals U+FFFD
    let (text, part) = (text.to_str(), part.to_str());
    if part.is_empty() {
        return Err(Fault::error("empty search character"));
    }
    let at = memmem::find(text.as_bytes(), part.as_bytes());
    Ok(at
        .and_then(|at| text.get(..at))
        .map_or(V::Int(-1), |before| integer(before.chars().count())))
}

pub fn indexof_n<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    let (text, part) = (text.to_str(), part.to_str());
    if part.is_empty() {
        return Err(Fault::error("empty search character"));
    }
    call.budget.spend_len(text.len())?;
    call.budget.reserve(part.len().saturating_mul(8))?;
    let mut found = call.arena.list();
    let (mut counted, mut characters) = (0, 0);
    occurrences::each(text.as_bytes(), part.as_bytes(), |at| {
        characters += text.get(counted..at).map_or(0, |s| s.chars().count());
        counted = at;
        found.push(integer(characters));
        true
    });
    Ok(call.arena.array_of(found.into_bump_slice()))
}

pub fn substring<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.text(0)?;
    let start = operands.int(1)?;
    let length = operands.int(2)?;
    let Ok(start) = usize::try_from(start) else {
        return Err(Fault::error("negative offset"));
    };
    let length = usize::try_from(length).ok();
    let bytes = text.as_bytes();
    if start == 0 && length.is_some_and(|length| length >= bytes.len()) {
        return Ok(operands.at(0));
    }
    let from = runes::offset(bytes, start);
    let rest = bytes.get(from..).unwrap_or_default();
    let to = from + length.map_or(rest.len(), |length| runes::offset(rest, length));
    if text.as_utf8().is_some() {
        return Ok(call.part(text, from..to));
    }
    let part = lossy(bytes.get(from..to).unwrap_or_default());
    Ok(call.arena.text(&part))
}

/// A length as a value.
fn integer<'e>(length: usize) -> V<'e> {
    V::Int(i64::try_from(length).unwrap_or(i64::MAX))
}
