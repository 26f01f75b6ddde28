//! Files of the commits that were read last. While a repository keeps its commit, a check is one call of `git ls-remote`.

use std::collections::HashMap;
use std::path::PathBuf;

use parking_lot::Mutex;

use super::Repository;
use crate::limits;
use crate::model::Git;
use crate::tree::Tree;

/// The private folder of a source and the pinned commit.
type TreeKey = (PathBuf, Option<String>);

/// The files of the last commit of each source, by the private folder of the source and the pinned commit.
#[derive(Debug, Default)]
pub struct TreeCache(Mutex<CachedTrees>);

#[derive(Debug, Default)]
struct CachedTrees {
    trees: HashMap<TreeKey, CachedTree>,
    /// Total number of files, at most [`limits::KEPT_FILES`].
    files: usize,
}

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

    /// Adds the files of a commit after the repository was checked, unless they are too many.
    pub fn insert(&self, repository: &Repository<'_>, commit: String, tree: Tree) {
        let known = CachedTree {
            git: repository.git.clone(),
            commit,
            tree,
        };
        self.0.lock().insert(key(repository), known);
    }
}

impl CachedTrees {
    /// Adds the files of a commit. Without room for them, all others are dropped: removed sources and earlier pins leave entries.
    fn insert(&mut self, key: TreeKey, known: CachedTree) {
        let files = known.tree.file_count();
        self.remove(&key);
        if files > limits::KEPT_FILES {
            return;
        }
        let is_full = self.files + files > limits::KEPT_FILES;
        if is_full || self.trees.len() >= limits::CHECKED_REPOSITORIES {
            *self = Self::default();
        }
        self.files += files;
        self.trees.insert(key, known);
    }

    fn remove(&mut self, key: &TreeKey) -> Option<CachedTree> {
        let known = self.trees.remove(key)?;
        self.files -= known.tree.file_count();
        Some(known)
    }
}

fn key(repository: &Repository<'_>) -> TreeKey {
    let pin = repository.pin.map(str::to_owned);
    (repository.folder.to_owned(), pin)
}

#[cfg(test)]
mod tests {
    use super::{CachedTree, CachedTrees};
    use crate::limits::KEPT_FILES;
    use crate::model::Git;
    use crate::tree::{Content, Tree};

    fn known(files: usize) -> CachedTree {
        let mut tree = Tree::default();
        for file in 0..files {
            tree.insert(format!("{file}"), Content::Inline("".into()));
        }
        CachedTree {
            git: Git::default(),
            commit: "c".to_owned(),
            tree,
        }
    }

    #[test]
    fn the_number_of_files_is_bounded() {
        let mut cached = CachedTrees::default();
        let key = |name: &str| ("folder".into(), Some(name.to_owned()));
        cached.insert(key("a"), known(KEPT_FILES - 10));
        cached.insert(key("b"), known(5));
        cached.insert(key("b"), known(10));
        assert_eq!((cached.trees.len(), cached.files), (2, KEPT_FILES));
        cached.insert(key("c"), known(1));
        assert_eq!((cached.trees.len(), cached.files), (1, 1));
        cached.insert(key("c"), known(KEPT_FILES + 1));
        assert_eq!((cached.trees.len(), cached.files), (0, 0));
        cached.insert(key("c"), known(KEPT_FILES));
        assert!(cached.remove(&key("c")).is_some());
        assert_eq!((cached.trees.len(), cached.files), (0, 0));
    }
}
