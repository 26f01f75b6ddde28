//! Searches for substrings: `contains`, `strings.count`, `indexof`.

use std::sync::Arc;

use memchr::memmem;

use crate::bug::Within;
use crate::builtins::tested::tested;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared, occurrences, runes};
use crate::value::text::lossy;
use crate::value::{RefRepr, ValueRef};

pub fn contains<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    Ok(ValueRef(RefRepr::Bool(
        memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
    )))
}

/// Prepares a constant needle of `contains`. Returns `None` if it is not a constant string.
pub fn prepare_contains(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let needle = operands.get(1).copied()??.as_text()?;
    let finder = memmem::Finder::new(needle.as_bytes()).into_owned();
    Some(tested(0, move |text| {
        finder.find(text.as_bytes()).is_some()
    }))
}

/// `strings.count`: the number of occurrences that do not overlap; of an empty part, the number of characters plus one.
pub fn count<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    call.budget.spend_len(text.as_bytes().len() / 64)?;
    let occurrences = if part.as_bytes().is_empty() {
        runes::count(text.as_bytes()) + 1
    } else {
        memmem::find_iter(text.as_bytes(), part.as_bytes()).count()
    };
    Ok(integer(occurrences))
}

pub fn indexof<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    // characters are compared, so an invalid byte equals U+FFFD
    let (text, part) = (text.to_str(), part.to_str());
    if part.is_empty() {
        return Err(BuiltinError::error("empty search character"));
    }
    Ok(position(
        &text,
        memmem::find(text.as_bytes(), part.as_bytes()),
    ))
}

/// Returns the number of characters before a byte position.
fn position<'e>(text: &str, offset: Option<usize>) -> ValueRef<'e> {
    offset
        .and_then(|offset| text.get(..offset))
        .map_or(ValueRef(RefRepr::Int(-1)), |before| {
            integer(runes::count(before.as_bytes()))
        })
}

/// `indexof` with a constant needle.
struct IndexOf(memmem::Finder<'static>);

impl Prepared for IndexOf {
    fn call<'e>(
        &self,
        _: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let text = operands.text(0)?;
        let text = text.to_str();
        Ok(position(&text, self.0.find(text.as_bytes())))
    }
}

/// Prepares a constant needle of `indexof`. Returns `None` if it is not a constant string.
pub fn prepare_indexof(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let needle = operands.get(1).copied()??.as_text()?;
    let needle = needle.to_str();
    // the call rejects an empty needle
    let finder = (!needle.is_empty()).then(|| memmem::Finder::new(needle.as_bytes()).into_owned());
    Some(Arc::new(IndexOf(finder?)))
}

pub fn indexof_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, part) = (operands.text(0)?, operands.text(1)?);
    let (text, part) = (text.to_str(), part.to_str());
    if part.is_empty() {
        return Err(BuiltinError::error("empty search character"));
    }
    call.budget.spend_len(text.len())?;
    call.budget.reserve(part.len().saturating_mul(8))?;
    let mut positions = call.arena.list();
    let (mut counted_to, mut characters) = (0, 0);
    occurrences::each(text.as_bytes(), part.as_bytes(), |offset| {
        characters += text.within(counted_to..offset).chars().count();
        counted_to = offset;
        positions.push(integer(characters));
        true
    });
    Ok(call.arena.array_of(positions.into_bump_slice()))
}

pub fn substring<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let start = operands.int(1)?;
    let length = operands.int(2)?;
    let Ok(start) = usize::try_from(start) else {
        return Err(BuiltinError::error("negative offset"));
    };
    let length = usize::try_from(length).ok();
    let bytes = text.as_bytes();
    if let Some(end) = length.and_then(|length| start.checked_add(length))
        && bytes.get(..end).is_some_and(<[u8]>::is_ascii)
    {
        return Ok(call.part(text, start..end));
    }
    if start == 0 && length.is_some_and(|length| length >= bytes.len()) {
        return Ok(operands.operand(0));
    }
    let from = runes::offset(bytes, start);
    let rest = bytes.within(from..);
    let to = from + length.map_or(rest.len(), |length| runes::offset(rest, length));
    if text.as_utf8().is_some() {
        return Ok(call.part(text, from..to));
    }
    let part = lossy(bytes.within(from..to));
    Ok(call.arena.text(&part))
}

fn integer<'e>(length: usize) -> ValueRef<'e> {
    ValueRef(RefRepr::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}
