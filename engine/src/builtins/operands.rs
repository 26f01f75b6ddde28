//! Typed access to operands, with type errors.

use super::builtin_error::{BuiltinError, BuiltinErrorDetail};
use crate::bug::bug;
use crate::value::array::{ArrayIter, ArrayView};
use crate::value::set::SetIter;
use crate::value::{Kind, Number, ObjectView, SetView, TextView, ValueRef};

/// Returns the integer that a number is spelled as: `1` and, up to 18 digits, `1.0`. Returns `None` for `1e0` and for
/// numbers beyond 64 bits.
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

/// Typed access to operands. The errors are OPA's type errors.
pub trait Operands<'e> {
    /// Returns the operand at an index from 0. The compiler guarantees the number of operands.
    fn operand(&self, position: u8) -> ValueRef<'e>;
    /// Returns a string operand, or a type error. Like all positions, `position` counts from 0.
    fn text(&self, position: u8) -> Result<TextView<'e>, BuiltinError>;
    /// Returns a number operand, or a type error.
    fn number(&self, position: u8) -> Result<Number<'e>, BuiltinError>;
    /// Returns an integer operand that fits 64 bits, see [`plain_int`].
    fn int(&self, position: u8) -> Result<i64, BuiltinError>;
    /// Returns an integer operand of any size and spelling.
    fn integer(&self, position: u8) -> Result<Number<'e>, BuiltinError>;
    /// Returns an array operand, or a type error.
    fn array(&self, position: u8) -> Result<ArrayView<'e>, BuiltinError>;
    /// Returns an object operand, or a type error.
    fn object(&self, position: u8) -> Result<ObjectView<'e>, BuiltinError>;
    /// Returns a set operand, or a type error.
    fn set(&self, position: u8) -> Result<SetView<'e>, BuiltinError>;
    /// Returns an array or set operand. `want` is the order of the kinds in the message.
    fn members(
        &self,
        position: u8,
        want: &'static [&'static str],
    ) -> Result<Members<'e>, BuiltinError>;
}

/// The elements of an array or the members of a set.
#[derive(Clone, Copy)]
pub enum Members<'e> {
    /// Array.
    Array(ArrayView<'e>),
    /// Set.
    Set(SetView<'e>),
}

impl<'e> Members<'e> {
    /// Returns the members of an array or a set, or `None` for other values.
    pub fn from_value(value: ValueRef<'e>) -> Option<Self> {
        match value.as_array() {
            Some(array) => Some(Self::Array(array)),
            None => value.as_set().map(Self::Set),
        }
    }

    /// Returns the number of members. O(1).
    pub fn len(self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Set(set) => set.len(),
        }
    }

    /// Returns `true` for empty collections.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the kind of the collection.
    pub fn kind(self) -> Kind {
        match self {
            Self::Array(_) => Kind::Array,
            Self::Set(_) => Kind::Set,
        }
    }

    /// Iterates in the order of the array or the set.
    pub fn iter(self) -> MembersIter<'e> {
        match self {
            Self::Array(array) => MembersIter::Array(array.iter()),
            Self::Set(set) => MembersIter::Set(set.iter()),
        }
    }

    /// Iterates in any order, for results that do not depend on it.
    pub fn iter_unordered(self) -> ArrayIter<'e> {
        match self {
            Self::Array(array) => array.iter(),
            Self::Set(set) => set.iter_unordered(),
        }
    }

    /// Returns `true` if a member equals `value`. O(n) for arrays.
    pub fn contains(self, value: ValueRef<'_>) -> bool {
        match self {
            Self::Array(array) => array.iter().any(|element| element == value),
            Self::Set(set) => set.contains(value),
        }
    }

    /// Iterates over the members as strings. `position` is the index of the operand, for the error.
    pub fn texts(self, position: u8) -> impl Iterator<Item = Result<TextView<'e>, BuiltinError>> {
        self.iter().map(move |member| {
            member.as_text().ok_or_else(|| {
                BuiltinError::element(position + 1, self.kind(), &["string"], member)
            })
        })
    }
}

/// Iterator over [`Members`], in their order.
#[derive(Clone)]
pub enum MembersIter<'e> {
    /// Array.
    Array(ArrayIter<'e>),
    /// Set.
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

/// Returns an operand by reference: copying it right after its fields were stored would stall store forwarding.
#[inline]
fn operand_ref<'v, 'e>(operands: &'v [ValueRef<'e>], position: u8) -> &'v ValueRef<'e> {
    operands
        .get(usize::from(position))
        .unwrap_or_else(|| no_operand())
}

/// Fails for a missing operand.
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
