//! The documents of a source as one tree: the pushed documents, and the documents among its files.

use std::collections::BTreeSet;
use std::ops::Bound;

use solon::{Value, json};

use crate::db::{Document, Transaction};
use crate::error::{ApiError, ApiErrorKind};
use crate::model::tree::{self, Conflict};
use crate::model::{DataPath, FileDocument, FileError};

impl From<FileError> for ApiError {
    /// An internal error: files are checked when a source is written, so only sources of earlier versions contain invalid
    /// ones.
    fn from(error: FileError) -> Self {
        Self::new(ApiErrorKind::Conflict, error.to_string())
    }
}

/// Returns the tree of the documents above, at and below a path, or `None` if there are none.
///
/// `files` are the documents among the source's files around the path. The pushed document of the file `left_out` is
/// excluded.
pub async fn tree_around(
    transaction: &mut Transaction,
    source: i64,
    files: &[FileDocument],
    path: &DataPath,
    left_out: Option<&str>,
) -> Result<Option<Value>, ApiError> {
    let mut pushed_documents = pushed_around(transaction, source, path).await?;
    pushed_documents.retain(|document| Some(document.path.as_str()) != left_out);
    add(FileDocument::merge(files)?, &pushed_documents)
}

/// Rejects files of a source that contradict its pushed documents.
///
/// # Errors
/// Both have a value at one path (409).
pub async fn check_files(
    transaction: &mut Transaction,
    source: i64,
    files: &[FileDocument],
) -> Result<(), ApiError> {
    if files.is_empty() {
        return Ok(());
    }
    let merged = FileDocument::merge(files)?;
    let folders: BTreeSet<&[String]> = files.iter().map(|file| file.path.steps()).collect();
    let mut pushed_documents = transaction.documents_below(source, "").await?;
    // the others have no path in common with the files and need not be parsed
    pushed_documents.retain(|document| {
        let path = DataPath::of_file(&document.path);
        path.is_some_and(|path| is_around_any(&folders, path.steps()))
    });
    add(merged, &pushed_documents).map(drop)
}

/// Returns `true` if one of the folders is above, at or below a path. Costs a search for each step of the path.
fn is_around_any(folders: &BTreeSet<&[String]>, path: &[String]) -> bool {
    let mut prefixes = (0..=path.len()).filter_map(|length| path.get(..length));
    if prefixes.any(|prefix| folders.contains(prefix)) {
        return true;
    }
    // folders below the path follow it immediately in the order
    let mut following_folders =
        folders.range::<[String], _>((Bound::Included(path), Bound::Unbounded));
    following_folders
        .next()
        .is_some_and(|first| first.starts_with(path))
}

/// Returns the pushed documents above, at and below a path.
async fn pushed_around(
    transaction: &mut Transaction,
    source: i64,
    path: &DataPath,
) -> Result<Vec<Document>, ApiError> {
    let mut documents = transaction.documents_below(source, &path.folder()).await?;
    for depth in 0..path.steps().len() {
        let steps = path.steps().get(..depth).unwrap_or_default();
        let ancestor =
            DataPath::new(steps.to_vec()).map_err(|error| ApiError::internal(error.0))?;
        let file = ancestor.file();
        if let Some(body) = transaction.document(source, &file).await? {
            documents.push(Document { path: file, body });
        }
    }
    Ok(documents)
}

fn add(tree: Option<Value>, pushed_documents: &[Document]) -> Result<Option<Value>, ApiError> {
    let mut all = tree;
    for document in pushed_documents {
        let value = json::read(document.body.as_bytes()).map_err(|error| {
            ApiError::internal(format!("a document is not valid JSON: {error}"))
        })?;
        let Some(path) = DataPath::of_file(&document.path) else {
            continue;
        };
        let own_tree = tree::nest(path.steps(), value);
        all = Some(match all {
            None => own_tree,
            // pushed documents were checked when they were written, so only files can conflict with them
            Some(all) => tree::merge(&all, &own_tree).map_err(|Conflict(steps)| {
                let path_text = steps.join("/");
                let message = format!(
                    "a file of the source has a value at {path_text:?}, as the document pushed to {:?} has",
                    path.steps().join("/")
                );
                ApiError::new(ApiErrorKind::Conflict, message)
            })?,
        });
    }
    Ok(all)
}
