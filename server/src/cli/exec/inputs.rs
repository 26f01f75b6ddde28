//! Input files: from folders, and from standard input.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use solon::Value;

use crate::cli::input;

/// Reads the input from standard input.
///
/// # Errors
/// Fails if the text is empty, or neither JSON nor YAML.
pub fn standard() -> Result<Value, String> {
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    match input::read(&text, None)? {
        value if value.is_null() => Err(
            "cannot execute on empty input; please enter valid json or yaml when using the --stdin-input flag"
                .to_owned(),
        ),
        value => Ok(value),
    }
}

/// Calls `show` with the path and the input of each input file at a path, sorted by name. Other files are skipped.
///
/// # Errors
/// Fails if the path does not exist, or a folder cannot be read.
pub fn each(path: &str, show: &mut impl FnMut(&str, Result<Value, String>)) -> Result<(), String> {
    let failed = |operation: &str, error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{operation} {path}: no such file or directory"),
        std::io::ErrorKind::PermissionDenied => format!("{operation} {path}: permission denied"),
        _ => format!("{operation} {path}: {error}"),
    };
    let kind = fs::symlink_metadata(path).map_err(|error| failed("lstat", &error))?;
    if !kind.is_dir() {
        let extension = Path::new(path).extension().and_then(|name| name.to_str());
        if matches!(extension, Some("json" | "yaml" | "yml")) {
            let text = fs::read(path).map_err(|error| error.to_string());
            show(path, text.and_then(|text| input::read(&text, Some(path))));
        }
        return Ok(());
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| failed("open", &error))?;
    let mut names: Vec<String> = entries
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    for name in names {
        // joined as in Go: without a leading `./`
        let path_below = match path.trim_end_matches('/') {
            "." => name,
            folder => format!("{folder}/{name}"),
        };
        each(&path_below, show)?;
    }
    Ok(())
}
