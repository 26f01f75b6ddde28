//! The configuration: a file in YAML or JSON, values of the command line over it, checked before anything starts.

mod assignments;
mod caching;
mod keys;
mod redacted;
mod settings;

use serde_json::{Map, Value};

pub use caching::Caching;
pub use settings::Settings;

/// Where a configuration comes from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The name and the text of the file.
    pub file: Option<(String, String)>,
    /// Assignments, as `--set` takes them.
    pub set: Vec<String>,
    /// Assignments of the texts of files, as `--set-file` takes them.
    pub set_files: Vec<String>,
}

/// A configuration that was read and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// All of it.
    value: Value,
    /// What it says of the server.
    pub settings: Settings,
    /// What may be a slip of the pen.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads a configuration. `variable` tells what the environment holds, `read` what is in a file.
    ///
    /// # Errors
    /// What is wrong, with the key's path.
    pub fn read(
        sources: &Sources,
        variable: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let mut value = Value::Object(Map::new());
        if let Some((name, text)) = &sources.file {
            let text = substituted(text, variable);
            let parsed: Value = serde_yaml::from_str(&text)
                .map_err(|error| format!("failed to parse {name}: yaml: {error}"))?;
            match parsed {
                Value::Null => {}
                Value::Object(_) => value = parsed,
                _ => return Err(format!("{name}: expected an object")),
            }
        }
        for text in sources.set.iter().filter(|text| !text.is_empty()) {
            let text = substituted(text, variable);
            assignments::apply(&mut value, &text, &|text| Ok(assignments::typed(text)))
                .map_err(|error| format!("failed parsing --set data: {error}"))?;
        }
        for text in sources.set_files.iter().filter(|text| !text.is_empty()) {
            let file = |path: &str| Ok(Value::from(read(path)?.trim()));
            assignments::apply(&mut value, text, &file)
                .map_err(|error| format!("failed parsing --set-file data: {error}"))?;
        }
        let warnings = keys::check(&value)?;
        let settings = Settings::of(&value)?;
        Ok(Self {
            value,
            settings,
            warnings,
        })
    }

    /// All of it but what is secret, with the defaults of decisions and labels, as `GET /v1/config` shows it.
    pub fn active(&self, id: &str, version: &str) -> Value {
        let mut value = self.told();
        if let Value::Object(fields) = &mut value {
            let decisions = [
                ("default_decision", &self.settings.default_decision),
                (
                    "default_authorization_decision",
                    &self.settings.default_authorization_decision,
                ),
            ];
            for (name, path) in decisions {
                fields.insert(name.to_owned(), path.as_str().into());
            }
            let labels = fields
                .entry("labels")
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(labels) = labels {
                labels.entry("id").or_insert_with(|| id.into());
                labels.insert("version".to_owned(), version.into());
            }
        }
        value
    }

    /// All of it but what is secret, as policies see it in `opa.runtime().config`.
    pub fn told(&self) -> Value {
        redacted::redacted(&self.value)
    }
}

/// Replaces each `${NAME}` of a line by the variable of that name, as OPA does: by the empty text if the variable is empty, or the
/// name is; a variable that is not set leaves the text as it is. `$$` and `${NAME:-default}` have no meaning.
fn substituted(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
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

#[cfg(test)]
#[path = "../../../../tests/server/config.rs"]
mod tests;
