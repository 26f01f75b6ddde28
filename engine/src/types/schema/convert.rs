//! Converts JSON schemas to types, by OPA's rules.

use std::sync::{Arc, OnceLock};

use super::reference::SchemaReferences;
use super::type_keywords::{TypeKeywords, unmergeable};
use super::{RecursiveType, SchemaError};
use crate::limits;
use crate::types::{Type, union, union_all};
use crate::value::Value;

/// Returns the type of the documents that a schema describes.
///
/// # Errors
///
/// Fails if a reference of the schema has no target, or if the schemas of an `allOf` contradict each other.
pub fn convert(root: &Arc<Value>) -> Result<Type, SchemaError> {
    let references = SchemaReferences::new(root).map_err(SchemaError::Invalid)?;
    let mut converter = Converter {
        root,
        references: &references,
        open: vec![String::new()],
        depth: 0,
    };
    converter.schema(root)
}

/// Returns the type of a definition. References to itself stay folded. Fails as [`convert`] does.
pub fn definition(root: &Arc<Value>, reference: &str) -> Result<Type, SchemaError> {
    let references = SchemaReferences::new(root).map_err(SchemaError::Invalid)?;
    let schema = references.find(reference).map_err(SchemaError::Invalid)?;
    let mut converter = Converter {
        root,
        references: &references,
        open: vec![reference.to_owned()],
        depth: 0,
    };
    converter.schema(schema)
}

struct Converter<'c, 'a> {
    root: &'c Arc<Value>,
    references: &'c SchemaReferences<'a>,
    /// References on the current path.
    open: Vec<String>,
    depth: usize,
}

impl<'a> Converter<'_, 'a> {
    fn schema(&mut self, schema: &'a Value) -> Result<Type, SchemaError> {
        self.convert_keywords(TypeKeywords::from_schema(schema))
    }

    fn convert_keywords(&mut self, shape: TypeKeywords<'a>) -> Result<Type, SchemaError> {
        if self.depth > limits::TYPE_NESTING {
            return Ok(Type::Any);
        }
        self.depth += 1;
        let result = self.shallow(shape);
        self.depth -= 1;
        result
    }

    fn shallow(&mut self, shape: TypeKeywords<'a>) -> Result<Type, SchemaError> {
        if let Some(reference) = shape.reference {
            return self.reference(shape.schema, reference);
        }
        if !shape.any_of.is_empty() {
            return self.any_of(shape);
        }
        if !shape.all_of.is_empty() {
            return self.all_of(shape);
        }
        self.convert_typed(shape)
    }

    fn reference(&mut self, schema: &'a Value, reference: &str) -> Result<Type, SchemaError> {
        let absolute = self.references.absolute(schema);
        if self.open.contains(&absolute) {
            return Ok(Type::Recursive(Arc::new(RecursiveType {
                reference: reference.into(),
                absolute: absolute.into(),
                root: self.root.clone(),
                unfolded: OnceLock::new(),
            })));
        }
        let schema = self
            .references
            .find(&absolute)
            .map_err(SchemaError::Invalid)?;
        self.open.push(absolute);
        let result = self.schema(schema);
        self.open.pop();
        result
    }

    /// Returns the union of alternatives. The schema itself is another alternative if it lists the keys of an object.
    fn any_of(&mut self, mut shape: TypeKeywords<'a>) -> Result<Type, SchemaError> {
        let alternatives = std::mem::take(&mut shape.any_of);
        let mut types = Vec::with_capacity(alternatives.len() + 1);
        if !shape.types.is_empty() {
            let core = self.convert_keywords(shape)?;
            if let Type::Object(object) = &core
                && object.rest().is_none()
            {
                types.push(core);
            }
        }
        for alternative in alternatives {
            types.push(self.schema(alternative)?);
        }
        Ok(union_all(types))
    }

    fn all_of(&mut self, mut shape: TypeKeywords<'a>) -> Result<Type, SchemaError> {
        let parts = std::mem::take(&mut shape.all_of);
        let mut parts = parts
            .into_iter()
            .map(|part| TypeKeywords::resolved(self.references, part));
        let Some(mut merged) = parts.next() else {
            return self.convert_typed(shape);
        };
        merged.imply_type();
        for part in parts {
            merged.merge(part)?;
        }
        let is_described = !shape.properties.is_empty() || !shape.items.is_empty();
        let both_have = |kind| shape.has_type(kind) && merged.has_type(kind);
        if is_described && (both_have("object") || both_have("array")) {
            shape.merge(merged)?;
            return self.convert_keywords(shape);
        }
        if !shape.types.is_empty() && shape.type_text() != merged.type_text() {
            return Err(unmergeable());
        }
        self.convert_keywords(merged)
    }

    fn convert_typed(&mut self, mut shape: TypeKeywords<'a>) -> Result<Type, SchemaError> {
        if shape.types.is_empty() {
            shape.imply_type();
        }
        if shape.has_type("boolean") {
            Ok(Type::Boolean)
        } else if shape.has_type("string") {
            Ok(Type::String)
        } else if shape.has_type("integer") || shape.has_type("number") {
            Ok(Type::Number)
        } else if shape.has_type("object") {
            self.object(&shape)
        } else if shape.has_type("array") {
            self.array(&shape)
        } else {
            Ok(Type::Any)
        }
    }

    fn object(&mut self, shape: &TypeKeywords<'a>) -> Result<Type, SchemaError> {
        if shape.properties.is_empty() {
            return Ok(Type::object_of(Type::Any, Type::Any));
        }
        let mut fixed = Vec::with_capacity(shape.properties.len());
        for (key, property) in &shape.properties {
            fixed.push((Value::string(key), self.schema(property)?));
        }
        Ok(Type::object(fixed, None))
    }

    fn array(&mut self, shape: &TypeKeywords<'a>) -> Result<Type, SchemaError> {
        let mut fixed = Vec::with_capacity(shape.items.len());
        for item in &shape.items {
            fixed.push(self.schema(item)?);
        }
        Ok(match fixed.pop() {
            None => Type::array_of(Type::Any),
            Some(ty) if shape.items_alike => fixed.into_iter().fold(Type::array_of(ty), union),
            Some(last) => {
                fixed.push(last);
                Type::array(fixed, None)
            }
        })
    }
}
