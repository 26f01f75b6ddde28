//! The result of `opa.runtime`.

use crate::value::Value;

/// Returns facts about a program: its version, and the given environment variables, which policies read as
/// `opa.runtime().env`. `commit` is absent.
pub fn runtime_of(environment: impl IntoIterator<Item = (String, String)>) -> Value {
    let variables = environment.into_iter();
    let variables = variables.map(|(name, value)| (Value::from(name), Value::from(value)));
    let fields: [(&str, Value); 5] = [
        ("authorization_enabled", false.into()),
        ("commit", "".into()),
        ("env", Value::object(variables.collect())),
        ("skip_known_schema_check", false.into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ];
    let fields = fields.map(|(name, value)| (Value::from(name), value));
    Value::object(fields.into())
}
