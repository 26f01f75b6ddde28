//! Git origins and addresses.

use serde::Serialize;
use serde_json::Value;

use super::{Address, FieldPath, Kind, Origin, Reader, Reference};

/// A Git repository and the files that are used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Git {
    /// The address: a URL, `user@host:path`, or in configuration files a local path.
    pub repo: String,
    /// A branch or a tag, such as `refs/heads/main`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// A commit in hexadecimal. Empty uses the latest commit of `reference`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// A folder of the repository. Empty is the root.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Globs of included files. An empty list includes all files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub included_files: Vec<String>,
    /// Globs of excluded files, which take precedence over `included_files`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_files: Vec<String>,
    /// The name of the secret with the credentials. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub credentials: String,
}

impl Git {
    /// Reads an origin. Reports an address or a reference that is not valid, and returns what could be read.
    pub(super) fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let git = Self {
            repo: members.required(reader, field_path, "repo"),
            reference: members.text(reader, field_path, "reference"),
            commit: members.text(reader, field_path, "commit"),
            path: members.text(reader, field_path, "path"),
            included_files: members.texts(reader, field_path, "included_files"),
            excluded_files: members.texts(reader, field_path, "excluded_files"),
            credentials: members.text(reader, field_path, "credentials"),
        };
        members.end(reader, field_path);
        if let Some(message) = invalid_repository(&git.repo, reader.origin()) {
            reader.report(&field_path.member("repo"), message);
        }
        if let Some(message) = invalid_reference(&git.reference) {
            reader.report(&field_path.member("reference"), message);
        }
        reader.check_commit(&field_path.member("commit"), &git.commit);
        reader.check_inside(
            &field_path.member("path"),
            git.path.trim_start_matches("./"),
        );
        reader.check_globs(&field_path.member("included_files"), &git.included_files);
        reader.check_globs(&field_path.member("excluded_files"), &git.excluded_files);
        git
    }

    /// Returns the address of the host of the repository. `None` if the text names no valid host, or its scheme is not
    /// known.
    pub fn address(&self) -> Option<Address> {
        Address::of_repository(&self.repo)
    }

    /// Returns the reference to the secret, with the address that it is sent to. Returns `None` for a public repository.
    pub(super) fn reference(&self) -> Option<Reference> {
        (!self.credentials.is_empty()).then(|| Reference {
            kind: Kind::Secret,
            name: self.credentials.clone(),
            field: "git.credentials".to_owned(),
            address: self.address(),
        })
    }
}

/// Returns the problem of a repository address. An empty address has none, because it is reported as missing.
fn invalid_repository(address: &str, origin: Origin) -> Option<&'static str> {
    if address.is_empty() {
        return None;
    }
    if address.starts_with('-') || address.contains(|c: char| c.is_control() || c == ' ') {
        return Some("is not the address of a repository");
    }
    if let Some((scheme, rest)) = address.split_once("://") {
        let host = rest.split('/').next().unwrap_or_default();
        let (user, host) = host.rsplit_once('@').unwrap_or(("", host));
        return match scheme {
            "https" | "http" | "ssh" | "git" if host.is_empty() || host.starts_with(['-', ':']) => {
                Some("has no host")
            }
            "https" | "http" | "ssh" | "git" if user.contains(':') => {
                Some("must not hold a password; name a secret by `credentials`")
            }
            "https" | "http" | "ssh" | "git" => None,
            "file" if origin == Origin::File => None,
            "file" => Some("must not be on this machine when it is written through the API"),
            _ => Some(
                "must begin with `https://`, `http://`, `ssh://` or `git://`, or be `user@host:path`",
            ),
        };
    }
    // `git@host:path`, the scp syntax of ssh; a single letter is a drive
    let is_scp = address
        .split_once(':')
        .is_some_and(|(user_and_host, path)| {
            let host = user_and_host
                .rsplit_once('@')
                .map_or(user_and_host, |(_, host)| host);
            let is_host = !host.is_empty() && !host.contains(['/', '\\']) && !host.starts_with('-');
            is_host && user_and_host.len() > 1 && !path.is_empty()
        });
    let user = address.split_once('@').map_or("", |(user, _)| user);
    if user.contains(':') && !user.contains('/') {
        return Some("must not hold a password; name a secret by `credentials`");
    }
    match origin {
        _ if is_scp => None,
        Origin::File => None,
        Origin::Api => Some("must be a remote address: `https://host/path` or `git@host:path`"),
    }
}

/// Returns the problem of a branch or tag name by Git's rules, if any.
fn invalid_reference(name: &str) -> Option<&'static str> {
    let forbidden = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let wrong = name.starts_with(['-', '/'])
        || name.ends_with(['/', '.'])
        || name.contains("..")
        || name.contains("//")
        || name.contains("@{")
        || name.contains(forbidden)
        || name
            .split('/')
            .any(|step| step.starts_with('.') || step.to_ascii_lowercase().ends_with(".lock"));
    (wrong && !name.is_empty()).then_some("is not the name of a branch or tag")
}

impl Reader {
    /// Reports problems of a web address.
    pub(super) fn check_web_address(&mut self, field_path: &FieldPath<'_>, address: &str) {
        if address.is_empty() {
            return;
        }
        let rest = address
            .strip_prefix("https://")
            .or(address.strip_prefix("http://"));
        let Some(rest) = rest else {
            self.report(field_path, "must begin with `https://` or `http://`");
            return;
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            self.report(
                field_path,
                "must not hold a user or a password; name a secret by `credentials`",
            );
        } else if authority.is_empty() || authority.starts_with(':') {
            self.report(field_path, "has no host");
        } else if address.contains(|c: char| c.is_control() || c == ' ') {
            self.report(field_path, "is not a valid address");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_forms() {
        for address in [
            "https://example.com/org/repo.git",
            "ssh://git@example.com:22/org/repo",
            "git@example.com:org/repo.git",
            "git@h:repo",
            "example.com:repo",
            "example.com:org/repo@v1",
        ] {
            assert_eq!(invalid_repository(address, Origin::Api), None, "{address}");
        }
        for address in [
            "/srv/repo",
            "../repo",
            "repo",
            "file:///srv/repo",
            "ext::sh -c x",
            "-oProxy=x",
            "https://",
            "https://a:b@example.com/x",
            "user:password@example.com:x",
            "ssh://-oProxyCommand=x/y",
            "C:\\repo",
            "ftp://x/y",
        ] {
            assert!(
                invalid_repository(address, Origin::Api).is_some(),
                "{address}"
            );
        }
        assert_eq!(invalid_repository("/srv/repo", Origin::File), None);
        assert_eq!(invalid_repository("file:///srv/repo", Origin::File), None);
    }

    #[test]
    fn names_of_branches() {
        for name in ["refs/heads/main", "main", "v1.0", "feature/x-y", ""] {
            assert_eq!(invalid_reference(name), None, "{name}");
        }
        for name in [
            "--upload-pack=x",
            "a..b",
            "a b",
            "x.lock",
            "a//b",
            "x/",
            "HEAD@{1}",
            "a:b",
        ] {
            assert!(invalid_reference(name).is_some(), "{name}");
        }
    }
}
