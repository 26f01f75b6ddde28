//! Tokens of OpenID providers for secrets of type `oidc_client_credentials`.

use std::time::Duration;

use solon_outbound::tls::{self, Trust};
use solon_outbound::{CachedToken, ClientCredentials, Target, Transport};

use super::FetchOptions;
use crate::limits;
use crate::model::SecretValue;

/// Returns the connections to servers that issue tokens.
///
/// # Errors
/// The authorities of the system cannot be used.
pub fn issuer_transport(options: &FetchOptions) -> Result<Transport, String> {
    let target = Target {
        tls: tls::client_config(&Trust::default(), None)?,
        server_name: None,
        socket: None,
        networks: options.networks.clone().into(),
        proxies: options.proxies.clone(),
        connect_timeout: Some(Duration::from_secs(limits::DATASOURCE_HEAD_SECONDS)),
    };
    Ok(Transport::new(target, true))
}

/// Returns the token of a client, which is requested when it is first needed.
///
/// # Errors
/// The authorities of the system cannot be used.
pub fn client_token(
    secret: &SecretValue,
    options: &FetchOptions,
) -> Result<CachedToken<ClientCredentials>, String> {
    let text = |name: &str| secret.text(name).unwrap_or_default();
    let scopes = secret.texts("scopes").iter();
    let credentials = ClientCredentials {
        issuer: text("issuer").to_owned(),
        token_endpoint: text("token_endpoint").to_owned(),
        id: text("client_id").to_owned(),
        secret: text("client_secret").into(),
        scopes: scopes.map(|scope| scope.to_string()).collect(),
        transport: issuer_transport(options)?,
    };
    Ok(credentials.into_token())
}
