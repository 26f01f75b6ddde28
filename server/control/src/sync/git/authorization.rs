//! Headers with the credentials of a repository over HTTP.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;

use super::Repository;
use super::command::GitError;
use super::token_issuers::TokenIssuer;
use crate::model::SecretValue;
use crate::sync::FetchOptions;

/// The credentials of a repository over HTTP.
#[derive(Default)]
pub struct Authorization {
    /// Headers, as `Name: value`. They contain secrets.
    pub headers: Vec<String>,
    /// The issuer of the token in the headers. `None` if the secret contains the credentials themselves.
    pub issuer: Option<Arc<TokenIssuer>>,
    /// Texts that are not in the secret and that no message may contain.
    secrets: Vec<String>,
}

impl Authorization {
    /// Returns the credentials of a repository, and requests a token if its secret needs one.
    ///
    /// # Errors
    /// The type of the secret does not fit, or no token is issued.
    pub async fn new(
        wanted: &Repository<'_>,
        uri: &Uri,
        options: &FetchOptions,
    ) -> Result<Self, GitError> {
        let Some(secret) = wanted.secret else {
            return Ok(Self::default());
        };
        let mut authorization = Self {
            issuer: wanted.token_issuers.issuer(uri, secret, options)?,
            ..Self::default()
        };
        match &authorization.issuer {
            Some(issuer) => {
                let issued = issuer.header().await?;
                authorization.secrets.push(issued.token);
                authorization.headers.push(issued.header);
            }
            None => authorization.headers = headers(secret)?,
        }
        // a line break would add a header
        let mut letters = authorization.headers.iter().flat_map(|text| text.chars());
        if letters.any(char::is_control) {
            return Err(GitError::failed(
                "the credentials contain a control character",
            ));
        }
        let encoded = authorization.headers.iter();
        let encoded = encoded.filter_map(|header| header.rsplit_once(' '));
        let encoded = encoded.map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
        authorization.secrets.extend(encoded);
        Ok(authorization)
    }

    /// Replaces the credentials in a message, in case the server repeated them.
    pub fn redact(&self, message: String) -> String {
        // shorter texts are parts of words
        let secrets = self.secrets.iter().filter(|secret| secret.len() >= 4);
        secrets.fold(message, |message, secret| {
            message.replace(secret.as_str(), "REDACTED")
        })
    }
}

/// Returns the header with a user and a password, in base64.
pub fn basic(user: &str, password: &str) -> String {
    let pair = format!("{user}:{password}");
    format!("Authorization: Basic {}", STANDARD.encode(pair))
}

/// Returns the header with a bearer token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// Returns the headers with the credentials that a secret contains.
fn headers(secret: &SecretValue) -> Result<Vec<String>, GitError> {
    let text = |name: &str| secret.text(name).unwrap_or_default();
    match secret.kind() {
        "token_auth" => Ok(vec![bearer(text("token"))]),
        "basic_auth" => {
            let more = secret.texts("headers").iter();
            let mut headers = vec![basic(text("username"), text("password"))];
            headers.extend(more.map(|header| header.to_string()));
            Ok(headers)
        }
        other => Err(GitError::failed(format!(
            "unsupported authentication type for git: {other}"
        ))),
    }
}
