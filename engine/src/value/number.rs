//! Numbers: exact integers, everything else as text until arithmetic touches it.

use std::cmp::Ordering;
use std::hash::Hasher;

/// A valid JSON number text behind a thin pointer.
#[derive(Clone, Debug)]
pub struct NumberText(pub Box<str>);

/// A number, wherever it is held.
#[derive(Clone, Copy, Debug)]
pub enum Number<'e> {
    /// An integer that fits.
    Int(i64),
    /// `coefficient / 10^scale`, scale at least 1, as written.
    Decimal(u8, i64),
    /// Any other text.
    Text(&'e str),
}

/// A number that a computation or a reader made; always in the smallest form that keeps the text.
#[derive(Clone, Debug)]
pub enum NumberBuf {
    /// An integer that fits.
    Int(i64),
    /// `coefficient / 10^scale`, scale at least 1.
    Decimal(u8, i64),
    /// Any other text.
    Text(String),
}

impl Number<'_> {
    /// Orders by value.
    pub fn compare(self, other: Number<'_>) -> Ordering {
        match (self, other) {
            (Self::Int(a), Number::Int(b)) => a.cmp(&b),
            _ => Ordering::Equal,
        }
    }

    /// Feeds a hash that is the same for equal numbers.
    pub fn hash_into<H: Hasher>(self, state: &mut H) {
        if let Self::Int(i) = self {
            state.write_i64(i);
        }
    }

    /// The number as an array index: an integer from 0 on.
    pub fn as_index(self) -> Option<usize> {
        match self {
            Self::Int(i) => usize::try_from(i).ok(),
            _ => None,
        }
    }
}
