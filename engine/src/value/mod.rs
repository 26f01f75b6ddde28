//! Rego values: owned ones in stores, programs and results, and borrowed ones during an evaluation.
//!
//! [`Value`] is owned, 16 bytes, cheap to clone. [`ValueRef`] is the value that an evaluation computes with: 16 bytes,
//! `Copy`, never dropped. It borrows from owned values or from the evaluation's [`Arena`]. Both have the same order,
//! equality and hash. Strings of at most 14 bytes and most numbers need no allocation.

mod access;
pub mod arena;
pub mod array;
mod conversions;
pub mod display;
pub mod json;
#[cfg(test)]
mod laws;
pub mod number;
pub mod object;
pub mod order;
mod owned;
pub mod pointer;
pub mod prefix_hash;
pub mod search;
pub mod serde;
pub mod set;
#[cfg(test)]
mod small_stack;
pub mod sort;
mod stored_order;
pub mod text;
pub mod yaml;

use std::fmt;
use std::sync::Arc;

pub use arena::{
    Arena, ArenaArray, ArenaObject, ArenaSet, Ended, Excess, KeyPositions, ObjectBuilder, Overlaid,
    Put, SetBuilder,
};
pub use array::{ArrayView, Items};
pub use number::{Number, NumberBuf};
pub use object::{Object, ObjectView, Shape};
pub(crate) use set::SetViewRepr;
pub use set::{Set, SetView};
pub use text::{Bytes, SharedText, Short, TextView};
pub(crate) use {array::ArrayViewRepr, object::ObjectViewRepr, text::TextViewRepr};

/// An owned value: opaque, 16 bytes, cheap to clone.
///
/// Construct it with `From`, [`value!`](crate::value!), [`Value::string`], [`Value::number`], [`Value::array`], [`Value::object`] and
/// [`Value::set`]. Read it with [`Value::kind`] and the methods `as_…`.
///
/// ```
/// use solon::{Value, value};
///
/// let user = value!({"name": "alice", "roles": ["admin", "dev"]});
/// assert_eq!(user.get("name").and_then(Value::as_str), Some("alice"));
/// assert_eq!(user.pointer("/roles/1"), Some(&Value::from("dev")));
/// assert_eq!(Value::from(1), Value::from(1.0));
/// ```
#[derive(Clone, Default)]
pub struct Value(pub(crate) Repr);

#[derive(Clone, Default)]
pub(crate) enum Repr {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// `coefficient / 10^scale` with a scale of at least 1. Keeps `1.0` and `0.10` as written.
    Decimal(u8, i64),
    /// Any other number, as its text in shared memory.
    Number(Arc<number::NumberText>),
    /// A string of at most 14 bytes.
    Short(Short),
    /// A longer string of valid UTF-8.
    Text(SharedText),
    /// A longer string that is not valid UTF-8.
    Bytes(Bytes),
    Array(Items),
    Object(Object),
    Set(Arc<Set>),
}

/// A borrowed value: opaque, 16 bytes, `Copy`. Read it with [`ValueRef::kind`] and the methods `as_…`.
#[derive(Clone, Copy, Default)]
pub struct ValueRef<'e>(pub(crate) RefRepr<'e>);

/// Representation of [`ValueRef`]. The variants named `Arena…` are in the arena, the others in an owned value.
#[derive(Clone, Copy, Default)]
pub(crate) enum RefRepr<'e> {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Decimal(u8, i64),
    Number(&'e Arc<number::NumberText>),
    ArenaNumber(&'e &'e str),
    Short(Short),
    Text(&'e SharedText),
    Bytes(&'e Bytes),
    ArenaText(&'e text::ArenaText<'e>),
    Array(&'e Items),
    ArenaArray(&'e ArenaArray<'e>),
    Object(&'e Object),
    ArenaObject(&'e ArenaObject<'e>),
    Set(&'e Arc<Set>),
    ArenaSet(&'e ArenaSet<'e>),
}

const _: () = assert!(
    size_of::<Value>() == 16
        && size_of::<ValueRef<'static>>() == 16
        && size_of::<Option<ValueRef<'static>>>() == 16
);

/// The seven kinds, in Rego's sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// `array`
    Array,
    /// `object`
    Object,
    /// `set`
    Set,
}

impl Kind {
    /// Returns the name of the kind, as in `type_name` and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
            Self::Set => "set",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Value {
    /// `null`
    pub const NULL: Self = Self(Repr::Null);

    /// Returns the borrowed value.
    #[inline]
    pub fn borrow(&self) -> ValueRef<'_> {
        match self {
            Self(Repr::Null) => ValueRef(RefRepr::Null),
            Self(Repr::Bool(b)) => ValueRef(RefRepr::Bool(*b)),
            Self(Repr::Int(i)) => ValueRef(RefRepr::Int(*i)),
            Self(Repr::Decimal(scale, coefficient)) => {
                ValueRef(RefRepr::Decimal(*scale, *coefficient))
            }
            Self(Repr::Number(text)) => ValueRef(RefRepr::Number(text)),
            Self(Repr::Short(short)) => ValueRef(RefRepr::Short(*short)),
            Self(Repr::Text(text)) => ValueRef(RefRepr::Text(text)),
            Self(Repr::Bytes(bytes)) => ValueRef(RefRepr::Bytes(bytes)),
            Self(Repr::Array(array)) => ValueRef(RefRepr::Array(array)),
            Self(Repr::Object(object)) => ValueRef(RefRepr::Object(object)),
            Self(Repr::Set(set)) => ValueRef(RefRepr::Set(set)),
        }
    }

    /// Returns the kind. O(1).
    pub fn kind(&self) -> Kind {
        self.borrow().kind()
    }

    /// Creates a string. Short strings need no allocation.
    #[inline]
    pub fn string(text: &str) -> Self {
        match Short::new(text.as_bytes()) {
            Some(short) => Self(Repr::Short(short)),
            None => Self(Repr::Text(SharedText::new(text))),
        }
    }

    /// Creates a string of bytes, which are nearly always UTF-8.
    pub fn bytes(bytes: &[u8]) -> Self {
        if let Some(short) = Short::new(bytes) {
            return Self(Repr::Short(short));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self(Repr::Text(SharedText::new(text))),
            Err(_) => Self(Repr::Bytes(Bytes::new(bytes))),
        }
    }

    /// Creates a number. Only texts need an allocation.
    pub fn number(number: NumberBuf) -> Self {
        match number {
            NumberBuf::Int(i) => Self(Repr::Int(i)),
            NumberBuf::Decimal(scale, coefficient) => Self(Repr::Decimal(scale, coefficient)),
            NumberBuf::Text(text) => Self(Repr::Number(Arc::new(number::NumberText(
                text.into_boxed_str(),
            )))),
        }
    }

    /// Creates an array, which takes the elements.
    pub fn array(items: Vec<Self>) -> Self {
        Self(Repr::Array(Items::new(items)))
    }

    /// Creates an object. The last of pairs with equal keys wins.
    pub fn object(pairs: Vec<(Self, Self)>) -> Self {
        Self(Repr::Object(Object::from_pairs(pairs)))
    }

    /// Creates a set. The first of equal members is kept.
    pub fn set(items: Vec<Self>) -> Self {
        Self(Repr::Set(Arc::new(Set::from_items(items))))
    }

    /// Returns the value under a string key of an object, or `None` for missing keys and other values.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self(Repr::Object(object)) => object.get_str(key),
            _ => None,
        }
    }

    /// Returns the string, or `None` if it is not valid UTF-8 or the value is not a string.
    #[inline]
    pub fn utf8(&self) -> Option<&str> {
        match self {
            Self(Repr::Short(short)) => short.utf8(),
            Self(Repr::Text(text)) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the bytes of a string, which may be invalid UTF-8. Returns `None` for other values.
    #[inline]
    pub fn string_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self(Repr::Short(short)) => short.as_bytes(),
            Self(Repr::Text(text)) => text.as_bytes(),
            Self(Repr::Bytes(bytes)) => bytes.as_bytes(),
            _ => return None,
        })
    }

    /// Returns the object, or `None` for other values. O(1).
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self(Repr::Object(object)) => Some(object),
            _ => None,
        }
    }
}

impl<'e> ValueRef<'e> {
    /// Returns the kind. O(1).
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            Self(RefRepr::Null) => Kind::Null,
            Self(RefRepr::Bool(_)) => Kind::Boolean,
            Self(
                RefRepr::Int(_)
                | RefRepr::Decimal(..)
                | RefRepr::Number(_)
                | RefRepr::ArenaNumber(_),
            ) => Kind::Number,
            Self(
                RefRepr::Short(_) | RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_),
            ) => Kind::String,
            Self(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => Kind::Array,
            Self(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => Kind::Object,
            Self(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => Kind::Set,
        }
    }

    /// Returns `true` if an expression with this value succeeds: for every value except `false`.
    #[inline]
    pub fn is_truthy(self) -> bool {
        !matches!(self, Self(RefRepr::Bool(false)))
    }

    /// Returns the number, or `None` for other values.
    #[inline]
    pub fn as_number(&self) -> Option<Number<'e>> {
        Some(match self {
            Self(RefRepr::Int(i)) => Number::Int(*i),
            Self(RefRepr::Decimal(scale, coefficient)) => Number::Decimal(*scale, *coefficient),
            Self(RefRepr::Number(text)) => Number::Text(&text.0),
            Self(RefRepr::ArenaNumber(text)) => Number::Text(text),
            _ => return None,
        })
    }

    /// Returns the string, or `None` for other values.
    #[inline]
    pub fn as_text(&self) -> Option<TextView<'e>> {
        Some(match self {
            Self(RefRepr::Short(_)) => TextView(TextViewRepr::Short(text::BorrowedText(*self))),
            Self(RefRepr::Text(text)) => TextView(TextViewRepr::Utf8(text.as_str())),
            Self(RefRepr::Bytes(bytes)) => TextView(TextViewRepr::Bytes(bytes.as_bytes())),
            Self(RefRepr::ArenaText(text)) => text.view(),
            _ => return None,
        })
    }

    /// Returns the string, if it is valid UTF-8, without a copy.
    #[inline]
    pub fn utf8(&self) -> Option<&str> {
        match self {
            Self(RefRepr::Short(short)) => short.utf8(),
            Self(RefRepr::Text(text)) => Some(text.as_str()),
            Self(RefRepr::ArenaText(text::ArenaText::Utf8(text))) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes of a string, without a copy.
    #[inline]
    pub fn string_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self(RefRepr::Short(short)) => short.as_bytes(),
            Self(RefRepr::Text(text)) => text.as_bytes(),
            Self(RefRepr::Bytes(bytes)) => bytes.as_bytes(),
            Self(RefRepr::ArenaText(text)) => text.as_bytes(),
            _ => return None,
        })
    }

    /// Returns the array, or `None` for other values.
    #[inline]
    pub fn as_array(&self) -> Option<ArrayView<'e>> {
        Some(match self {
            Self(RefRepr::Array(items)) => ArrayView(ArrayViewRepr::Stored(items)),
            Self(RefRepr::ArenaArray(items)) => ArrayView(ArrayViewRepr::Arena(items)),
            _ => return None,
        })
    }

    /// Returns the object, or `None` for other values.
    #[inline]
    pub fn as_object(&self) -> Option<ObjectView<'e>> {
        Some(match self {
            Self(RefRepr::Object(object)) => ObjectView(ObjectViewRepr::Stored(object)),
            Self(RefRepr::ArenaObject(object)) => ObjectView(ObjectViewRepr::Arena(object)),
            _ => return None,
        })
    }

    /// Returns the set, or `None` for other values.
    #[inline]
    pub fn as_set(&self) -> Option<SetView<'e>> {
        Some(match self {
            Self(RefRepr::Set(set)) => SetView(SetViewRepr::Stored(set)),
            Self(RefRepr::ArenaSet(set)) => SetView(SetViewRepr::Arena(set)),
            _ => return None,
        })
    }

    /// Returns the value under `key`: an element, an object's value, or a set's member itself. `None` if it is
    /// undefined.
    #[inline]
    pub fn lookup(self, key: ValueRef<'e>) -> Option<ValueRef<'e>> {
        match self {
            Self(RefRepr::Object(object)) => object.get(key).map(Value::borrow),
            Self(RefRepr::ArenaObject(object)) => object.get(key),
            Self(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
                let index = key.as_number()?.as_index()?;
                self.as_array()?.get(index)
            }
            // returns the key, not the equal member, as OPA does
            Self(RefRepr::Set(set)) => set.contains(key).then_some(key),
            Self(RefRepr::ArenaSet(set)) => set.contains(key).then_some(key),
            _ => None,
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl std::hash::Hash for Value {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.borrow().hash(state);
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.borrow(), f)
    }
}

/// Writes compact JSON, like [`Value::to_json`].
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.borrow(), f)
    }
}
