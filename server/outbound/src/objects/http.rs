//! The connections of `object_store`: requests to the host of the store, over the transport of this crate or the client of a service.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http::uri::Authority;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};

use crate::body::BodyStream;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::transport::Transport;

/// Connects to one host.
#[derive(Clone, Debug)]
pub enum StoreConnector {
    /// A host with its port, in lower case.
    Host(Box<Transport>, Arc<str>),
    /// The host of a service, with its credentials.
    Service(Client),
}

impl StoreConnector {
    /// Returns the connections to a host. Other hosts are rejected.
    pub fn new(transport: Transport, host: &Authority) -> Self {
        Self::Host(
            Box::new(transport),
            host.as_str().to_ascii_lowercase().into(),
        )
    }

    /// Returns `true` if the store may send a request to a URL. Credentials are for its host alone.
    fn accepts(&self, url: &Uri) -> bool {
        match self {
            Self::Host(_, own_host) => {
                let host = url.authority().map(Authority::as_str);
                host.is_some_and(|host| host.eq_ignore_ascii_case(own_host))
            }
            Self::Service(client) => client.is_same_origin(url),
        }
    }

    async fn exchange(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<BodyStream>, Error> {
        match self {
            Self::Host(transport, _) => transport.send(request).await,
            Self::Service(client) => client.send_absolute(request).await,
        }
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut head, body) = request.into_parts();
        if !self.accepts(&head.uri) {
            let text = "the object store leads to another host";
            return Err(into_http_error(Error::new(ErrorKind::Denied, text)));
        }
        // the connection sets it, and HTTP/2 has no such header
        head.headers.remove(http::header::HOST);
        let body = body.collect().await?.to_bytes();
        let request = http::Request::from_parts(head, body);
        let response = self.exchange(request).await.map_err(into_http_error)?;
        Ok(response.map(|body| HttpResponseBody::new(body.into_body().map_err(into_http_error))))
    }
}

/// Returns the error as `object_store` reads it: by its kind, it decides about another attempt.
fn into_http_error(error: Error) -> HttpError {
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
