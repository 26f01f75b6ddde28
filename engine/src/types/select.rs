//! What lies inside a type.

use super::{Type, union_all};
use crate::value::{ArrayView, Kind, ObjectView, SetView, ValueRef};

/// The type of a constant.
pub fn type_of(value: ValueRef<'_>) -> Type {
    match value.kind() {
        Kind::Null => Type::Null,
        Kind::Boolean => Type::Boolean,
        Kind::Number => Type::Number,
        Kind::String => Type::String,
        Kind::Array => {
            let items = value.as_array().into_iter().flat_map(ArrayView::iter);
            Type::array(items.map(type_of).collect(), None)
        }
        Kind::Object => {
            let pairs = value.as_object().into_iter().flat_map(ObjectView::iter);
            let fixed = pairs.map(|(key, of)| (key.to_value(), type_of(of)));
            Type::object(fixed.collect(), None)
        }
        Kind::Set => {
            let items = value.as_set().into_iter().flat_map(SetView::iter);
            Type::set(union_all(items.map(type_of)))
        }
    }
}

impl Type {
    /// The type of what lies under a constant key; unknown when nothing can.
    pub fn select(&self, key: ValueRef<'_>) -> Self {
        match self {
            Self::Array(array) => {
                let position = match key {
                    ValueRef::Int(position) => usize::try_from(position).ok(),
                    _ => None,
                };
                position
                    .and_then(|position| array.element_at(position))
                    .cloned()
                    .unwrap_or_default()
            }
            Self::Object(object) => object.select(key).cloned().unwrap_or_default(),
            Self::Set(set) => {
                let key = type_of(key);
                if set.element().contains(&key) {
                    key
                } else {
                    Self::Unknown
                }
            }
            Self::Any => Self::Any,
            Self::Recursive(inner) => inner.unfold().select(key),
            Self::Union(union) => {
                union_all(union.members().iter().map(|member| member.select(key)))
            }
            _ => Self::Unknown,
        }
    }

    /// Whether exactly `one` is this type or one of its alternatives.
    pub fn contains(&self, one: &Self) -> bool {
        match self {
            Self::Any => !matches!(one, Self::Function(_)),
            Self::Union(union) => union.contains(one),
            _ => self == one,
        }
    }

    /// The type of the keys it can be looked into with; unknown when it cannot.
    pub fn keys(&self) -> Self {
        match self {
            Self::Array(_) => Self::Number,
            Self::Object(object) => object.keys().clone(),
            Self::Set(set) => set.element().clone(),
            Self::Any => Self::Any,
            Self::Recursive(inner) => inner.unfold().keys(),
            Self::Union(union) => union.keys().clone(),
            _ => Self::Unknown,
        }
    }

    /// Whether this is the type of the empty array, object or set, in which nothing can be looked up.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Array(array) => array.fixed().is_empty() && array.rest().is_none(),
            Self::Object(object) => object.fixed().is_empty() && object.rest().is_none(),
            Self::Set(set) => set.is_empty(),
            _ => false,
        }
    }

    /// The type of what lies under all keys.
    pub fn values(&self) -> Self {
        match self {
            Self::Array(array) => array.elements().clone(),
            Self::Object(object) => object.values().clone(),
            Self::Set(set) => set.element().clone(),
            Self::Any => Self::Any,
            Self::Recursive(inner) => inner.unfold().values(),
            Self::Union(union) => union.values().clone(),
            _ => Self::Unknown,
        }
    }
}
