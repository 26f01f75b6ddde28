//! Environment variables in values of configuration files.

use serde_json::Value;
use solon_common::substitution::{Syntax, Variables, substitute};
use zeroize::Zeroize as _;

/// Expands the variables in every string of a value. Names of variables that are not set are added to `missing`.
pub fn expand(value: &mut Value, variables: Variables<'_>, missing: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains('$') => {
            let substituted = substitute(text, Syntax::ControlPlane, variables);
            text.zeroize();
            *text = substituted.text;
            missing.extend(substituted.missing);
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| expand(item, variables, missing)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|item| expand(item, variables, missing));
        }
        _ => {}
    }
}
