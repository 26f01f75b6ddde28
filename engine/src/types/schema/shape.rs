//! What of a schema decides the type.

use serde_json::Value as Json;

use super::SchemaError;
use super::reference::resolve;
use crate::limits;

/// The keywords of one schema that decide the type of its documents.
#[derive(Clone, Default)]
pub struct Shape<'a> {
    pub types: Vec<&'a str>,
    pub properties: Vec<(&'a str, &'a Json)>,
    pub items: Vec<&'a Json>,
    /// Whether `items` is one schema for all elements.
    pub items_alike: bool,
    pub any_of: Vec<&'a Json>,
    pub all_of: Vec<&'a Json>,
    pub reference: Option<&'a str>,
}

impl<'a> Shape<'a> {
    pub fn of(schema: &'a Json) -> Self {
        let list = |key: &str| {
            let items = schema.get(key).and_then(Json::as_array);
            items.into_iter().flatten().collect::<Vec<_>>()
        };
        let types = match schema.get("type") {
            Some(Json::String(one)) => vec![one.as_str()],
            _ => list("type").into_iter().filter_map(Json::as_str).collect(),
        };
        let properties = schema.get("properties").and_then(Json::as_object);
        let properties = properties.into_iter().flatten();
        let (items, items_alike) = match schema.get("items") {
            Some(Json::Array(items)) => (items.iter().collect(), false),
            Some(one) => (vec![one], true),
            None => (Vec::new(), false),
        };
        Self {
            types,
            properties: properties.map(|(key, of)| (key.as_str(), of)).collect(),
            items,
            items_alike,
            any_of: list("anyOf"),
            all_of: list("allOf"),
            reference: schema.get("$ref").and_then(Json::as_str),
        }
    }

    /// The shape of a schema, references followed.
    pub fn resolved(root: &'a Json, schema: &'a Json) -> Self {
        let mut shape = Self::of(schema);
        for _ in 0..limits::TYPE_NESTING {
            match shape
                .reference
                .and_then(|reference| resolve(root, reference).ok())
            {
                Some(schema) => shape = Self::of(schema),
                None => break,
            }
        }
        shape
    }

    pub fn is(&self, kind: &str) -> bool {
        self.types.contains(&kind)
    }

    /// Names the type that other keywords imply.
    pub fn imply_type(&mut self) {
        let implied = if !self.properties.is_empty() {
            "object"
        } else if !self.items.is_empty() {
            "array"
        } else {
            return;
        };
        if !self.is(implied) {
            self.types.push(implied);
        }
    }

    /// The types as messages name them.
    pub fn type_text(&self) -> String {
        match self.types.as_slice() {
            [] => "undefined".to_owned(),
            [one] => (*one).to_owned(),
            many => format!("[{}]", many.join(",")),
        }
    }

    /// Takes over what another schema asks of the same document.
    pub fn merge(&mut self, mut other: Self) -> Result<(), SchemaError> {
        self.imply_type();
        other.imply_type();
        let (mine, theirs) = (self.type_text(), other.type_text());
        if mine != theirs {
            let text = format!("unable to merge these schemas: type mismatch: {mine} and {theirs}");
            return Err(SchemaError::Merge(text));
        }
        if self.is("object") && !self.properties.is_empty() && !other.properties.is_empty() {
            self.properties.append(&mut other.properties);
        } else if self.is("array") && !self.items.is_empty() {
            for (position, item) in other.items.into_iter().enumerate() {
                match self.items.get(position) {
                    Some(known) if Shape::of(known).type_text() != Shape::of(item).type_text() => {
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

/// Schemas that contradict one another.
pub fn unmergeable() -> SchemaError {
    SchemaError::Merge("unable to merge these schemas".to_owned())
}
