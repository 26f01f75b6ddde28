//! A receiver of OTLP, over gRPC or HTTP.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_client::LogsServiceClient;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use solon_outbound::proxy::Proxies;
use solon_outbound::tls::{self, FixedIdentity, ResolvesClientCert, Trust};
use solon_outbound::transport::Connector;
use solon_outbound::{Target, Transport, backoff};
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::config::{CollectorOptions, CollectorTls, OtlpProtocol};

/// Maximum time until a connection is ready for requests.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum delay before a request is repeated.
const RETRY: Duration = Duration::from_secs(5);
/// Maximum size of a response body.
const RESPONSE_BYTES: usize = 64 << 10;

/// A receiver of OTLP. Clones share its connections.
#[derive(Clone)]
pub struct Collector(ReceiverProtocol);

#[derive(Clone)]
enum ReceiverProtocol {
    Grpc(Channel),
    Http(Arc<HttpReceiver>),
}

struct HttpReceiver {
    transport: Transport,
    /// URL without a path.
    base: String,
}

/// Reason why a request failed.
struct ExportFailure {
    message: String,
    /// `true` if the same request may succeed later.
    is_temporary: bool,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl Collector {
    /// Creates the client of a receiver. It connects when it sends. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// Fails if a file of the TLS options cannot be read, or the address is not valid.
    pub fn new(options: &CollectorOptions) -> Result<Self, String> {
        let scheme = if options.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let address = &options.address;
        let base = format!("{scheme}://{address}");
        let uri: http::Uri = base
            .parse()
            .map_err(|error| format!("invalid address `{address}` of an OTLP receiver: {error}"))?;
        if uri.host().is_none_or(str::is_empty) || uri.path() != "/" || uri.query().is_some() {
            return Err(format!(
                "invalid address `{address}` of an OTLP receiver: expected a host and a port"
            ));
        }
        let no_tls = CollectorTls::default();
        let (trust, identity) = trust(options.tls.as_ref().unwrap_or(&no_tls))?;
        let is_plain_grpc = options.protocol == OtlpProtocol::Grpc && options.tls.is_none();
        let target = Target {
            tls: tls::client_config(&trust, identity)?,
            server_name: None,
            socket: None,
            networks: Arc::default(),
            // a proxy forwards plain requests of HTTP/1.1 only
            proxies: if is_plain_grpc {
                Arc::new(Proxies::default())
            } else {
                Proxies::system()
            },
            connect_timeout: Some(CONNECT_TIMEOUT),
        };
        Ok(Self(match options.protocol {
            OtlpProtocol::Http => ReceiverProtocol::Http(Arc::new(HttpReceiver {
                transport: Transport::new(target, true),
                base,
            })),
            OtlpProtocol::Grpc => {
                let endpoint = Endpoint::from_shared(base).map_err(|error| error.to_string())?;
                let connector = Connector(Arc::new(target));
                ReceiverProtocol::Grpc(endpoint.connect_with_connector_lazy(connector))
            }
        }))
    }

    /// Sends spans. Temporary failures are repeated until `timeout` has passed.
    ///
    /// # Errors
    /// Returns the last failure.
    pub async fn send_spans(
        &self,
        request: ExportTraceServiceRequest,
        timeout: Duration,
    ) -> Result<ExportTraceServiceResponse, String> {
        let export = |channel, request| async move {
            TraceServiceClient::new(channel).export(request).await
        };
        self.send("/v1/traces", request, timeout, export).await
    }

    /// Sends metrics. Temporary failures are repeated until `timeout` has passed.
    ///
    /// # Errors
    /// Returns the last failure.
    pub async fn send_metrics(
        &self,
        request: ExportMetricsServiceRequest,
        timeout: Duration,
    ) -> Result<ExportMetricsServiceResponse, String> {
        let export = |channel, request| async move {
            MetricsServiceClient::new(channel).export(request).await
        };
        self.send("/v1/metrics", request, timeout, export).await
    }

    /// Sends log records. Temporary failures are repeated until `timeout` has passed.
    ///
    /// # Errors
    /// Returns the last failure.
    pub async fn send_logs(
        &self,
        request: ExportLogsServiceRequest,
        timeout: Duration,
    ) -> Result<ExportLogsServiceResponse, String> {
        let export =
            |channel, request| async move { LogsServiceClient::new(channel).export(request).await };
        self.send("/v1/logs", request, timeout, export).await
    }

    /// Sends a message to `path` over HTTP, or by `export` over gRPC.
    async fn send<M, R, F>(
        &self,
        path: &str,
        message: M,
        timeout: Duration,
        export: impl Fn(Channel, M) -> F,
    ) -> Result<R, String>
    where
        M: Message + Clone,
        R: Message + Default,
        F: Future<Output = Result<tonic::Response<R>, tonic::Status>>,
    {
        match &self.0 {
            ReceiverProtocol::Grpc(channel) => {
                let send = || async {
                    let response = export(channel.clone(), message.clone()).await;
                    response.map(tonic::Response::into_inner).map_err(of_status)
                };
                repeat(timeout, send).await
            }
            ReceiverProtocol::Http(receiver) => {
                let body = Bytes::from(message.encode_to_vec());
                let response = repeat(timeout, || receiver.post(path, body.clone())).await?;
                // receivers that send another body have accepted the message
                Ok(R::decode(response).unwrap_or_default())
            }
        }
    }
}

/// Calls `send` until it succeeds, fails for good, or `timeout` has passed.
async fn repeat<T, F>(timeout: Duration, send: impl Fn() -> F) -> Result<T, String>
where
    F: Future<Output = Result<T, ExportFailure>>,
{
    let mut last = None;
    let mut failures = 0;
    let attempts = async {
        loop {
            let failure = match send().await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            if !failure.is_temporary {
                return Err(failure.message);
            }
            last = Some(failure.message);
            failures += 1;
            tokio::time::sleep(backoff::after_failures(failures, RETRY)).await;
        }
    };
    let result = tokio::time::timeout(timeout, attempts).await;
    result.unwrap_or_else(|_| Err(last.unwrap_or_else(|| "no response in time".to_owned())))
}

fn trust(options: &CollectorTls) -> Result<(Trust, Option<Arc<dyn ResolvesClientCert>>), String> {
    let trust = match &options.authorities {
        _ if options.is_insecure => Trust::Any,
        None => Trust::default(),
        Some(path) => {
            let pem = read(path, "read CA cert file: ")?;
            let certificates = tls::certificates(&pem)
                .map_err(|_| format!("failed to parse CA cert {:?}", path.display().to_string()))?;
            Trust::Authorities {
                certificates,
                system: false,
            }
        }
    };
    let identity = options.identity.as_ref().map(|(certificate, key)| {
        let chain = tls::certificates(&read(certificate, "")?)
            .map_err(|error| format!("{}: {error}", certificate.display()))?;
        let key = tls::certified_key(chain, &read(key, "")?)?;
        let identity: Arc<dyn ResolvesClientCert> = Arc::new(FixedIdentity(Arc::new(key)));
        Ok::<_, String>(identity)
    });
    Ok((trust, identity.transpose()?))
}

fn read(path: &Path, prefix: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{prefix}open {}: no such file or directory", path.display())
        }
        _ => format!("{prefix}open {}: {error}", path.display()),
    })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is passed to functions that convert errors"
)]
fn of_status(status: tonic::Status) -> ExportFailure {
    ExportFailure {
        message: format!("{}: {}", status.code(), status.message()),
        is_temporary: matches!(
            status.code(),
            Code::Unavailable
                | Code::ResourceExhausted
                | Code::DeadlineExceeded
                | Code::Aborted
                | Code::Cancelled
        ),
    }
}

impl HttpReceiver {
    /// Sends a body and returns that of the response.
    async fn post(&self, path: &str, body: Bytes) -> Result<Bytes, ExportFailure> {
        let url = &format!("{}{path}", self.base);
        let request = Request::post(url).header(CONTENT_TYPE, "application/x-protobuf");
        let request = request.body(body).map_err(|error| ExportFailure {
            message: error.to_string(),
            is_temporary: false,
        })?;
        let response = self
            .transport
            .send(request)
            .await
            .map_err(|error| ExportFailure {
                message: format!("{url}: {error}"),
                is_temporary: true,
            })?;
        let status = response.status();
        // the response is read to its end, so that the connection can be reused
        let body = response.into_body().read_bounded(RESPONSE_BYTES).await;
        if status.is_success() {
            return Ok(body.unwrap_or_default());
        }
        Err(ExportFailure {
            message: format!("{url}: server replied with HTTP {status}"),
            is_temporary: matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
        })
    }
}
