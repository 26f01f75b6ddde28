//! The configuration: a YAML or JSON file, overridden by values of the command line, and validated before anything starts.

mod assignments;
mod caching;
mod changes;
mod decision_logs;
mod discovered;
mod distribution;
mod document;
mod envoy;
mod log_export;
mod otlp;
mod redacted;
mod schema;
mod section_context;
mod settings;

use serde_json::{Map, Value};
use solon_common::substitution::{Syntax, Variables, substitute};

use redacted::{PLACEHOLDER, masked};

pub use caching::Caching;
pub use otlp::tracing_options;
pub use settings::Settings;

/// Sources of a configuration: a file, and assignments that take precedence.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub file: Option<(String, String)>,
    pub set: Vec<String>,
    /// Assignments of file contents of `--set-file`.
    pub set_files: Vec<String>,
}

/// A parsed and validated configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The whole configuration.
    value: Value,
    /// The configuration with a placeholder in place of each environment variable and of each file of `--set-file`. Values that
    /// differ from `value` may be secrets.
    without_variables: Value,
    pub settings: Settings,
    /// Warnings about unknown keys, which are probably misspelled.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads a configuration. `variable` returns an environment variable, `read_file` the contents of a file. Unknown keys are warnings of
    /// the result.
    ///
    /// # Errors
    /// A source cannot be read or is not valid YAML, or a value is not valid: returns what is wrong, with the path of the key.
    pub fn read(
        sources: &Sources,
        variable: Variables<'_>,
        read_file: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let value = merge(sources, variable, read_file)?;
        let placeholder = |name: &str| variable(name).map(|_| PLACEHOLDER.to_owned());
        // if the placeholder is not valid in place of a value, all values count as secrets
        let without_variables = merge(sources, &placeholder, &|_| Ok(PLACEHOLDER.to_owned()))
            .unwrap_or_else(|_| Value::Object(Map::new()));
        let (document, warnings) = schema::read(&value)?;
        Ok(Self {
            settings: Settings::from_document(document, &service_names(&value))?,
            warnings,
            value,
            without_variables,
        })
    }

    /// Returns the configuration without secrets, with the default decisions and labels, as `GET /v1/config` returns it.
    pub fn active(&self, id: &str, version: &str) -> Value {
        let mut value = self.redacted();
        if let Value::Object(fields) = &mut value {
            let decisions = [
                ("default_decision", &self.settings.default_decision),
                (
                    "default_authorization_decision",
                    &self.settings.default_authorization_decision,
                ),
            ];
            for (name, path) in decisions {
                let field = fields.entry(name).or_insert(Value::Null);
                if field.is_null() {
                    *field = path.as_str().into();
                }
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

    /// Returns the configuration without secrets, as `opa.runtime().config` returns it to policies. Values that depend on
    /// environment variables, or on files of `--set-file`, are replaced. Labels are not replaced, because policies use them.
    pub fn redacted(&self) -> Value {
        let mut redacted_value = redacted::redacted(&masked(&self.value, &self.without_variables));
        if let (Value::Object(redacted_value), Some(labels)) =
            (&mut redacted_value, self.value.get("labels"))
        {
            redacted_value.insert("labels".to_owned(), labels.clone());
        }
        redacted_value
    }
}

/// Returns the names of the configured services: those of an object sorted, those of a list in the order of the list.
fn service_names(config: &Value) -> Vec<String> {
    match config.get("services") {
        Some(Value::Object(services)) => {
            let mut names: Vec<String> = services.keys().cloned().collect();
            names.sort();
            names
        }
        Some(Value::Array(items)) => {
            let names = items
                .iter()
                .filter_map(|item| item.get("name")?.as_str().map(str::to_owned));
            names.collect()
        }
        _ => Vec::new(),
    }
}

/// Reads the file and applies the assignments of the command line.
fn merge(
    sources: &Sources,
    variable: Variables<'_>,
    read_file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Value, String> {
    let mut value = Value::Object(Map::new());
    if let Some((name, text)) = &sources.file {
        let text = substitute(text, Syntax::Opa, variable).text;
        let parsed: Value = serde_yaml::from_str(&text)
            .map_err(|error| format!("failed to parse {name}: yaml: {error}"))?;
        match parsed {
            Value::Null => {}
            Value::Object(_) => value = parsed,
            _ => return Err(format!("{name}: expected an object")),
        }
    }
    for text in sources.set.iter().filter(|text| !text.is_empty()) {
        let text = substitute(text, Syntax::Opa, variable).text;
        assignments::apply(&mut value, &text, &|text| Ok(assignments::typed(text)))
            .map_err(|error| format!("failed parsing --set data: {error}"))?;
    }
    for text in sources.set_files.iter().filter(|text| !text.is_empty()) {
        let file = |path: &str| Ok(Value::from(read_file(path)?.trim()));
        assignments::apply(&mut value, text, &file)
            .map_err(|error| format!("failed parsing --set-file data: {error}"))?;
    }
    Ok(value)
}

#[cfg(test)]
#[path = "../../../../tests/server/config.rs"]
mod tests;
