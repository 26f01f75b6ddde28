//! Access to repositories over SSH: the key of a secret, and keys of hosts that are accepted by their fingerprints only.
//!
//! The keys of a host are read by `ssh-keyscan`, and those with an accepted fingerprint are written to a file, which is all that `ssh` trusts.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use solon_common::atomic_file::random_name;
use solon_common::private_files;
use tokio::process::Command;

use super::access::RepositoryAccess;
use super::command::GitError;
use crate::model::SecretValue;

/// Seconds until `ssh` and `ssh-keyscan` give up connecting.
const CONNECT_SECONDS: u64 = 30;

/// Fingerprints that services publish, by host.
const PUBLISHED: [(&str, &str); 10] = [
    (
        "github.com",
        "SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s",
    ),
    (
        "github.com",
        "SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM",
    ),
    (
        "github.com",
        "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
    ),
    (
        "gitlab.com",
        "SHA256:ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ",
    ),
    (
        "gitlab.com",
        "SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw",
    ),
    (
        "gitlab.com",
        "SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8",
    ),
    (
        "bitbucket.org",
        "SHA256:46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E",
    ),
    (
        "bitbucket.org",
        "SHA256:FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0",
    ),
    (
        "bitbucket.org",
        "SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM",
    ),
    (
        "ssh.dev.azure.com",
        "SHA256:ohD8VZEXGWo6Ez8GSEJQ9WpafgLFsOfLOtGGQCQo6Og",
    ),
];

/// Name of the variable with the passphrase of the key.
const PASSPHRASE: &str = "SOLON_SSH_PASSPHRASE";

/// A program that prints the passphrase, for `ssh`.
const PRINT_PASSPHRASE: &str = "#!/bin/sh\nprintf '%s\\n' \"$SOLON_SSH_PASSPHRASE\"\n";

#[derive(Debug, PartialEq, Eq)]
pub struct SshAddress {
    pub host: String,
    pub port: u16,
    has_user: bool,
}

/// Files of a fetch, which are deleted after it.
#[derive(Debug)]
pub struct SshFiles {
    folder: PathBuf,
    /// Variables of the environment of `git`, which name the files.
    pub environment: Vec<(String, String)>,
}

impl Drop for SshFiles {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, "a folder with the key of a repository was not deleted");
        }
    }
}

impl SshAddress {
    /// Reads `ssh://[user@]host[:port]/path` and `[user@]host:path`.
    pub fn parse(repository: &str) -> Option<Self> {
        let (authority, port) = match repository.strip_prefix("ssh://") {
            Some(rest) => {
                let authority = rest.split('/').next()?;
                let start = authority.rfind(']').unwrap_or(0);
                match authority.get(start..)?.rsplit_once(':') {
                    Some((before, port)) => {
                        let end = start + before.len();
                        (authority.get(..end)?, port.parse().ok()?)
                    }
                    None => (authority, 22),
                }
            }
            None => (repository.split_once(':')?.0, 22),
        };
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let host = host.trim_matches(['[', ']']);
        let is_plain = |text: &str| {
            let mut bytes = text.bytes();
            !text.is_empty()
                && !text.starts_with('-')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte))
        };
        (is_plain(host) && user.is_none_or(is_plain)).then(|| Self {
            host: host.to_ascii_lowercase(),
            port,
            has_user: user.is_some(),
        })
    }
}

impl SshFiles {
    /// Writes the files for one fetch into the private folder of the source, next to the repository. `ip` is the checked address of the host.
    ///
    /// # Errors
    /// The secret is not a key, the host presents no accepted key, or a file cannot be written.
    pub async fn write(
        parent: &Path,
        address: &SshAddress,
        ip: &str,
        secret: Option<&SecretValue>,
    ) -> Result<Self, GitError> {
        let Some(secret) = secret else {
            return Err(GitError::user("authentication required"));
        };
        if secret.kind() != "ssh_key" {
            let kind = secret.kind();
            let message = format!("unsupported authentication type for git: {kind}");
            return Err(GitError::failed(message));
        }
        let trusted = host_keys(address, ip, secret).await?;
        let internal = |error: std::io::Error| GitError::internal(&error);
        let folder = parent.join(format!("ssh-{}", random_name().map_err(internal)?));
        private_files::create_folder(&folder).map_err(internal)?;
        let mut files = Self {
            folder,
            environment: Vec::new(),
        };
        files
            .fill(address, ip, secret, &trusted)
            .map_err(internal)?;
        Ok(files)
    }

    fn fill(
        &mut self,
        address: &SshAddress,
        ip: &str,
        secret: &SecretValue,
        trusted: &str,
    ) -> std::io::Result<()> {
        let text = |name: &str| secret.text(name).unwrap_or_default();
        let create = |name: &str, content: &str| {
            let path = self.folder.join(name);
            let mut options = fs::File::options();
            let file = private_files::options(options.write(true).create_new(true));
            file.open(&path)?.write_all(content.as_bytes())?;
            Ok::<_, std::io::Error>(path)
        };
        // `ssh` rejects a key without a line break at its end
        let key = format!("{}\n", text("key").replace('\r', "").trim());
        create("key", &key)?;
        create("known_hosts", trusted)?;
        let passphrase = text("passphrase");
        // paths relative to the repository have no characters that the shell or `ssh` would interpret
        let name = self.folder.file_name().unwrap_or_default();
        let folder = format!("../{}", name.to_string_lossy());
        let mut command = format!(
            "ssh -F /dev/null -i {folder}/key -o UserKnownHostsFile={folder}/known_hosts -o GlobalKnownHostsFile=/dev/null -o HostKeyAlias={ALIAS} -o HostName={ip}"
        );
        for option in [
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            "CheckHostIP=no",
            "PreferredAuthentications=publickey",
            "PasswordAuthentication=no",
            "KbdInteractiveAuthentication=no",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "PermitLocalCommand=no",
            "ControlMaster=no",
            "ControlPath=none",
            "ProxyCommand=none",
            "LogLevel=ERROR",
        ] {
            command.push_str(&format!(" -o {option}"));
        }
        command.push_str(&format!(" -o ConnectTimeout={CONNECT_SECONDS}"));
        if !address.has_user {
            command.push_str(" -o User=git");
        }
        let mut environment = vec![("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned())];
        if passphrase.is_empty() {
            command.push_str(" -o BatchMode=yes");
        } else {
            let program = create("passphrase", PRINT_PASSPHRASE)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&program, fs::Permissions::from_mode(0o700))?;
            }
            let program = program.to_string_lossy().into_owned();
            environment.push(("SSH_ASKPASS".to_owned(), program));
            environment.push(("SSH_ASKPASS_REQUIRE".to_owned(), "force".to_owned()));
            environment.push((PASSPHRASE.to_owned(), passphrase.to_owned()));
        }
        environment.push(("GIT_SSH_COMMAND".to_owned(), command));
        self.environment = environment;
        Ok(())
    }
}

/// Name of the host in the file of accepted keys.
const ALIAS: &str = "repository";

/// Returns the accepted keys of a host in the format of `known_hosts`.
async fn host_keys(
    address: &SshAddress,
    ip: &str,
    secret: &SecretValue,
) -> Result<String, GitError> {
    let own = secret.texts("fingerprints");
    let accepted: Vec<&str> = if own.is_empty() {
        let published = PUBLISHED.iter().filter(|(host, _)| *host == address.host);
        published.map(|(_, print)| *print).collect()
    } else {
        own.iter().map(|print| print.as_str()).collect()
    };
    if accepted.is_empty() {
        let host = &address.host;
        return Err(GitError::failed(format!(
            "ssh: the secret has no `fingerprints` for {host}"
        )));
    }
    let mut command = Command::new("ssh-keyscan");
    RepositoryAccess::set_environment(&mut command, &[]);
    command.args(["-T", &CONNECT_SECONDS.to_string()]);
    command.args(["-p", &address.port.to_string(), "--", ip]);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let scan = tokio::time::timeout(Duration::from_secs(2 * CONNECT_SECONDS), command.output());
    let timeout = |_| GitError::failed("timeout: the host did not present its keys");
    let scan = scan.await.map_err(timeout)?;
    let scan = scan.map_err(|error| GitError::internal(&format!("`ssh-keyscan`: {error}")))?;
    let mut first = None;
    let mut lines = String::new();
    for line in String::from_utf8_lossy(&scan.stdout).lines() {
        let mut words = line.split_whitespace().skip(1);
        let (Some(kind), Some(key)) = (words.next(), words.next()) else {
            continue;
        };
        let Ok(bytes) = STANDARD.decode(key) else {
            continue;
        };
        let print = STANDARD_NO_PAD.encode(digest(&SHA256, &bytes));
        let print = format!("SHA256:{print}");
        if accepted
            .iter()
            .any(|one| one.trim_end_matches('=') == print)
        {
            lines.push_str(&format!("{ALIAS} {kind} {key}\n"));
        }
        first = first.or(Some(print));
    }
    match first {
        None => Err(GitError::failed(format!(
            "ssh: {} presents no key",
            address.host
        ))),
        Some(print) if lines.is_empty() => Err(GitError::failed(format!(
            "ssh: unknown fingerprint ({print}) for {}",
            address.host
        ))),
        Some(_) => Ok(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::SshAddress;

    #[test]
    fn addresses_have_hosts() {
        for (text, host, port, has_user) in [
            ("git@github.com:o/r.git", "github.com", 22, true),
            ("GitHub.com:o/r", "github.com", 22, false),
            ("ssh://git@h/o/r", "h", 22, true),
            ("ssh://h:2222/o/r", "h", 2222, false),
            ("ssh://git@[::1]:2222/r", "::1", 2222, true),
            ("ssh://[::1]/r", "::1", 22, false),
        ] {
            let address = SshAddress::parse(text).unwrap();
            let wanted = (host.to_owned(), port, has_user);
            assert_eq!(
                (address.host, address.port, address.has_user),
                wanted,
                "{text}"
            );
        }
        for text in [
            "ssh://-oProxyCommand=x/r",
            "-oProxyCommand=x:r",
            "ssh://h:x/r",
            "ssh://h h/r",
            "ssh://'h'/r",
            "ssh:///r",
            "ssh://-u@h/r",
            ":r",
        ] {
            assert_eq!(SshAddress::parse(text), None, "{text}");
        }
    }
}
