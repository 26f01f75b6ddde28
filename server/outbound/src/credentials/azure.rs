//! Tokens of managed identities of Azure.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::Value;

use super::cache::Obtained;
use super::endpoint::{self, Sources};
use super::token::TokenSource;
use crate::config::{AzureConfig, Secret};
use crate::error::Error;

const SERVER: &str = "Azure identity endpoint";
const ENDPOINT: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
const VERSION: &str = "2018-02-01";
const APP_SERVICE_VERSION: &str = "2019-08-01";
const RESOURCE: &str = "https://storage.azure.com/";

/// Requests tokens.
#[derive(Debug)]
pub struct Azure {
    config: AzureConfig,
    sources: Sources,
}

#[derive(Deserialize)]
struct AzureTokenResponse {
    access_token: Secret,
    /// Virtual machines write numbers as strings.
    #[serde(default)]
    expires_in: Value,
    /// Seconds since 1970: App Service has no `expires_in`.
    #[serde(default)]
    expires_on: Value,
}

fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(digits) => digits.parse().ok(),
        number => number.as_u64(),
    }
}

impl Azure {
    /// Returns the credentials of a configuration.
    ///
    /// # Errors
    /// The endpoint is not a URL.
    pub fn new(config: &AzureConfig, sources: &Sources) -> Result<Self, String> {
        if let Some(endpoint) = &config.endpoint
            && endpoint.parse::<http::Uri>().map_or(true, |url| {
                url.authority().is_none() || url.query().is_some()
            })
        {
            return Err(".endpoint: expected a URL without a query".to_owned());
        }
        Ok(Self {
            config: config.clone(),
            sources: sources.clone(),
        })
    }

    /// Returns the URL of the request of a token.
    fn url(&self) -> Result<String, Error> {
        let config = &self.config;
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let endpoint = match non_empty(&config.endpoint) {
            Some(endpoint) => endpoint,
            None if config.use_app_service_msi => {
                let variable = self.sources.environment.get("IDENTITY_ENDPOINT");
                variable.ok_or_else(|| endpoint::failed("IDENTITY_ENDPOINT is not set"))?
            }
            None => ENDPOINT.to_owned(),
        };
        let usual = if config.use_app_service_msi {
            APP_SERVICE_VERSION
        } else {
            VERSION
        };
        let version = non_empty(&config.api_version);
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("api-version", version.as_deref().unwrap_or(usual));
        query.append_pair("resource", config.resource.as_deref().unwrap_or(RESOURCE));
        for (name, value) in [
            ("object_id", &config.object_id),
            ("client_id", &config.client_id),
            ("mi_res_id", &config.mi_res_id),
        ] {
            if let Some(value) = non_empty(value) {
                query.append_pair(name, &value);
            }
        }
        Ok(format!("{endpoint}?{}", query.finish()))
    }
}

impl TokenSource for Azure {
    async fn obtain(&self) -> Result<Obtained<Secret>, Error> {
        let url = self.url()?;
        let mut request = endpoint::request(Method::GET, &url, Bytes::new())?;
        endpoint::add_header(&mut request, "Metadata", "true")?;
        if self.config.use_app_service_msi {
            let secret = self.sources.environment.get("IDENTITY_HEADER");
            let secret = secret.ok_or_else(|| endpoint::failed("IDENTITY_HEADER is not set"))?;
            endpoint::add_header(&mut request, "X-IDENTITY-HEADER", &secret)?;
        }
        let body = endpoint::fetch(SERVER, &self.sources.direct, request).await?;
        let token: AzureTokenResponse = endpoint::parsed(SERVER, &body)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs());
        let validity = seconds(&token.expires_in)
            .or_else(|| Some(seconds(&token.expires_on)?.saturating_sub(now)));
        Ok(Obtained {
            value: token.access_token,
            validity: Duration::from_secs(validity.unwrap_or(0)),
        })
    }
}
