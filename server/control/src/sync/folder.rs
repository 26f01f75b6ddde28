//! Files of a local folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::Budget;
use super::filter::Filter;
use super::names;
use super::objects::Objects;
use crate::tree::Tree;

/// Copies the selected files of a folder, so that a build reads what was checked here.
pub struct Copying<'a> {
    /// The folder without symbolic links in its path.
    root: PathBuf,
    filter: &'a Filter,
    objects: &'a mut Objects,
    budget: Budget,
    tree: Tree,
}

/// Returns the files of a folder. A symbolic link may lead to a file inside the folder only.
///
/// # Errors
/// The message for the status record, or `None` if the folder does not exist.
pub fn read(
    folder: &Path,
    filter: &Filter,
    objects: &mut Objects,
    budget: Budget,
) -> Result<Tree, Option<String>> {
    let root = match fs::canonicalize(folder) {
        Ok(root) if root.is_dir() => root,
        Ok(_) => return Err(Some("not a folder".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(None),
        Err(error) => return Err(Some(error.to_string())),
    };
    let mut copying = Copying {
        root: root.clone(),
        filter,
        objects,
        budget,
        tree: Tree::default(),
    };
    copying.add_folder(&root, "", 0)?;
    Ok(copying.tree)
}

impl Copying<'_> {
    fn add_folder(&mut self, folder: &Path, above: &str, depth: usize) -> Result<(), String> {
        if depth > crate::limits::SOURCE_FOLDERS {
            return Err(format!("{above:?}: more than 64 nested folders"));
        }
        let failed = |error: std::io::Error| format!("{above:?}: {error}");
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.budget.add_entry()?;
            entries.push(entry);
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(format!("{}: name is not UTF-8", entry.path().display()));
            };
            // `.git` of a working tree, and the folders that Kubernetes links the files of volumes to
            if name == ".git" || name.starts_with("..") {
                continue;
            }
            let path = match above {
                "" => name.to_owned(),
                above => format!("{above}/{name}"),
            };
            let kind = entry
                .file_type()
                .map_err(|error| format!("{path:?}: {error}"))?;
            if kind.is_dir() {
                if self.filter.may_select_below(&path) {
                    self.add_folder(&entry.path(), &path, depth + 1)?;
                }
            } else if self.filter.selects(&path) {
                self.add_file(&entry.path(), &path)
                    .map_err(|error| format!("{path:?}: {error}"))?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, path: &str) -> Result<(), String> {
        if let Some(problem) = names::problem(path) {
            return Err(problem.to_owned());
        }
        let target = fs::canonicalize(file).map_err(|error| error.to_string())?;
        if !target.starts_with(&self.root) {
            return Err("symbolic link leads out of the folder".to_owned());
        }
        // checked before it is opened: opening a pipe waits for its writer
        let metadata = fs::symlink_metadata(&target).map_err(|error| error.to_string())?;
        if metadata.is_dir() {
            return Err("symbolic link to a folder".to_owned());
        }
        if !metadata.is_file() {
            return Err("not a regular file".to_owned());
        }
        self.budget.add_bytes(metadata.len())?;
        let bytes = fs::read(&target).map_err(|error| error.to_string())?;
        let content = self
            .objects
            .store(&bytes)
            .map_err(|error| error.to_string())?;
        self.tree.insert(path, content);
        Ok(())
    }
}
