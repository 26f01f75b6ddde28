//! Trees of files: what fetching a source gives and what a bundle is built from.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;

use crate::list_digest::ListDigest;

/// Files by path: relative, with `/` between the steps, without `.` and `..`.
/// Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: Arc<BTreeMap<String, Content>>,
}

/// Content of a file, in memory or on disk.
#[derive(Clone, Debug)]
pub enum Content {
    /// Bytes in memory, shared by clones.
    Inline(Bytes),
    /// A regular file in the private folder of the source. Its name depends on its bytes alone.
    File(PathBuf),
}

/// Files of a source, and facts about where they come from.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The trees in the order in which the builder merges them: built-in library, database (inline files, folder and pushed
    /// data), datasources, Git. A tree without files is left out.
    pub trees: Vec<Tree>,
    /// Facts for revision expressions.
    pub facts: Facts,
    /// Digest of both, computed once for all bundles with the source.
    digest: String,
}

/// Facts about a source that a revision expression may refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The commit of the Git repository, in hexadecimal.
    pub git_commit: Option<String>,
    /// The digest of the files that the database contains.
    pub sql_digest: Option<String>,
    /// The digests of HTTP datasources by name, before transformation.
    pub http: BTreeMap<String, String>,
    /// The digests of S3 datasources by name, before transformation.
    pub s3: BTreeMap<String, String>,
}

impl Fetched {
    /// Creates the result of a fetch. Files are not read.
    pub fn new(trees: Vec<Tree>, facts: Facts) -> Self {
        let mut digest = ListDigest::new();
        digest.add(format!("{facts:?}").as_bytes());
        for tree in &trees {
            digest.add(b"tree");
            for (path, content) in tree.files() {
                digest.add(path.as_bytes());
                content.add_to(&mut digest);
            }
        }
        Self {
            trees,
            facts,
            digest: digest.finish(),
        }
    }

    /// Returns the digest of the files and the facts.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

impl Content {
    /// Reads the bytes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self) -> io::Result<Bytes> {
        match self {
            Self::Inline(bytes) => Ok(bytes.clone()),
            Self::File(path) => std::fs::read(path).map(Bytes::from),
        }
    }

    /// Adds what identifies the bytes to a digest. The file is not read.
    pub(crate) fn add_to(&self, digest: &mut ListDigest) {
        match self {
            Self::Inline(bytes) => {
                digest.add(b"bytes");
                digest.add(bytes);
            }
            Self::File(path) => {
                digest.add(b"file");
                digest.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            }
        }
    }
}

impl Tree {
    /// Returns the number of files: O(1).
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Adds a file, which replaces one of the same path.
    pub fn insert(&mut self, path: impl Into<String>, content: Content) {
        Arc::make_mut(&mut self.files).insert(path.into(), content);
    }

    /// Returns the content of a file, or `None` if the tree has no such file. The path is compared exactly.
    pub fn get(&self, path: &str) -> Option<&Content> {
        self.files.get(path)
    }

    /// Returns the files in order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.files
            .iter()
            .map(|(path, content)| (path.as_str(), content))
    }

    /// Returns `true` if the tree has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the SHA-256 digest in hexadecimal over each path, a zero byte and the content, in order of the paths.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn digest(&self) -> io::Result<String> {
        let mut context = Context::new(&SHA256);
        for (path, content) in self.files.iter() {
            context.update(path.as_bytes());
            context.update(&[0]);
            context.update(&content.read()?);
        }
        Ok(hex::encode(context.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Tree};
    use bytes::Bytes;

    #[test]
    fn digests_cover_paths_and_contents() {
        let mut tree = Tree::default();
        let file = |text: &'static str| Content::Inline(Bytes::from_static(text.as_bytes()));
        tree.insert(
            "users/data.json",
            file(r#"{"alice":{"role":"admin"},"bob":{"role":"viewer"}}"#),
        );
        tree.insert("config/data.json", file(r#"{"enabled":true,"timeout":30}"#));
        let expected = "c22697e36da57821179b766397ebf58f84399bd797c374942e8d5de81d230fdd";
        assert_eq!(tree.digest().unwrap(), expected);
    }
}
