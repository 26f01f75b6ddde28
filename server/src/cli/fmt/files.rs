//! Policy files of the given paths.

use std::fs;
use std::io;
use std::path::Path;

/// Returns the policies of a path: the file itself, or all policies below a folder, sorted by name. Other files are skipped.
///
/// # Errors
/// Returns the message for a path that does not exist, or for a folder that cannot be read.
pub fn rego_files(path: &str) -> Result<Vec<String>, String> {
    let metadata = fs::symlink_metadata(path).map_err(|error| message("lstat", path, &error))?;
    let mut files = Vec::new();
    if metadata.is_dir() {
        folder(path, &mut files)?;
    } else if is_policy(path) {
        files.push(path.to_owned());
    }
    Ok(files)
}

fn folder(path: &str, files: &mut Vec<String>) -> Result<(), String> {
    let failed = |error| message("open", path, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        entries.push((entry.file_name(), is_folder));
    }
    entries.sort();
    for (name, is_folder) in entries {
        let path_below = join_path(path, &name.to_string_lossy());
        if is_folder {
            folder(&path_below, files)?;
        } else if is_policy(&path_below) {
            files.push(path_below);
        }
    }
    Ok(())
}

fn is_policy(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "rego")
}

/// Joins a path to a folder and removes redundant parts: `./a/` and `b` become `a/b`.
fn join_path(folder: &str, name: &str) -> String {
    let mut path = String::new();
    if folder.starts_with('/') {
        path.push('/');
    }
    for part in folder.split('/').chain([name]) {
        if part.is_empty() || part == "." {
            continue;
        }
        if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    path
}

/// Returns a system error in OPA's words.
pub fn message(action: &str, path: &str, error: &io::Error) -> String {
    let text = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        _ => error.to_string(),
    };
    format!("{action} {path}: {text}")
}

#[cfg(test)]
mod tests {
    use super::join_path;

    #[test]
    fn paths_are_joined_without_empty_parts() {
        for (folder, expected) in [
            (".", "a"),
            ("./d", "d/a"),
            ("d/", "d/a"),
            ("/d//e/.", "/d/e/a"),
            ("../d", "../d/a"),
            ("/", "/a"),
        ] {
            assert_eq!(join_path(folder, "a"), expected);
        }
    }
}
