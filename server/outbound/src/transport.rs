//! Single requests over pooled connections: no redirects, no credentials, and no time-outs except for connecting.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::ext::ReasonPhrase;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::body::BodyStream;
use crate::error::{Error, ErrorKind};
use crate::message;

pub use crate::connect::{Connector, Target};

/// A pool of connections that lead to the same kind of target. Clones share it.
#[derive(Clone)]
pub struct Transport {
    pool: legacy::Client<Connector, Full<Bytes>>,
    target: Arc<Target>,
}

impl Transport {
    /// Returns a pool. Connections are reused only if `keeps_alive`.
    pub fn new(target: Target, keeps_alive: bool) -> Self {
        let target = Arc::new(target);
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.http1_title_case_headers(true);
        builder.pool_timer(TokioTimer::new());
        if !keeps_alive {
            builder.pool_max_idle_per_host(0);
        }
        Self {
            pool: builder.build(Connector(target.clone())),
            target,
        }
    }

    /// Returns the target of connections: their networks and proxies.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a request with an absolute URL and returns once the head of the response was read.
    ///
    /// # Errors
    /// The connection cannot be opened, or it broke.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<BodyStream>, Error> {
        let request = request.map(Full::new);
        let response = self
            .pool
            .request(request)
            .await
            .map_err(|e| into_error(&e))?;
        Ok(response.map(BodyStream::new))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

/// Returns the reason phrase of a response, as the server sent it.
pub fn reason<B>(response: &Response<B>) -> String {
    match response.extensions().get::<ReasonPhrase>() {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None => response
            .status()
            .canonical_reason()
            .unwrap_or("")
            .to_owned(),
    }
}

/// Returns the error of the connector, or the error of the exchange.
fn into_error(error: &legacy::Error) -> Error {
    let first: &(dyn StdError + 'static) = error;
    for source in std::iter::successors(Some(first), |source| (*source).source()) {
        if let Some(own_error) = source.downcast_ref::<Error>() {
            return own_error.clone();
        }
        // certificates that the server rejects in TLS 1.3 arrive after the handshake
        if let Some(io) = source.downcast_ref::<io::Error>()
            && io
                .get_ref()
                .is_some_and(|inner| inner.is::<rustls::Error>())
        {
            return Error::new(ErrorKind::Tls, message::of_tls(io));
        }
    }
    Error::new(ErrorKind::Exchange, message::of_exchange(error))
}
