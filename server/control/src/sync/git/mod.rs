//! Git repositories, fetched by the program `git` into a bare repository and read out of its object database.
//!
//! Nothing is ever checked out: hooks, filters, attributes and symbolic links of a repository have no effect.

mod access;
mod authorities;
mod authorization;
mod command;
mod contents;
mod copies;
mod github;
mod program;
mod ssh;
mod token_issuers;
mod trees;

use std::fs;
use std::path::Path;

use solon_common::private_files;

use super::filter::Filter;
use super::objects::Objects;
use super::{Budget, FetchOptions, failure};
use crate::limits;
use crate::model::{Failure, Git, Phase, SecretValue, Status};
use crate::tree::Tree;

pub use authorities::Authorities;
pub use copies::CheckedAccess;
pub use token_issuers::TokenIssuers;
pub use trees::TreeCache;

use access::RepositoryAccess;
use command::{GitError, Runner};

/// A repository to fetch, with the access to it.
pub struct Repository<'a> {
    /// The name of the source, for messages and folders.
    pub source: &'a str,
    /// The repository, the commit and the selection of files.
    pub git: &'a Git,
    /// The commit that a requirement pins.
    pub pin: Option<&'a str>,
    /// The credentials. `None` for a public repository.
    pub secret: Option<&'a SecretValue>,
    /// The private folder of the source.
    pub folder: &'a Path,
    /// Servers that issue tokens.
    pub token_issuers: &'a TokenIssuers,
    /// Authorities of servers, if they are not those of the system.
    pub authorities: Option<&'a Authorities>,
    /// The access with which this process has connected to repositories.
    pub checked: &'a CheckedAccess,
    /// The files of the last commits.
    pub trees: &'a TreeCache,
}

/// The commit to use: a fixed one, or that of a reference.
#[derive(Debug)]
enum CommitSelector {
    /// A commit, by its full or abbreviated id.
    Commit(String),
    /// The commit of a branch or a tag, with the full name of the reference.
    Reference { name: String, commit: String },
}

impl Repository<'_> {
    /// Returns the selected files and the commit.
    ///
    /// # Errors
    /// The repository cannot be fetched, or contains what is not supported.
    pub async fn fetch(&self, options: &FetchOptions) -> Result<(Tree, String), Failure> {
        let commit = self.pin.unwrap_or(&self.git.commit);
        if commit.is_empty() && self.git.reference.is_empty() {
            let message = "either reference or commit must be set in git configuration";
            return Err(self.failed(Status::SyncFailed, message));
        }
        let filter = Filter::new(&self.git.included_files, &self.git.excluded_files)
            .map_err(|error| self.failed(Status::SyncFailed, &error))?;
        let bare = self.folder.join("repository");
        let offline = RepositoryAccess::offline();
        let runner = Runner::new(&bare, &offline, options);
        let mut objects = Objects::open(self.folder)
            .map_err(|error| self.failed(Status::InternalError, &error.to_string()))?;
        let known = self.trees.take(self);
        let known = known.filter(|known| objects.reuse(&known.tree));
        let known_commit = known.as_ref().map(|known| known.commit.as_str());
        let commit = self
            .fetch_commit(&runner, commit, known_commit, options)
            .await
            .map_err(|error| self.git_failed(&error))?;
        if let Some(known) = known.filter(|known| known.commit == commit) {
            self.trees.insert(self, commit.clone(), known.tree.clone());
            return Ok((known.tree, commit));
        }
        let folder = sub_folder(&self.git.path);
        let tree = contents::read(
            &runner,
            &commit,
            &folder,
            &filter,
            objects,
            Budget::new(options),
        );
        match tree.await.map_err(|error| self.git_failed(&error))? {
            Some(tree) => {
                self.trees.insert(self, commit.clone(), tree.clone());
                Ok((tree, commit))
            }
            None => Err(Failure {
                phase: Phase::Build,
                status: Status::BuildFailed,
                message: format!("source {:?}: directory does not exist", self.source),
            }),
        }
    }

    /// Fetches the commit unless it is present, and returns its full id. If the server rejects an issued token, the fetch is
    /// repeated with another one. `offline` runs commands that do not use the network. The files of the commit `known` need not be
    /// read, so the copy of the repository is not needed either if it is the one to use.
    async fn fetch_commit(
        &self,
        offline: &Runner<'_>,
        commit: &str,
        known: Option<&str>,
        options: &FetchOptions,
    ) -> Result<String, GitError> {
        let bare = offline.bare;
        let known = known.filter(|_| is_usable(bare, &self.git.repo));
        if known.is_none() {
            prepare(bare, offline, &self.git.repo).await?;
        }
        let id = commit.to_ascii_lowercase();
        if is_full(&id)
            && self.checked.contains(self)
            && (known == Some(&id) || offline.has_commit(&id).await)
        {
            return Ok(id);
        }
        let mut is_repeated = false;
        loop {
            let access = RepositoryAccess::new(self, options).await?;
            let runner = Runner::new(bare, &access, options);
            match self.fetch_by(&runner, &access, commit, known).await {
                Ok(id) => {
                    self.checked.insert(self);
                    return Ok(id);
                }
                Err(error) if error.is_rejection() && !is_repeated && access.forget_token() => {
                    is_repeated = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Fetches the commit unless it is present, and returns its full id. Connects to the repository unless it is local.
    async fn fetch_by(
        &self,
        runner: &Runner<'_>,
        access: &RepositoryAccess,
        commit: &str,
        known: Option<&str>,
    ) -> Result<String, GitError> {
        let wanted = if commit.is_empty() {
            let name = &self.git.reference;
            let listed = runner
                .remote(&[
                    "ls-remote",
                    "--",
                    &access.address,
                    name,
                    &format!("{name}^{{}}"),
                ])
                .await?;
            advertised(&listed, name).ok_or_else(|| {
                let full = if name.starts_with("refs/") {
                    name.clone()
                } else {
                    format!("refs/heads/{name}")
                };
                GitError::failed(format!("couldn't find remote ref {full:?}"))
            })?
        } else {
            CommitSelector::Commit(commit.to_ascii_lowercase())
        };
        let id = match &wanted {
            CommitSelector::Commit(id) | CommitSelector::Reference { commit: id, .. } => id.clone(),
        };
        if !is_full(&id) {
            return Err(GitError::failed("object not found"));
        }
        let is_known = known == Some(&id);
        if known.is_some() && !is_known {
            prepare(runner.bare, runner, &self.git.repo).await?;
        }
        if is_known || runner.has_commit(&id).await {
            if matches!(wanted, CommitSelector::Commit(_)) && !access.is_local {
                runner
                    .remote(&["ls-remote", "--", &access.address, "HEAD"])
                    .await?;
            }
            return Ok(id);
        }
        let fetch = [
            "fetch",
            "--depth=1",
            "--no-tags",
            "--force",
            "--no-write-fetch-head",
        ];
        let target = format!("refs/solon/{id}");
        match &wanted {
            CommitSelector::Reference { name, .. } => {
                let spec = format!("+{name}:{target}");
                let mut arguments = fetch.to_vec();
                arguments.extend(["--", access.address.as_str(), spec.as_str()]);
                runner.remote(&arguments).await?;
                // the reference may have moved since it was listed
                runner.commit_of(&target).await
            }
            CommitSelector::Commit(_) => {
                let spec = format!("+{id}:{target}");
                let mut arguments = fetch.to_vec();
                arguments.extend(["--", access.address.as_str(), spec.as_str()]);
                if let Err(error) = runner.remote(&arguments).await {
                    if !error.may_reject_commit() {
                        return Err(error);
                    }
                    // some servers send only what a branch or a tag contains
                    let every = [
                        "+refs/heads/*:refs/all/heads/*",
                        "+refs/tags/*:refs/all/tags/*",
                    ];
                    let mut arguments = vec!["fetch", "--no-tags", "--force"];
                    if bare_is_shallow(runner) {
                        arguments.push("--unshallow");
                    }
                    arguments.extend(["--no-write-fetch-head", "--", access.address.as_str()]);
                    arguments.extend(every);
                    runner.remote(&arguments).await?;
                }
                if runner.has_commit(&id).await {
                    Ok(id)
                } else {
                    Err(GitError::failed("object not found"))
                }
            }
        }
    }

    fn git_failed(&self, error: &GitError) -> Failure {
        self.failed(error.status, &error.message)
    }

    fn failed(&self, status: Status, message: &str) -> Failure {
        let Self { source, git, .. } = self;
        let text = format!(
            "source {source:?}: git synchronizer: {}: {message}",
            git.repo
        );
        let text = match self.secret {
            // a server may repeat in a message what it received
            Some(secret) => secret.redact(text),
            None => text,
        };
        failure(status, text)
    }
}

fn is_full(id: &str) -> bool {
    matches!(id.len(), 40 | 64)
}

fn bare_is_shallow(runner: &Runner<'_>) -> bool {
    runner.bare.join("shallow").exists()
}

/// Returns a folder of a repository without `.` and slashes at its ends.
fn sub_folder(path: &str) -> String {
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    steps.collect::<Vec<_>>().join("/")
}

/// Returns the commit of a reference in the output of `git ls-remote`. A short name is that of a branch, or else of a tag.
fn advertised(listed: &[u8], name: &str) -> Option<CommitSelector> {
    let text = String::from_utf8_lossy(listed);
    let commit_of = |full: &str| {
        let find = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
            lines
                .find(|(_, found)| *found == wanted)
                .map(|(id, _)| id.to_owned())
        };
        // an annotated tag is listed once more with the commit
        let commit = find(&format!("{full}^{{}}")).or_else(|| find(full))?;
        Some(CommitSelector::Reference {
            name: full.to_owned(),
            commit,
        })
    };
    if name.starts_with("refs/") || name == "HEAD" {
        return commit_of(name);
    }
    commit_of(&format!("refs/heads/{name}"))
        .or_else(|| commit_of(&format!("refs/tags/{name}")))
        .or_else(|| commit_of(&format!("refs/{name}")))
}

/// Creates the bare repository, or repairs what an interrupted fetch has left. A copy of a repository with another address is
/// replaced.
async fn prepare(bare: &Path, runner: &Runner<'_>, address: &str) -> Result<(), GitError> {
    if bare.exists() {
        // old commits are dropped with the repository
        if is_usable(bare, address)
            && runner
                .local(&["rev-parse", "--is-bare-repository"])
                .await
                .is_ok()
        {
            return Ok(());
        }
        fs::remove_dir_all(bare).map_err(|error| GitError::internal(&error))?;
    }
    private_files::create_folder(bare).map_err(|error| GitError::internal(&error))?;
    runner.local(&["init", "--quiet", "--bare", "."]).await?;
    copies::record_origin(bare, address).map_err(|error| GitError::internal(&error))
}

/// Returns `true` if a bare repository is a copy of the one with an address, of a moderate size, and no fetch was interrupted.
fn is_usable(bare: &Path, address: &str) -> bool {
    let packs = bare.join("objects/pack");
    let count = fs::read_dir(&packs).map_or(0, Iterator::count);
    let is_left = [
        "shallow.lock",
        "HEAD.lock",
        "config.lock",
        "packed-refs.lock",
    ]
    .iter()
    .any(|name| bare.join(name).exists());
    let has_partial = fs::read_dir(&packs).is_ok_and(|entries| {
        let mut names = entries.flatten().map(|entry| entry.file_name());
        names.any(|name| name.to_string_lossy().starts_with("tmp_"))
    });
    count <= limits::GIT_PACK_FILES && !is_left && !has_partial && copies::is_copy_of(bare, address)
}

#[cfg(test)]
mod tests {
    use super::{CommitSelector, advertised, sub_folder};

    #[test]
    fn references_are_found() {
        let listed = b"1\trefs/heads/feature/main\n2\trefs/heads/main\n3\trefs/tags/main\n\
            4\trefs/tags/v1\n5\trefs/tags/v1^{}\n6\tHEAD\n";
        for (name, wanted) in [
            ("main", Some(("refs/heads/main", "2"))),
            ("refs/heads/main", Some(("refs/heads/main", "2"))),
            ("refs/tags/main", Some(("refs/tags/main", "3"))),
            ("tags/main", Some(("refs/tags/main", "3"))),
            ("heads/main", Some(("refs/heads/main", "2"))),
            ("v1", Some(("refs/tags/v1", "5"))),
            ("refs/tags/v1", Some(("refs/tags/v1", "5"))),
            ("feature/main", Some(("refs/heads/feature/main", "1"))),
            ("HEAD", Some(("HEAD", "6"))),
            ("mai", None),
            ("v2", None),
            ("refs/heads/v1", None),
        ] {
            let found = match advertised(listed, name) {
                Some(CommitSelector::Reference { name, commit }) => Some((name, commit)),
                _ => None,
            };
            let found = found
                .as_ref()
                .map(|(name, id)| (name.as_str(), id.as_str()));
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn folders_are_normalized() {
        for (path, wanted) in [
            ("", ""),
            ("./a/", "a"),
            ("a//b", "a/b"),
            (".", ""),
            ("/a", "a"),
        ] {
            assert_eq!(sub_folder(path), wanted);
        }
    }
}
