//! External authorization for Envoy, which can be left out of the program.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::api::State;
#[cfg(not(feature = "envoy"))]
use crate::config::ENVOY;
use crate::config::{Bounds, ServerOptions};
use crate::execution::Executor;
use crate::plugins::Registry;

/// The services of external authorization, if they are configured.
pub struct Checks {
    #[cfg(feature = "envoy")]
    opened: Option<crate::envoy::Opened>,
}

#[cfg(feature = "envoy")]
impl Checks {
    /// Opens the addresses of the options.
    ///
    /// # Errors
    /// An address cannot be opened, or a file cannot be read.
    pub async fn open(
        options: &ServerOptions,
        state: Arc<State>,
        executor: Arc<Executor>,
    ) -> io::Result<Self> {
        let servers = match &options.envoy {
            Some(envoy) => Some(crate::envoy::Opened::open(envoy, state, executor).await?),
            None => None,
        };
        Ok(Self { opened: servers })
    }

    /// Returns the addresses over gRPC and over HTTP.
    pub fn addresses(&self) -> (Vec<String>, Vec<String>) {
        self.opened
            .as_ref()
            .map_or_else(Default::default, |servers| {
                (servers.addresses(), servers.http_addresses())
            })
    }

    /// Serves until `stop` completes.
    pub async fn serve(
        self,
        registry: Arc<Registry>,
        bounds: Arc<Bounds>,
        grace: Duration,
        stop: impl Future<Output = ()>,
    ) {
        if let Some(servers) = self.opened {
            servers.serve(registry, bounds, grace, stop).await;
        }
    }
}

#[cfg(not(feature = "envoy"))]
impl Checks {
    /// Rejects options that need the feature.
    ///
    /// # Errors
    /// External authorization is configured.
    pub async fn open(
        options: &ServerOptions,
        _: Arc<State>,
        _: Arc<Executor>,
    ) -> io::Result<Self> {
        if options.envoy.is_none() {
            return Ok(Self {});
        }
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("plugins.{ENVOY}: this program was built without the feature `envoy`"),
        ))
    }

    /// Returns no addresses, because this build has no checks of Envoy.
    pub fn addresses(&self) -> (Vec<String>, Vec<String>) {
        Default::default()
    }

    /// Returns at once, because this build has no checks of Envoy.
    pub async fn serve(
        self,
        _: Arc<Registry>,
        _: Arc<Bounds>,
        _: Duration,
        _: impl Future<Output = ()>,
    ) {
    }
}
