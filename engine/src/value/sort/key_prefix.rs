//! Key prefixes: the first bytes of strings, or numbers as integers of one width.

use super::Sortable;
use crate::value::text::{head, head_from};

/// A prefix that distinguishes nearly all values, and below it the position of its value. Prefixes have the order of
/// their values as far as they go; values with equal prefixes keep their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPrefix(u128);

impl KeyPrefix {
    const POSITION_BITS: u32 = 32;

    #[inline]
    fn new(head: u128, position: u32) -> Self {
        Self(head << Self::POSITION_BITS | u128::from(position))
    }

    /// Creates the prefix of a string from a byte on, so that common prefixes can be skipped.
    #[inline]
    pub fn of_text(bytes: &[u8], from: usize, position: u32) -> Self {
        Self::new(head_from(bytes, from) >> Self::POSITION_BITS, position)
    }

    /// Creates the prefix of a number that is scaled to an integer, if it is not too large.
    #[inline]
    fn of_number(number: i128, position: u32) -> Option<Self> {
        const HALF: i128 = 1 << (u128::BITS - KeyPrefix::POSITION_BITS - 1);
        let head = u128::try_from(number + HALF).ok()?;
        (number < HALF).then(|| Self::new(head, position))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower part is wanted")]
    pub fn position(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub fn has_same_head(self, other: Self) -> bool {
        self.0 >> Self::POSITION_BITS == other.0 >> Self::POSITION_BITS
    }
}

/// Returns the prefixes of values, if all are strings or all are numbers, and the byte at which prefixes of strings
/// start.
pub fn key_prefixes<T: Sortable>(values: &[T]) -> Option<(Vec<KeyPrefix>, usize)> {
    let first = values.first()?;
    if first.number().is_some() {
        return Some((number_prefixes(values)?, 0));
    }
    let mut prefixes = Vec::with_capacity(values.len());
    // most values share the common prefix of the first and the last one
    let (first, last) = (first.text()?, values.last()?.text()?);
    let begin = CommonPrefix::new(first.get(..common(first, last)).unwrap_or_default());
    let from = begin.bytes.len();
    for (value, position) in values.iter().zip(0..) {
        let text = value.text()?;
        if !begin.matches(text) {
            return prefixes_from(values, shared(values.iter().map_while(T::text)));
        }
        prefixes.push(KeyPrefix::of_text(text, from, position));
    }
    Some((prefixes, from))
}

/// Returns the prefixes of numbers, scaled to the largest number of digits after the point.
fn number_prefixes<T: Sortable>(values: &[T]) -> Option<Vec<KeyPrefix>> {
    let mut scale = 0;
    for value in values {
        scale = scale.max(value.number()?.scale()?);
    }
    let mut prefixes = Vec::with_capacity(values.len());
    for (value, position) in values.iter().zip(0..) {
        prefixes.push(KeyPrefix::of_number(
            value.number()?.on_scale(scale)?,
            position,
        )?);
    }
    Some(prefixes)
}

/// Returns the prefixes of strings from a byte on.
#[cold]
fn prefixes_from<T: Sortable>(values: &[T], from: usize) -> Option<(Vec<KeyPrefix>, usize)> {
    let prefixes = values.iter().zip(0..);
    let prefixes =
        prefixes.map(|(value, position)| Some(KeyPrefix::of_text(value.text()?, from, position)));
    Some((prefixes.collect::<Option<_>>()?, from))
}

struct CommonPrefix<'t> {
    bytes: &'t [u8],
    head: u128,
    /// Number of bits of a head that are not part of the prefix.
    others: u32,
}

impl<'t> CommonPrefix<'t> {
    const HEAD: usize = 16;

    fn new(bytes: &'t [u8]) -> Self {
        let missing_bits = 8 * Self::HEAD.saturating_sub(bytes.len());
        Self {
            bytes,
            head: head(bytes),
            others: u32::try_from(missing_bits).unwrap_or(0),
        }
    }

    /// Returns `true` if a text has the prefix. Compares a word first.
    #[inline]
    fn matches(&self, text: &[u8]) -> bool {
        let differs = (head(text) ^ self.head).checked_shr(self.others);
        let is_long = self.bytes.len() > Self::HEAD;
        differs.unwrap_or(0) == 0
            && text.len() >= self.bytes.len()
            && (!is_long || text.starts_with(self.bytes))
    }
}

/// Returns the length of the common prefix of all texts, in bytes.
pub fn shared<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> usize {
    const HEAD: usize = 16;
    let first = texts.next().unwrap_or_default();
    let first_head = head(first);
    let mut shared = first.len();
    for text in texts {
        if shared == 0 {
            break;
        }
        let alike = ((head(text) ^ first_head).leading_zeros() / 8) as usize;
        let begin = first.get(..shared).unwrap_or_default();
        if alike < HEAD {
            shared = shared.min(alike);
        } else if shared > HEAD && !text.starts_with(begin) {
            shared = common(begin, text);
        }
        shared = shared.min(text.len());
    }
    shared
}

/// Returns the length of the common prefix of two texts, in bytes.
pub fn common(left: &[u8], right: &[u8]) -> usize {
    let pairs = left.iter().zip(right);
    pairs.take_while(|(left, right)| left == right).count()
}
