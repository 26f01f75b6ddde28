//! Calls of the program `git` with a clean configuration, a time-out and a bound of its disk space.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::access::RepositoryAccess;
use super::program;
use crate::limits;
use crate::model::Status;
use crate::sync::FetchOptions;

/// Message of an error: the server rejected the credentials.
pub const AUTHORIZATION_FAILED: &str = "authorization failed";

/// Error of a call of `git`.
#[derive(Debug)]
pub struct GitError {
    /// The status for the record: a failed fetch, an error of the user, or an internal error.
    pub status: Status,
    /// The message, without secrets.
    pub message: String,
}

impl GitError {
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            status: Status::SyncFailed,
            message: message.into(),
        }
    }

    pub fn user(message: impl Into<String>) -> Self {
        Self {
            status: Status::UserError,
            message: message.into(),
        }
    }

    pub fn internal(error: &dyn std::fmt::Display) -> Self {
        Self {
            status: Status::InternalError,
            message: format!("data folder: {error}"),
        }
    }

    /// Returns `true` if the server rejected the credentials.
    pub fn is_rejection(&self) -> bool {
        self.message == AUTHORIZATION_FAILED
    }

    /// Returns `true` if the server may have rejected a commit that no reference leads to directly.
    pub fn may_reject_commit(&self) -> bool {
        [
            "not our ref",
            "unadvertised object",
            "couldn't find remote ref",
        ]
        .iter()
        .any(|text| self.message.contains(text))
    }
}

/// Calls `git` in a bare repository.
pub struct Runner<'a> {
    pub bare: &'a Path,
    access: &'a RepositoryAccess,
    options: &'a FetchOptions,
}

/// Ends the processes that a call started, in case the call ends early.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0
            && let Ok(id) = i32::try_from(id)
            && let Some(id) = rustix::process::Pid::from_raw(id)
        {
            // fails if the processes have ended
            rustix::process::kill_process_group(id, rustix::process::Signal::KILL).ok();
        }
    }
}

impl<'a> Runner<'a> {
    pub fn new(bare: &'a Path, access: &'a RepositoryAccess, options: &'a FetchOptions) -> Self {
        Self {
            bare,
            access,
            options,
        }
    }

    /// Returns the output of a command that does not use the network.
    ///
    /// # Errors
    /// The command failed.
    pub async fn local(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(arguments, None, &[]).await
    }

    /// Returns the output of a command that does not use the network and reads `input`.
    ///
    /// # Errors
    /// The command failed.
    pub async fn local_with_input(
        &self,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        self.run(arguments, None, input).await
    }

    /// Returns the output of a command that connects to the repository.
    ///
    /// # Errors
    /// The command failed.
    pub async fn remote(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(arguments, Some(self.access), &[]).await
    }

    /// Returns `true` if a commit is present in the local copy. Uses no network.
    pub async fn has_commit(&self, id: &str) -> bool {
        let object = format!("{id}^{{commit}}");
        self.local(&["cat-file", "-e", &object]).await.is_ok()
    }

    /// Returns the commit of a reference.
    ///
    /// # Errors
    /// The reference does not lead to a commit.
    pub async fn commit_of(&self, reference: &str) -> Result<String, GitError> {
        let object = format!("{reference}^{{commit}}");
        let id = self
            .local(&["rev-parse", "--verify", "--quiet", &object])
            .await;
        let id = id.map_err(|_| GitError::failed("object not found"))?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    async fn run(
        &self,
        arguments: &[&str],
        remote: Option<&RepositoryAccess>,
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = Command::new(program::path());
        command.args(arguments).current_dir(self.bare);
        let configuration = remote.map_or(&[][..], |access| &access.configuration);
        RepositoryAccess::set_environment(&mut command, configuration);
        for (name, value) in remote.map_or(&[][..], RepositoryAccess::environment) {
            command.env(name, value);
        }
        command.env("GIT_DIR", self.bare);
        command.stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| GitError::internal(&format!("the program `git`: {error}")))?;
        let mut group = Group(child.id());
        let work = self.exchange(&mut child, input);
        let done = tokio::select! {
            done = work => done,
            () = tokio::time::sleep(self.options.git_timeout) => {
                let seconds = self.options.git_timeout.as_secs();
                Err(GitError::failed(format!("timeout: git did not end within {seconds} seconds")))
            }
            error = self.oversized() => Err(error),
        };
        let (is_success, out, errors) = done?;
        group.0 = None;
        if is_success {
            return Ok(out);
        }
        Err(self.access.classified(&String::from_utf8_lossy(&errors)))
    }

    async fn exchange(
        &self,
        child: &mut Child,
        input: &[u8],
    ) -> Result<(bool, Vec<u8>, Vec<u8>), GitError> {
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let write = async move {
            if let Some(mut stdin) = stdin {
                // an error shows in the status of the program
                drop(stdin.write_all(input).await);
            }
        };
        let max = usize::try_from(self.options.max_bytes).unwrap_or(usize::MAX);
        let out = read_bounded(stdout, max.saturating_add(limits::GIT_OUTPUT));
        let errors = read_bounded(stderr, limits::GIT_OUTPUT);
        let ((), out, errors) = tokio::join!(write, out, errors);
        let status = child
            .wait()
            .await
            .map_err(|error| GitError::internal(&error))?;
        Ok((status.success(), out?, errors?))
    }

    /// Returns an error once the repository is larger than its bound.
    async fn oversized(&self) -> GitError {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let bare = self.bare.to_owned();
            let size = tokio::task::spawn_blocking(move || size_of(&bare.join("objects"))).await;
            if size.unwrap_or_default() > self.options.max_repository_bytes {
                let max = self.options.max_repository_bytes;
                return GitError::failed(format!("repository of more than {max} bytes"));
            }
        }
    }
}

/// Reads up to the end. More than `max` bytes are an error.
async fn read_bounded(
    from: Option<impl AsyncRead + Unpin>,
    max: usize,
) -> Result<Vec<u8>, GitError> {
    let mut out = Vec::new();
    if let Some(from) = from {
        let bound = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        let read = from.take(bound).read_to_end(&mut out).await;
        read.map_err(|error| GitError::internal(&error))?;
    }
    if out.len() > max {
        return Err(GitError::failed(format!("output of more than {max} bytes")));
    }
    Ok(out)
}

/// Returns the size of the files below a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    let mut size = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        size += if metadata.is_dir() {
            size_of(&entry.path())
        } else {
            metadata.len()
        };
    }
    size
}
