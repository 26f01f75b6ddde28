//! Tokens of an OpenID provider for a client with a secret (RFC 6749, 4.4), whose token endpoint is given or discovered.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::Value;

use super::cache::Obtained;
use super::endpoint::{self, failed};
use super::token::{CachedToken, TokenSource};
use crate::config::Secret;
use crate::error::Error;
use crate::transport::Transport;

const PROVIDER: &str = "OIDC provider";
const ENDPOINT: &str = "OIDC token endpoint";

/// A client of an OpenID provider.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// The issuer, whose configuration names the token endpoint.
    pub issuer: String,
    /// The token endpoint. It is discovered if this is empty.
    pub token_endpoint: String,
    /// Identifier of the client, which is not secret.
    pub id: String,
    /// Secret of the client. It is not part of the debug format.
    pub secret: Secret,
    /// Scopes of the token. An empty list requests none.
    pub scopes: Vec<String>,
    /// Connections to the provider.
    pub transport: Transport,
}

#[derive(Deserialize)]
struct ProviderConfig {
    issuer: String,
    token_endpoint: String,
}

#[derive(Deserialize)]
struct OidcToken {
    access_token: Secret,
    #[serde(default)]
    token_type: String,
    #[serde(default)]
    expires_in: Value,
}

impl ClientCredentials {
    /// Returns the token, which is requested when it is first needed.
    pub fn into_token(self) -> CachedToken<Self> {
        CachedToken::from(self)
    }

    async fn endpoint(&self) -> Result<String, Error> {
        if !self.token_endpoint.is_empty() {
            return Ok(self.token_endpoint.clone());
        }
        let issuer = self.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let request = endpoint::request(Method::GET, &url, Bytes::new())?;
        let body = endpoint::fetch(PROVIDER, &self.transport, request).await?;
        let config: ProviderConfig = endpoint::parsed(PROVIDER, &body)?;
        if config.issuer.trim_end_matches('/') != issuer {
            return Err(failed(format!(
                "{PROVIDER}: the configuration is that of another issuer"
            )));
        }
        let is_secure = |url: &str| url.starts_with("https://");
        if is_secure(issuer) && !is_secure(&config.token_endpoint) {
            return Err(failed(format!(
                "{PROVIDER}: the token endpoint is not secured by TLS"
            )));
        }
        Ok(config.token_endpoint)
    }

    /// Requests a token with the client's identifier and secret in a header, or in the body.
    async fn request(&self, url: &str, in_header: bool) -> Result<Bytes, Error> {
        let scopes = self.scopes.join(" ");
        let mut parameters = vec![("grant_type", "client_credentials")];
        if !scopes.is_empty() {
            parameters.push(("scope", scopes.as_str()));
        }
        if !in_header {
            parameters.push(("client_id", &self.id));
            parameters.push(("client_secret", self.secret.expose()));
        }
        let mut request = endpoint::form(url, &parameters)?;
        if in_header {
            let encoded =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(&self.id), encoded(self.secret.expose()));
            let value = format!("Basic {}", STANDARD.encode(pair));
            endpoint::add_header(&mut request, AUTHORIZATION.as_str(), &value)?;
        }
        endpoint::fetch(ENDPOINT, &self.transport, request).await
    }
}

impl TokenSource for ClientCredentials {
    async fn obtain(&self) -> Result<Obtained<Secret>, Error> {
        let url = self.endpoint().await?;
        let body = match self.request(&url, true).await {
            Ok(body) => body,
            // some providers read the body only; the error of the first attempt is the one of the standard
            Err(first) => self.request(&url, false).await.map_err(|_| first)?,
        };
        let token: OidcToken = endpoint::parsed(ENDPOINT, &body)?;
        if !matches!(
            token.token_type.to_ascii_lowercase().as_str(),
            "" | "bearer"
        ) {
            return Err(failed(format!("{ENDPOINT}: unknown token type")));
        }
        let seconds = match &token.expires_in {
            Value::String(digits) => digits.parse().unwrap_or(0),
            number => number.as_u64().unwrap_or(0),
        };
        Ok(Obtained {
            value: token.access_token,
            validity: Duration::from_secs(seconds),
        })
    }
}
