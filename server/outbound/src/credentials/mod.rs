//! Credentials of each kind that a configuration may contain.

mod bearer;
mod client_tls;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::client::ResolvesClientCert;

use crate::authorize::Authorize;
use crate::config::{CredentialsConfig, KeyConfig};

/// What requests of a service carry.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Credentials in the head of requests.
    pub authorize: Option<Arc<dyn Authorize>>,
    /// Certificate of connections.
    pub identity: Option<Arc<dyn ResolvesClientCert>>,
}

impl Credentials {
    /// Returns the credentials of a service.
    ///
    /// # Errors
    /// They are not valid, or not supported. The message begins with the key of the configuration below `credentials`.
    pub fn new(
        config: &CredentialsConfig,
        _keys: &BTreeMap<String, KeyConfig>,
    ) -> Result<Self, String> {
        let kinds = [
            config.bearer.is_some(),
            config.client_tls.is_some(),
            config.oauth2.is_some(),
            config.s3_signing.is_some(),
            config.gcp_metadata.is_some(),
            config.azure_managed_identity.is_some(),
            config.plugin.is_some(),
        ];
        if kinds.iter().filter(|is_set| **is_set).count() > 1 {
            return Err(
                "credentials: a maximum one credential method must be specified".to_owned(),
            );
        }
        let mut credentials = Self::default();
        if let Some(bearer) = &config.bearer {
            let bearer = bearer::Bearer::new(bearer).map_err(within("bearer"))?;
            credentials.authorize = Some(Arc::new(bearer));
        }
        if let Some(client_tls) = &config.client_tls {
            let identity = client_tls::Identity::new(client_tls).map_err(within("client_tls"))?;
            credentials.identity = Some(Arc::new(identity));
        }
        for (name, is_set) in [
            ("oauth2", config.oauth2.is_some()),
            ("s3_signing", config.s3_signing.is_some()),
            ("gcp_metadata", config.gcp_metadata.is_some()),
            (
                "azure_managed_identity",
                config.azure_managed_identity.is_some(),
            ),
            ("plugin", config.plugin.is_some()),
        ] {
            if is_set {
                return Err(within(name)(": not supported".to_owned()));
            }
        }
        Ok(credentials)
    }
}

/// Returns a function that adds the key of a kind before an error: `.token: missing` becomes `credentials.bearer.token: missing`.
fn within(kind: &'static str) -> impl Fn(String) -> String {
    move |error| format!("credentials.{kind}{error}")
}
