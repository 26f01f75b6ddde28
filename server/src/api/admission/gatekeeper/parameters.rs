//! Schemas of parameters: the OpenAPI schema of a template, and the defaults that it defines.

use serde_json::{Map, Value as Json, json};
use solon::{Engine, PreparedDocument, Request, Value};

/// Members of schemas that have no counterpart in JSON Schema, or no effect on validity.
const DROPPED: [&str; 6] = [
    "default",
    "description",
    "example",
    "externalDocs",
    "nullable",
    "title",
];

/// Module that applies the schema.
const CHECK: &str = "package parameters

schema_problem := json.verify_schema(data.schema)[1]

problems := json.match_schema(input, data.schema)[1]
";

pub struct ParametersSchema {
    /// JSON schema of the template.
    schema: Json,
    problems: PreparedDocument,
}

impl ParametersSchema {
    /// Reads a schema. Objects of a structural schema have no other members than those that it lists.
    ///
    /// # Errors
    /// The schema is not valid.
    pub fn new(schema: &Json, is_structural: bool) -> Result<Self, String> {
        if has_rules(schema) {
            return Err(
                "`x-kubernetes-validations` in the schema of parameters is not supported"
                    .to_owned(),
            );
        }
        let engine = Engine::new();
        let failed =
            |error: &solon::Error| format!("the schema of parameters is not valid: {error}");
        let converted = solon::to_value(&json_schema(schema, is_structural));
        let converted = converted.map_err(|error| error.to_string())?;
        let prepared = engine
            .set_module("parameters.rego", CHECK)
            .and_then(|()| engine.put("data.schema", converted))
            .and_then(|()| engine.prepare_document("data.parameters.schema_problem"))
            .and_then(|problem| problem.evaluate(&Request::new().strict_builtin_errors(true)))
            .map_err(|error| failed(&error))?;
        if let Some(problem) = prepared.filter(|problem| !problem.is_null()) {
            let text = problem.as_str().unwrap_or_default();
            return Err(format!("the schema of parameters is not valid: {text}"));
        }
        let problems = engine.prepare_document("data.parameters.problems");
        Ok(Self {
            schema: schema.clone(),
            problems: problems.map_err(|error| failed(&error))?,
        })
    }

    /// Returns the parameters of a constraint that has none, if the schema defines them.
    pub fn default(&self) -> Option<Value> {
        solon::to_value(self.schema.get("default")?).ok()
    }

    /// Returns parameters with the defaults of the schema.
    ///
    /// # Errors
    /// They violate the schema: names the first parameter that does.
    pub fn check(&self, parameters: &Value) -> Result<Value, String> {
        let parameters = with_defaults(&self.schema, parameters)?;
        let request = Request::new()
            .input(&parameters)
            .strict_builtin_errors(true);
        let problems = self.problems.evaluate(&request);
        let failed = |text: String| format!("`spec.parameters`: schema validation failed: {text}");
        let problems = problems.map_err(|error| failed(error.to_string()))?;
        let first = match problems.as_ref().and_then(Value::as_array) {
            Some([]) => return Ok(parameters),
            Some([first, ..]) => first.get("error").and_then(Value::as_str),
            None => None,
        };
        Err(failed(
            first.unwrap_or("the result is undefined").to_owned(),
        ))
    }
}

/// Returns `true` if a schema contains rules in CEL.
fn has_rules(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().any(|(name, member)| {
            name == "x-kubernetes-validations" || name != "default" && has_rules(member)
        }),
        Json::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

/// Converts a schema of OpenAPI to JSON Schema. `is_closed` rejects members that an object schema does not list.
fn json_schema(schema: &Json, is_closed: bool) -> Json {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let is_set = |name: &str| members.get(name).and_then(Json::as_bool) == Some(true);
    let mut converted = Map::new();
    for (name, member) in members {
        if DROPPED.contains(&name.as_str()) || name.starts_with("x-kubernetes-") {
            continue;
        }
        converted.insert(name.clone(), converted_member(name, member, is_closed));
    }
    if is_set("x-kubernetes-int-or-string") {
        converted.insert("type".to_owned(), json!(["integer", "string"]));
    }
    if is_set("nullable")
        && let Some(kind) = converted.get_mut("type")
    {
        let mut kinds = match kind.take() {
            Json::Array(kinds) => kinds,
            kind => vec![kind],
        };
        kinds.push(json!("null"));
        *kind = Json::Array(kinds);
    }
    let is_object = members.get("type") == Some(&json!("object"));
    let is_open = is_set("x-kubernetes-preserve-unknown-fields")
        || members.contains_key("additionalProperties");
    if is_closed && is_object && !is_open {
        converted.insert("additionalProperties".to_owned(), json!(false));
    }
    Json::Object(converted)
}

fn converted_member(name: &str, member: &Json, is_closed: bool) -> Json {
    match (name, member) {
        ("properties", Json::Object(properties)) => {
            let properties = properties.iter();
            let converted =
                properties.map(|(name, schema)| (name.clone(), json_schema(schema, is_closed)));
            Json::Object(converted.collect())
        }
        ("items" | "additionalProperties", schema) => json_schema(schema, is_closed),
        // alternatives list some members of the object only
        ("allOf" | "anyOf" | "oneOf", Json::Array(schemas)) => schemas
            .iter()
            .map(|schema| json_schema(schema, false))
            .collect(),
        ("not", schema) => json_schema(schema, false),
        (_, member) => member.clone(),
    }
}

/// Adds the defaults of absent members, at any depth, as the API server does when it stores an object.
fn with_defaults(schema: &Json, value: &Value) -> Result<Value, String> {
    if let Some(object) = value.as_object() {
        let properties = schema.get("properties").and_then(Json::as_object);
        let other = schema.get("additionalProperties");
        let mut members = Vec::new();
        for (name, member) in object.iter() {
            let listed = name.as_str().and_then(|name| properties?.get(name));
            let member = match listed.or(other) {
                Some(schema) => with_defaults(schema, member)?,
                None => member.clone(),
            };
            members.push((name.clone(), member));
        }
        for (name, schema) in properties.into_iter().flatten() {
            if let (None, Some(default)) = (value.get(name), schema.get("default")) {
                let default = solon::to_value(default).map_err(|error| error.to_string())?;
                members.push((name.as_str().into(), with_defaults(schema, &default)?));
            }
        }
        return Ok(Value::object(members));
    }
    match (value.as_array(), schema.get("items")) {
        (Some(items), Some(schema)) => {
            let items = items.iter().map(|item| with_defaults(schema, item));
            Ok(Value::array(items.collect::<Result<_, _>>()?))
        }
        _ => Ok(value.clone()),
    }
}
