//! Splitting and joining.

use memchr::memmem;

use crate::bug::bug;
use crate::builtins::buffer::Buffer;
use crate::builtins::{BuiltinContext, BuiltinError, Members, Operands, runes};
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::{TextView, Value, ValueRef};

/// Length up to which checking each byte is cheaper than setting up a search for each segment, and counting the
/// segments first.
const SHORT: usize = 64;

/// Number of segments that most short strings have at most.
const FEW: usize = 8;

pub fn split<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, delimiter) = (operands.text(0)?, operands.text(1)?);
    let parts = split_segments(call, text, delimiter)?;
    Ok(call.arena.array_of(parts))
}

pub fn split_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, delimiter) = (operands.text(0)?, operands.text(1)?);
    let limit = operands.int(2)?;
    let parts = split_segments(call, text, delimiter)?;
    let count = usize::try_from(limit.unsigned_abs()).unwrap_or(usize::MAX);
    let count = count.min(parts.len());
    let parts_in_limit = if limit < 0 {
        parts.get(parts.len() - count..)
    } else {
        parts.get(..count)
    };
    Ok(call.arena.array_of(
        parts_in_limit.unwrap_or_else(|| bug!("there are fewer parts than were counted")),
    ))
}

fn split_segments<'e>(
    call: &mut BuiltinContext<'e>,
    text: TextView<'e>,
    delimiter: TextView<'e>,
) -> Result<&'e [ValueRef<'e>], BuiltinError> {
    let (bytes, delimiter) = (text.as_bytes(), delimiter.as_bytes());
    call.budget.spend_len(bytes.len() / 16)?;
    let mut parts = call.arena.list();
    let mut start = 0;
    if delimiter.is_empty() {
        call.budget
            .reserve(bytes.len().saturating_mul(size_of::<ValueRef<'_>>()))?;
        for (_, width) in runes::all(bytes) {
            call.push_part(&mut parts, text, start..start + width);
            start += width;
        }
        return Ok(parts.into_bump_slice());
    }
    if let [byte] = *delimiter {
        parts.reserve_exact(FEW);
        let mut take = |end: usize| {
            call.push_part(&mut parts, text, start..end);
            start = end + 1;
        };
        if bytes.len() <= SHORT {
            let ends = bytes.iter().enumerate().filter(|(_, b)| **b == byte);
            ends.for_each(|(end, _)| take(end));
        } else {
            let delimiters = memchr::memchr_iter(byte, bytes).count();
            call.budget
                .reserve(delimiters.saturating_mul(size_of::<ValueRef<'_>>()))?;
            memchr::memchr_iter(byte, bytes).for_each(&mut take);
        }
        take(bytes.len());
        return Ok(parts.into_bump_slice());
    }
    for offset in memmem::find_iter(bytes, delimiter) {
        if parts.len() == parts.capacity() {
            let room = parts.len().saturating_mul(2 * size_of::<ValueRef<'_>>());
            call.budget.reserve(room)?;
        }
        call.push_part(&mut parts, text, start..offset);
        start = offset + delimiter.len();
    }
    call.push_part(&mut parts, text, start..bytes.len());
    Ok(parts.into_bump_slice())
}

pub fn concat<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let delimiter = operands.text(0)?;
    let members = operands.members(1, &["set", "array"])?;
    call.budget.spend_len(members.len())?;
    let delimiter = delimiter.as_bytes();
    let result = match members {
        Members::Array(ArrayView(ArrayViewRepr::Arena(items))) => {
            join(call, delimiter, items.iter().map(ValueRef::string_bytes))
        }
        Members::Array(ArrayView(ArrayViewRepr::Stored(items))) => {
            join(call, delimiter, items.iter().map(Value::string_bytes))
        }
        Members::Set(set) => {
            let mut items = call.arena.list();
            items.extend(set.iter());
            join(call, delimiter, items.iter().map(ValueRef::string_bytes))
        }
    };
    if let Some(text) = result? {
        return Ok(text);
    }
    let error = members.texts(1).find_map(Result::err);
    Err(error.unwrap_or(BuiltinError::Undefined))
}

/// Joins strings with a delimiter. Returns `None` if one is not a string.
fn join<'e, 'a>(
    call: &BuiltinContext<'e>,
    delimiter: &[u8],
    parts: impl Iterator<Item = Option<&'a [u8]>> + Clone,
) -> Result<Option<ValueRef<'e>>, BuiltinError> {
    let mut length = 0_usize;
    for part in parts.clone() {
        let Some(part) = part else { return Ok(None) };
        length = length.saturating_add(part.len() + delimiter.len());
    }
    call.budget.reserve(length)?;
    let mut buffer = Buffer::with_capacity_in(length, call.arena.bump());
    let mut parts = parts.flatten();
    buffer.extend_from_slice_copy(parts.next().unwrap_or_default());
    for part in parts {
        buffer.extend_from_slice_copy(delimiter);
        buffer.extend_from_slice_copy(part);
    }
    Ok(Some(call.text(buffer)))
}
