//! JSON schemas that policies are checked against.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::{FileSelection, FileToLoad, Ignore, NamedFileKind, Walk};
use crate::bundle::{FileKind, Files, Links, LoadError, LoadErrors};
use crate::value::{json, yaml};

/// Schemas by the steps of their references: `schema.a.b` is at `["a", "b"]`. `schema`, at `[]`, is the schema of the input.
pub type Schemas = HashMap<Vec<String>, Value>;

/// Loads schemas, as [`Loader::load_schemas`](super::Loader::load_schemas).
///
/// # Errors
/// All files that cannot be read or parsed.
pub fn load(files: &dyn Files, path: &str) -> Result<Schemas, LoadErrors> {
    let folder = files.look(Path::new(path), Links::Followed) == Ok(FileKind::Folder);
    let ignore = Ignore::default();
    let mut schemas = Schemas::new();
    let mut faults = Vec::new();
    for result in Walk::new(files, FileSelection::All, &ignore).find(path) {
        match result.and_then(|file| read(files, file, folder)) {
            Ok(Some((document_path, schema))) => drop(schemas.insert(document_path, schema)),
            Ok(None) => {}
            Err(error) => faults.push(error),
        }
    }
    if faults.is_empty() {
        Ok(schemas)
    } else {
        Err(LoadErrors(faults))
    }
}

fn read(
    files: &dyn Files,
    file: FileToLoad,
    by_path: bool,
) -> Result<Option<(Vec<String>, Value)>, LoadError> {
    if file.kind == NamedFileKind::Module {
        return Ok(None);
    }
    let mut text = Vec::new();
    // whatever their names are, schemas are JSON or YAML
    let bytes = file.bytes(files)?;
    let schema = json::read(&bytes).or_else(|error| {
        // YAML would make a string of a number of JSON that is out of range
        if json::is_valid(&bytes) {
            return Err(LoadError::in_file(&file.name, error));
        }
        yaml::read(&bytes).map_err(|error| LoadError::in_file(&file.name, error))
    })?;
    // a file without a schema is as none
    if schema.is_null() {
        return Ok(None);
    }
    json::write(schema.borrow(), &mut text);
    let schema =
        serde_json::from_slice(&text).map_err(|error| LoadError::in_file(&file.name, error))?;
    let mut document_path = Vec::new();
    if by_path {
        document_path = file.document_path;
        let stem = Path::new(&file.name).file_stem();
        document_path.extend(stem.map(|stem| stem.to_string_lossy().into_owned()));
    }
    Ok(Some((document_path, schema)))
}
