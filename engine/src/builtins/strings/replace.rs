//! Replacement of substrings.

use memchr::memmem;
use smallvec::SmallVec;

use crate::bug::Within;
use crate::builtins::buffer::push;
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::index::Indexed as _;
use crate::value::{TextView, ValueRef};

pub fn replace<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, old, new) = (operands.text(0)?, operands.text(1)?, operands.text(2)?);
    if old.as_bytes().is_empty() {
        return replace_all(call, text, &[(old, new)]);
    }
    let (bytes, old, new) = (text.as_bytes(), old.as_bytes(), new.as_bytes());
    call.budget.spend_len(bytes.len() / 64)?;
    if let ([old], [new]) = (old, new) {
        return replace_byte(call, operands.operand(0), bytes, [*old, *new]);
    }
    let mut occurrences = memmem::find_iter(bytes, old).peekable();
    if occurrences.peek().is_none() {
        return Ok(operands.operand(0));
    }
    let mut buffer = call.buffer();
    let mut replaced_to = 0;
    for start in occurrences {
        push(call, &mut buffer, bytes.within(replaced_to..start))?;
        push(call, &mut buffer, new)?;
        replaced_to = start + old.len();
    }
    push(call, &mut buffer, bytes.within(replaced_to..))?;
    Ok(call.text(buffer))
}

/// Replaces one byte by another, which keeps the length.
fn replace_byte<'e>(
    call: &BuiltinContext<'e>,
    text: ValueRef<'e>,
    bytes: &[u8],
    [old, new]: [u8; 2],
) -> Result<ValueRef<'e>, BuiltinError> {
    if memchr::memchr(old, bytes).is_none() {
        return Ok(text);
    }
    call.budget.reserve(bytes.len())?;
    let copy = call.arena.bump().alloc_slice_copy(bytes);
    for byte in copy.iter_mut() {
        *byte = if *byte == old { new } else { *byte };
    }
    Ok(call.arena.borrowed_bytes(copy))
}

pub fn replace_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let patterns = operands.object(0)?;
    let text = operands.text(1)?;
    let mut pairs: SmallVec<[_; 8]> = SmallVec::with_capacity(patterns.len());
    for (old, new) in patterns.iter() {
        let reject = |kind| {
            BuiltinError::type_error(format!(
                "operand 1 non-string {kind} found in pattern object"
            ))
        };
        let old = old.as_text().ok_or_else(|| reject("key"))?;
        let new = new.as_text().ok_or_else(|| reject("value"))?;
        pairs.push((old, new));
    }
    replace_all(call, text, &pairs)
}

/// Replaces several pairs in one pass, from left to right. If several match, the first pair counts. An empty pattern
/// matches before every byte and at the end, once at each position.
fn replace_all<'e>(
    call: &mut BuiltinContext<'e>,
    text: TextView<'e>,
    pairs: &[(TextView<'e>, TextView<'e>)],
) -> Result<ValueRef<'e>, BuiltinError> {
    let empty = pairs.iter().position(|(old, _)| old.as_bytes().is_empty());
    let firsts = Firsts::from_pairs(pairs);
    let bytes = text.as_bytes();
    call.budget.spend_len(bytes.len() / 16)?;
    let mut buffer = call.buffer();
    let (mut position, mut replaced_to, mut after_empty, mut is_changed) = (0, 0, false, false);
    while position <= bytes.len() {
        let rest = bytes.within(position..);
        let bucket = rest.first().map_or(&[][..], |first| firsts.of_byte(*first));
        call.budget.spend_len(bucket.len())?;
        let non_empty = bucket.iter().map(|(_, index)| *index).find(|index| {
            pairs
                .get(*index)
                .is_some_and(|(old, _)| rest.starts_with(old.as_bytes()))
        });
        let pair_index = match empty {
            Some(empty) if !after_empty => Some(non_empty.map_or(empty, |index| index.min(empty))),
            _ => non_empty,
        };
        let Some((old, new)) = pair_index.and_then(|index| pairs.get(index)) else {
            after_empty = false;
            position += 1;
            continue;
        };
        push(call, &mut buffer, bytes.within(replaced_to..position))?;
        push(call, &mut buffer, new.as_bytes())?;
        is_changed = true;
        after_empty = old.as_bytes().is_empty();
        position += old.as_bytes().len();
        replaced_to = position;
    }
    if !is_changed {
        return Ok(call.part(text, 0..bytes.len()));
    }
    push(call, &mut buffer, bytes.within(replaced_to..))?;
    Ok(call.text(buffer))
}

/// Index of pairs by the first byte of the pattern, so that most positions of a text need no comparison.
struct Firsts {
    /// Set of the first bytes.
    bits: [u64; 4],
    /// First bytes and indexes of pairs, sorted.
    order: SmallVec<[(u8, usize); 8]>,
}

impl Firsts {
    /// Builds the index. Pairs with an empty pattern are not in it.
    fn from_pairs(pairs: &[(TextView<'_>, TextView<'_>)]) -> Self {
        let first = |(index, (old, _)): (usize, &(TextView<'_>, TextView<'_>))| {
            Some((*old.as_bytes().first()?, index))
        };
        let mut order: SmallVec<[_; 8]> = pairs.iter().enumerate().filter_map(first).collect();
        order.sort_unstable();
        let mut bits = [0_u64; 4];
        for (byte, _) in &order {
            *bits.item_mut(byte >> 6) |= 1 << (byte & 63);
        }
        Self { bits, order }
    }

    /// Returns the pairs whose pattern starts with a byte.
    #[inline]
    fn of_byte(&self, byte: u8) -> &[(u8, usize)] {
        let bits = self.bits.get(usize::from(byte >> 6));
        if bits.is_none_or(|bits| bits >> (byte & 63) & 1 == 0) {
            return &[];
        }
        let start = self.order.partition_point(|(first, _)| *first < byte);
        let from = self.order.get(start..).unwrap_or_default();
        let len = from.iter().take_while(|(first, _)| *first == byte).count();
        from.get(..len).unwrap_or_default()
    }
}
