//! Validation of a configuration by its types: invalid values and unknown keys.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use solon_control::model::kind_of;

use solon_outbound::config::LIST;

use super::document::ConfigDocument;

/// Returns the JSON schema of a configuration, without references. It is not cached, since it is needed only at startup and when
/// the configuration changes.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema = settings
        .into_generator()
        .into_root_schema_for::<ConfigDocument>();
    schema.to_value()
}

/// Parses a configuration. Members that are `null` are equal to absent ones. The second result is a warning for each unknown key,
/// with the known key that is probably meant.
///
/// # Errors
/// Returns the first value that is not of its type, or has no effect yet, with the path of its key.
pub fn read(config: &Value) -> Result<(ConfigDocument, Vec<String>), String> {
    let config = without_nulls(config);
    let mut warnings = Vec::new();
    check(&schema(), &config, "", &mut warnings)?;
    let document = serde_path_to_error::deserialize(&config).map_err(|error| {
        let text = error.inner().to_string();
        let path = error.path();
        match text.rsplit_once(", expected ") {
            None => format!("{path}: {text}"),
            // the text contains the value, which may be a secret
            Some((_, expected)) => {
                let expected = match expected {
                    "i64" => "an integer",
                    "f64" => "a number",
                    "a map" => "an object",
                    "a sequence" => "an array",
                    other => other,
                };
                let kind = value_at(&config, path).map_or("nothing", kind_of);
                format!("{path}: expected {expected}, got {kind}")
            }
        }
    })?;
    Ok((document, warnings))
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(name, value)| (name.clone(), without_nulls(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

fn value_at<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, segment| match segment {
        Segment::Map { key } => value.get(key),
        Segment::Seq { index } => value.get(index),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}

/// Adds a warning for each unknown key.
///
/// # Errors
/// Fails for an array in place of an object, which `serde` would parse as the fields of the object in their order. Fails for an
/// unknown key in an object that does not allow them, such as credentials.
fn check(
    schema: &Value,
    value: &Value,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                match member(schema, name) {
                    SchemaMember::Known(schema) => check(schema, value, &path, warnings)?,
                    SchemaMember::Unknown(known_members) => {
                        let text = format!(
                            "unknown configuration option \"{path}\"{}",
                            hint(name, known_members)
                        );
                        if is_closed(schema) {
                            return Err(text);
                        }
                        warnings.push(text);
                    }
                    SchemaMember::Any => {}
                }
            }
        }
        Value::Array(items) if schema.get("type").is_some_and(|name| name == "object") => {
            let Some(schema) = members_of_list(schema) else {
                return Err(format!("{path}: expected an object, got an array"));
            };
            for (index, item) in items.iter().enumerate() {
                check(schema, item, &format!("{path}[{index}]"), warnings)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the schema of the items of an object that may also be a list.
fn members_of_list(schema: &Value) -> Option<&Value> {
    schema.get(LIST)?;
    schema.get("additionalProperties")
}

/// A member of an object according to its schema.
enum SchemaMember<'s> {
    /// Schema of a known member.
    Known(&'s Value),
    /// The member does not exist. The known members are given.
    Unknown(&'s Map<String, Value>),
    Any,
}

/// Returns `true` if unknown members of an object are errors.
fn is_closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

fn member<'s>(schema: &'s Value, name: &str) -> SchemaMember<'s> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let property = properties.and_then(|properties_object| properties_object.get(name));
    let additional = schema.get("additionalProperties");
    let additional = additional.filter(|_| !is_closed(schema));
    match (property.or(additional), properties) {
        (Some(schema), _) => SchemaMember::Known(schema),
        (None, Some(known_members)) => SchemaMember::Unknown(known_members),
        (None, None) => SchemaMember::Any,
    }
}

/// Returns the known key that is probably meant.
fn hint(name: &str, known_members: &Map<String, Value>) -> String {
    let nearest = known_members
        .keys()
        .map(|key| (strsim::damerau_levenshtein(name, key), key))
        .filter(|(distance, key)| *distance <= 1 + key.len() / 4)
        .min();
    nearest
        .map(|(_, key)| format!(", did you mean \"{key}\"?"))
        .unwrap_or_default()
}

/// Returns the known members of a section. The section is an object of names or a list. Members with unknown names, and values that
/// are not of their type, are omitted.
pub fn valid_members(section: &str, value: &Value) -> Value {
    let schema = schema();
    let SchemaMember::Known(schema) = member(&schema, section) else {
        return Value::Null;
    };
    // a misspelled section may be a list whatever its name
    match (value, schema.get("additionalProperties")) {
        (Value::Array(items), Some(schema)) => {
            let items = items.iter().filter_map(|item| valid_value(schema, item));
            items.collect()
        }
        _ => valid_value(schema, value).unwrap_or_default(),
    }
}

/// Returns the known parts of a value, or `None` if there are none.
fn valid_value(schema: &Value, value: &Value) -> Option<Value> {
    let Value::Object(fields) = value else {
        return (value.is_null() || has_type(schema, value)).then(|| value.clone());
    };
    if !has_type(schema, value) {
        return None;
    }
    let fields = fields.iter().filter_map(|(name, value)| {
        let value = match member(schema, name) {
            SchemaMember::Known(schema) => valid_value(schema, value)?,
            SchemaMember::Any => value.clone(),
            SchemaMember::Unknown(_) => return None,
        };
        Some((name.clone(), value))
    });
    Some(Value::Object(fields.collect()))
}

/// Returns `true` if a value has one of the types of a schema, or if the schema has none.
fn has_type(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |name: &Value| name == kind || name == "number" && kind == "integer";
    match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
    }
}
