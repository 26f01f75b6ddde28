//! Documents among the files of a source.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use solon::{Value, json, yaml};

use super::DataPath;
use super::tree::{self, Conflict};

/// Names of files that contain documents in a bundle.
const NAMES: [&str; 3] = ["data.json", "data.yaml", "data.yml"];

/// A file of a source that contains a document.
#[derive(Clone, Debug)]
pub struct FileDocument {
    /// The path of the file in its source, such as `a/b/data.json`.
    pub file: String,
    /// Path of the document below `data`: the folders of the file.
    pub path: DataPath,
    /// The document, parsed.
    pub value: Value,
}

/// A file whose name is that of a document but whose content is invalid or conflicts with another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file, or an empty text if the source as a whole is invalid.
    pub file: String,
    /// The problem of the file, without its path.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return write!(f, "the source {}", self.message);
        }
        write!(f, "the file {:?} of the source {}", self.file, self.message)
    }
}

impl FileDocument {
    /// Reads the documents among files, whose contents are base64. Other files are skipped.
    ///
    /// # Errors
    /// A file with the name of a document has invalid content.
    pub fn read_all(files: &BTreeMap<String, String>) -> Result<Vec<Self>, FileError> {
        let read_file =
            |(file, contents): (&String, &String)| Self::read(file, contents).transpose();
        files.iter().filter_map(read_file).collect()
    }

    /// Reads the documents of a stored source.
    ///
    /// # Errors
    /// See [`FileDocument::read_all`].
    pub fn of_source(body: &str) -> Result<Vec<Self>, FileError> {
        Self::read_all(&stored_files(body)?)
    }

    /// Reads the documents of a stored source above, at or below a path. Other files are not decoded, so that an invalid
    /// one has no effect.
    ///
    /// # Errors
    /// See [`FileDocument::read_all`].
    pub fn of_source_around(body: &str, path: &DataPath) -> Result<Vec<Self>, FileError> {
        let mut files = stored_files(body)?;
        files.retain(|file, _| {
            let steps = folder_of_document(file).map(|folder| steps_of(folder).collect::<Vec<_>>());
            steps.is_some_and(|steps| is_around(&steps, path))
        });
        Self::read_all(&files)
    }

    /// Reads the document of a file. Returns `None` if its name is not that of a document.
    ///
    /// # Errors
    /// The contents are not a document.
    pub fn read(file: &str, contents: &str) -> Result<Option<Self>, FileError> {
        let Some(folder) = folder_of_document(file) else {
            return Ok(None);
        };
        let wrong = |message: String| FileError {
            file: file.to_owned(),
            message,
        };
        let bytes = STANDARD
            .decode(contents)
            .map_err(|_| wrong("must be base64".to_owned()))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| wrong("must be UTF-8, as documents are".to_owned()))?;
        let (language, value) = if file.rsplit('/').next() == Some("data.json") {
            let value = json::read(text.as_bytes());
            ("JSON", value.map_err(|error| error.to_string()))
        } else {
            let value = yaml::read(text.as_bytes());
            ("YAML", value.map_err(|error| error.to_string()))
        };
        let value = value.map_err(|error| wrong(format!("must be {language}: {error}")))?;
        let steps = steps_of(folder).map(str::to_owned).collect();
        let path =
            DataPath::new(steps).map_err(|error| wrong(format!("is misplaced: {}", error.0)))?;
        Ok(Some(Self {
            file: file.to_owned(),
            path,
            value,
        }))
    }

    /// Returns the document as a tree from the root of the source's data.
    pub fn tree(&self) -> Value {
        tree::nest(self.path.steps(), self.value.clone())
    }

    /// Merges documents into one tree. Returns `None` if there are none.
    ///
    /// # Errors
    /// The first file that has a value where another file has one.
    pub fn merge(documents: &[Self]) -> Result<Option<Value>, FileError> {
        let mut all: Option<Value> = None;
        for document in documents {
            let own_tree = document.tree();
            all = Some(match all {
                None => own_tree,
                Some(all) => tree::merge(&all, &own_tree).map_err(|Conflict(steps)| {
                    let path_text = steps.join("/");
                    FileError {
                        file: document.file.clone(),
                        message: format!("has a value at {path_text:?}, as another file has"),
                    }
                })?,
            });
        }
        Ok(all)
    }
}

/// Returns the files of a stored source, by name. Their contents are base64.
fn stored_files(body: &str) -> Result<BTreeMap<String, String>, FileError> {
    #[derive(Deserialize)]
    struct Stored {
        #[serde(default)]
        files: BTreeMap<String, String>,
    }
    match serde_json::from_str::<Stored>(body) {
        Ok(stored_body) => Ok(stored_body.files),
        Err(error) => Err(FileError {
            file: String::new(),
            message: format!("cannot be read: {error}"),
        }),
    }
}

/// Returns the folder of a file that contains a document according to its name, or `None` for other files.
fn folder_of_document(file: &str) -> Option<&str> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    NAMES.contains(&name).then_some(folder)
}

/// Returns the steps of a folder. Empty names are not steps, as in [`DataPath::new`].
fn steps_of(folder: &str) -> impl Iterator<Item = &str> {
    folder.split('/').filter(|step| !step.is_empty())
}

/// Returns `true` if a document contributes to a read of a path: it is above, at or below it.
fn is_around(document: &[&str], path: &DataPath) -> bool {
    let common = document.iter().zip(path.steps());
    common.into_iter().all(|(step, other)| step == other)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::{DataPath, FileDocument, STANDARD};

    #[test]
    fn only_files_around_a_path_are_decoded() {
        let files = [
            ("data.json", STANDARD.encode("{\"root\": 1}")),
            ("a/data.yaml", STANDARD.encode("b: 1")),
            ("a/c/data.json", STANDARD.encode("[2]")),
            ("ab/data.json", STANDARD.encode("{")),
            ("bad/data.json", "?".to_owned()),
            ("bad/x/data.yml", STANDARD.encode([0xff])),
            ("..x/../data.json", STANDARD.encode("{}")),
            ("p.rego", "?".to_owned()),
        ];
        let files: std::collections::BTreeMap<_, _> = files.into_iter().collect();
        let body = serde_json::json!({ "files": files }).to_string();
        let files_around = |path: &str| {
            let path = DataPath::new(path.split('/').map(str::to_owned).collect()).unwrap();
            let documents = FileDocument::of_source_around(&body, &path);
            let files =
                documents.map(|all| all.into_iter().map(|document| document.file).collect());
            files.unwrap_or_else(|error| vec![error.to_string()])
        };
        assert_eq!(files_around("other"), ["data.json"]);
        assert_eq!(
            files_around("a"),
            ["a/c/data.json", "a/data.yaml", "data.json"]
        );
        assert_eq!(files_around("a/b"), ["a/data.yaml", "data.json"]);
        assert_eq!(
            files_around("a/c/d"),
            ["a/c/data.json", "a/data.yaml", "data.json"]
        );
        for path in ["", "ab", "ab/x", "bad", "bad/x", "bad/x/y", "bad/z", "..x"] {
            let errors = files_around(path);
            assert!(errors[0].contains("of the source"), "{path}: {errors:?}");
        }
        let unreadable = FileDocument::of_source("?").unwrap_err().to_string();
        assert!(
            unreadable.starts_with("the source cannot be read: "),
            "{unreadable}"
        );
    }

    #[test]
    fn names_of_documents() {
        let read_file = |file: &str, text: &str| FileDocument::read(file, &STANDARD.encode(text));
        let path = |file: &str, text: &str| {
            let document = read_file(file, text).ok().flatten();
            document.map(|document| (document.path.file(), document.value.to_json()))
        };
        let some = |path: &str, value: &str| Some((path.to_owned(), value.to_owned()));
        assert_eq!(path("data.json", "{}"), some("data.json", "{}"));
        assert_eq!(
            path("a/b/data.yaml", "c: 1"),
            some("a/b/data.json", "{\"c\":1}")
        );
        assert_eq!(path("a/data.yml", "[1]"), some("a/data.json", "[1]"));
        for other in [
            "x.json",
            "a/other.json",
            "data.rego",
            "a/data.json/x",
            "xdata.json",
        ] {
            assert_eq!(path(other, "{}"), None, "{other}");
            assert!(read_file(other, "?").is_ok(), "{other}");
        }
        for (file, text) in [
            ("data.json", "{"),
            ("data.json", ""),
            ("data.json", "1 2"),
            ("a/data.yaml", "["),
        ] {
            assert!(read_file(file, text).is_err(), "{file} {text}");
        }
    }
}
