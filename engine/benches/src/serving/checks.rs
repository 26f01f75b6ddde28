//! Checks of Envoy's external authorization over gRPC: a client that keeps streams open, and a server that allows everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Request as Http};
use envoy_types::pb::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use envoy_types::pb::envoy::service::auth::v3::authorization_server::{
    Authorization, AuthorizationServer,
};
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{
    AttributeContext, CheckRequest, CheckResponse, OkHttpResponse,
};
use envoy_types::pb::google::rpc::Status as CheckStatus;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};

use super::percentile;

/// Number of threads of the client.
const THREADS: usize = 2;

/// Number of tasks that send checks at a given rate.
const SENDERS: u32 = 32;

/// Connections to a server.
pub struct Checks {
    runtime: Runtime,
    clients: Vec<AuthorizationClient<Channel>>,
}

/// Results of checks that were allowed.
pub struct Measured {
    /// Checks per second.
    pub rate: f64,
    /// Number of checks.
    pub count: usize,
    took: Vec<Duration>,
}

impl Measured {
    /// Returns the percentile `part` of the latencies, in milliseconds.
    pub fn percentile(&self, part: f64) -> f64 {
        percentile(self.took.clone(), part)
    }
}

impl Checks {
    /// Opens connections.
    ///
    /// # Errors
    /// The server does not listen.
    pub fn connect(address: &str, connections: usize) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let clients = runtime.block_on(async {
            let mut clients = Vec::new();
            for _ in 0..connections {
                let endpoint = Channel::from_shared(format!("http://{address}"))
                    .map_err(|error| error.to_string())?;
                let channel = endpoint.connect().await;
                let channel = channel.map_err(|error| format!("{address}: {error}"))?;
                clients.push(AuthorizationClient::new(channel));
            }
            Ok::<_, String>(clients)
        })?;
        Ok(Self { runtime, clients })
    }

    /// Keeps a number of streams open for a time: each sends a check after the response to the previous one.
    ///
    /// # Errors
    /// A check fails or is denied.
    pub fn run(&self, streams: usize, time: Duration, path: &str) -> Result<Measured, String> {
        self.measure(streams, path, None, move |start, _| start.elapsed() < time)
    }

    /// Sends a number of checks at once and waits for their responses.
    ///
    /// # Errors
    /// A check fails or is denied.
    pub fn once(&self, streams: usize, path: &str) -> Result<Measured, String> {
        self.measure(streams, path, None, |_, count| count == 0)
    }

    /// Sends checks at a rate per second.
    ///
    /// # Errors
    /// A check fails or is denied.
    pub fn run_at(&self, rate: f64, time: Duration, path: &str) -> Result<Measured, String> {
        let period = Duration::from_secs_f64(f64::from(SENDERS) / rate.max(1.0));
        self.measure(SENDERS as usize, path, Some(period), move |start, _| {
            start.elapsed() < time
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of checks, for people")]
    fn measure(
        &self,
        streams: usize,
        path: &str,
        period: Option<Duration>,
        goes_on: impl Fn(Instant, usize) -> bool + Copy + Send + 'static,
    ) -> Result<Measured, String> {
        let check = Arc::new(check(path));
        let begun = Arc::new(AtomicUsize::new(0));
        self.runtime.block_on(async {
            let start = Instant::now();
            let mut tasks = JoinSet::new();
            for mut client in self.clients.iter().cloned().cycle().take(streams) {
                let (check, begun) = (check.clone(), begun.clone());
                tasks.spawn(async move {
                    // the senders do not send at the same time
                    if let Some(period) = period {
                        let at = begun.fetch_add(1, Ordering::Relaxed);
                        tokio::time::sleep(period * u32::try_from(at).unwrap_or(0) / SENDERS).await;
                    }
                    let mut pace = period.map(tokio::time::interval);
                    let mut took = Vec::new();
                    while goes_on(start, took.len()) {
                        if let Some(pace) = &mut pace {
                            pace.tick().await;
                        }
                        let begin = Instant::now();
                        let response = client.check(CheckRequest::clone(&check)).await;
                        let response = response.map_err(|error| error.to_string())?.into_inner();
                        if response
                            .status
                            .as_ref()
                            .is_none_or(|status| status.code != 0)
                        {
                            return Err(format!("a check was denied: {response:?}"));
                        }
                        took.push(begin.elapsed());
                    }
                    Ok(took)
                });
            }
            let mut took = Vec::new();
            while let Some(joined) = tasks.join_next().await {
                took.extend(joined.map_err(|error| error.to_string())??);
            }
            Ok(Measured {
                rate: took.len() as f64 / start.elapsed().as_secs_f64(),
                count: took.len(),
                took,
            })
        })
    }
}

/// Returns the check of a typical request.
fn check(path: &str) -> CheckRequest {
    let headers = [
        (":authority", "shop.example.com"),
        (":method", "GET"),
        (":path", path),
        (":scheme", "https"),
        ("accept", "application/json"),
        ("accept-encoding", "gzip, deflate, br"),
        (
            "user-agent",
            "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0",
        ),
        ("x-forwarded-for", "192.0.2.17"),
        ("x-forwarded-proto", "https"),
        ("x-request-id", "b8c2a5c6-6a4c-4f2e-9f06-0d9f1e3c7a52"),
        ("x-user", "alice"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    CheckRequest {
        attributes: Some(AttributeContext {
            request: Some(Http {
                time: None,
                http: Some(HttpRequest {
                    id: "1".to_owned(),
                    method: "GET".to_owned(),
                    headers: headers.into_iter().collect(),
                    path: path.to_owned(),
                    host: "shop.example.com".to_owned(),
                    scheme: "https".to_owned(),
                    protocol: "HTTP/1.1".to_owned(),
                    ..HttpRequest::default()
                }),
            }),
            ..AttributeContext::default()
        }),
    }
}

/// A service that allows each check without reading it.
struct AllowAll;

#[tonic::async_trait]
impl Authorization for AllowAll {
    async fn check(&self, _: Request<CheckRequest>) -> Result<Response<CheckResponse>, Status> {
        Ok(Response::new(CheckResponse {
            status: Some(CheckStatus::default()),
            http_response: Some(HttpResponse::OkResponse(OkHttpResponse::default())),
            ..CheckResponse::default()
        }))
    }
}

/// Serves checks until the process is killed.
///
/// # Errors
/// The server cannot listen.
pub fn serve_allow_all(address: &str) -> Result<(), String> {
    let address = address
        .parse()
        .map_err(|_| format!("`{address}` is not an address"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let service = AuthorizationServer::new(AllowAll);
    let serving = Server::builder().add_service(service).serve(address);
    runtime.block_on(serving).map_err(|error| error.to_string())
}
