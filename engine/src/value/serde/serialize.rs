//! Serialization of values to any serde format.

use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use solon_syntax::stack;

use crate::value::json::write_go;
use crate::value::{Number, ObjectView, RefRepr, Value, ValueRef};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.borrow().serialize(serializer)
    }
}

impl Serialize for ValueRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(number) = self.as_number() {
            return serialize_number(number, serializer);
        }
        if let Some(text) = self.as_text() {
            return serializer.serialize_str(&text.to_str());
        }
        match self {
            ValueRef(RefRepr::Bool(b)) => serializer.serialize_bool(*b),
            ValueRef(RefRepr::Null) => serializer.serialize_unit(),
            _ => stack::level(|| serialize_compound(*self, serializer)),
        }
    }
}

fn serialize_compound<S: Serializer>(
    value: ValueRef<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if value.exceeds_traversal_limit() {
        return Err(S::Error::custom("value with too many nodes"));
    }
    if let Some(items) = value.as_array() {
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for item in items.iter() {
            list.serialize_element(&item)?;
        }
        return list.end();
    }
    if let Some(items) = value.as_set() {
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for item in items.iter() {
            list.serialize_element(&item)?;
        }
        return list.end();
    }
    let pairs = value.as_object();
    let mut map = serializer.serialize_map(pairs.map(ObjectView::len))?;
    for (key, value) in pairs.into_iter().flat_map(ObjectView::iter) {
        match key.as_text() {
            Some(text) => map.serialize_entry(&text.to_str(), &value)?,
            None => map.serialize_entry(&json_text(key), &value)?,
        }
    }
    map.end()
}

fn serialize_number<S: Serializer>(number: Number<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    if let Number::Int(i) = number {
        return serializer.serialize_i64(i);
    }
    match number {
        Number::Text(text) => match text.parse() {
            Ok(u) => serializer.serialize_u64(u),
            Err(_) => serializer.serialize_f64(number.to_f64()),
        },
        _ => serializer.serialize_f64(number.to_f64()),
    }
}

/// Returns the JSON text of a key that is not a string, as Go writes it.
pub(super) fn json_text(key: ValueRef<'_>) -> String {
    let mut out = Vec::new();
    write_go(key, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
