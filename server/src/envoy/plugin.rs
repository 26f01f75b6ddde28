//! Start and end of both services.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::service::auth::v3::authorization_server::AuthorizationServer;
use tokio::sync::watch;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tracing::{error, info, warn};

use super::authorizer::Authorizer;
use super::counts::CheckCounts;
use super::descriptors::Descriptors;
use super::grpc::CheckService;
use super::input::Parsing;
use super::sockets::Incoming;
use super::web::Web;
use crate::api::State;
use crate::config::{Bounds, ENVOY, EnvoyOptions};
use crate::execution::Executor;
use crate::http::{ConnectionService, Serving, serve};
use crate::net::{Listener, TlsState};
use crate::plugins::{PluginState, Registry};

const NAME: &str = ENVOY;

const PING: Duration = Duration::from_mins(1);

/// Both services, which listen but do not serve yet.
pub struct Opened {
    options: EnvoyOptions,
    state: Arc<State>,
    authorizer: Arc<Authorizer>,
    grpc: Vec<Listener>,
    web: Vec<Listener>,
    tls: Option<Arc<TlsState>>,
}

impl Opened {
    /// Opens the addresses. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// An address cannot be opened, TLS cannot be configured, or the descriptor file cannot be read.
    pub async fn open(
        options: &EnvoyOptions,
        state: Arc<State>,
        executor: Arc<Executor>,
    ) -> io::Result<Self> {
        let wrong = |text: String| {
            let text = format!("plugins.{NAME}: {text}");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        };
        let descriptors = options.descriptor.as_deref().map(Descriptors::read);
        let parsing = Parsing {
            skips_body: options.skips_body,
            descriptors: descriptors.transpose().map_err(wrong)?.unwrap_or_default(),
        };
        let counts = options.buckets.as_deref();
        let counts = counts.map(|bounds| Arc::new(CheckCounts::new(bounds)));
        if let Some(counts) = counts.clone() {
            // the cell is set only here
            let register = move |registry: &mut _| counts.register(registry);
            let _ = state.service_metrics.set(Box::new(register));
        }
        let tls = TlsState::shared(options.tls.as_ref())?;
        let mode = state.options.socket_mode;
        let open = async |address: &str| {
            let address = address.strip_prefix("grpc://").unwrap_or(address);
            let address = [address.to_owned()];
            let result = Listener::open_all(&address, mode, tls.is_some()).await;
            result.map_err(|error| io::Error::new(error.kind(), format!("plugins.{NAME}: {error}")))
        };
        let grpc = open(&options.address).await?;
        let web = match &options.http_address {
            Some(address) => open(address).await?,
            None => Vec::new(),
        };
        let authorizer = Authorizer::new(state.clone(), executor, options, parsing, counts);
        Ok(Self {
            options: options.clone(),
            authorizer: Arc::new(authorizer),
            state,
            grpc,
            web,
            tls,
        })
    }

    /// Returns the addresses of the service over gRPC, with the chosen ports.
    pub fn addresses(&self) -> Vec<String> {
        self.grpc.iter().map(Listener::address).collect()
    }

    /// Returns the addresses of the service over HTTP, with the chosen ports.
    pub fn http_addresses(&self) -> Vec<String> {
        self.web.iter().map(Listener::address).collect()
    }

    /// Serves until `stop` completes, then finishes open calls within `grace`.
    pub async fn serve(
        self,
        registry: Arc<Registry>,
        bounds: Arc<Bounds>,
        grace: Duration,
        stop: impl Future<Output = ()>,
    ) {
        let fails_calls = self.state.options.spelling.is_opa();
        self.log_start(fails_calls);
        let (stopping, stop_signal) = watch::channel(false);
        let wait = |mut stop_signal: watch::Receiver<bool>| async move {
            // without a sender the server has stopped
            let _ = stop_signal.wait_for(|stopped| *stopped).await;
        };
        let checks = CheckService::new(
            self.authorizer.clone(),
            self.options.error_status,
            fails_calls,
        );
        let service = AuthorizationServer::new(checks)
            .max_decoding_message_size(self.options.receive_limit)
            .max_encoding_message_size(self.options.send_limit);
        let (health, health_service) = tonic_health::server::health_reporter();
        health
            .set_serving::<AuthorizationServer<CheckService>>()
            .await;
        let incoming = Incoming::new(self.grpc, self.tls.as_ref(), &bounds);
        let grpc = Server::builder()
            .max_concurrent_streams(bounds.streams)
            .http2_keepalive_interval(Some(PING))
            .http2_max_header_list_size(u32::try_from(bounds.head).unwrap_or(u32::MAX))
            .add_service(health_service)
            .add_service(service)
            .serve_with_incoming_shutdown(incoming, wait(stop_signal.clone()));
        let reloading = self.tls.clone().map(|tls| tokio::spawn(tls.keep_fresh()));
        let budget = self.state.budget.clone();
        let web = Web::new(
            self.authorizer,
            budget.clone(),
            &bounds,
            self.options.receive_limit,
            self.options.error_status,
        );
        let serving = Serving {
            service: Arc::new(ConnectionService::new(Arc::new(web), budget, bounds)),
            h2c: true,
            grace,
            tls: self.tls,
        };
        let has_web = !self.web.is_empty();
        let web = serve(self.web, serving, wait(stop_signal));
        registry.report(NAME, PluginState::Ok, None);
        let running = async {
            tokio::join!(
                async {
                    if let Err(failure) = grpc.await {
                        error!(err = %failure, "Listener failed.");
                        registry.report(NAME, PluginState::Error, Some(failure.to_string()));
                    }
                },
                async {
                    if has_web {
                        web.await;
                    }
                }
            );
        };
        tokio::pin!(running);
        tokio::select! {
            () = &mut running => {}
            () = stop => {
                info!("Stopping gRPC server.");
                health
                    .set_service_status("", ServingStatus::NotServing)
                    .await;
                health.set_not_serving::<AuthorizationServer<CheckService>>().await;
                stopping.send_replace(true);
                let _ = tokio::time::timeout(grace, running).await;
            }
        }
        if let Some(task) = reloading {
            task.abort();
        }
        registry.report(NAME, PluginState::NotReady, None);
        info!("Listener exited.");
    }

    fn log_start(&self, fails_calls: bool) {
        info!(
            addr = self.addresses().join(", "),
            http_addr = self.http_addresses().join(", "),
            path = self.options.path,
            "dry-run" = self.options.is_dry_run,
            "Starting gRPC server."
        );
        if fails_calls {
            warn!(
                "CheckService without a decision are errors of gRPC with `--compat opa`; Envoy passes such requests on if `failure_mode_allow` is set."
            );
        }
    }
}
