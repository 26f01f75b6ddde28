//! Validates schemas. Reports the first invalid keyword, with OPA's messages.

use std::collections::HashSet;

use solon_syntax::stack;

use super::document::{Document, string_keyed};
use super::reference::SchemaReferences;
use crate::limits;
use crate::uri;
use crate::value::json;
use crate::value::{Number, NumberBuf, Object, Repr, Value};

/// Supported versions of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// Draft 4.
    Four,
    /// Draft 6.
    Six,
    /// Draft 7.
    Seven,
    /// All versions together, for a schema that names no version.
    Hybrid,
}

impl Draft {
    /// Returns the version that `$schema` names; a mix of all versions if it is absent or unknown. Fails if `$schema` is not a
    /// string.
    pub fn from_document(document: &Value) -> Result<Self, String> {
        let Some(name) = document.get("$schema") else {
            return Ok(Self::Hybrid);
        };
        let name = name.as_str().ok_or("$schema must be of type string")?;
        let name = name.split_once('#').map_or(name, |(name, _)| name);
        Ok(match name {
            "http://json-schema.org/draft-04/schema" => Self::Four,
            "http://json-schema.org/draft-06/schema" => Self::Six,
            "http://json-schema.org/draft-07/schema" => Self::Seven,
            _ => Self::Hybrid,
        })
    }

    /// Returns `true` if the value is a valid kind of schema in this version.
    pub fn is_schema(self, json: &Value) -> bool {
        matches!(json, Value(Repr::Object(_)))
            || self > Self::Four && matches!(json, Value(Repr::Bool(_)))
    }
}

/// Validates a schema. The error is the message.
pub fn check(
    document: &Value,
    references: &SchemaReferences<'_>,
    is_pattern: &dyn Fn(&str) -> bool,
) -> Result<Draft, String> {
    if !matches!(document, Value(Repr::Object(_) | Repr::Bool(_))) {
        return Err("schema is invalid".to_owned());
    }
    let draft = Draft::from_document(document)?;
    let mut validity = Validity {
        references,
        draft,
        is_pattern,
        followed: HashSet::new(),
        depth: 0,
    };
    validity.schema(document)?;
    Ok(draft)
}

type SchemaCheck = Result<(), String>;

struct Validity<'c, 'a> {
    references: &'c SchemaReferences<'a>,
    draft: Draft,
    is_pattern: &'c dyn Fn(&str) -> bool,
    followed: HashSet<String>,
    depth: usize,
}

impl Validity<'_, '_> {
    fn schema(&mut self, schema: &Value) -> SchemaCheck {
        let Some(keywords) = schema.as_members() else {
            return Ok(());
        };
        if self.depth > limits::NESTING {
            return Err("schema is nested too deeply".to_owned());
        }
        self.depth += 1;
        let result = self.keywords(schema, keywords);
        self.depth -= 1;
        result
    }

    fn keywords(&mut self, schema: &Value, keywords: &Object) -> SchemaCheck {
        let id = match self.draft {
            Draft::Four => "id",
            Draft::Hybrid if keywords.get_str("id").is_some() => "id",
            _ => "$id",
        };
        let is_text = |key| match keywords.get_str(key) {
            Some(value) if value.as_str().is_none() => {
                Err(format!("Invalid type. Expected: string, given: {key}"))
            }
            _ => Ok(()),
        };
        let is_uri = |key| match keywords.get_str(key).and_then(Document::as_str) {
            Some(text) => match uri::parse(text.as_bytes()) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            },
            None => Ok(()),
        };
        is_text(id)?;
        is_uri(id)?;
        self.definitions(keywords)?;
        is_text("title")?;
        is_text("description")?;
        is_text("$ref")?;
        is_uri("$ref")?;
        if keywords.get_str("$ref").is_some() && self.follow(schema)? {
            return Ok(());
        }
        types(keywords)?;
        self.object_keywords(keywords)?;
        self.array_keywords(keywords)?;
        self.numbers(keywords)?;
        self.strings(keywords)?;
        counts(keywords)?;
        self.combinations(keywords)
    }

    /// Validates the target of a reference. Returns `false` if it was validated before, and the keywords next to the
    /// reference count.
    fn follow(&mut self, schema: &Value) -> Result<bool, String> {
        let reference = self.references.absolute(schema);
        let target = self.references.find(&reference)?;
        if !matches!(target, Value(Repr::Object(_) | Repr::Bool(_))) {
            return Err("Valid Schema must be of type object".to_owned());
        }
        let is_new = self.followed.insert(reference);
        if is_new {
            self.schema(target)?;
        }
        Ok(is_new)
    }

    fn definitions(&mut self, keywords: &Object) -> SchemaCheck {
        let Some(definitions) = keywords.get_str("definitions") else {
            return Ok(());
        };
        let wrong = || "Invalid type. Expected: Array Of Schemas, given: definitions".to_owned();
        for (_, definition) in definitions.as_members().ok_or_else(wrong)?.iter() {
            if !self.draft.is_schema(definition) {
                return Err(wrong());
            }
            self.schema(definition)?;
        }
        Ok(())
    }

    fn object_keywords(&mut self, keywords: &Object) -> SchemaCheck {
        if let Some(properties) = keywords.get_str("properties") {
            let properties = properties
                .as_members()
                .ok_or("Properties must be of type object")?;
            for (_, property) in properties.iter() {
                self.required_schema(property)?;
            }
        }
        self.schema_or(
            keywords,
            "additionalProperties",
            "boolean/Valid Schema",
            "additionalProperties",
        )?;
        if let Some(properties) = keywords.get_str("patternProperties") {
            let Some(properties) = properties.as_members() else {
                return Err(
                    "Invalid type. Expected: Valid Schema, given: patternProperties".to_owned(),
                );
            };
            for (pattern, property) in string_keyed(properties) {
                if !(self.is_pattern)(pattern) {
                    return Err(format!("Invalid regex pattern '{pattern}'"));
                }
                self.required_schema(property)?;
            }
        }
        if self.draft >= Draft::Six {
            self.schema_or(
                keywords,
                "propertyNames",
                "Valid Schema",
                "patternProperties",
            )?;
        }
        if let Some(dependencies) = keywords.get_str("dependencies") {
            let dependencies = dependencies.as_members();
            let dependencies = dependencies.ok_or("dependencies must be of type object")?;
            for (_, dependency) in dependencies.iter() {
                let names = dependency
                    .as_array()
                    .is_some_and(|names| names.iter().all(|name| name.as_str().is_some()));
                if !names && !self.draft.is_schema(dependency) {
                    return Err("Dependency must be of type Schema Or Array Of Strings".to_owned());
                }
                self.schema(dependency)?;
            }
        }
        Ok(())
    }

    fn array_keywords(&mut self, keywords: &Object) -> SchemaCheck {
        let wrong = "Invalid type. Expected: Valid Schema/Array Of Schemas, given: items";
        match keywords.get_str("items") {
            Some(Value(Repr::Array(items)))
                if items.iter().all(|item| self.draft.is_schema(item)) =>
            {
                for item in items.iter() {
                    self.schema(item)?;
                }
            }
            Some(item) if self.draft.is_schema(item) => self.schema(item)?,
            Some(_) => return Err(wrong.to_owned()),
            None => {}
        }
        self.schema_or(
            keywords,
            "additionalItems",
            "boolean/Valid Schema",
            "additionalItems",
        )
    }

    fn numbers(&self, keywords: &Object) -> SchemaCheck {
        if let Some(multiple) = keywords.get_str("multipleOf") {
            let wrong = "Invalid type. Expected: Number, given: multipleOf";
            if multiple
                .as_number()
                .ok_or(wrong)?
                .compare(Number::Int(0))
                .is_le()
            {
                return Err("multipleOf must be strictly greater than 0".to_owned());
            }
        }
        for (key, exclusive) in [
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
        ] {
            let limit = keywords.get_str(key);
            if limit.is_some_and(|limit| limit.as_number().is_none()) {
                return Err(format!("{key} must be of a Number"));
            }
            let Some(exclusive_limit) = keywords.get_str(exclusive) else {
                continue;
            };
            let (boolean, number) = match self.draft {
                Draft::Four => (true, false),
                Draft::Hybrid => (true, true),
                _ => (false, true),
            };
            match exclusive_limit {
                Value(Repr::Bool(_)) if boolean && limit.is_none() => {
                    return Err(format!("{exclusive} cannot be used without {key}"));
                }
                Value(Repr::Bool(_)) if boolean => {}
                _ if number && exclusive_limit.as_number().is_some() => {}
                _ => {
                    let expected = match (boolean, number) {
                        (true, true) => "boolean/number",
                        (true, false) => "boolean",
                        _ => "number",
                    };
                    return Err(format!(
                        "Invalid type. Expected: {expected}, given: {exclusive}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn strings(&self, keywords: &Object) -> SchemaCheck {
        limits_of(keywords, "Length", true)?;
        for key in ["pattern", "format"] {
            let Some(text) = keywords.get_str(key) else {
                continue;
            };
            let Some(text) = text.as_str() else {
                return Err(format!("Invalid type. Expected: string, given: {key}"));
            };
            if key == "pattern" && !(self.is_pattern)(text) {
                return Err("pattern must be a valid regex".to_owned());
            }
        }
        Ok(())
    }

    fn combinations(&mut self, keywords: &Object) -> SchemaCheck {
        if self.draft >= Draft::Six
            && let Some(contains) = keywords.get_str("contains")
        {
            self.required_schema(contains)?;
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            let Some(parts) = keywords.get_str(key) else {
                continue;
            };
            let parts = parts
                .as_array()
                .ok_or_else(|| format!("{key} must be of an array"))?;
            for part in parts {
                self.required_schema(part)?;
            }
        }
        for key in ["not", "if", "then", "else"] {
            match keywords.get_str(key) {
                Some(_) if key != "not" && self.draft < Draft::Seven => {}
                Some(part) if self.draft.is_schema(part) => self.schema(part)?,
                Some(_) => return Err(format!("{key} must be of an object")),
                None => {}
            }
        }
        Ok(())
    }

    fn required_schema(&mut self, schema: &Value) -> SchemaCheck {
        if self.draft.is_schema(schema) {
            self.schema(schema)
        } else {
            Err("Expected: Valid Schema, given: Invalid JSON".to_owned())
        }
    }

    fn schema_or(
        &mut self,
        keywords: &Object,
        key: &str,
        expected: &str,
        actual: &str,
    ) -> SchemaCheck {
        match keywords.get_str(key) {
            Some(schema @ Value(Repr::Object(_) | Repr::Bool(_))) => self.schema(schema),
            Some(_) => Err(format!(
                "Invalid type. Expected: {expected}, given: {actual}"
            )),
            None => Ok(()),
        }
    }
}

fn types(keywords: &Object) -> SchemaCheck {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "number", "null", "object", "string",
    ];
    let types = match keywords.get_str("type") {
        None => return Ok(()),
        Some(Value(Repr::Array(types))) => types,
        Some(type_name) => std::slice::from_ref(type_name),
    };
    let mut unique = HashSet::new();
    for type_name in types {
        let Some(type_name) = type_name.as_str() else {
            return Err("Invalid type. Expected: type, given: string/Array Of Strings".to_owned());
        };
        if !TYPES.contains(&type_name) {
            let valid = TYPES.join(" ");
            return Err(format!(
                "has a primitive type that is NOT VALID -- given: /{type_name}/ Expected valid values are:[{valid}]"
            ));
        }
        if !unique.insert(type_name) {
            return Err(format!("{type_name} type is duplicated"));
        }
    }
    Ok(())
}

fn counts(keywords: &Object) -> SchemaCheck {
    limits_of(keywords, "Properties", true)?;
    if let Some(required) = keywords.get_str("required") {
        let mut unique = HashSet::new();
        for name in required.as_array().ok_or("required must be of an array")? {
            let wrong = "Invalid type. Expected: string, given: required";
            if !unique.insert(name.as_str().ok_or(wrong)?) {
                return Err("required items must be unique".to_owned());
            }
        }
    }
    limits_of(keywords, "Items", false)?;
    if keywords
        .get_str("uniqueItems")
        .is_some_and(|unique| unique.as_bool().is_none())
    {
        return Err("uniqueItems must be of a boolean".to_owned());
    }
    if let Some(values) = keywords.get_str("enum") {
        let mut unique = HashSet::new();
        for value in values.as_array().ok_or("enum must be of an array")? {
            if !unique.insert(canonical(value)) {
                return Err("enum items must be unique".to_owned());
            }
        }
    }
    Ok(())
}

/// Checks the `min…` and `max…` keywords of a count.
fn limits_of(keywords: &Object, unit: &str, ordered: bool) -> SchemaCheck {
    let limit = |side: &str| {
        let key = format!("{side}{unit}");
        match keywords.get_str(&key) {
            None => Ok(None),
            Some(Value(Repr::Int(limit))) if *limit < 0 => {
                Err(format!("{key} must be greater than or equal to 0"))
            }
            Some(Value(Repr::Int(limit))) => Ok(Some(*limit)),
            Some(_) => Err(format!("{key} must be of an integer")),
        }
    };
    match (limit("min")?, limit("max")?) {
        (Some(min), Some(max)) if ordered && min > max => {
            Err(format!("min{unit} cannot be greater than max{unit}"))
        }
        _ => Ok(()),
    }
}

/// Returns JSON text that is equal for values that JSON Schema considers equal: numbers are compared as 64-bit floats.
pub fn canonical(value: &Value) -> String {
    let mut text = Vec::new();
    json::write_go(round(value).borrow(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Rounds the numbers in a value to 64-bit floats. Numbers outside of their range stay unchanged.
fn round(value: &Value) -> Value {
    stack::level(|| match value {
        Value(Repr::Array(items)) => Value::array(items.iter().map(round).collect()),
        Value(Repr::Object(members)) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), round(value)));
            Value::object(members.collect())
        }
        _ => match value.as_number().map(Number::to_f64) {
            Some(float) => NumberBuf::from_f64(float).map_or_else(|| value.clone(), Value::number),
            None => value.clone(),
        },
    })
}
