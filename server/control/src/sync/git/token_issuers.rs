//! Servers that issue tokens for repositories: to installations of GitHub apps, and to clients of OpenID providers.

use std::collections::HashMap;
use std::sync::Arc;

use http::Uri;
use parking_lot::Mutex;
use solon_outbound::{CachedToken, ClientCredentials, GithubApp};

use super::authorization::{basic, bearer};
use super::command::GitError;
use super::github;
use crate::limits;
use crate::list_digest::ListDigest;
use crate::model::SecretValue;
use crate::sync::{FetchOptions, oidc};

/// The issuers of tokens with their current tokens. The key is a digest of the secret and, for GitHub apps, the address of the API.
#[derive(Debug, Default)]
pub struct TokenIssuers(Mutex<HashMap<String, Arc<TokenIssuer>>>);

#[derive(Debug)]
pub enum TokenIssuer {
    /// The API of a GitHub server, for an installation of an app.
    Github(CachedToken<GithubApp>),
    /// An OpenID provider, for a client.
    Oidc(CachedToken<ClientCredentials>),
}

pub struct TokenHeader {
    pub token: String,
    /// The header, as `Name: value`. It contains a token.
    pub header: String,
}

impl TokenIssuers {
    /// Returns the issuer of the token of a secret, or `None` if the secret contains the credentials themselves.
    ///
    /// # Errors
    /// The secret is not valid.
    pub fn issuer(
        &self,
        repository: &Uri,
        secret: &SecretValue,
        options: &FetchOptions,
    ) -> Result<Option<Arc<TokenIssuer>>, GitError> {
        let mut digest = ListDigest::new();
        let github = match secret.kind() {
            "github_app_auth" => {
                let api = github::api_of(repository)?;
                digest.add(api.as_bytes());
                Some(api)
            }
            "oidc_client_credentials" => None,
            _ => return Ok(None),
        };
        digest.add(&secret.to_json());
        let key = digest.finish();
        if let Some(issuer) = self.0.lock().get(&key) {
            return Ok(Some(issuer.clone()));
        }
        let opened = match github {
            Some(api) => github::open(&api, secret, options).map(TokenIssuer::Github),
            None => oidc::client_token(secret, options).map(TokenIssuer::Oidc),
        };
        let issuer = Arc::new(opened.map_err(GitError::failed)?);
        let mut issuers = self.0.lock();
        if issuers.len() >= limits::TOKEN_ISSUERS {
            // secrets that were replaced leave entries
            issuers.clear();
        }
        issuers.insert(key, issuer.clone());
        Ok(Some(issuer))
    }
}

impl TokenIssuer {
    /// Returns the current token, which is requested if there is none or if it expires soon.
    ///
    /// # Errors
    /// The server does not issue one.
    pub async fn header(&self) -> Result<TokenHeader, GitError> {
        let token = match self {
            Self::Github(app) => app.token().await,
            Self::Oidc(client) => client.token().await,
        };
        let token = token.map_err(|error| GitError::failed(error.to_string()))?;
        let token = token.expose().to_owned();
        let header = match self {
            Self::Github(_) => basic("x-access-token", &token),
            Self::Oidc(_) => bearer(&token),
        };
        Ok(TokenHeader { token, header })
    }

    /// Drops the current token after a repository has rejected it.
    pub fn forget(&self) {
        match self {
            Self::Github(app) => app.forget(),
            Self::Oidc(client) => client.forget(),
        }
    }
}
