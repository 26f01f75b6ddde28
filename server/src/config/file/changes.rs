//! Changes of a configuration while the server runs.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::settings::Settings;
use super::{Config, schema, service_names};

/// Keys that take effect only at startup.
const AT_START: [&[&str]; 10] = [
    &["caching"],
    &["capabilities"],
    &["discovery"],
    &["distributed_tracing"],
    &["metrics_export"],
    &["persistence_directory"],
    &["server", "admission"],
    &["server", "metrics"],
    &["server", "ui"],
    &["storage"],
];

impl Config {
    /// Returns this configuration as it takes effect in a server that runs with `running`: keys that take effect only at startup
    /// keep their running values. The second result lists those keys whose values differ.
    ///
    /// # Errors
    /// Fails as [`Self::read`] does; the values were checked there.
    pub fn while_running(mut self, running: &Self) -> Result<(Self, Vec<String>), String> {
        let mut changed_keys = Vec::new();
        for path in AT_START {
            differences(
                value_at(&self.value, path),
                value_at(&running.value, path),
                &path.join("."),
                &mut changed_keys,
            );
            put(&mut self.value, path, value_at(&running.value, path));
            let running_value = value_at(&running.without_variables, path);
            put(&mut self.without_variables, path, running_value);
        }
        let (document, _) = schema::read(&self.value)?;
        self.settings = Settings::from_document(document, &service_names(&self.value))?;
        Ok((self, changed_keys))
    }
}

fn value_at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// Writes a value at a path, or removes the existing one.
fn put(root: &mut Value, path: &[&str], value: Option<&Value>) {
    let Some((last, sections)) = path.split_last() else {
        return;
    };
    let mut target = root;
    for name in sections {
        let Value::Object(fields) = target else {
            return;
        };
        if value.is_none() && !fields.contains_key(*name) {
            return;
        }
        let section = fields.entry(*name).or_insert(Value::Null);
        if section.is_null() {
            *section = Value::Object(Map::new());
        }
        target = section;
    }
    if let Value::Object(fields) = target {
        match value {
            Some(value) => {
                fields.insert((*last).to_owned(), value.clone());
            }
            None => {
                fields.remove(*last);
            }
        }
    }
}

/// Adds the keys at and below a path whose values differ.
fn differences(
    new: Option<&Value>,
    old: Option<&Value>,
    path: &str,
    changed_keys: &mut Vec<String>,
) {
    let (new, old) = (
        new.filter(|value| !value.is_null()),
        old.filter(|value| !value.is_null()),
    );
    let sections = (
        new.and_then(Value::as_object),
        old.and_then(Value::as_object),
    );
    match (new, old) {
        (None, None) => {}
        _ if (new.is_none() || sections.0.is_some()) && (old.is_none() || sections.1.is_some()) => {
            let names = [sections.0, sections.1].into_iter().flatten();
            let names: BTreeSet<&String> = names.flat_map(Map::keys).collect();
            for name in names {
                let member = |section: Option<&'_ Map<String, Value>>| {
                    section.and_then(|section| section.get(name)).cloned()
                };
                let (new, old) = (member(sections.0), member(sections.1));
                differences(
                    new.as_ref(),
                    old.as_ref(),
                    &format!("{path}.{name}"),
                    changed_keys,
                );
            }
        }
        _ if new != old => changed_keys.push(path.to_owned()),
        _ => {}
    }
}
