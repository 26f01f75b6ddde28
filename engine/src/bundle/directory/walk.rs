//! Finding files.

use std::io;
use std::path::{Component, Path, PathBuf};

use solon_syntax::{ParseOptions, module_text};

use super::Ignore;
use crate::bundle::{FileError, FileKind, Files, Links, LoadError, LoadErrors};
use crate::uri::file_path;

/// Files that a command reads, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSelection {
    /// Modules and documents.
    All,
    /// Modules only; documents are skipped.
    Modules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedFileKind {
    Module,
    Json,
    Yaml,
    /// A file that an argument names, with an unknown extension.
    Unknown,
}

/// Maximum number of entries that the system rejects because of a loop of links. Without it, folders that are linked into themselves
/// twice would be traversed for exponential time.
const MOST_LOOPS: usize = 100;

#[derive(Clone, Debug)]
pub struct FileToLoad {
    /// Path for messages and ids of policies.
    pub name: String,
    pub kind: NamedFileKind,
    /// Path of the document below `data`.
    pub document_path: Vec<String>,
    path: PathBuf,
}

impl FileToLoad {
    /// Returns the key by which repeated files are detected: the path of the document and the path of the file.
    pub fn identity(&self) -> (Vec<String>, PathBuf) {
        (self.document_path.clone(), clean_path(&self.path))
    }

    /// Returns the path at which the file is read. Messages have its name instead.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Reads the bytes of the file. The error names the file.
    pub fn bytes(&self, files: &dyn Files) -> Result<Vec<u8>, LoadError> {
        let bytes = files.read(&self.path);
        bytes.map_err(|error| LoadError::system("open", &self.name, &error))
    }

    /// Reads the text of a policy. Invalid UTF-8 is a syntax error.
    pub fn text(&self, files: &dyn Files, options: &ParseOptions) -> Result<String, LoadErrors> {
        self.text_of(&self.bytes(files)?, options)
    }

    /// Returns the text of a policy whose bytes were read. Invalid UTF-8 is a syntax error.
    pub fn text_of(&self, bytes: &[u8], options: &ParseOptions) -> Result<String, LoadErrors> {
        Ok(module_text(&self.name, bytes, options)?.to_owned())
    }
}

/// Splits `a.b:path`. An existing file whose name contains the colon and a URL are not split.
fn split_document_path<'a>(files: &dyn Files, argument: &'a str) -> (Vec<String>, &'a str) {
    match argument.split_once(':') {
        Some((document_path, path))
            if !document_path.is_empty()
                && !path.starts_with("//")
                && files.look(Path::new(argument), Links::Followed).is_err() =>
        {
            (document_path.split('.').map(str::to_owned).collect(), path)
        }
        _ => (Vec::new(), argument),
    }
}

/// Returns the path without `.` and `x/..`; `.` if nothing remains.
fn clean_path(path: &Path) -> PathBuf {
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

fn kind(path: &Path) -> Option<NamedFileKind> {
    match path.extension()?.to_str()? {
        "rego" => Some(NamedFileKind::Module),
        "json" => Some(NamedFileKind::Json),
        "yaml" | "yml" => Some(NamedFileKind::Yaml),
        _ => None,
    }
}

/// Traverses folders and collects their files.
pub struct Walk<'a> {
    files: &'a dyn Files,
    selection: FileSelection,
    ignore: &'a Ignore,
    document_path: Vec<String>,
    /// Number of entries so far that the system rejected because of a loop of links.
    loops: usize,
    results: Vec<Result<FileToLoad, LoadError>>,
}

impl<'a> Walk<'a> {
    /// Creates a traversal that follows links.
    pub fn new(files: &'a dyn Files, selection: FileSelection, ignore: &'a Ignore) -> Self {
        Self {
            files,
            selection,
            ignore,
            document_path: Vec::new(),
            loops: 0,
            results: Vec::new(),
        }
    }

    /// Returns the files of `path`, `a.b:path` or `file:///path`, in order of their names, and an error for each file or folder that
    /// cannot be examined.
    pub fn find(mut self, argument: &str) -> Vec<Result<FileToLoad, LoadError>> {
        let (document_path, path) = split_document_path(self.files, argument);
        let path = match file_path(path) {
            Ok(path) => path,
            Err(error) => return vec![Err(error.into())],
        };
        let path = Path::new(&*path);
        match self.files.look(path, Links::Followed) {
            Err(error) => self.push_error("stat", path, &error),
            Ok(FileKind::Folder) => {
                self.document_path = document_path;
                self.folder(&clean_path(path));
            }
            Ok(_) => {
                self.document_path = document_path;
                self.file(path, kind(path).unwrap_or(NamedFileKind::Unknown));
            }
        }
        self.results
    }

    fn push_error(&mut self, call: &str, path: &Path, error: &FileError) {
        let path = path.to_string_lossy();
        self.results
            .push(Err(LoadError::system(call, &path, error)));
    }

    fn folder(&mut self, folder: &Path) {
        let mut names = match self.files.names(folder) {
            Ok(names) => names,
            Err(error) => return self.push_error("open", folder, &error),
        };
        names.sort();
        for name in names {
            let path = if folder == Path::new(".") {
                PathBuf::from(&name)
            } else {
                folder.join(&name)
            };
            let file = match self.files.look(&path, Links::Followed) {
                Ok(file) => file,
                Err(error) => {
                    // a link without a target is an ordinary error; the remaining links form cycles
                    let plain = [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied];
                    self.loops += usize::from(!plain.contains(&error.kind()));
                    self.push_error("stat", &path, &error);
                    continue;
                }
            };
            let name = name.to_string_lossy().into_owned();
            if self.ignore.matches(&name) || self.loops > MOST_LOOPS {
                continue;
            }
            if file == FileKind::Folder {
                self.document_path.push(name);
                self.folder(&path);
                self.document_path.pop();
            } else if let Some(kind) = kind(&path)
                && file == FileKind::File
            {
                self.file(&path, kind);
            }
        }
    }

    fn file(&mut self, path: &Path, kind: NamedFileKind) {
        if self.selection == FileSelection::All || kind == NamedFileKind::Module {
            self.results.push(Ok(FileToLoad {
                name: path.to_string_lossy().into_owned(),
                kind,
                document_path: self.document_path.clone(),
                path: path.to_owned(),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split_document_path;
    use crate::bundle::MemoryFiles;

    #[test]
    fn document_paths_precede_file_paths() {
        let split = |argument| {
            let files = MemoryFiles::default();
            let (document_path, path) = split_document_path(&files, argument);
            (document_path.join("/"), path)
        };
        assert_eq!(split("a.b:c.json"), ("a/b".to_owned(), "c.json"));
        assert_eq!(split("a..b:c.json"), ("a//b".to_owned(), "c.json"));
        assert_eq!(
            split("a:file:///c.json"),
            ("a".to_owned(), "file:///c.json")
        );
        for argument in ["c.json", ":c.json", "file:///c.json", "http://c.json"] {
            assert_eq!(split(argument), (String::new(), argument));
        }
    }
}
