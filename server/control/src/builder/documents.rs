//! Files with documents: their paths in `data`, and mounts that move them.

use bytes::Bytes;
use solon::{Value, json, yaml};

use super::reference::{Mount, apply_all, dotted};

/// Returns `true` for files that contain a document of `data`.
pub fn is_document(path: &str) -> bool {
    // signatures of a bundle that is used as a source are not data
    path != ".signatures.json" && (is_json(path) || has_extension(path, &["yaml", "yml"]))
}

/// Returns a path with its extension in lower case.
pub fn with_lower_extension(path: &str) -> String {
    match path.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{}", extension.to_ascii_lowercase()),
        None => path.to_owned(),
    }
}

fn is_json(path: &str) -> bool {
    has_extension(path, &["json"])
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|actual| {
        let mut extensions = extensions.iter();
        extensions.any(|extension| actual.eq_ignore_ascii_case(extension))
    })
}

/// Returns the folder and the path of a file after the mounts, or `None` if they do not select it.
///
/// # Errors
/// A mount that selects a part of the file: only folders can be selected, and without the part the bundle would lack data.
pub fn mount(
    path: &str,
    bytes: &Bytes,
    mounts: &[Mount],
) -> Result<Option<(Vec<String>, String)>, String> {
    let mut steps: Vec<String> = path.split('/').map(str::to_owned).collect();
    let Some(name) = steps.pop() else {
        return Ok(None);
    };
    let Some(folder) = apply_all(mounts, steps.clone()) else {
        return check_selection(path, bytes, mounts, steps).map(|()| None);
    };
    let mut target = folder.join("/");
    if !target.is_empty() {
        target.push('/');
    }
    target.push_str(&name);
    Ok(Some((folder, target)))
}

/// Reports a mount that selects a part of a file.
fn check_selection(
    path: &str,
    bytes: &Bytes,
    mounts: &[Mount],
    folder: Vec<String>,
) -> Result<(), String> {
    let mut folder = folder;
    for mount in mounts {
        if let Some(moved_folder) = mount.apply(&folder) {
            folder = moved_folder;
            continue;
        }
        let Some(keys) = mount.path.strip_prefix(folder.as_slice()) else {
            return Ok(());
        };
        let value = if is_json(path) {
            json::read(bytes).ok()
        } else {
            yaml::read(bytes).ok()
        };
        let mut value = value.as_ref();
        for key in keys {
            let object = value.and_then(Value::as_object);
            value = object.and_then(|object| object.get(Value::string(key).borrow()));
        }
        if value.is_some() {
            return Err(format!(
                "data: path {} selects a part of {path}, but only directories can be selected",
                dotted(&mount.path)
            ));
        }
        return Ok(());
    }
    Ok(())
}
