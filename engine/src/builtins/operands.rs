//! Operands: reading them, and saying what they should have been.

use super::builtin_error::{BuiltinError, BuiltinErrorDetail};
use crate::bug::bug;
use crate::value::array::{ArrayIter, ArrayView};
use crate::value::set::SetIter;
use crate::value::{Kind, Number, ObjectView, SetView, TextView, ValueRef};

/// The integer that a number is written as: `1` and, up to 18 digits, `1.0`, but neither `1e0` nor what is too
/// large.
pub fn plain_int(number: Number<'_>) -> Option<i64> {
    const DIGITS: u8 = 18;
    match number {
        Number::Int(i) => Some(i),
        Number::Decimal(scale, coefficient) => {
            let short = coefficient.unsigned_abs() < 10_u64.pow(DIGITS.into()) && scale < DIGITS;
            number.to_i64().filter(|_| short)
        }
        Number::Text(text) => {
            let digits = text.strip_prefix("-0")?;
            let zeros = digits.strip_prefix('.').unwrap_or(digits);
            let zero = zeros.len() < DIGITS.into() && zeros.bytes().all(|b| b == b'0');
            zero.then_some(0)
        }
    }
}

fn not_integer(position: u8) -> BuiltinError {
    BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
        position: position + 1,
        want: &["integer number"],
        got: "floating-point number".into(),
    }))
}

/// Reads an operand, or says what it should have been.
pub trait Operands<'e> {
    /// The operand at a position counted from 0; `null` when it is missing, which the compiler rules out.
    fn operand(&self, position: u8) -> ValueRef<'e>;
    /// A string.
    fn text(&self, position: u8) -> Result<TextView<'e>, BuiltinError>;
    /// A number.
    fn number(&self, position: u8) -> Result<Number<'e>, BuiltinError>;
    /// An integer that fits 64 bits, see [`plain_int`].
    fn int(&self, position: u8) -> Result<i64, BuiltinError>;
    /// An integer of any size, however it is written.
    fn integer(&self, position: u8) -> Result<Number<'e>, BuiltinError>;
    /// An array.
    fn array(&self, position: u8) -> Result<ArrayView<'e>, BuiltinError>;
    /// An object.
    fn object(&self, position: u8) -> Result<ObjectView<'e>, BuiltinError>;
    /// A set.
    fn set(&self, position: u8) -> Result<SetView<'e>, BuiltinError>;
    /// An array or a set; `want` is the order in which the message names the kinds.
    fn members(
        &self,
        position: u8,
        want: &'static [&'static str],
    ) -> Result<Members<'e>, BuiltinError>;
}

/// The elements of an array or the members of a set.
#[derive(Clone, Copy)]
pub enum Members<'e> {
    /// Of an array.
    Array(ArrayView<'e>),
    /// Of a set.
    Set(SetView<'e>),
}

impl<'e> Members<'e> {
    /// Those of an array or a set.
    pub fn from_value(value: ValueRef<'e>) -> Option<Self> {
        match value.as_array() {
            Some(array) => Some(Self::Array(array)),
            None => value.as_set().map(Self::Set),
        }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Set(set) => set.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The kind of the collection.
    pub fn kind(self) -> Kind {
        match self {
            Self::Array(_) => Kind::Array,
            Self::Set(_) => Kind::Set,
        }
    }

    /// In the order of the array or the set.
    pub fn iter(self) -> MembersIter<'e> {
        match self {
            Self::Array(array) => MembersIter::Array(array.iter()),
            Self::Set(set) => MembersIter::Set(set.iter()),
        }
    }

    /// In any order, for work whose result does not depend on it.
    pub fn iter_unordered(self) -> ArrayIter<'e> {
        match self {
            Self::Array(array) => array.iter(),
            Self::Set(set) => set.iter_unordered(),
        }
    }

    /// Whether one equals `value`.
    pub fn contains(self, value: ValueRef<'_>) -> bool {
        match self {
            Self::Array(array) => array.iter().any(|element| element == value),
            Self::Set(set) => set.contains(value),
        }
    }

    /// All as strings; `position` is the operand's, from 0.
    pub fn texts(self, position: u8) -> impl Iterator<Item = Result<TextView<'e>, BuiltinError>> {
        self.iter().map(move |member| {
            member.as_text().ok_or_else(|| {
                BuiltinError::element(position + 1, self.kind(), &["string"], member)
            })
        })
    }
}

/// Goes through [`Members`].
#[derive(Clone)]
pub enum MembersIter<'e> {
    /// Of an array.
    Array(ArrayIter<'e>),
    /// Of a set.
    Set(SetIter<'e>),
}

impl<'e> Iterator for MembersIter<'e> {
    type Item = ValueRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'e>> {
        match self {
            Self::Array(items) => items.next(),
            Self::Set(items) => items.next(),
        }
    }
}

/// An operand where it lies: it was just written in parts, and is slow to move as a whole.
#[inline]
fn operand_ref<'v, 'e>(operands: &'v [ValueRef<'e>], position: u8) -> &'v ValueRef<'e> {
    operands
        .get(usize::from(position))
        .unwrap_or_else(|| no_operand())
}

/// What is read in place of an operand that is missing.
#[cold]
#[inline(never)]
fn no_operand() -> &'static ValueRef<'static> {
    bug!("a call with too few operands")
}

impl<'e> Operands<'e> for [ValueRef<'e>] {
    #[inline]
    fn operand(&self, position: u8) -> ValueRef<'e> {
        *operand_ref(self, position)
    }

    #[inline]
    fn text(&self, position: u8) -> Result<TextView<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        operand
            .as_text()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["string"], *operand))
    }

    #[inline]
    fn number(&self, position: u8) -> Result<Number<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        operand
            .as_number()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["number"], *operand))
    }

    fn int(&self, position: u8) -> Result<i64, BuiltinError> {
        let number = self.number(position)?;
        plain_int(number).ok_or_else(|| not_integer(position))
    }

    fn integer(&self, position: u8) -> Result<Number<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        let number = operand
            .as_number()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["integer"], *operand))?;
        if number.is_integer() {
            Ok(number)
        } else {
            Err(not_integer(position))
        }
    }

    #[inline]
    fn array(&self, position: u8) -> Result<ArrayView<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        operand
            .as_array()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["array"], *operand))
    }

    #[inline]
    fn object(&self, position: u8) -> Result<ObjectView<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        operand
            .as_object()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["object"], *operand))
    }

    #[inline]
    fn set(&self, position: u8) -> Result<SetView<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        operand
            .as_set()
            .ok_or_else(|| BuiltinError::operand(position + 1, &["set"], *operand))
    }

    #[inline]
    fn members(
        &self,
        position: u8,
        want: &'static [&'static str],
    ) -> Result<Members<'e>, BuiltinError> {
        let operand = operand_ref(self, position);
        Members::from_value(*operand)
            .ok_or_else(|| BuiltinError::operand(position + 1, want, *operand))
    }
}
