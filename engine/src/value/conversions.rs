//! Conversions from Rust types to values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

use super::{NumberBuf, Object, RefRepr, Repr, Set, Value, ValueRef};

impl From<()> for Value {
    /// `()` is `null`.
    fn from((): ()) -> Self {
        Self(Repr::Null)
    }
}

impl<'e> From<&'e Value> for ValueRef<'e> {
    fn from(value: &'e Value) -> Self {
        value.borrow()
    }
}

impl From<()> for ValueRef<'_> {
    /// `()` is `null`.
    fn from((): ()) -> Self {
        Self(RefRepr::Null)
    }
}

impl From<bool> for ValueRef<'_> {
    fn from(b: bool) -> Self {
        Self(RefRepr::Bool(b))
    }
}

impl From<i64> for ValueRef<'_> {
    fn from(number: i64) -> Self {
        Self(RefRepr::Int(number))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self(Repr::Object(object))
    }
}

impl From<Set> for Value {
    fn from(set: Set) -> Self {
        Self(Repr::Set(Arc::new(set)))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self(Repr::Bool(b))
    }
}

macro_rules! from_integers {
    ($($small:ty)*; $($large:ty)*) => {
        $(impl From<$small> for Value {
            fn from(number: $small) -> Self {
                Self(Repr::Int(number.into()))
            }
        })*
        $(impl From<$large> for Value {
            fn from(number: $large) -> Self {
                match i64::try_from(number) {
                    Ok(number) => Self(Repr::Int(number)),
                    Err(_) => Self::number(NumberBuf::Text(number.to_string())),
                }
            }
        })*
    };
}

from_integers!(i8 i16 i32 i64 u8 u16 u32; u64 usize isize i128 u128);

impl From<f32> for Value {
    /// Converts to the shortest decimal that parses as the same number, or to `null` if it is not finite.
    fn from(number: f32) -> Self {
        number_of(number.is_finite(), &number.to_string())
    }
}

impl From<f64> for Value {
    /// Converts to the shortest decimal that parses as the same number, or to `null` if it is not finite.
    fn from(number: f64) -> Self {
        number_of(number.is_finite(), &number.to_string())
    }
}

macro_rules! equal_to {
    ($($primitive:ty),*) => {
        $(impl PartialEq<$primitive> for Value {
            fn eq(&self, other: &$primitive) -> bool {
                self.borrow() == Self::from(*other).borrow()
            }
        }

        impl PartialEq<Value> for $primitive {
            fn eq(&self, other: &Value) -> bool {
                other == self
            }
        }

        impl PartialEq<$primitive> for ValueRef<'_> {
            fn eq(&self, other: &$primitive) -> bool {
                *self == Value::from(*other).borrow()
            }
        })*
    };
}

equal_to!(bool, i8, i16, i32, i64, u8, u16, u32, u64, usize, isize);

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.borrow() == *other
    }
}

impl PartialEq<Value> for &str {
    fn eq(&self, other: &Value) -> bool {
        other == self
    }
}

impl PartialEq<&str> for ValueRef<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

macro_rules! equal_to_float {
    ($($float:ty),*) => {
        $(impl PartialEq<$float> for Value {
            /// Returns `true` if both are the same number. No value is equal to a number that is not finite.
            fn eq(&self, other: &$float) -> bool {
                other.is_finite() && self.borrow() == Self::from(*other).borrow()
            }
        })*
    };
}

equal_to_float!(f32, f64);

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

fn number_of(is_finite: bool, text: &str) -> Value {
    match NumberBuf::parse(text) {
        Some(number) if is_finite => Value::number(number),
        _ => Value(Repr::Null),
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(&text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::string(text)
    }
}

impl From<char> for Value {
    fn from(character: char) -> Self {
        Self::string(character.encode_utf8(&mut [0; 4]))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// Converts `None` to `null`.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Repr::Null), Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const LENGTH: usize> From<[T; LENGTH]> for Value {
    fn from(items: [T; LENGTH]) -> Self {
        Self::array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        Self::array(items.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<BTreeSet<T>> for Value {
    /// Converts to a set. Equal members count once.
    fn from(members: BTreeSet<T>) -> Self {
        Self::set(members.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<Value>, T: Into<Value>> From<BTreeMap<K, T>> for Value {
    fn from(pairs: BTreeMap<K, T>) -> Self {
        pairs.into_iter().collect()
    }
}

impl<K: Into<Value>, T: Into<Value>, S: BuildHasher> From<HashMap<K, T, S>> for Value {
    fn from(pairs: HashMap<K, T, S>) -> Self {
        pairs.into_iter().collect()
    }
}

impl FromIterator<Value> for Value {
    /// Collects an array.
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::array(items.into_iter().collect())
    }
}

impl<K: Into<Value>, T: Into<Value>> FromIterator<(K, T)> for Value {
    /// Collects an object. The last of pairs with equal keys wins.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        Self::object(
            pairs
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

/// Creates a value from JSON syntax with Rust expressions in place of values. Keys that are not literals are put in
/// brackets.
///
/// ```
/// use solon::value;
///
/// let name = "alice";
/// let input = value!({"user": name, "roles": ["dev", format!("{name}s")], ("dynamic"): null, "depth": -1 + 3});
/// assert_eq!(
///     input.to_string(),
///     r#"{"depth":2,"dynamic":null,"roles":["dev","alices"],"user":"alice"}"#
/// );
/// ```
#[macro_export]
macro_rules! value {
    (null) => {
        $crate::Value::NULL
    };
    ([$($items:tt)*]) => {
        $crate::Value::array($crate::value!(@items [] $($items)*))
    };
    ({$($pairs:tt)*}) => {
        $crate::Value::object($crate::value!(@pairs [] $($pairs)*))
    };
    (@items [$($made:expr,)*]) => {
        ::std::vec![$($made),*]
    };
    (@items [$($made:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($made,)* $crate::value!(null),] $($($rest)*)?)
    };
    (@items [$($made:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($made,)* $crate::value!([$($inner)*]),] $($($rest)*)?)
    };
    (@items [$($made:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($made,)* $crate::value!({$($inner)*}),] $($($rest)*)?)
    };
    (@items [$($made:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($made,)* $crate::value!($next),] $($($rest)*)?)
    };
    (@pairs [$($made:expr,)*]) => {
        ::std::vec![$($made),*]
    };
    (@pairs [$($made:expr,)*] ($key:expr): $($rest:tt)*) => {
        $crate::value!(@under $key, [$($made,)*] $($rest)*)
    };
    (@pairs [$($made:expr,)*] $key:literal: $($rest:tt)*) => {
        $crate::value!(@under $key, [$($made,)*] $($rest)*)
    };
    (@under $key:expr, [$($made:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs [$($made,)* ($key.into(), $crate::value!(null)),] $($($rest)*)?)
    };
    (@under $key:expr, [$($made:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs [$($made,)* ($key.into(), $crate::value!([$($inner)*])),] $($($rest)*)?)
    };
    (@under $key:expr, [$($made:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs [$($made,)* ($key.into(), $crate::value!({$($inner)*})),] $($($rest)*)?)
    };
    (@under $key:expr, [$($made:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs [$($made,)* ($key.into(), $crate::value!($next)),] $($($rest)*)?)
    };
    ($value:expr) => {
        $crate::Value::from($value)
    };
}
