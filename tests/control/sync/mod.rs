//! Fetching of sources into their private folders.

mod datasource_tls;
mod datasources;
mod git;
#[cfg(unix)]
mod git_access;
mod git_copies;
#[cfg(unix)]
mod git_oidc;
mod git_server;
pub mod http_server;
mod local;
#[cfg(unix)]
pub mod ssh_server;
mod transforms;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use solon_control::model::{
    Compat, Failure, FieldPath, Origin, Reader, Resource as _, Secret, Source,
};
use solon_control::sync::{FetchOptions, Fetcher, Job};
use solon_control::tree::{Fetched, Tree};

/// A folder that is removed with its contents.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("solon-sync-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Options with the data folder in this folder.
    pub fn options(&self) -> FetchOptions {
        FetchOptions {
            data: self.0.join("data"),
            base: self.0.clone(),
            ..FetchOptions::default()
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Parses a source as a configuration file has it.
pub fn source(value: &Value) -> Source {
    let mut reader = Reader::new(Compat::Strict, Origin::File);
    let source = Source::read(&mut reader, &FieldPath::Root, value);
    reader.finish(source).unwrap()
}

/// Parses a secret.
pub fn secret(value: &Value) -> Secret {
    let mut reader = Reader::new(Compat::Strict, Origin::File);
    let secret = Secret::read(&mut reader, &FieldPath::Root, value);
    reader.finish(secret).unwrap()
}

pub async fn fetch(fetcher: &Fetcher, source: &Source) -> Result<Fetched, Failure> {
    fetch_with(fetcher, source, None, &BTreeMap::new()).await
}

pub async fn fetch_with(
    fetcher: &Fetcher,
    source: &Source,
    commit: Option<&str>,
    secrets: &BTreeMap<String, Secret>,
) -> Result<Fetched, Failure> {
    let job = Job {
        source,
        commit,
        secrets,
        pushed: Tree::default(),
    };
    fetcher.fetch(job).await
}

/// Returns the paths and texts of a tree.
pub fn texts(tree: &Tree) -> Vec<(String, String)> {
    let files = tree.files().map(|(path, content)| {
        let bytes = content.read().unwrap();
        (
            path.to_owned(),
            String::from_utf8_lossy(&bytes).into_owned(),
        )
    });
    files.collect()
}

/// Returns the paths of a tree.
pub fn paths(tree: &Tree) -> Vec<&str> {
    tree.files().map(|(path, _)| path).collect()
}

/// Returns the arguments of all processes.
pub fn all_arguments() -> String {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let read =
        |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    entries
        .map(|entry| String::from_utf8_lossy(&read(entry)).into_owned())
        .collect()
}
