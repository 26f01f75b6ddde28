//! Whether a document is a valid schema. The first keyword that is wrong is named, in the published words.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::reference::resolve;
use crate::limits;

/// Says what is wrong with a schema.
pub fn check(document: &Json, is_pattern: &dyn Fn(&str) -> bool) -> Result<(), String> {
    if !is_schema(document) {
        return Err("schema is invalid".to_owned());
    }
    let mut validity = Validity {
        root: document,
        is_pattern,
        followed: HashSet::new(),
        depth: 0,
    };
    validity.schema(document)
}

type Checked = Result<(), String>;

struct Validity<'a> {
    root: &'a Json,
    is_pattern: &'a dyn Fn(&str) -> bool,
    followed: HashSet<&'a str>,
    depth: usize,
}

/// Whether something can stand where a schema must.
fn is_schema(json: &Json) -> bool {
    json.is_object() || json.is_boolean()
}

impl<'a> Validity<'a> {
    fn schema(&mut self, schema: &'a Json) -> Checked {
        let Json::Object(keywords) = schema else {
            return Ok(());
        };
        if self.depth > limits::NESTING {
            return Err("schema is nested too deeply".to_owned());
        }
        self.depth += 1;
        let checked = self.keywords(keywords);
        self.depth -= 1;
        checked
    }

    fn keywords(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        if keywords
            .get("$schema")
            .is_some_and(|schema| !schema.is_string())
        {
            return Err("$schema must be of type string".to_owned());
        }
        for key in ["$id", "id", "title", "description", "$ref"] {
            if keywords.get(key).is_some_and(|value| !value.is_string()) {
                return Err(format!("Invalid type. Expected: string, given: {key}"));
            }
        }
        if let Some(reference) = keywords.get("$ref").and_then(Json::as_str) {
            return self.reference(reference);
        }
        self.definitions(keywords)?;
        types(keywords)?;
        self.object_keywords(keywords)?;
        self.array_keywords(keywords)?;
        numbers(keywords)?;
        self.strings(keywords)?;
        counts(keywords)?;
        self.combinations(keywords)
    }

    fn reference(&mut self, reference: &'a str) -> Checked {
        let target = resolve(self.root, reference)?;
        if !is_schema(target) {
            return Err("Valid Schema must be of type object".to_owned());
        }
        if self.followed.insert(reference) {
            self.schema(target)?;
        }
        Ok(())
    }

    fn definitions(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        let Some(definitions) = keywords.get("definitions") else {
            return Ok(());
        };
        let wrong = || "Invalid type. Expected: Array Of Schemas, given: definitions".to_owned();
        for definition in definitions.as_object().ok_or_else(wrong)?.values() {
            if !is_schema(definition) {
                return Err(wrong());
            }
            self.schema(definition)?;
        }
        Ok(())
    }

    fn object_keywords(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        if let Some(properties) = keywords.get("properties") {
            let properties = properties
                .as_object()
                .ok_or("Properties must be of type object")?;
            for property in properties.values() {
                self.required_schema(property)?;
            }
        }
        self.schema_or(
            keywords,
            "additionalProperties",
            "boolean/Valid Schema",
            "additionalProperties",
        )?;
        if let Some(properties) = keywords.get("patternProperties") {
            let Json::Object(properties) = properties else {
                return Err(
                    "Invalid type. Expected: Valid Schema, given: patternProperties".to_owned(),
                );
            };
            for (pattern, property) in properties {
                if !(self.is_pattern)(pattern) {
                    return Err(format!("Invalid regex pattern '{pattern}'"));
                }
                self.required_schema(property)?;
            }
        }
        self.schema_or(
            keywords,
            "propertyNames",
            "Valid Schema",
            "patternProperties",
        )?;
        if let Some(dependencies) = keywords.get("dependencies") {
            let dependencies = dependencies.as_object();
            let dependencies = dependencies.ok_or("dependencies must be of type object")?;
            for dependency in dependencies.values() {
                let names = dependency
                    .as_array()
                    .is_some_and(|names| names.iter().all(Json::is_string));
                if !names && !is_schema(dependency) {
                    return Err("Dependency must be of type Schema Or Array Of Strings".to_owned());
                }
                self.schema(dependency)?;
            }
        }
        Ok(())
    }

    fn array_keywords(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        let wrong = "Invalid type. Expected: Valid Schema/Array Of Schemas, given: items";
        match keywords.get("items") {
            Some(Json::Array(items)) if items.iter().all(is_schema) => {
                for item in items {
                    self.schema(item)?;
                }
            }
            Some(item) if is_schema(item) => self.schema(item)?,
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

    fn strings(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        limits_of(keywords, "Length", true)?;
        for key in ["pattern", "format"] {
            match keywords.get(key) {
                Some(Json::String(pattern)) if key == "pattern" && !(self.is_pattern)(pattern) => {
                    return Err("pattern must be a valid regex".to_owned());
                }
                Some(Json::String(_)) | None => {}
                Some(_) => return Err(format!("Invalid type. Expected: string, given: {key}")),
            }
        }
        Ok(())
    }

    fn combinations(&mut self, keywords: &'a Map<String, Json>) -> Checked {
        if let Some(contains) = keywords.get("contains") {
            self.required_schema(contains)?;
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            let Some(parts) = keywords.get(key) else {
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
            match keywords.get(key) {
                Some(part) if is_schema(part) => self.schema(part)?,
                Some(_) => return Err(format!("{key} must be of an object")),
                None => {}
            }
        }
        Ok(())
    }

    fn required_schema(&mut self, schema: &'a Json) -> Checked {
        if is_schema(schema) {
            self.schema(schema)
        } else {
            Err("Expected: Valid Schema, given: Invalid JSON".to_owned())
        }
    }

    fn schema_or(
        &mut self,
        keywords: &'a Map<String, Json>,
        key: &str,
        expected: &str,
        given: &str,
    ) -> Checked {
        match keywords.get(key) {
            Some(schema) if is_schema(schema) => self.schema(schema),
            Some(_) => Err(format!(
                "Invalid type. Expected: {expected}, given: {given}"
            )),
            None => Ok(()),
        }
    }
}

fn types(keywords: &Map<String, Json>) -> Checked {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "number", "null", "object", "string",
    ];
    let types = match keywords.get("type") {
        None => return Ok(()),
        Some(Json::Array(types)) => types.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let mut seen = HashSet::new();
    for one in types {
        let Json::String(one) = one else {
            return Err("Invalid type. Expected: type, given: string/Array Of Strings".to_owned());
        };
        if !TYPES.contains(&one.as_str()) {
            let valid = TYPES.join(" ");
            return Err(format!(
                "has a primitive type that is NOT VALID -- given: /{one}/ Expected valid values are:[{valid}]"
            ));
        }
        if !seen.insert(one) {
            return Err(format!("{one} type is duplicated"));
        }
    }
    Ok(())
}

fn numbers(keywords: &Map<String, Json>) -> Checked {
    if let Some(multiple) = keywords.get("multipleOf") {
        let wrong = "Invalid type. Expected: Number, given: multipleOf";
        if multiple.as_f64().ok_or(wrong)? <= 0.0 {
            return Err("multipleOf must be strictly greater than 0".to_owned());
        }
    }
    for (key, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        let bound = keywords.get(key);
        if bound.is_some_and(|bound| !bound.is_number()) {
            return Err(format!("{key} must be of a Number"));
        }
        match keywords.get(exclusive) {
            Some(Json::Bool(_)) if bound.is_none() => {
                return Err(format!("{exclusive} cannot be used without {key}"));
            }
            None | Some(Json::Bool(_) | Json::Number(_)) => {}
            Some(_) => {
                return Err(format!(
                    "Invalid type. Expected: boolean/number, given: {exclusive}"
                ));
            }
        }
    }
    Ok(())
}

fn counts(keywords: &Map<String, Json>) -> Checked {
    limits_of(keywords, "Properties", true)?;
    if let Some(required) = keywords.get("required") {
        let mut seen = HashSet::new();
        for name in required.as_array().ok_or("required must be of an array")? {
            let wrong = "Invalid type. Expected: string, given: required";
            if !seen.insert(name.as_str().ok_or(wrong)?) {
                return Err("required items must be unique".to_owned());
            }
        }
    }
    limits_of(keywords, "Items", false)?;
    if keywords
        .get("uniqueItems")
        .is_some_and(|unique| !unique.is_boolean())
    {
        return Err("uniqueItems must be of a boolean".to_owned());
    }
    if let Some(values) = keywords.get("enum") {
        let mut seen = HashSet::new();
        for value in values.as_array().ok_or("enum must be of an array")? {
            if !seen.insert(value.to_string()) {
                return Err("enum items must be unique".to_owned());
            }
        }
    }
    Ok(())
}

/// Checks `min…` and `max…` of a count.
fn limits_of(keywords: &Map<String, Json>, of: &str, ordered: bool) -> Checked {
    let limit = |side: &str| {
        let key = format!("{side}{of}");
        let Some(limit) = keywords.get(&key) else {
            return Ok(None);
        };
        let whole = limit.as_f64().filter(|limit| limit.fract() == 0.0);
        match whole {
            None => Err(format!("{key} must be of an integer")),
            Some(limit) if limit < 0.0 => Err(format!("{key} must be greater than or equal to 0")),
            Some(limit) => Ok(Some(limit)),
        }
    };
    match (limit("min")?, limit("max")?) {
        (Some(least), Some(most)) if ordered && least > most => {
            Err(format!("min{of} cannot be greater than max{of}"))
        }
        _ => Ok(()),
    }
}
