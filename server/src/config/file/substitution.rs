//! Environment variables in the text of a configuration, and which values depend on them.

use serde_json::{Map, Value};

use super::redacted::REDACTED;

/// Value of each variable in the second reading of a configuration. It is a plain scalar of YAML in every context.
pub const PLACEHOLDER: &str = "solon-placeholder-of-a-variable";

/// Replaces each `${NAME}` of a line by the variable of that name, as OPA does: by the empty text if the variable is empty, or the
/// name is; a variable that is not set leaves the text as it is. `$$` and `${NAME:-default}` have no meaning.
pub fn substituted(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let name = after.split_once('}');
        let Some((name, after_name)) = name.filter(|(name, _)| !name.contains('\n')) else {
            out.push_str("${");
            rest = after;
            continue;
        };
        match variable(name) {
            Some(value) => out.push_str(&value),
            None if name.is_empty() => {}
            None => out.extend(["${", name, "}"]),
        }
        rest = after_name;
    }
    out.push_str(rest);
    out
}

/// Replaces every value of `config` that differs in `other`, which is the same configuration read with [`PLACEHOLDER`] in place of
/// each variable. A value that is equal in both does not depend on a variable. The comparison also covers variables whose text is
/// YAML of several values, which no search for the text would find. The name of a member that depends on a variable is replaced as
/// well.
pub fn masked(config: &Value, other: &Value) -> Value {
    match (config, other) {
        (Value::Object(fields), Value::Object(others)) => {
            let fields = fields.iter().map(|(name, value)| match others.get(name) {
                Some(other) => (name.clone(), masked(value, other)),
                None => (REDACTED.to_owned(), REDACTED.into()),
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        (Value::Array(items), Value::Array(others)) => {
            let items = items.iter().enumerate().map(|(at, item)| {
                let other = others.get(at);
                other.map_or_else(|| REDACTED.into(), |other| masked(item, other))
            });
            Value::Array(items.collect())
        }
        (value, other) if value == other => value.clone(),
        _ => REDACTED.into(),
    }
}
