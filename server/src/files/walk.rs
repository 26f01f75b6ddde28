//! Finding files.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Ignore, LoadError, source_text};

/// What a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Modules and documents.
    All,
    /// Modules only.
    Modules,
}

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rego.
    Module,
    /// JSON.
    Json,
    /// YAML, or something else that was named directly and is read as YAML.
    Yaml,
}

/// A file to load.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its path as messages and policy ids show it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Where its document goes below `data`.
    pub place: Vec<String>,
    path: PathBuf,
}

impl Found {
    /// The bytes of the file.
    pub fn bytes(&self) -> Result<Vec<u8>, LoadError> {
        fs::read(&self.path).map_err(|error| LoadError::system("open", &self.name, &error))
    }

    /// The text of a policy.
    pub fn text(&self) -> Result<String, LoadError> {
        let bytes = self.bytes()?;
        source_text(&self.name, &bytes)
            .map(str::to_owned)
            .map_err(LoadError::Syntax)
    }
}

/// The files of a path: `path`, `a.b:path` or `file://path`, in order of their names.
pub fn find(argument: &str, wanted: Wanted, ignore: &Ignore) -> Vec<Result<Found, LoadError>> {
    let (place, path) = split_place(argument);
    let mut found = Vec::new();
    match fs::metadata(path) {
        Err(error) => found.push(Err(LoadError::system("stat", path, &error))),
        Ok(metadata) if metadata.is_dir() => {
            let mut place = place;
            walk(
                &cleaned(Path::new(path)),
                &mut place,
                wanted,
                ignore,
                &mut found,
            );
        }
        Ok(_) => {
            let kind = kind(Path::new(path)).unwrap_or(Kind::Yaml);
            if wanted == Wanted::All || kind == Kind::Module {
                found.push(Ok(Found {
                    name: path.to_owned(),
                    kind,
                    place,
                    path: path.into(),
                }));
            }
        }
    }
    found
}

/// Splits `a.b:path`. A file whose name holds the colon is no such thing.
fn split_place(argument: &str) -> (Vec<String>, &str) {
    if let Some(path) = argument.strip_prefix("file://") {
        return (Vec::new(), path);
    }
    match argument.split_once(':') {
        Some((place, path)) if !place.contains('/') && !Path::new(argument).exists() => {
            let place = place.split('.').filter(|part| !part.is_empty());
            (
                place.map(str::to_owned).collect(),
                path.strip_prefix("//").unwrap_or(path),
            )
        }
        _ => (Vec::new(), argument),
    }
}

/// The path without `.` and `x/..`.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        let ends_plain = matches!(clean.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::CurDir => {}
            Component::ParentDir if ends_plain => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    if clean.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        clean
    }
}

fn kind(path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()? {
        "rego" => Some(Kind::Module),
        "json" => Some(Kind::Json),
        "yaml" | "yml" => Some(Kind::Yaml),
        _ => None,
    }
}

fn walk(
    folder: &Path,
    place: &mut Vec<String>,
    wanted: Wanted,
    ignore: &Ignore,
    found: &mut Vec<Result<Found, LoadError>>,
) {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push(Err(LoadError::system("open", &shown(folder), &error))),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ignore.matches(&name) {
            continue;
        }
        let path = if folder == Path::new(".") {
            PathBuf::from(entry.file_name())
        } else {
            entry.path()
        };
        // a link to a folder could lead back here, so links are followed to files only
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            place.push(name);
            walk(&path, place, wanted, ignore, found);
            place.pop();
        } else if let Some(kind) = kind(&path)
            && (wanted == Wanted::All || kind == Kind::Module)
            && fs::metadata(&path).is_ok_and(|metadata| metadata.is_file())
        {
            found.push(Ok(Found {
                name: shown(&path),
                kind,
                place: place.clone(),
                path,
            }));
        }
    }
}
