//! Kubernetes objects in files: YAML with any number of documents, or JSON.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use solon::{Value, json, yaml};

/// Endings of file names that are read in folders.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

#[derive(Debug)]
pub struct Manifest {
    file: String,
    /// The whole object, as it was read.
    pub value: Value,
}

impl Manifest {
    /// Returns the object's member, or an empty text if it is not a string.
    fn text(&self, name: &str) -> &str {
        let member = self.value.get(name).and_then(Value::as_str);
        member.unwrap_or_default()
    }

    /// Returns the group of `apiVersion`, which is empty for the core group.
    pub fn group(&self) -> &str {
        let version = self.text("apiVersion");
        version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// Returns the version of `apiVersion` without the group.
    pub fn version(&self) -> &str {
        let version = self.text("apiVersion");
        version.rsplit('/').next().unwrap_or_default()
    }

    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Returns `metadata.name`, or an empty text if it is not a string.
    pub fn name(&self) -> &str {
        let metadata = self.value.get("metadata");
        let name = metadata.and_then(|metadata| metadata.get("name")?.as_str());
        name.unwrap_or_default()
    }

    /// Returns the file and the object as errors name them: `FILE: KIND/NAME`.
    pub fn label(&self) -> String {
        let (kind, name) = (self.kind(), self.name());
        match (kind, name) {
            ("", _) => format!("{}: object without a kind", self.file),
            (kind, "") => format!("{}: {kind} without a name", self.file),
            (kind, name) => format!("{}: {kind}/{name}", self.file),
        }
    }
}

/// Reads the objects of files and folders, in the order of the paths and of the file names.
///
/// # Errors
/// A path cannot be read, is not a folder and has another ending, or its text is not valid: names the file.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Manifest>, String> {
    let mut manifests = Vec::new();
    for path in paths {
        for file in files(path)? {
            let name = file.display().to_string();
            let text =
                std::fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
            manifests.extend(parse(&name, &text)?);
        }
    }
    Ok(manifests)
}

/// Returns the files that [`read`] reads, as far as the folders can be read.
pub fn constraint_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let found = paths.iter().map(|path| files(path).unwrap_or_default());
    found.flatten().collect()
}

/// Returns a file, or the files of a folder and the folders below it, sorted.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        if has_ending(path) {
            return Ok(vec![path.to_owned()]);
        }
        let problem = "expected a folder, or a file that ends in `.yaml`, `.yml` or `.json`";
        return Err(format!("{}: {problem}", path.display()));
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        // mounted ConfigMaps contain their files once more in `..data`
        if entry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        {
            continue;
        }
        let failed = |error: std::io::Error| format!("{}: {error}", entry.display());
        let is_folder = std::fs::metadata(&entry).map_err(failed)?.is_dir();
        if is_folder || has_ending(&entry) {
            found.extend(files(&entry)?);
        }
    }
    Ok(found)
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Parses the objects of a file. Empty documents are skipped, and lists have their items.
///
/// # Errors
/// The text is not valid, or a document is not an object: names the file.
pub fn parse(file: &str, text: &str) -> Result<Vec<Manifest>, String> {
    let mut manifests = Vec::new();
    if Path::new(file).extension() == Some("json".as_ref()) {
        let value = json::read(text.as_bytes()).map_err(|error| format!("{file}: {error}"))?;
        add(&mut manifests, file, value)?;
        return Ok(manifests);
    }
    check_lines(text).map_err(|problem| format!("{file}: {problem}"))?;
    for (row, document) in documents(text) {
        let failed = |error: &dyn Display| format!("{file}: document at line {row}: {error}");
        let value = yaml::read(document.as_bytes()).map_err(|error| failed(&error))?;
        // keys that come twice are an error of this parser alone
        serde_yaml::from_str::<serde_yaml::Value>(&document).map_err(|error| failed(&error))?;
        add(&mut manifests, file, value)?;
    }
    Ok(manifests)
}

fn add(manifests: &mut Vec<Manifest>, file: &str, value: Value) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    if value.as_object().is_none() {
        let kind = value.kind().as_str();
        return Err(format!("{file}: expected an object, got {kind}"));
    }
    let manifest = Manifest {
        file: file.to_owned(),
        value,
    };
    if manifest.kind() != "List" || manifest.group() != "" {
        manifests.push(manifest);
        return Ok(());
    }
    let items = manifest.value.get("items").and_then(Value::as_array);
    let items = items.ok_or_else(|| format!("{}: `items` must be an array", manifest.label()))?;
    items
        .iter()
        .try_for_each(|item| add(manifests, file, item.clone()))
}

/// Rejects what ends a document or a line in YAML, but is not where [`documents`] separates them: the rest would be lost.
fn check_lines(text: &str) -> Result<(), String> {
    for (at, line) in text.split('\n').enumerate() {
        if line.strip_suffix('\r').unwrap_or(line).contains('\r') {
            return Err(format!(
                "line {}: a carriage return without a line feed",
                at + 1
            ));
        }
        if line.starts_with("...") {
            return Err(format!(
                "line {}: a document must end with `---`, not with `...`",
                at + 1
            ));
        }
    }
    Ok(())
}

/// Returns the documents of a YAML text, each with the row of its first line. A line that begins with `---` separates them.
fn documents(text: &str) -> Vec<(usize, String)> {
    let mut documents = vec![(1, String::new())];
    for (at, line) in text.lines().enumerate() {
        let rest = line.strip_prefix("---");
        match (rest, documents.last_mut()) {
            (Some(rest), _) if rest.is_empty() || rest.starts_with([' ', '\t']) => {
                // the content of a document may begin on the line of its separator
                documents.push((at + 1, format!("{rest}\n")));
            }
            (_, Some((_, document))) => {
                document.push_str(line);
                document.push('\n');
            }
            (_, None) => {}
        }
    }
    documents
}
