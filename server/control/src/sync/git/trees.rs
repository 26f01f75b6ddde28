//! Files of the commits that were read last. While a repository keeps its commit, a check is one call of `git ls-remote`.

use std::collections::HashMap;
use std::path::PathBuf;

use parking_lot::Mutex;

use super::Repository;
use crate::limits;
use crate::model::Git;
use crate::tree::Tree;

/// The files of the last commit of each source, by the private folder of the source and the pinned commit.
#[derive(Debug, Default)]
pub struct TreeCache(Mutex<HashMap<(PathBuf, Option<String>), CachedTree>>);

/// The selected files of a commit. They are in the private folder of the source.
#[derive(Debug)]
pub struct CachedTree {
    /// The address of the repository and the selection of files.
    git: Git,
    pub commit: String,
    pub tree: Tree,
}

impl TreeCache {
    /// Takes the files of the last commit, if the repository and the selection are the same. After a failure they are missing, so
    /// that the next fetch repairs the copy of the repository.
    pub fn take(&self, repository: &Repository<'_>) -> Option<CachedTree> {
        let known = self.0.lock().remove(&key(repository));
        known.filter(|known| known.git == *repository.git)
    }

    /// Adds the files of a commit after the repository was checked.
    pub fn insert(&self, repository: &Repository<'_>, commit: String, tree: Tree) {
        let mut trees = self.0.lock();
        if trees.len() >= limits::CHECKED_REPOSITORIES {
            // removed sources leave entries
            trees.clear();
        }
        let known = CachedTree {
            git: repository.git.clone(),
            commit,
            tree,
        };
        trees.insert(key(repository), known);
    }
}

fn key(repository: &Repository<'_>) -> (PathBuf, Option<String>) {
    let pin = repository.pin.map(str::to_owned);
    (repository.folder.to_owned(), pin)
}
