//! The control plane behind this server's HTTP layer: the same listeners, bounds and encryption carry its API.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use ::http as plain_http;
use bytes::Bytes;
use solon::Value;
use solon_control::ControlPlane;
use solon_control::api::{Admitted, KnownKey, RequestId, Service};
use tokio::runtime::Handle;
use tracing::info;

use crate::config::{Bounds, Live, LiveOptions, ServerOptions, TlsOptions};
use crate::http::header::RETRY_AFTER;
use crate::http::{
    self, Admission, App, BodyLimits, Budget, Head, Listener, Longer, Message, Place, Pool,
    Refusal, Response, Serving, Status, TlsState, serve,
};

/// How often a request that waits for its database lets others have their turn.
const LOOK: Duration = Duration::from_millis(5);

/// Requests that are worked on at a time: they wait for their database most of the time.
const AT_ONCE: usize = 64;

/// Where the control plane listens.
pub struct ControlOptions {
    /// Addresses, as [`Server`](crate::Server) takes them.
    pub addresses: Vec<String>,
    /// Permissions of sockets in the file system.
    pub socket_mode: u32,
    /// Whether HTTP/2 is spoken without encryption.
    pub h2c: bool,
    /// How connections are protected, where they are.
    pub tls: Option<TlsOptions>,
    /// How long open requests may take to finish in the end.
    pub grace: Duration,
}

/// Serves a control plane until `stop` is there.
///
/// # Errors
/// That an address cannot be opened, or connections cannot be protected as asked.
pub async fn serve_control(
    plane: &ControlPlane,
    options: &ControlOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let tls = TlsState::shared(options.tls.as_ref())?;
    let (addresses, mode) = (&options.addresses, options.socket_mode);
    let listeners = Listener::open_all(addresses, mode, tls.is_some()).await?;
    let addresses: Vec<String> = listeners.iter().map(Listener::address).collect();
    info!(addrs = addresses.join(", "), "Control plane initialized.");
    let bounds = Arc::new(Bounds {
        slots: AT_ONCE,
        ..Bounds::default()
    });
    let defaults = ServerOptions {
        bounds: Bounds::clone(&bounds),
        ..ServerOptions::default()
    };
    let app = Arc::new(ControlApp {
        service: plane.service(),
        bounds: bounds.clone(),
        runtime: Handle::current(),
    });
    let (pool, budget) = (Pool::new(&bounds), Budget::new(bounds.memory));
    let reloading = tls.clone().map(|tls| tokio::spawn(tls.keep_fresh()));
    let serving = Serving {
        service: Arc::new(http::Service::new(
            app,
            pool,
            budget,
            bounds,
            Live::new(LiveOptions::of(&defaults, Value::object(Vec::new()))),
        )),
        h2c: options.h2c,
        grace: options.grace,
        tls,
    };
    serve(listeners, serving, stop).await;
    if let Some(task) = reloading {
        task.abort();
    }
    info!("Control plane shutdown.");
    Ok(())
}

/// The control plane's API as an app of the HTTP layer.
struct ControlApp {
    service: Service,
    bounds: Arc<Bounds>,
    runtime: Handle,
}

impl ControlApp {
    /// Waits for work on a thread of the pool, for as long as the request may take; `None` after that.
    fn within<T>(
        &self,
        message: &Message,
        place: Place<'_>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let left = message.time_left();
        self.runtime.block_on(async {
            tokio::pin!(work);
            let late = async {
                match left {
                    Some(left) => tokio::time::sleep(left).await,
                    None => std::future::pending().await,
                }
            };
            tokio::pin!(late);
            loop {
                tokio::select! {
                    done = &mut work => break Some(done),
                    () = &mut late => break None,
                    () = tokio::time::sleep(LOOK) => place.look(),
                }
            }
        })
    }

    fn handled(
        &self,
        message: &Message,
        place: Place<'_>,
        request: plain_http::Request<Bytes>,
    ) -> Response {
        let answered = self.within(message, place, self.service.handle(request));
        answered.map_or_else(|| self.refuse(&Refusal::Late), taken)
    }
}

impl App for ControlApp {
    type Plan = ();

    fn plan(&self, _message: &mut Message) {}

    fn admit(&self, (): &(), message: &mut Message, place: Place<'_>) -> Result<Admission, Longer> {
        if place.is_reactor() {
            // the database says whether the key is known
            return Err(Longer(None));
        }
        let request = plain(message);
        let admitted = self.within(message, place, self.service.admit(&request));
        Ok(match admitted {
            Some(Admitted::WithBody { limit }) => {
                message.allowed = true;
                Admission::Admitted(
                    BodyLimits::new(self.bounds.body, self.bounds.unpacked).at_most(limit),
                )
            }
            Some(Admitted::WithoutBody) => {
                Admission::Rejected(self.handled(message, place, request))
            }
            None => Admission::Rejected(self.refuse(&Refusal::Late)),
        })
    }

    fn reads_body(&self, (): &()) -> bool {
        true
    }

    fn writes(&self, (): &()) -> bool {
        // the database puts changes in order
        false
    }

    fn answer(&self, (): &(), message: &mut Message, place: Place<'_>) -> Result<Response, Longer> {
        if place.is_reactor() {
            // each request asks the database
            return Err(Longer(None));
        }
        Ok(self.handled(message, place, plain(message)))
    }

    fn refuse(&self, refusal: &Refusal) -> Response {
        let (status, code, message) = words(refusal);
        let body = serde_json::json!({"code": code, "message": message});
        let response = Response::json(status, format!("{body}\n").into_bytes());
        if *refusal == Refusal::Busy {
            response.with_static(RETRY_AFTER, "1")
        } else {
            response
        }
    }

    /// A line for each answer, in the words of the policy server's. Bodies hold secrets and keys, so no level shows them.
    fn answered(&self, head: &Head, response: &Response, took: Duration) {
        info!(
            client_addr = &*head.peer.address,
            request = name(head),
            req_method = head.method.as_str(),
            req_path = head.path(),
            resp_bytes = response.body.len(),
            resp_duration = took.as_secs_f64() * 1e3,
            resp_status = response.status.as_u16(),
            "Sent response."
        );
    }
}

fn words(refusal: &Refusal) -> (Status, &'static str, String) {
    let invalid = |message: &str| (Status::BAD_REQUEST, "invalid_parameter", message.to_owned());
    match refusal {
        Refusal::TooLarge(_) | Refusal::UnpackedTooLarge | Refusal::TooLargeToAuthorize(_) => (
            Status::PAYLOAD_TOO_LARGE,
            "too_large",
            "the body is too large".to_owned(),
        ),
        Refusal::NotPacked(what) => invalid(&format!("the body is no gzip: {what}")),
        Refusal::Slow => (
            Status::REQUEST_TIMEOUT,
            "request_timeout",
            "the body did not come in time".to_owned(),
        ),
        Refusal::Broken => invalid("the body is not what its head says"),
        Refusal::Host(words) => invalid(words),
        // each request needs a key, so that any host may be named
        Refusal::ForeignHost(_) | Refusal::ForeignOrigin(_) => (
            Status::FORBIDDEN,
            "not_authorized",
            "the host is not allowed".to_owned(),
        ),
        Refusal::Expectation => (
            Status::EXPECTATION_FAILED,
            "invalid_parameter",
            "only `100-continue` can be expected".to_owned(),
        ),
        Refusal::TransferEncoding => (
            Status::NOT_IMPLEMENTED,
            "invalid_parameter",
            "unsupported transfer encoding".to_owned(),
        ),
        Refusal::Busy => (
            Status::SERVICE_UNAVAILABLE,
            "unavailable",
            "too much is being done at once".to_owned(),
        ),
        Refusal::Late => (
            Status::SERVICE_UNAVAILABLE,
            "unavailable",
            "the request took too long".to_owned(),
        ),
        Refusal::Panicked => (
            Status::INTERNAL_SERVER_ERROR,
            "internal_error",
            "internal error: a panic".to_owned(),
        ),
    }
}

/// A request as plain values.
fn plain(message: &Message) -> plain_http::Request<Bytes> {
    let mut request = plain_http::Request::new(message.body.clone());
    request.method_mut().clone_from(&message.method);
    request.uri_mut().clone_from(&message.target);
    request.headers_mut().clone_from(&message.headers);
    let extensions = request.extensions_mut();
    extensions.insert(RequestId(name(&message.head)));
    if message.allowed {
        extensions.insert(KnownKey);
    }
    request
}

/// The name by which all lines about a request know it: that which its client gave it, or its number.
fn name(head: &Head) -> String {
    let name = head.given_name();
    name.map_or_else(|| format!("{:x}", head.id), |name| RequestId::new(name).0)
}

/// A plain answer as this layer sends it.
fn taken(answer: plain_http::Response<Bytes>) -> Response {
    let (parts, body) = answer.into_parts();
    let headers = parts.headers.iter();
    Response {
        status: parts.status,
        headers: headers
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        body,
    }
}
