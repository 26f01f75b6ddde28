//! A server whose responses a test chooses.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use serde_json::Value;
use solon_outbound::{Client, ClientOptions, KeyConfig, ServiceConfig};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A request that a server received.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Parameters of a form.
    pub fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }
}

/// Chooses the response to a request, whose number is the second argument.
type Respond = dyn Fn(&Received, usize) -> Response<Bytes> + Send + Sync;

/// A running server. It ends with the runtime of the test.
pub struct Server {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub async fn start(
        respond: impl Fn(&Received, usize) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self::with(None, respond).await
    }

    pub async fn with_tls(
        config: rustls::ServerConfig,
        respond: impl Fn(&Received, usize) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self::with(Some(TlsAcceptor::from(Arc::new(config))), respond).await
    }

    async fn with(
        tls: Option<TlsAcceptor>,
        respond: impl Fn(&Received, usize) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        let respond: Arc<Respond> = Arc::new(respond);
        let received = Arc::new(Mutex::new(Vec::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = received.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (respond, log, tls) = (respond.clone(), log.clone(), tls.clone());
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let (respond, log) = (respond.clone(), log.clone());
                        async move { answer(request, &respond, &log).await }
                    });
                    let builder = Builder::new(TokioExecutor::new());
                    match tls {
                        None => {
                            let _ = builder
                                .serve_connection(TokioIo::new(stream), service)
                                .await;
                        }
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                let stream = TokioIo::new(stream);
                                let _ = builder.serve_connection(stream, service).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub fn last(&self) -> Received {
        self.received().last().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

async fn answer(
    request: Request<Incoming>,
    respond: &Arc<Respond>,
    log: &Arc<Mutex<Vec<Received>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let received = Received {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        headers: head.headers,
        body: body.collect().await.unwrap().to_bytes(),
    };
    let number = {
        let mut log = log.lock().unwrap();
        log.push(received.clone());
        log.len() - 1
    };
    Ok(respond(&received, number).map(Full::new))
}

/// A response.
pub fn response(status: u16, body: &str) -> Response<Bytes> {
    let body = Bytes::from(body.to_owned());
    Response::builder().status(status).body(body).unwrap()
}

/// A redirect.
pub fn redirect(status: u16, location: &str) -> Response<Bytes> {
    let response = Response::builder()
        .status(status)
        .header("location", location);
    response.body(Bytes::new()).unwrap()
}

/// The client of a service that is configured by JSON.
pub fn client_with(
    service: &Value,
    keys: &Value,
    options: &ClientOptions,
) -> Result<Client, String> {
    let service: ServiceConfig = serde_json::from_value(service.clone()).unwrap();
    let keys: BTreeMap<String, KeyConfig> = serde_json::from_value(keys.clone()).unwrap();
    Client::new("s", &service, &keys, options)
}

pub fn client(service: &Value) -> Client {
    client_with(service, &serde_json::json!({}), &ClientOptions::default()).unwrap()
}

pub fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

/// The status and body of the response to a `GET`.
pub async fn fetch(client: &Client, path: &str) -> Result<(u16, String), solon_outbound::Error> {
    let response = client.send(get(path)).await?;
    let status = response.status().as_u16();
    let body = response.into_body().read_bounded(1 << 20).await?;
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}
