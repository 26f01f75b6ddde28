//! Clients of one address, whose certificates and credentials are values instead of files and keys of a configuration.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use super::url::BaseUrl;
use super::{CONNECT_TIMEOUT, Client, ClientOptions, Shared};
use crate::authorize::Authorize;
use crate::config::ServiceConfig;
use crate::tls::{self, ResolvesClientCert, Trust};
use crate::transport::{Target, Transport};

/// Certificates and credentials of a client.
#[derive(Clone, Debug, Default)]
pub struct ClientSetup {
    /// Headers of each request. Requests to other hosts, to which redirects lead, have none of them.
    pub headers: HeaderMap,
    /// Certificates of the server that are accepted.
    pub trust: Trust,
    /// The certificate that the client presents, but not to other hosts.
    pub identity: Option<Arc<dyn ResolvesClientCert>>,
    /// Credentials of each request, except for requests to other hosts.
    pub authorize: Option<Arc<dyn Authorize>>,
    /// Maximum time until the head of a response.
    pub head_timeout: Option<Duration>,
}

impl Client {
    /// Returns the client of an address: scheme, host and port.
    ///
    /// # Errors
    /// The address or a certificate is not valid.
    pub fn for_address(
        name: &str,
        address: &str,
        setup: ClientSetup,
        options: &ClientOptions,
    ) -> Result<Self, String> {
        let base = BaseUrl::new(address)?;
        let user_agent = HeaderValue::from_str(&options.user_agent)
            .map_err(|_| "user agent: not valid in a header".to_owned())?;
        let transport = |trust: &Trust, identity| {
            let target = Target {
                tls: tls::client_config(trust, identity)?,
                server_name: None,
                socket: None,
                networks: options.networks.clone(),
                proxies: options.proxies.clone(),
                connect_timeout: Some(CONNECT_TIMEOUT),
            };
            Ok::<_, String>(Transport::new(target, true))
        };
        Ok(Self(Arc::new(Shared {
            name: name.to_owned(),
            config: ServiceConfig::default(),
            keys: BTreeMap::new(),
            base,
            headers: setup.headers,
            user_agent,
            head_timeout: setup.head_timeout,
            authorize: setup.authorize,
            transport: transport(&setup.trust, setup.identity)?,
            other_hosts: transport(&Trust::default(), None)?,
            observer: options.observer.clone(),
        })))
    }
}
