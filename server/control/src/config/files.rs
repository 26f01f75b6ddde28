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
    /// The content. It is zeroed when it is dropped.
    pub value: ZeroizingValue,
    /// The file that describes an item, or the last one of several, by section and name.
    pub files: BTreeMap<(String, String), String>,
}

impl ConfigFiles {
    /// Reads and merges all files. Blocks.
    ///
    /// # Errors
    /// A file cannot be read or parsed, or two files contradict each other.
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
                    let section_and_item = (section.clone(), item.clone());
                    merged.files.insert(section_and_item, name.clone());
                }
            }
            merge(&mut merged.value.0, value, self.refuse_conflicts, "").map_err(|path| {
                ConfigError::one(format!("{name}: conflict for config path {path}"))
            })?;
        }
        Ok(merged)
    }

    /// Returns the files in the order in which they are merged. Reads folders recursively.
    ///
    /// # Errors
    /// A path cannot be read, or there are too many files.
    fn list(&self) -> Result<Vec<PathBuf>, ConfigError> {
        let mut files = Vec::new();
        for path in &self.paths {
            let cannot =
                |error| ConfigError::one(format!("cannot read {}: {error}", path.display()));
            if std::fs::metadata(path).map_err(cannot)?.is_dir() {
                walk(path, &mut files).map_err(cannot)?;
            } else {
                files.push(path.clone());
            }
            if files.len() > limits::CONFIG_FILES {
                let limit = limits::CONFIG_FILES;
                return Err(ConfigError::one(format!(
                    "there are more than {limit} files"
                )));
            }
        }
        Ok(files)
    }
}

/// Finds the YAML and JSON files below a folder, in the order of their names. Names that begin with a dot are skipped
/// because editors and orchestrators use them.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
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
        if name.starts_with('.') || files.len() > limits::CONFIG_FILES {
            continue;
        }
        // links to files are followed, but links to folders may form cycles
        if path.is_dir() {
            if !path.is_symlink() {
                walk(&path, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns a SHA-256 digest of the names and contents of the files. `None` if they cannot be listed or read.
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
    let mut repeated = None;
    let result = Unique(&mut repeated).deserialize(serde_yaml::Deserializer::from_str(text));
    let value = result.map_err(|error| {
        // the message of the parser may contain secrets, but its position does not
        let position = error.location().map_or_else(String::new, |position| {
            format!(", line {}, column {}", position.line(), position.column())
        });
        ConfigError::one(match repeated {
            Some(repeated_name) => {
                format!("{name} has {repeated_name:?} twice in one object{position}")
            }
            None => format!("{name} is neither YAML nor JSON{position}"),
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
fn merge(base: &mut Value, overlay: Value, reject: bool, path: &str) -> Result<(), String> {
    match (base, overlay) {
        (Value::Object(base_members), Value::Object(overlay_members)) => {
            for (name, value) in overlay_members {
                let member_path = format!("{path}/{name}");
                match base_members.get_mut(&name) {
                    Some(base_member) => merge(base_member, value, reject, &member_path)?,
                    None => drop(base_members.insert(name, value)),
                }
            }
            Ok(())
        }
        (base, overlay) if reject && *base != overlay => Err(path.to_owned()),
        (base, overlay) => {
            *base = overlay;
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
        let result = merge(&mut value, json!({"a": {"b": 2}}), true, "");
        assert_eq!(result, Err("/a/b".to_owned()));
    }
}
