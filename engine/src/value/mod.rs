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
pub mod number;
pub mod object;
pub mod order;
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

use solon_syntax::stack;

pub use arena::{
    Arena, ArenaArray, ArenaObject, ArenaSet, Ended, Excess, KeyPositions, ObjectBuilder, Overlaid,
    Put, SetBuilder,
};
pub use array::{ArrayView, Items};
pub use number::{Number, NumberBuf};
pub use object::{Object, ObjectView, Shape};
pub use set::{Set, SetView};
pub use text::{Bytes, SharedText, Short, TextView};

/// An owned value.
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
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// `coefficient / 10^scale` with a scale of at least 1. Keeps `1.0` and `0.10` as written.
    Decimal(u8, i64),
    /// Any other number, as its text.
    Number(Arc<number::NumberText>),
    /// A string of at most 14 bytes.
    Short(Short),
    /// A longer string.
    Text(SharedText),
    /// A longer string that is not valid UTF-8.
    Bytes(Bytes),
    /// An array.
    Array(Items),
    /// An object.
    Object(Object),
    /// A set.
    Set(Arc<Set>),
}

/// A borrowed value. The variants named `Arena…` are in the arena, the others in an owned value.
#[derive(Clone, Copy, Default)]
pub enum ValueRef<'e> {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// See [`Value::Int`].
    Int(i64),
    /// See [`Value::Decimal`].
    Decimal(u8, i64),
    /// See [`Value::Number`].
    Number(&'e Arc<number::NumberText>),
    /// The text of a number in the arena.
    ArenaNumber(&'e &'e str),
    /// See [`Value::Short`].
    Short(Short),
    /// See [`Value::Text`].
    Text(&'e SharedText),
    /// See [`Value::Bytes`].
    Bytes(&'e Bytes),
    /// A string in the arena.
    ArenaText(&'e text::ArenaText<'e>),
    /// See [`Value::Array`].
    Array(&'e Items),
    /// An array in the arena.
    ArenaArray(&'e ArenaArray<'e>),
    /// See [`Value::Object`].
    Object(&'e Object),
    /// An object in the arena.
    ArenaObject(&'e ArenaObject<'e>),
    /// See [`Value::Set`].
    Set(&'e Arc<Set>),
    /// A set in the arena.
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
    pub const NULL: Self = Self::Null;

    /// Returns the borrowed value.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a value in flight is written in parts; read back as a whole too early it stalls"
    )]
    pub fn borrow(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Bool(b) => ValueRef::Bool(*b),
            Self::Int(i) => ValueRef::Int(*i),
            Self::Decimal(scale, coefficient) => ValueRef::Decimal(*scale, *coefficient),
            Self::Number(text) => ValueRef::Number(text),
            Self::Short(short) => ValueRef::Short(*short),
            Self::Text(text) => ValueRef::Text(text),
            Self::Bytes(bytes) => ValueRef::Bytes(bytes),
            Self::Array(array) => ValueRef::Array(array),
            Self::Object(object) => ValueRef::Object(object),
            Self::Set(set) => ValueRef::Set(set),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.borrow().kind()
    }

    /// Creates a string.
    #[inline]
    pub fn string(text: &str) -> Self {
        match Short::new(text.as_bytes()) {
            Some(short) => Self::Short(short),
            None => Self::Text(SharedText::new(text)),
        }
    }

    /// Creates a string of bytes, which are nearly always UTF-8.
    pub fn bytes(bytes: &[u8]) -> Self {
        if let Some(short) = Short::new(bytes) {
            return Self::Short(short);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(SharedText::new(text)),
            Err(_) => Self::Bytes(Bytes::new(bytes)),
        }
    }

    /// Creates a number.
    pub fn number(number: NumberBuf) -> Self {
        match number {
            NumberBuf::Int(i) => Self::Int(i),
            NumberBuf::Decimal(scale, coefficient) => Self::Decimal(scale, coefficient),
            NumberBuf::Text(text) => {
                Self::Number(Arc::new(number::NumberText(text.into_boxed_str())))
            }
        }
    }

    /// Creates an array.
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(Items::new(items))
    }

    /// Creates an object. The last of pairs with equal keys wins.
    pub fn object(pairs: Vec<(Self, Self)>) -> Self {
        Self::Object(Object::from_pairs(pairs))
    }

    /// Creates a set. The first of equal members is kept.
    pub fn set(items: Vec<Self>) -> Self {
        Self::Set(Arc::new(Set::from_items(items)))
    }

    /// Returns the value under a string key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get_str(key),
            _ => None,
        }
    }

    /// Returns the string, if it is valid UTF-8.
    #[inline]
    pub fn utf8(&self) -> Option<&str> {
        match self {
            Self::Short(short) => short.utf8(),
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the bytes of a string.
    #[inline]
    pub fn string_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self::Short(short) => short.as_bytes(),
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes.as_bytes(),
            _ => return None,
        })
    }

    /// Returns the object, if the value is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl<'e> ValueRef<'e> {
    /// Returns the kind.
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Boolean,
            Self::Int(_) | Self::Decimal(..) | Self::Number(_) | Self::ArenaNumber(_) => {
                Kind::Number
            }
            Self::Short(_) | Self::Text(_) | Self::Bytes(_) | Self::ArenaText(_) => Kind::String,
            Self::Array(_) | Self::ArenaArray(_) => Kind::Array,
            Self::Object(_) | Self::ArenaObject(_) => Kind::Object,
            Self::Set(_) | Self::ArenaSet(_) => Kind::Set,
        }
    }

    /// Returns `true` if an expression with this value succeeds: for every value except `false`.
    #[inline]
    pub fn is_truthy(self) -> bool {
        !matches!(self, Self::Bool(false))
    }

    /// Returns the number, if the value is one.
    #[inline]
    pub fn as_number(&self) -> Option<Number<'e>> {
        Some(match self {
            Self::Int(i) => Number::Int(*i),
            Self::Decimal(scale, coefficient) => Number::Decimal(*scale, *coefficient),
            Self::Number(text) => Number::Text(&text.0),
            Self::ArenaNumber(text) => Number::Text(text),
            _ => return None,
        })
    }

    /// Returns the string, if the value is one.
    #[inline]
    pub fn as_text(&self) -> Option<TextView<'e>> {
        Some(match self {
            Self::Short(_) => TextView::Short(text::BorrowedText(*self)),
            Self::Text(text) => TextView::Utf8(text.as_str()),
            Self::Bytes(bytes) => TextView::Bytes(bytes.as_bytes()),
            Self::ArenaText(text) => text.view(),
            _ => return None,
        })
    }

    /// Returns the string, if it is valid UTF-8, without a copy.
    #[inline]
    pub fn utf8(&self) -> Option<&str> {
        match self {
            Self::Short(short) => short.utf8(),
            Self::Text(text) => Some(text.as_str()),
            Self::ArenaText(text::ArenaText::Utf8(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes of a string, without a copy.
    #[inline]
    pub fn string_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self::Short(short) => short.as_bytes(),
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::ArenaText(text) => text.as_bytes(),
            _ => return None,
        })
    }

    /// Returns the array, if the value is one.
    #[inline]
    pub fn as_array(&self) -> Option<ArrayView<'e>> {
        Some(match self {
            Self::Array(items) => ArrayView::Stored(items),
            Self::ArenaArray(items) => ArrayView::Arena(items),
            _ => return None,
        })
    }

    /// Returns the object, if the value is one.
    #[inline]
    pub fn as_object(&self) -> Option<ObjectView<'e>> {
        Some(match self {
            Self::Object(object) => ObjectView::Stored(object),
            Self::ArenaObject(object) => ObjectView::Arena(object),
            _ => return None,
        })
    }

    /// Returns the set, if the value is one.
    #[inline]
    pub fn as_set(&self) -> Option<SetView<'e>> {
        Some(match self {
            Self::Set(set) => SetView::Stored(set),
            Self::ArenaSet(set) => SetView::Arena(set),
            _ => return None,
        })
    }

    /// Returns an owned value. Arena values are copied, owned values are shared.
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(b),
            Self::Int(i) => Value::Int(i),
            Self::Decimal(scale, coefficient) => Value::Decimal(scale, coefficient),
            Self::Number(text) => Value::Number(text.clone()),
            Self::ArenaNumber(text) => Value::Number(Arc::new(number::NumberText((*text).into()))),
            Self::Short(short) => Value::Short(short),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Bytes(bytes) => Value::Bytes(bytes.clone()),
            Self::ArenaText(text) => text.to_value(),
            Self::Array(items) => Value::Array(items.clone()),
            // the evaluation fails, so the placeholder for the oversized value is never used
            Self::ArenaArray(_) | Self::ArenaObject(_) | Self::ArenaSet(_)
                if self.exceeds_traversal_limit() =>
            {
                Value::Null
            }
            Self::ArenaArray(items) => stack::level(|| items_to_value(items)),
            Self::Object(object) => Value::Object(object.clone()),
            Self::ArenaObject(object) => stack::level(|| object_to_value(object)),
            Self::Set(set) => Value::Set(set.clone()),
            Self::ArenaSet(set) => stack::level(|| set_to_value(set)),
        }
    }

    /// Returns the value under `key`: an element, an object's value, or a set's member itself. `None` if it is
    /// undefined.
    #[inline]
    pub fn lookup(self, key: ValueRef<'e>) -> Option<ValueRef<'e>> {
        match self {
            Self::Object(object) => object.get(key).map(Value::borrow),
            Self::ArenaObject(object) => object.get(key),
            Self::Array(_) | Self::ArenaArray(_) => {
                let index = key.as_number()?.as_index()?;
                self.as_array()?.get(index)
            }
            // returns the key, not the equal member, as OPA does
            Self::Set(set) => set.contains(key).then_some(key),
            Self::ArenaSet(set) => set.contains(key).then_some(key),
            _ => None,
        }
    }
}

// plain loops, since values may be deeply nested and stacks small

fn items_to_value(items: &[ValueRef<'_>]) -> Value {
    Value::Array(Items::collect(items.iter().map(|item| item.to_value())))
}

fn object_to_value(object: &ArenaObject<'_>) -> Value {
    if let Some(overlaid) = object.overlaid() {
        return Value::Object(overlaid.to_object());
    }
    if let Some(shape) = object.shape() {
        let values = object.values().iter().map(|value| value.to_value());
        return Value::Object(Object::with_shape(shape.clone(), values));
    }
    let mut values = Vec::with_capacity(object.len());
    let mut keys = Vec::with_capacity(object.len());
    for (key, value) in object.iter() {
        keys.push(key.to_value());
        values.push(value.to_value());
    }
    Value::Object(Object::from_sorted_keys_and_values(keys, values))
}

fn set_to_value(set: &ArenaSet<'_>) -> Value {
    let mut items = Vec::with_capacity(set.len());
    for item in set.iter() {
        items.push(item.to_value());
    }
    Value::Set(Arc::new(Set::from_sorted(items)))
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
        self.borrow().fmt(f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrow().fmt(f)
    }
}
