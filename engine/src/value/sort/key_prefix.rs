//! Marks: the first bytes of strings, and numbers as integers of one width.

use super::Sortable;
use crate::value::text::{head, head_from};

/// What tells nearly all values apart, above the position of its own one: marks sort as their values do as far as they
/// go, and equal ones stay in the order they are in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPrefix(u128);

impl KeyPrefix {
    const POSITION_BITS: u32 = 32;

    #[inline]
    fn new(head: u128, at: u32) -> Self {
        Self(head << Self::POSITION_BITS | u128::from(at))
    }

    /// Of bytes of a string from a position on.
    #[inline]
    pub fn of_text(bytes: &[u8], from: usize, at: u32) -> Self {
        Self::new(head_from(bytes, from) >> Self::POSITION_BITS, at)
    }

    /// Of a number times a power of ten that makes it an integer, if that is not too large.
    #[inline]
    fn of_number(number: i128, at: u32) -> Option<Self> {
        const HALF: i128 = 1 << (u128::BITS - KeyPrefix::POSITION_BITS - 1);
        let head = u128::try_from(number + HALF).ok()?;
        (number < HALF).then(|| Self::new(head, at))
    }

    /// The position of its value.
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

/// Marks of values, when all are strings or all are numbers; and of strings, where the marked part begins.
pub fn key_prefixes<T: Sortable>(values: &[T]) -> Option<(Vec<KeyPrefix>, usize)> {
    let first = values.first()?;
    if first.number().is_some() {
        return Some((number_prefixes(values)?, 0));
    }
    let mut prefixes = Vec::with_capacity(values.len());
    // what the first and the last one begin with the others mostly do
    let (first, last) = (first.text()?, values.last()?.text()?);
    let begin = CommonPrefix::new(first.get(..common(first, last)).unwrap_or_default());
    let from = begin.bytes.len();
    for (value, at) in values.iter().zip(0..) {
        let text = value.text()?;
        if !begin.matches(text) {
            return prefixes_from(values, shared(values.iter().map_while(T::text)));
        }
        prefixes.push(KeyPrefix::of_text(text, from, at));
    }
    Some((prefixes, from))
}

/// Marks of numbers, on the scale of the one with the most places behind its point.
fn number_prefixes<T: Sortable>(values: &[T]) -> Option<Vec<KeyPrefix>> {
    let mut scale = 0;
    for value in values {
        scale = scale.max(value.number()?.scale()?);
    }
    let mut prefixes = Vec::with_capacity(values.len());
    for (value, at) in values.iter().zip(0..) {
        prefixes.push(KeyPrefix::of_number(value.number()?.on_scale(scale)?, at)?);
    }
    Some(prefixes)
}

/// Marks of strings from a byte on.
#[cold]
fn prefixes_from<T: Sortable>(values: &[T], from: usize) -> Option<(Vec<KeyPrefix>, usize)> {
    let prefixes = values.iter().zip(0..);
    let prefixes = prefixes.map(|(value, at)| Some(KeyPrefix::of_text(value.text()?, from, at)));
    Some((prefixes.collect::<Option<_>>()?, from))
}

/// What texts may begin with.
struct CommonPrefix<'t> {
    bytes: &'t [u8],
    head: u128,
    /// Bits of a head that lie behind it.
    others: u32,
}

impl<'t> CommonPrefix<'t> {
    const HEAD: usize = 16;

    fn new(bytes: &'t [u8]) -> Self {
        let others = 8 * Self::HEAD.saturating_sub(bytes.len());
        Self {
            bytes,
            head: head(bytes),
            others: u32::try_from(others).unwrap_or(0),
        }
    }

    /// Whether a text begins so.
    #[inline]
    fn matches(&self, text: &[u8]) -> bool {
        let differs = (head(text) ^ self.head).checked_shr(self.others);
        let is_long = self.bytes.len() > Self::HEAD;
        differs.unwrap_or(0) == 0
            && text.len() >= self.bytes.len()
            && (!is_long || text.starts_with(self.bytes))
    }
}

/// How many bytes all texts begin with: they tell nothing.
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

/// How many bytes two texts begin with in common.
pub fn common(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| one == other).count()
}
