//! Tokens of the metadata server of Google Cloud.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::Deserialize;

use super::cache::Obtained;
use super::endpoint::{self, Sources};
use super::token::TokenSource;
use crate::config::{GcpConfig, Secret};
use crate::error::Error;

const SERVER: &str = "GCP metadata server";
const ENDPOINT: &str = "http://metadata.google.internal";
const ACCESS_TOKEN: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const IDENTITY_TOKEN: &str = "/computeMetadata/v1/instance/service-accounts/default/identity";

/// Time for which an identity token is cached. They are valid for an hour, and the server renews them earlier.
const IDENTITY_VALIDITY: Duration = Duration::from_mins(10);

/// Requests tokens.
#[derive(Debug)]
pub struct Gcp {
    url: String,
    is_identity: bool,
    sources: Sources,
}

#[derive(Deserialize)]
struct AccessToken {
    access_token: Secret,
    expires_in: u64,
}

impl Gcp {
    /// Returns the credentials of a configuration.
    ///
    /// # Errors
    /// There is neither an audience nor a scope, or both.
    pub fn new(config: &GcpConfig, sources: &Sources) -> Result<Self, String> {
        let endpoint = config.endpoint.as_deref().filter(|url| !url.is_empty());
        let endpoint = endpoint.unwrap_or(ENDPOINT).trim_end_matches('/');
        let path = |path: &Option<String>, usual: &str| {
            let path = path.as_deref().filter(|path| !path.is_empty());
            path.unwrap_or(usual).trim_start_matches('/').to_owned()
        };
        let audience = config.audience.as_deref().filter(|text| !text.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        let (path, is_identity) = match (audience, config.scopes.as_slice()) {
            (None, []) => {
                return Err(
                    ": audience or scopes is required when gcp metadata is enabled".to_owned(),
                );
            }
            (Some(_), [_, ..]) => {
                return Err(": either audience or scopes can be set, not both, when gcp metadata is enabled".to_owned());
            }
            (Some(audience), []) => {
                query.append_pair("audience", audience);
                query.append_pair("format", "full");
                (path(&config.id_token_path, IDENTITY_TOKEN), true)
            }
            (None, scopes) => {
                query.append_pair("scopes", &scopes.join(","));
                (path(&config.access_token_path, ACCESS_TOKEN), false)
            }
        };
        let url = format!("{endpoint}/{path}?{}", query.finish());
        if url
            .parse::<http::Uri>()
            .map_or(true, |url| url.authority().is_none())
        {
            return Err(".endpoint: expected a URL".to_owned());
        }
        Ok(Self {
            url,
            is_identity,
            sources: sources.clone(),
        })
    }
}

impl TokenSource for Gcp {
    async fn obtain(&self) -> Result<Obtained<Secret>, Error> {
        let mut request = endpoint::request(Method::GET, &self.url, Bytes::new())?;
        endpoint::add_header(&mut request, "Metadata-Flavor", "Google")?;
        let body = endpoint::fetch(SERVER, &self.sources.direct, request).await?;
        if self.is_identity {
            return Ok(Obtained {
                value: endpoint::text(SERVER, &body)?,
                validity: IDENTITY_VALIDITY,
            });
        }
        let token: AccessToken = endpoint::parsed(SERVER, &body)?;
        Ok(Obtained {
            value: token.access_token,
            validity: Duration::from_secs(token.expires_in),
        })
    }
}
