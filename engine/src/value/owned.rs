//! Conversion of borrowed values to owned ones.

use std::sync::Arc;

use solon_syntax::stack;

use super::{ArenaObject, ArenaSet, Items, Object, RefRepr, Repr, Set, Value, ValueRef, number};

impl ValueRef<'_> {
    /// Returns an owned value. Arena values are copied, owned values are shared.
    pub fn to_value(self) -> Value {
        match self {
            Self(RefRepr::Null) => Value(Repr::Null),
            Self(RefRepr::Bool(b)) => Value(Repr::Bool(b)),
            Self(RefRepr::Int(i)) => Value(Repr::Int(i)),
            Self(RefRepr::Decimal(scale, coefficient)) => Value(Repr::Decimal(scale, coefficient)),
            Self(RefRepr::Number(text)) => Value(Repr::Number(text.clone())),
            Self(RefRepr::ArenaNumber(text)) => {
                Value(Repr::Number(Arc::new(number::NumberText((*text).into()))))
            }
            Self(RefRepr::Short(short)) => Value(Repr::Short(short)),
            Self(RefRepr::Text(text)) => Value(Repr::Text(text.clone())),
            Self(RefRepr::Bytes(bytes)) => Value(Repr::Bytes(bytes.clone())),
            Self(RefRepr::ArenaText(text)) => text.to_value(),
            Self(RefRepr::Array(items)) => Value(Repr::Array(items.clone())),
            // the evaluation fails, so the placeholder for the oversized value is never used
            Self(RefRepr::ArenaArray(_) | RefRepr::ArenaObject(_) | RefRepr::ArenaSet(_))
                if self.exceeds_traversal_limit() =>
            {
                Value(Repr::Null)
            }
            Self(RefRepr::ArenaArray(items)) => stack::level(|| items_to_value(items)),
            Self(RefRepr::Object(object)) => Value(Repr::Object(object.clone())),
            Self(RefRepr::ArenaObject(object)) => stack::level(|| object_to_value(object)),
            Self(RefRepr::Set(set)) => Value(Repr::Set(set.clone())),
            Self(RefRepr::ArenaSet(set)) => stack::level(|| set_to_value(set)),
        }
    }
}

// plain loops, since values may be deeply nested and stacks small

fn items_to_value(items: &[ValueRef<'_>]) -> Value {
    Value(Repr::Array(Items::collect(
        items.iter().map(|item| item.to_value()),
    )))
}

fn object_to_value(object: &ArenaObject<'_>) -> Value {
    if let Some(overlaid) = object.overlaid() {
        return Value(Repr::Object(overlaid.to_object()));
    }
    if let Some(shape) = object.shape() {
        let values = object.values().iter().map(|value| value.to_value());
        return Value(Repr::Object(Object::with_shape(shape.clone(), values)));
    }
    let mut values = Vec::with_capacity(object.len());
    let mut keys = Vec::with_capacity(object.len());
    for (key, value) in object.iter() {
        keys.push(key.to_value());
        values.push(value.to_value());
    }
    Value(Repr::Object(Object::from_sorted_keys_and_values(
        keys, values,
    )))
}

fn set_to_value(set: &ArenaSet<'_>) -> Value {
    let mut items = Vec::with_capacity(set.len());
    for item in set.iter() {
        items.push(item.to_value());
    }
    Value(Repr::Set(Arc::new(Set::from_sorted(items))))
}
