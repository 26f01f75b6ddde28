//! Tokens of an installation of a GitHub app.

use std::time::{Duration, SystemTime};

use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderValue, Method};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, json};

use super::cache::Obtained;
use super::endpoint::{self, failed};
use super::jwt::Signer;
use super::token::{CachedToken, TokenSource};
use crate::config::{KeyConfig, Secret};
use crate::error::Error;
use crate::transport::Transport;

const SERVER: &str = "GitHub";

/// Seconds by which the clock of the server may be late.
const CLOCK_SECONDS: u64 = 60;

/// Validity of a signed JWT, in seconds. The server accepts ten minutes at most.
const JWT_SECONDS: u64 = 540;

/// An installation of a GitHub app.
#[derive(Debug)]
pub struct GithubApp {
    url: String,
    app: i64,
    signer: Signer,
    transport: Transport,
}

#[derive(Deserialize)]
struct InstallationToken {
    token: Secret,
    expires_at: String,
}

impl GithubApp {
    /// Returns an installation of an app. `api` is the address of the API, and `private_key` is a PEM text.
    ///
    /// # Errors
    /// The key is not a PEM text of an RSA key.
    pub fn new(
        api: &str,
        app: i64,
        installation: i64,
        private_key: &Secret,
        transport: Transport,
    ) -> Result<Self, String> {
        // the name of a file would be read
        if !private_key.expose().contains("-----BEGIN") {
            return Err("`private_key` is not a key in PEM form".to_owned());
        }
        let key = KeyConfig {
            private_key: Some(private_key.clone()),
            ..KeyConfig::default()
        };
        Ok(Self {
            url: format!("{api}/app/installations/{installation}/access_tokens"),
            app,
            signer: Signer::new(&key)
                .map_err(|_| "`private_key` is not an RSA key in PEM form".to_owned())?,
            transport,
        })
    }

    /// Returns the token of the installation, which is requested when it is first needed.
    pub fn into_token(self) -> CachedToken<Self> {
        CachedToken::from(self)
    }
}

impl TokenSource for GithubApp {
    async fn obtain(&self) -> Result<Obtained<Secret>, Error> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs());
        let mut claims = Map::new();
        claims.insert("iss".to_owned(), json!(self.app.to_string()));
        claims.insert("iat".to_owned(), json!(now.saturating_sub(CLOCK_SECONDS)));
        claims.insert("exp".to_owned(), json!(now + JWT_SECONDS));
        let jwt = self.signer.sign(Map::new(), &claims).map_err(failed)?;
        let mut request = endpoint::request(Method::POST, &self.url, "{}")?;
        let value = format!("Bearer {}", jwt.expose());
        endpoint::add_header(&mut request, AUTHORIZATION.as_str(), &value)?;
        let headers = request.headers_mut();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/vnd.github+json"),
        );
        headers.insert("user-agent", HeaderValue::from_static("Solon"));
        let body = endpoint::fetch(SERVER, &self.transport, request).await?;
        let issued: InstallationToken = endpoint::parsed(SERVER, &body)?;
        let end: Option<Timestamp> = issued.expires_at.parse().ok();
        let end = end.and_then(|end| u64::try_from(end.as_second()).ok());
        let seconds = end.unwrap_or(0).saturating_sub(now);
        Ok(Obtained {
            value: issued.token,
            validity: Duration::from_secs(seconds),
        })
    }
}
