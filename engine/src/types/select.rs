//! Component types: the types of keys and values of a type.

use super::{Type, union_all};
use crate::value::{ArrayView, Kind, ObjectView, RefRepr, SetView, ValueRef};

/// Returns the type of a constant. Collections have a component for each element.
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
            let fixed = pairs.map(|(key, ty)| (key.to_value(), type_of(ty)));
            Type::object(fixed.collect(), None)
        }
        Kind::Set => {
            let items = value.as_set().into_iter().flat_map(SetView::iter);
            Type::set(union_all(items.map(type_of)))
        }
    }
}

impl Type {
    /// Returns the type of the value under a constant key, or unknown if there cannot be one.
    pub fn select(&self, key: ValueRef<'_>) -> Self {
        match self {
            Self::Array(array) => {
                let position = match key {
                    ValueRef(RefRepr::Int(position)) => usize::try_from(position).ok(),
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

    /// Returns `true` if `ty` is this type or one of its alternatives. [`Type::Any`] contains everything but functions.
    pub fn contains(&self, ty: &Self) -> bool {
        match self {
            Self::Any => !matches!(ty, Self::Function(_)),
            Self::Union(union) => union.contains(ty),
            _ => self == ty,
        }
    }

    /// Returns the type of its keys, or unknown if it does not support lookups.
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

    /// Returns `true` for the types of the empty array, object and set, which support no lookup.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Array(array) => array.fixed().is_empty() && array.rest().is_none(),
            Self::Object(object) => object.fixed().is_empty() && object.rest().is_none(),
            Self::Set(set) => set.is_empty(),
            _ => false,
        }
    }

    /// Returns the type of the values under all keys.
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
