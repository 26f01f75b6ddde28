//! Keywords of a schema that determine the type: `type`, `properties`, `items`, references and others.

use super::SchemaError;
use super::document::{Document, string_keyed};
use super::reference::SchemaReferences;
use crate::limits;
use crate::value::{Repr, Value};

/// The keywords of a schema that determine the type of its documents.
#[derive(Clone)]
pub struct TypeKeywords<'a> {
    pub schema: &'a Value,
    pub types: Vec<&'a str>,
    pub properties: Vec<(&'a str, &'a Value)>,
    pub items: Vec<&'a Value>,
    /// `true` if `items` is one schema for all elements, not a list.
    pub items_alike: bool,
    pub any_of: Vec<&'a Value>,
    pub all_of: Vec<&'a Value>,
    pub reference: Option<&'a str>,
}

impl<'a> TypeKeywords<'a> {
    /// Reads the keywords of a schema that determine a type. Values of unexpected types are ignored.
    pub fn from_schema(schema: &'a Value) -> Self {
        let list = |key: &str| {
            let items = schema.get(key).and_then(Document::as_array);
            items.into_iter().flatten().collect::<Vec<_>>()
        };
        let types = match schema.get("type") {
            Some(type_name) if let Some(type_name) = type_name.as_str() => vec![type_name],
            _ => list("type")
                .into_iter()
                .filter_map(Document::as_str)
                .collect(),
        };
        let properties = schema.get("properties").and_then(Document::as_members);
        let properties = properties.into_iter().flat_map(string_keyed);
        let (items, items_alike) = match schema.get("items") {
            Some(Value(Repr::Array(items))) => (items.iter().collect(), false),
            Some(item_schema) => (vec![item_schema], true),
            None => (Vec::new(), false),
        };
        Self {
            schema,
            types,
            properties: properties.collect(),
            items,
            items_alike,
            any_of: list("anyOf"),
            all_of: list("allOf"),
            reference: schema.get("$ref").and_then(Document::as_str),
        }
    }

    pub fn resolved(references: &SchemaReferences<'a>, schema: &'a Value) -> Self {
        let mut shape = Self::from_schema(schema);
        for _ in 0..limits::TYPE_NESTING {
            if shape.reference.is_none() {
                break;
            }
            let Ok(schema) = references.find(&references.absolute(shape.schema)) else {
                break;
            };
            shape = Self::from_schema(schema);
        }
        shape
    }

    /// Returns `true` if `type` lists `kind`.
    pub fn has_type(&self, kind: &str) -> bool {
        self.types.contains(&kind)
    }

    /// Adds the type that other keywords imply: `object` for `properties`, or else `array` for `items`.
    pub fn imply_type(&mut self) {
        let implied = if !self.properties.is_empty() {
            "object"
        } else if !self.items.is_empty() {
            "array"
        } else {
            return;
        };
        if !self.has_type(implied) {
            self.types.push(implied);
        }
    }

    /// Formats the types for messages.
    pub fn type_text(&self) -> String {
        match self.types.as_slice() {
            [] => "undefined".to_owned(),
            [name] => (*name).to_owned(),
            names => format!("[{}]", names.join(",")),
        }
    }

    /// Merges the keywords of another schema for the same document. Fails if their types differ.
    pub fn merge(&mut self, mut other: Self) -> Result<(), SchemaError> {
        self.imply_type();
        other.imply_type();
        let (own_text, other_text) = (self.type_text(), other.type_text());
        if own_text != other_text {
            let text = format!(
                "unable to merge these schemas: type mismatch: {own_text} and {other_text}"
            );
            return Err(SchemaError::Merge(text));
        }
        if self.has_type("object") && !self.properties.is_empty() && !other.properties.is_empty() {
            self.properties.append(&mut other.properties);
        } else if self.has_type("array") && !self.items.is_empty() {
            for (position, item) in other.items.into_iter().enumerate() {
                match self.items.get(position) {
                    Some(known_item)
                        if TypeKeywords::from_schema(known_item).type_text()
                            != TypeKeywords::from_schema(item).type_text() =>
                    {
                        return Err(unmergeable());
                    }
                    Some(_) => {}
                    None => self.items.push(item),
                }
            }
        }
        Ok(())
    }
}

/// Returns the error for contradictory schemas, in OPA's words.
pub fn unmergeable() -> SchemaError {
    SchemaError::Merge("unable to merge these schemas".to_owned())
}
