//! Parses OPA's JSON form of types, as in capabilities files.

use serde_json::{Map, Value as Json};

use super::{FunctionType, Parameter, Type};
use crate::limits;
use crate::value::Value;
use crate::value::serde::to_value;

impl Type {
    /// Parses the JSON form. The error is the message.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        read(json, 0)
    }
}

fn read(json: &Json, depth: usize) -> Result<Type, String> {
    if depth > limits::TYPE_NESTING {
        return Err("type is nested too deeply".to_owned());
    }
    let node = json.as_object().ok_or_else(|| unreadable(json))?;
    let inner = |json: &Json| read(json, depth + 1);
    let component = |name: &str| node.get(name).map(inner).transpose();
    Ok(match node.get("type").and_then(Json::as_str) {
        Some("null") => Type::Null,
        Some("boolean") => Type::Boolean,
        Some("number") => Type::Number,
        Some("string") => Type::String,
        Some("any") => match node.get("of") {
            None => Type::Any,
            Some(_) => Type::any_of(list(node, "of", inner)?),
        },
        Some("array") => Type::array(list(node, "static", inner)?, component("dynamic")?),
        Some("set") => Type::set(component("of")?.unwrap_or(Type::Unknown)),
        Some("object") => {
            let fixed = list(node, "static", |pair| {
                let key = to_value(pair.get("key").unwrap_or(&Json::Null));
                let key: Value = key.map_err(|error| error.to_string())?;
                Ok((key, part(pair, "value", depth)?))
            })?;
            let rest = node.get("dynamic").map(|pair| {
                let (key, value) = (part(pair, "key", depth)?, part(pair, "value", depth)?);
                Ok::<_, String>((key, value))
            });
            Type::object(fixed, rest.transpose()?)
        }
        Some("function") => {
            let parameter = |json: &Json| {
                let name = json.get("name").and_then(Json::as_str);
                Ok::<_, String>(Parameter {
                    name: name.map(Into::into),
                    of: inner(json)?,
                })
            };
            FunctionType {
                args: list(node, "args", parameter)?,
                variadic: component("variadic")?,
                result: node.get("result").map(parameter).transpose()?,
            }
            .into()
        }
        _ => return Err(unreadable(json)),
    })
}

fn part(pair: &Json, name: &str, depth: usize) -> Result<Type, String> {
    read(pair.get(name).unwrap_or(&Json::Null), depth + 1)
}

fn list<T>(
    node: &Map<String, Json>,
    name: &str,
    read: impl Fn(&Json) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let items = node.get(name).and_then(Json::as_array);
    items.into_iter().flatten().map(read).collect()
}

fn unreadable(json: &Json) -> String {
    if json
        .as_object()
        .is_some_and(|node| !node.contains_key("type"))
    {
        return format!(
            "`{json}` has no `type`: expected a type such as `{{\"type\": \"string\"}}`"
        );
    }
    format!("`{json}` is not a type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_types_can_be_parsed() {
        for entry in crate::builtins::all() {
            let json = entry.declaration.to_json();
            let parsed = Type::from_json(&json);
            assert_eq!(
                parsed.as_ref(),
                Ok(&*entry.declaration),
                "{}",
                entry.builtin.name
            );
        }
    }

    #[test]
    fn other_syntax_is_rejected() {
        for wrong in [
            "1",
            "{}",
            r#"{"type": "int"}"#,
            r#"{"type": "any", "of": [1]}"#,
        ] {
            let json: Json = serde_json::from_str(wrong).unwrap();
            assert!(Type::from_json(&json).is_err(), "{wrong}");
        }
        for untyped in [r#"{"args":[]}"#, r#"{"type":"set","of":{}}"#] {
            let json: Json = serde_json::from_str(untyped).unwrap();
            let error = Type::from_json(&json).unwrap_err();
            assert!(
                error.contains("has no `type`: expected a type such as"),
                "{error}"
            );
        }
        let mut deep = serde_json::json!({"type": "any"});
        for _ in 0..1000 {
            deep = serde_json::json!({"type": "set", "of": deep});
        }
        assert_eq!(
            Type::from_json(&deep),
            Err("type is nested too deeply".to_owned())
        );
    }
}
