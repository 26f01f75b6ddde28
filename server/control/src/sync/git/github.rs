//! Tokens of GitHub apps for repositories.

use http::Uri;
use solon_outbound::{CachedToken, GithubApp};

use super::command::GitError;
use crate::model::SecretValue;
use crate::sync::FetchOptions;
use crate::sync::oidc::issuer_transport;

/// Returns the address of the API of the server of a repository: of `github.com`, or of an own server.
///
/// # Errors
/// The address of the repository has no host.
pub fn api_of(repository: &Uri) -> Result<String, GitError> {
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

/// Returns the token of an installation, which is requested when it is first needed. `api` is the address of the API.
///
/// # Errors
/// The secret is not valid.
pub fn open(
    api: &str,
    secret: &SecretValue,
    options: &FetchOptions,
) -> Result<CachedToken<GithubApp>, String> {
    let number = |name: &str| secret.integer(name).unwrap_or_default();
    let app = GithubApp::new(
        api,
        number("integration_id"),
        number("installation_id"),
        &secret.text("private_key").unwrap_or_default().into(),
        issuer_transport(options)?,
    )?;
    Ok(app.into_token())
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
