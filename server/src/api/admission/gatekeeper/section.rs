//! Members of Kubernetes objects as Rust types.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use solon::Value;

/// Converts the member of an object to a type.
///
/// # Errors
/// The member is missing or does not have the type: names the path of what is wrong.
pub fn read<T: DeserializeOwned>(object: &Value, name: &str) -> Result<T, String> {
    let member = object.get(name);
    let text = member.map_or_else(|| "null".to_owned(), Value::to_json);
    let mut reader = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => name.to_owned(),
            path => format!("{name}.{path}"),
        };
        // the position in the converted text is of no use
        let problem = error.into_inner().to_string();
        let problem = problem
            .rsplit_once(" at line ")
            .map_or(problem.as_str(), |(problem, _)| problem);
        format!("`{path}`: {problem}")
    })
}

/// Reads `null` as the default, as the API server does.
///
/// # Errors
/// The value is neither `null` nor of the type.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    reader: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}
