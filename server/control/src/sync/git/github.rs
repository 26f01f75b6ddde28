//! Tokens of GitHub apps for repositories.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use parking_lot::Mutex;
use solon_outbound::tls::{self, Trust};
use solon_outbound::{GithubApp, Target, Transport};

use super::command::GitError;
use crate::limits;
use crate::list_digest::ListDigest;
use crate::model::SecretValue;
use crate::sync::FetchOptions;

/// The installations of apps with their tokens, by the address of the API and the secret.
#[derive(Debug, Default)]
pub struct GithubApps(Mutex<HashMap<String, Arc<GithubApp>>>);

impl GithubApps {
    /// Returns a token for a repository.
    ///
    /// # Errors
    /// The secret is not valid, or the server issues no token.
    pub async fn token(
        &self,
        repository: &Uri,
        secret: &SecretValue,
        options: &FetchOptions,
    ) -> Result<String, GitError> {
        let api = api_of(repository)?;
        let mut digest = ListDigest::new();
        digest.add(api.as_bytes());
        digest.add(&secret.to_json());
        let key = digest.finish();
        let existing = self.0.lock().get(&key).cloned();
        let app = match existing {
            Some(app) => app,
            None => {
                let app = open(&api, secret, options).map_err(GitError::failed)?;
                let app = Arc::new(app);
                let mut apps = self.0.lock();
                if apps.len() >= limits::GITHUB_APPS {
                    // secrets that were replaced leave entries
                    apps.clear();
                }
                apps.insert(key, app.clone());
                app
            }
        };
        let token = app.token().await;
        let token = token.map_err(|error| GitError::failed(error.to_string()))?;
        Ok(token.expose().to_owned())
    }
}

/// Returns the address of the API of the server of a repository: of `github.com`, or of an own server.
fn api_of(repository: &Uri) -> Result<String, GitError> {
    let invalid = || GitError::failed("invalid address");
    let scheme = repository.scheme_str().ok_or_else(invalid)?;
    let authority = repository.authority().ok_or_else(invalid)?.as_str();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    Ok(match host.to_ascii_lowercase().as_str() {
        "github.com" | "www.github.com" | "github.com:443" => "https://api.github.com".to_owned(),
        host => format!("{scheme}://{host}/api/v3"),
    })
}

fn open(api: &str, secret: &SecretValue, options: &FetchOptions) -> Result<GithubApp, String> {
    let target = Target {
        tls: tls::client_config(&Trust::default(), None)?,
        server_name: None,
        socket: None,
        networks: Arc::new(options.networks.clone()),
        proxies: options.proxies.clone(),
        connect_timeout: Some(Duration::from_secs(limits::DATASOURCE_HEAD_SECONDS)),
    };
    let number = |name: &str| secret.integer(name).unwrap_or_default();
    GithubApp::new(
        api,
        number("integration_id"),
        number("installation_id"),
        &secret.text("private_key").unwrap_or_default().into(),
        Transport::new(target, true),
    )
}

#[cfg(test)]
mod tests {
    use super::api_of;

    #[test]
    fn servers_have_an_api() {
        for (repository, wanted) in [
            ("https://github.com/o/r.git", "https://api.github.com"),
            ("https://x@GitHub.com/o/r", "https://api.github.com"),
            (
                "https://git.example.com:8443/o/r",
                "https://git.example.com:8443/api/v3",
            ),
            ("http://127.0.0.1:80/r", "http://127.0.0.1:80/api/v3"),
        ] {
            assert_eq!(api_of(&repository.parse().unwrap()).unwrap(), wanted);
        }
    }
}
