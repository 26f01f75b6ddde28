//! Access to a repository: its address, the check of its network, credentials, and the environment of `git`.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use solon_outbound::proxy::Proxy;
use tokio::process::Command;

use super::Repository;
use super::authorization::Authorization;
use super::command::{AUTHORIZATION_FAILED, GitError};
use super::ssh::{SshAddress, SshFiles};
use crate::limits;
use crate::model::SecretValue;
use crate::sync::FetchOptions;

/// The variable of the service that `git` needs.
const PATH: &str = "PATH";

/// Configuration of each call: no programs of a repository or of the machine are run.
const CONFIGURATION: [(&str, &str); 13] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.symlinks", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    // packs, which are counted, in place of files for each object
    ("fetch.unpackLimit", "1"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // a redirect could lead to a host that neither the rules for networks nor the secret allow
    ("http.followRedirects", "false"),
    ("init.defaultBranch", "main"),
];

pub struct RepositoryAccess {
    /// The address as an argument of `git`. It contains no password.
    pub address: String,
    /// Configuration of calls that connect to the repository. It may contain credentials, so it is passed in the environment.
    pub configuration: Vec<(String, String)>,
    /// Files for `ssh`, deleted when this is dropped.
    ssh: Option<SshFiles>,
    /// Credentials over HTTP.
    authorization: Authorization,
    has_credentials: bool,
    /// `true` if the repository is a folder of this machine.
    pub is_local: bool,
}

impl RepositoryAccess {
    /// Returns no access, for commands that do not use the network.
    pub fn offline() -> Self {
        Self {
            address: String::new(),
            configuration: Vec::new(),
            ssh: None,
            authorization: Authorization::default(),
            has_credentials: false,
            is_local: true,
        }
    }

    /// Resolves and checks the host of a repository.
    ///
    /// # Errors
    /// The host has no address, is denied, or the credentials do not fit.
    pub async fn new(wanted: &Repository<'_>, options: &FetchOptions) -> Result<Self, GitError> {
        let (repository, secret) = (wanted.git.repo.as_str(), wanted.secret);
        match repository.split_once("://") {
            None if is_local(repository) => Self::local(repository, secret, options),
            Some(("file", path)) => Self::local(path, secret, options),
            None | Some(("ssh", _)) => Self::over_ssh(wanted, options).await,
            Some(("http" | "https", _)) => Self::over_http(wanted, options).await,
            Some((scheme, _)) => Err(GitError::failed(format!(
                "`{scheme}` is not supported; use `https` or `ssh`"
            ))),
        }
    }

    async fn over_ssh(wanted: &Repository<'_>, options: &FetchOptions) -> Result<Self, GitError> {
        let address = SshAddress::parse(&wanted.git.repo)
            .ok_or_else(|| GitError::failed("invalid address"))?;
        let addresses = resolve(&address.host, address.port, options).await?;
        // `ssh` takes one address, without brackets
        let ip = addresses.split(',').next().unwrap_or_default();
        let ip = ip.trim_matches(['[', ']']);
        let files = SshFiles::write(wanted.folder, &address, ip, wanted.secret).await?;
        Ok(Self {
            address: wanted.git.repo.clone(),
            configuration: vec![("protocol.ssh.allow".to_owned(), "always".to_owned())],
            ssh: Some(files),
            authorization: Authorization::default(),
            has_credentials: true,
            is_local: false,
        })
    }

    async fn over_http(wanted: &Repository<'_>, options: &FetchOptions) -> Result<Self, GitError> {
        let repository = wanted.git.repo.as_str();
        let invalid = || GitError::failed("invalid address");
        let uri: http::Uri = repository.parse().map_err(|_| invalid())?;
        let scheme = uri.scheme_str().ok_or_else(invalid)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let bare = host.trim_matches(['[', ']']);
        let is_secure = scheme == "https";
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let mut configuration = vec![(format!("protocol.{scheme}.allow"), "always".to_owned())];
        // `git` has no variables of proxies and uses the one that was chosen here, or none
        let proxy = options.proxies.proxy_for(is_secure, bare, port);
        let proxy = match proxy.map_err(GitError::failed)? {
            Some(proxy) => {
                let checked = options.networks.check_proxied(bare);
                checked.map_err(|used| denied(&host, used))?;
                if proxy.authorization.is_some() {
                    configuration.push(("http.proxyAuthMethod".to_owned(), "basic".to_owned()));
                }
                proxy_address(&proxy)
            }
            None => {
                let address = resolve(&host, port, options).await?;
                // git connects to the address that was checked, whatever the name resolves to later
                if bare.parse::<IpAddr>().is_err() {
                    let pinned = format!("{bare}:{port}:{address}");
                    configuration.push(("http.curloptResolve".to_owned(), pinned));
                }
                String::new()
            }
        };
        configuration.push(("http.proxy".to_owned(), proxy));
        let authorization = Authorization::new(wanted, &uri, options).await?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let key = format!("http.{scheme}://{authority}/.extraHeader");
        for header in &authorization.headers {
            configuration.push((key.clone(), header.clone()));
        }
        if let Some(authorities) = wanted.authorities {
            configuration.extend(authorities.configuration());
        }
        Ok(Self {
            address: repository.to_owned(),
            configuration,
            ssh: None,
            authorization,
            has_credentials: wanted.secret.is_some(),
            is_local: false,
        })
    }

    fn local(
        path: &str,
        secret: Option<&SecretValue>,
        options: &FetchOptions,
    ) -> Result<Self, GitError> {
        if secret.is_some() {
            return Err(GitError::failed(
                "credentials are set for a local repository",
            ));
        }
        let path = options.base.join(path);
        let path = std::path::absolute(path).map_err(|error| GitError::internal(&error))?;
        let address = path
            .to_str()
            .ok_or_else(|| GitError::failed("path is not UTF-8"))?;
        if !path.is_dir() {
            return Err(GitError::user("repository not found"));
        }
        let configuration = [("protocol.file.allow", "always"), ("safe.directory", "*")];
        let owned = configuration.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Ok(Self {
            address: address.to_owned(),
            configuration: owned.to_vec(),
            ..Self::offline()
        })
    }

    /// Drops the token of the credentials if a server issued it. Returns `true` if the next access has another one.
    pub fn forget_token(&self) -> bool {
        let issuer = self.authorization.issuer.as_ref();
        issuer.inspect(|issuer| issuer.forget()).is_some()
    }

    /// Returns variables of calls that connect to the repository.
    pub fn environment(&self) -> &[(String, String)] {
        self.ssh.as_ref().map_or(&[], |files| &files.environment)
    }

    /// Sets the environment of a call. Configuration is part of it, because all users can read arguments.
    pub fn set_environment(command: &mut Command, more: &[(String, String)]) {
        command.env_clear();
        if let Some(value) = std::env::var_os(PATH) {
            command.env(PATH, value);
        }
        for (name, value) in [
            ("HOME", "/nonexistent"),
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ] {
            command.env(name, value);
        }
        let fixed = CONFIGURATION.iter().copied();
        let more = more
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let mut count = 0;
        for (key, value) in fixed.chain(more) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
    }

    /// Returns the error for the error output of `git`. Secrets and texts of the server are removed from its message.
    pub fn classified(&self, output: &str) -> GitError {
        let contains = |text: &str| output.contains(text);
        if contains("could not read Username") || contains("Authentication failed") {
            return GitError::user(if self.has_credentials {
                AUTHORIZATION_FAILED
            } else {
                "authentication required"
            });
        }
        if contains("Host key verification failed") {
            return GitError::failed("ssh: the host presents another key than before");
        }
        if contains("Permission denied (") || contains("incorrect passphrase") {
            return GitError::user(AUTHORIZATION_FAILED);
        }
        if contains("returned error: 401") || contains("returned error: 403") {
            return GitError::user(AUTHORIZATION_FAILED);
        }
        let is_missing = contains("not found") && contains("repository");
        if is_missing || contains("does not appear to be a git repository") {
            return GitError::user("repository not found");
        }
        let lines = output
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        // texts of the server begin with `remote:`
        let own = lines.filter(|line| !line.starts_with("remote:"));
        let mut message = own.collect::<Vec<_>>().join("; ");
        message.retain(|letter| !letter.is_control());
        message = self.authorization.redact(message);
        let end = message.floor_char_boundary(limits::GIT_MESSAGE);
        message.truncate(end);
        if message.is_empty() {
            "git failed without a message".clone_into(&mut message);
        }
        GitError::failed(message)
    }
}

fn denied(host: &str, used: &str) -> GitError {
    GitError::failed(format!("connections to {host} are denied ({used})"))
}

/// Returns `true` if an address without a scheme is a path and not `host:path`, by Git's rule.
fn is_local(address: &str) -> bool {
    address
        .split_once(':')
        .is_none_or(|(place, _)| place.contains('/'))
}

/// Returns an address of a host. All of its addresses must be allowed.
async fn resolve(host: &str, port: u16, options: &FetchOptions) -> Result<String, GitError> {
    let bare = host.trim_matches(['[', ']']);
    let found = tokio::net::lookup_host((bare, port)).await;
    let found = found.map_err(|_| GitError::failed(format!("no such host: {host}")))?;
    let mut addresses = Vec::new();
    for address in found {
        options
            .networks
            .check(address.ip())
            .map_err(|used| denied(host, used))?;
        addresses.push(match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    }
    if addresses.is_empty() {
        return Err(GitError::failed(format!("no such host: {host}")));
    }
    addresses.dedup();
    Ok(addresses.join(","))
}

/// Returns the address of a proxy with its user and password.
fn proxy_address(proxy: &Proxy) -> String {
    let address = proxy.address();
    let encoded = proxy.authorization.as_deref();
    let decoded = encoded
        .and_then(|value| value.strip_prefix("Basic "))
        .and_then(|value| STANDARD.decode(value).ok());
    let Some((scheme, host)) = address.split_once("://") else {
        return address;
    };
    match decoded {
        None => address,
        Some(pair) => {
            let mut user = pair.splitn(2, |byte| *byte == b':').map(|text| {
                percent_encoding::percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
            });
            let name = user
                .next()
                .map_or_else(String::new, |name| name.to_string());
            let password = user
                .next()
                .map_or_else(String::new, |text| text.to_string());
            format!("{scheme}://{name}:{password}@{host}")
        }
    }
}
