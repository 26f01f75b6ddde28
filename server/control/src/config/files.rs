//! Reads and merges configuration files and folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeSeed as _;
use serde_json::{Map, Value};

use super::ConfigError;
use super::unique::Unique;
use crate::limits;
use crate::secrets::ZeroizingValue;

/// The configuration files and the rules for merging them.
#[derive(Clone, Debug, Default)]
pub struct ConfigFiles {
    /// Files and folders, in order. A folder represents the YAML and JSON files below it.
    pub paths: Vec<PathBuf>,
    /// `true` if two files with different values at one path are an error. Otherwise the later file takes precedence.
    pub refuse_conflicts: bool,
}

/// The merged content of the files.
#[derive(Debug, Default)]
pub struct Merged {
    /// The content.
    pub value: ZeroizingValue,
    /// The file that describes an item, or the last one of several, by section and name.
    pub files: BTreeMap<(String, String), String>,
}

impl ConfigFiles {
    /// Reads and merges all files.
    pub fn load(&self) -> Result<Merged, ConfigError> {
        let mut merged = Merged {
            value: ZeroizingValue(Value::Object(Map::new())),
            files: BTreeMap::new(),
        };
        for file in self.list()? {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(&file)
                .map_err(|error| ConfigError::one(format!("cannot read {name}: {error}")))?;
            let text = zeroize::Zeroizing::new(text);
            let value = read(&name, &text)?;
            for (section, items) in value.as_object().into_iter().flatten() {
                for item in items.as_object().into_iter().flat_map(Map::keys) {
                    let place = (section.clone(), item.clone());
                    merged.files.insert(place, name.clone());
                }
            }
            merge(&mut merged.value.0, value, self.refuse_conflicts, "").map_err(|place| {
                ConfigError::one(format!("{name}: conflict for config path {place}"))
            })?;
        }
        Ok(merged)
    }

    /// Returns the files, in order.
    fn list(&self) -> Result<Vec<PathBuf>, ConfigError> {
        let mut found = Vec::new();
        for path in &self.paths {
            let cannot =
                |error| ConfigError::one(format!("cannot read {}: {error}", path.display()));
            if std::fs::metadata(path).map_err(cannot)?.is_dir() {
                walk(path, &mut found).map_err(cannot)?;
            } else {
                found.push(path.clone());
            }
            if found.len() > limits::CONFIG_FILES {
                let most = limits::CONFIG_FILES;
                return Err(ConfigError::one(format!(
                    "there are more than {most} files"
                )));
            }
        }
        Ok(found)
    }
}

/// Finds the YAML and JSON files below a folder, in the order of their names. Names that begin with a dot are skipped
/// because editors and orchestrators use them.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') || found.len() > limits::CONFIG_FILES {
            continue;
        }
        // links to files are followed, but links to folders may form cycles
        if path.is_dir() {
            if !path.is_symlink() {
                walk(&path, found)?;
            }
        } else if path
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
        {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns a fingerprint of the names and contents of the files, which changes with them.
pub fn fingerprint(files: &ConfigFiles) -> Option<Vec<u8>> {
    let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
    for file in files.list().ok()? {
        context.update(file.as_os_str().as_encoded_bytes());
        context.update(&[0]);
        let contents = std::fs::read(&file).ok()?;
        context.update(&contents.len().to_be_bytes());
        context.update(&contents);
    }
    Some(context.finish().as_ref().to_vec())
}

fn read(name: &str, text: &str) -> Result<Value, ConfigError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let mut twice = None;
    let read = Unique(&mut twice).deserialize(serde_yaml::Deserializer::from_str(text));
    let value = read.map_err(|error| {
        // the message of the parser may contain secrets, but its position does not
        let place = error.location().map_or_else(String::new, |place| {
            format!(", line {}, column {}", place.line(), place.column())
        });
        ConfigError::one(match twice {
            Some(twice) => format!("{name} has {twice:?} twice in one object{place}"),
            None => format!("{name} is neither YAML nor JSON{place}"),
        })
    })?;
    match value {
        Value::Object(_) => Ok(value),
        // the file contains only comments
        Value::Null => Ok(Value::Object(Map::new())),
        _ => Err(ConfigError::one(format!("{name} must be an object"))),
    }
}

/// Merges a later value into an earlier one. Objects are merged recursively, and other values are replaced.
fn merge(below: &mut Value, above: Value, refuse: bool, place: &str) -> Result<(), String> {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                let place = format!("{place}/{name}");
                match below.get_mut(&name) {
                    Some(below) => merge(below, value, refuse, &place)?,
                    None => drop(below.insert(name, value)),
                }
            }
            Ok(())
        }
        (below, above) if refuse && *below != above => Err(place.to_owned()),
        (below, above) => {
            *below = above;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::json;

    #[test]
    fn the_later_file_is_right() {
        let mut value = json!({"a": {"b": 1, "c": [1, 2]}, "d": {}});
        merge(&mut value, json!({"a": {"c": [3]}, "d": 4}), false, "").unwrap();
        assert_eq!(value, json!({"a": {"b": 1, "c": [3]}, "d": 4}));
        assert_eq!(merge(&mut value, json!({"a": {"b": 1}}), true, ""), Ok(()));
        let refused = merge(&mut value, json!({"a": {"b": 2}}), true, "");
        assert_eq!(refused, Err("/a/b".to_owned()));
    }
}
