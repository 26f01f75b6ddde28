//! Connections: to an address or a socket, through TLS or not.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::error;
use super::proxy::{self, Proxy};
use super::stream::{Duplex, Stream};
use crate::networks::NetworkAccess;
use crate::{errno, resolver};

/// Makes connections.
#[derive(Clone)]
pub struct Connector {
    tls: Arc<ClientConfig>,
    /// The name that the server must prove; that of the address unless given.
    server_name: Option<String>,
    /// The socket to go through instead of the address.
    socket: Option<String>,
    /// Where connections may lead to.
    networks: NetworkAccess,
}

/// Why there is no connection.
#[derive(Debug)]
pub struct ConnectError {
    message: String,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConnectError {}

impl From<String> for ConnectError {
    fn from(message: String) -> Self {
        Self { message }
    }
}

impl Connector {
    /// Makes connections of one kind.
    pub fn new(
        tls: Arc<ClientConfig>,
        server_name: Option<String>,
        socket: Option<String>,
        networks: NetworkAccess,
    ) -> Self {
        Self {
            tls,
            server_name,
            socket,
            networks,
        }
    }

    async fn connect(self, uri: Uri) -> Result<Stream, ConnectError> {
        if let Some(path) = &self.socket {
            if self.networks != NetworkAccess::All {
                let denied = error::of_denial("Unix socket");
                return Err(format!("dial unix {path}: {denied}").into());
            }
            return Ok(Stream::new(dial_socket(path).await?, false));
        }
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let proxy = proxy::SYSTEM.of(secure, host, port)?;
        let stream: Box<dyn Duplex> = match &proxy {
            None => Box::new(dial(host, port, self.networks).await?),
            Some(proxy) => {
                let server = self.networks.check_proxied(host);
                server.map_err(|used| format!("dial tcp {host}: {}", error::of_denial(used)))?;
                let stream = self.dial_proxy(proxy).await;
                stream.map_err(|problem| format!("proxyconnect tcp: {problem}"))?
            }
        };
        if !secure {
            return Ok(match proxy {
                None => Stream::new(stream, false),
                Some(_) => Stream::to_proxy(stream),
            });
        }
        let stream = match proxy {
            None => stream,
            Some(proxy) => proxy.tunnel(stream, host, port).await?,
        };
        let name = self.server_name.as_deref().unwrap_or(host).to_owned();
        let (stream, http2) = encrypted(self.tls, name, stream).await?;
        Ok(Stream::new(stream, http2))
    }

    /// A connection to a proxy, over which nobody speaks HTTP/2.
    async fn dial_proxy(&self, proxy: &Proxy) -> Result<Box<dyn Duplex>, String> {
        let stream = dial(&proxy.host, proxy.port, self.networks).await?;
        if !proxy.secure {
            return Ok(Box::new(stream));
        }
        let mut tls = ClientConfig::clone(&self.tls);
        tls.alpn_protocols.clear();
        let (stream, _) = encrypted(Arc::new(tls), proxy.host.clone(), Box::new(stream)).await?;
        Ok(stream)
    }
}

/// A connection through TLS, and whether both sides agreed on HTTP/2.
async fn encrypted(
    tls: Arc<ClientConfig>,
    name: String,
    stream: Box<dyn Duplex>,
) -> Result<(Box<dyn Duplex>, bool), String> {
    let name = ServerName::try_from(name.clone()).map_err(|_| {
        format!("tls: failed to verify certificate: x509: invalid server name `{name}`")
    })?;
    let stream = TlsConnector::from(tls).connect(name, stream).await;
    let stream = stream.map_err(|problem| error::of_tls(&problem))?;
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream: Box<dyn Duplex> = Box::new(stream);
    Ok((stream, http2))
}

/// A connection to the first address that is allowed and answers. The check is made on the address that is connected to: a second
/// lookup of the name could return another one.
async fn dial(host: &str, port: u16, networks: NetworkAccess) -> Result<TcpStream, String> {
    let addresses = tokio::net::lookup_host((host, port)).await;
    let addresses = addresses
        .map_err(|error| format!("dial tcp: lookup {host}: {}", resolver::problem(&error)))?;
    let mut first = None;
    for address in addresses {
        if let Err(used) = networks.check(address.ip()) {
            let denied = error::of_denial(used);
            first = first.or(Some(format!("dial tcp {address}: {denied}")));
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // an answer in pieces shall not wait for acknowledgements
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => first = first.or(Some(refused(address, &error))),
        }
    }
    Err(first.unwrap_or_else(|| format!("dial tcp: lookup {host}: no such host")))
}

fn refused(address: SocketAddr, error: &std::io::Error) -> String {
    format!("dial tcp {address}: connect: {}", errno::text(error))
}

#[cfg(unix)]
async fn dial_socket(path: &str) -> Result<impl Duplex + 'static, String> {
    let stream = tokio::net::UnixStream::connect(path).await;
    stream.map_err(|error| format!("dial unix {path}: connect: {}", errno::text(&error)))
}

#[cfg(not(unix))]
async fn dial_socket(path: &str) -> Result<TcpStream, String> {
    Err(format!("dial unix {path}: connect: no such sockets here"))
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}
