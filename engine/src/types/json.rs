//! OPA's JSON form of types, for capabilities and error details.

use serde_json::{Map, Value as Json, json};

use super::{FunctionType, Parameter, Type};
use crate::value::{RefRepr, ValueRef};

impl Type {
    /// Returns the JSON form, or `null` for an unknown type.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Unknown => Json::Null,
            Self::Null => json!({"type": "null"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Number => json!({"type": "number"}),
            Self::String => json!({"type": "string"}),
            Self::Any => json!({"type": "any"}),
            Self::Union(union) => json!({"type": "any", "of": list(union.members())}),
            Self::Array(array) => {
                let mut node = node("array");
                if !array.fixed().is_empty() {
                    node.insert("static".into(), list(array.fixed()));
                }
                if let Some(rest) = array.rest() {
                    node.insert("dynamic".into(), rest.to_json());
                }
                Json::Object(node)
            }
            Self::Object(object) => {
                let mut node = node("object");
                if !object.fixed().is_empty() {
                    let pair = |(key, ty): &(_, Self)| json!({"key": constant_json(crate::value::Value::borrow(key)), "value": ty.to_json()});
                    node.insert("static".into(), object.fixed().iter().map(pair).collect());
                }
                if let Some((key, ty)) = object.rest() {
                    let pair = json!({"key": key.to_json(), "value": ty.to_json()});
                    node.insert("dynamic".into(), pair);
                }
                Json::Object(node)
            }
            Self::Set(set) if set.is_empty() => json!({"type": "set"}),
            Self::Set(set) => json!({"type": "set", "of": set.element().to_json()}),
            Self::Recursive(inner) => json!({"type": "recursive", "ref": inner.reference()}),
            Self::Function(function) => function.to_json(),
        }
    }
}

impl FunctionType {
    /// Returns the JSON form that OPA uses in capabilities.
    pub fn to_json(&self) -> Json {
        let mut node = node("function");
        if !self.args.is_empty() {
            let args = self.args.iter().map(Parameter::to_json);
            node.insert("args".into(), args.collect());
        }
        if let Some(result) = &self.result {
            node.insert("result".into(), result.to_json());
        }
        if let Some(variadic) = &self.variadic {
            node.insert("variadic".into(), variadic.to_json());
        }
        Json::Object(node)
    }
}

impl Parameter {
    /// Returns the JSON form: that of the type, with the name.
    pub fn to_json(&self) -> Json {
        let mut json = self.of.to_json();
        if let (Some(name), Json::Object(node)) = (&self.name, &mut json) {
            node.insert("name".into(), Json::from(&**name));
        }
        json
    }
}

fn node(kind: &str) -> Map<String, Json> {
    Map::from_iter([("type".to_owned(), Json::from(kind))])
}

fn list(types: &[Type]) -> Json {
    types.iter().map(Type::to_json).collect()
}

/// Returns a constant as JSON. Sets become arrays.
pub fn constant_json(key: ValueRef<'_>) -> Json {
    if let Some(text) = key.as_text() {
        return Json::from(String::from_utf8_lossy(text.as_bytes()));
    }
    if let Some(items) = key.as_array() {
        return items.iter().map(constant_json).collect();
    }
    if let Some(items) = key.as_set() {
        return items.iter().map(constant_json).collect();
    }
    if let Some(pairs) = key.as_object() {
        let pair = |(key, value): (ValueRef<'_>, ValueRef<'_>)| {
            let key = match constant_json(key) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            (key, constant_json(value))
        };
        return Json::Object(pairs.iter().map(pair).collect());
    }
    match key {
        ValueRef(RefRepr::Null) => Json::Null,
        ValueRef(RefRepr::Bool(value)) => Json::Bool(value),
        ValueRef(RefRepr::Int(value)) => Json::from(value),
        // a number beyond the range of floats becomes null
        other => serde_json::from_str(&other.rego_text().to_string()).unwrap_or_default(),
    }
}
