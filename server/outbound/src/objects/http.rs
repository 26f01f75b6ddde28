//! The connections of `object_store`: requests to the host of the store, over the transport of this crate.

use std::pin::Pin;
use std::sync::Arc;

use http::uri::Authority;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};

use crate::error::{Error, ErrorKind};
use crate::transport::Transport;

/// Connects to one host.
#[derive(Clone, Debug)]
pub struct StoreConnector {
    transport: Transport,
    host: Arc<str>,
}

impl StoreConnector {
    /// Returns the connections to a host with its port, in lower case.
    pub fn new(transport: Transport, host: &Authority) -> Self {
        Self {
            transport,
            host: host.as_str().to_ascii_lowercase().into(),
        }
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut head, body) = request.into_parts();
        let host = head.uri.authority().map(|host| host.as_str());
        // credentials are for this host alone
        if !host.is_some_and(|host| host.eq_ignore_ascii_case(&self.host)) {
            let text = "the object store leads to another host";
            return Err(wrapped(Error::new(ErrorKind::Denied, text)));
        }
        // the connection sets it, and HTTP/2 has no such header
        head.headers.remove(http::header::HOST);
        let body = body.collect().await?.to_bytes();
        let request = http::Request::from_parts(head, body);
        let response = self.transport.send(request).await.map_err(wrapped)?;
        Ok(response.map(|body| HttpResponseBody::new(body.into_body().map_err(wrapped))))
    }
}

/// Returns the error as `object_store` reads it: by its kind, it decides about another attempt.
fn wrapped(error: Error) -> HttpError {
    let kind = match error.kind() {
        ErrorKind::Connect => HttpErrorKind::Connect,
        ErrorKind::Exchange => HttpErrorKind::Request,
        ErrorKind::Timeout => HttpErrorKind::Timeout,
        ErrorKind::Body => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}

impl HttpService for StoreConnector {
    fn call<'service, 'call>(
        &'service self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'service: 'call,
        Self: 'call,
    {
        Box::pin(self.send(request))
    }
}

impl HttpConnector for StoreConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}
