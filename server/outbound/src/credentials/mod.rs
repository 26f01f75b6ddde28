//! Credentials of each kind that a configuration may contain.

mod aws;
mod azure;
mod bearer;
mod cache;
mod client_credentials;
mod client_tls;
mod endpoint;
mod gcp;
mod github_app;
mod jwt;
mod oauth2;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::client::ResolvesClientCert;

pub use client_credentials::ClientCredentials;
pub use endpoint::{Environment, Sources};
pub use github_app::GithubApp;
pub use token::CachedToken;

use crate::authorize::Authorize;
use crate::config::{CredentialsConfig, KeyConfig, Secret};

/// Credentials of the requests of a service.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Credentials in headers. `None` adds none.
    pub authorize: Option<Arc<dyn Authorize>>,
    /// Client certificate of connections. `None` presents none.
    pub identity: Option<Arc<dyn ResolvesClientCert>>,
}

impl Credentials {
    /// Returns the credentials of a service. `encodes_tokens` encodes bearer tokens in base64, as registries need them.
    ///
    /// # Errors
    /// They are not valid, or not supported. The message begins with the key of the configuration below `credentials`.
    pub fn new(
        config: &CredentialsConfig,
        keys: &BTreeMap<String, KeyConfig>,
        sources: &Sources,
        encodes_tokens: bool,
    ) -> Result<Self, String> {
        let kinds = [
            config.bearer.is_some(),
            config.client_tls.is_some(),
            config.oauth2.is_some(),
            config.s3_signing.is_some(),
            config.gcp_metadata.is_some(),
            config.azure_managed_identity.is_some(),
            config.azure_shared_key.is_some(),
            config.gcp_service_account.is_some(),
            config.plugin.is_some(),
        ];
        if kinds.iter().filter(|is_set| **is_set).count() > 1 {
            return Err(
                "credentials: a maximum one credential method must be specified".to_owned(),
            );
        }
        let mut credentials = Self::default();
        if let Some(bearer) = &config.bearer {
            let bearer =
                bearer::Bearer::new(bearer, encodes_tokens).map_err(error_in_key("bearer"))?;
            credentials.authorize = Some(Arc::new(bearer));
        }
        if let Some(client_tls) = &config.client_tls {
            let identity =
                client_tls::Identity::new(client_tls).map_err(error_in_key("client_tls"))?;
            credentials.identity = Some(Arc::new(identity));
        }
        if let Some(oauth2) = &config.oauth2 {
            let oauth2 =
                oauth2::OAuth2::new(oauth2, keys, sources).map_err(error_in_key("oauth2"))?;
            credentials.authorize = Some(Arc::new(CachedToken::from(oauth2)));
        }
        if let Some(aws) = &config.s3_signing {
            let aws = aws::Aws::new(aws, sources).map_err(error_in_key("s3_signing"))?;
            credentials.authorize = Some(Arc::new(aws));
        }
        if let Some(gcp) = &config.gcp_metadata {
            let gcp = gcp::Gcp::new(gcp, sources).map_err(error_in_key("gcp_metadata"))?;
            credentials.authorize = Some(Arc::new(CachedToken::from(gcp)));
        }
        if let Some(azure) = &config.azure_managed_identity {
            let azure = azure::Azure::new(azure, sources);
            let azure = azure.map_err(error_in_key("azure_managed_identity"))?;
            credentials.authorize = Some(Arc::new(CachedToken::from(azure)));
        }
        // the object store signs with these
        if let Some(key) = &config.azure_shared_key {
            let is_missing = |text: Option<&str>| text.is_none_or(str::is_empty);
            if is_missing(key.account_name.as_deref()) {
                return Err(error_in_key("azure_shared_key")(
                    ".account_name: missing".to_owned(),
                ));
            }
            if is_missing(key.account_key.as_ref().map(Secret::expose)) {
                return Err(error_in_key("azure_shared_key")(
                    ".account_key: missing".to_owned(),
                ));
            }
        }
        if let Some(account) = &config.gcp_service_account
            && account.path.as_deref().is_none_or(str::is_empty)
        {
            return Err(error_in_key("gcp_service_account")(
                ".path: missing".to_owned(),
            ));
        }
        if config.plugin.is_some() {
            return Err(error_in_key("plugin")(": not supported".to_owned()));
        }
        Ok(credentials)
    }
}

/// Returns a function that adds the key of a kind before an error: `.token: missing` becomes `credentials.bearer.token: missing`.
fn error_in_key(kind: &'static str) -> impl Fn(String) -> String {
    move |error| format!("credentials.{kind}{error}")
}
