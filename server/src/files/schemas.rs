//! JSON schemas that policies are checked against.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use solon::{json, yaml};

use super::{Found, Ignore, Kind, LoadError, LoadErrors, Wanted, find};

/// Schemas by their reference: `schema.a.b` is at `["a", "b"]`, `schema` itself, which holds for all input, at `[]`.
pub type Schemas = HashMap<Vec<String>, Value>;

/// Loads schemas: a file is `schema` itself, a folder gives each of its files at its path.
pub fn load_schemas(path: &str) -> Result<Schemas, LoadErrors> {
    let folder = Path::new(path).is_dir();
    let mut schemas = Schemas::new();
    let mut faults = Vec::new();
    for found in find(path, Wanted::All, &Ignore::default()) {
        match found.and_then(|file| read(file, folder)) {
            Ok(Some((place, schema))) => drop(schemas.insert(place, schema)),
            Ok(None) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(schemas)
    } else {
        Err(LoadErrors(faults))
    }
}

fn read(file: Found, named: bool) -> Result<Option<(Vec<String>, Value)>, LoadError> {
    if file.kind == Kind::Module {
        return Ok(None);
    }
    let mut text = Vec::new();
    // whatever their names are, schemas are JSON or YAML
    let bytes = file.bytes()?;
    let schema = json::read(&bytes).or_else(|_| {
        let schema = yaml::read(&bytes);
        schema.map_err(|error| LoadError::within(&file.name, error))
    })?;
    json::write(schema.borrow(), &mut text);
    let schema =
        serde_json::from_slice(&text).map_err(|error| LoadError::within(&file.name, error))?;
    let mut place = Vec::new();
    if named {
        place = file.place;
        let stem = Path::new(&file.name).file_stem();
        place.extend(stem.map(|stem| stem.to_string_lossy().into_owned()));
    }
    Ok(Some((place, schema)))
}
