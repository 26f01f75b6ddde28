//! Connections to an address or a socket, optionally through TLS and a proxy.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::error::{Error, ErrorKind};
use crate::networks::NetworkRules;
use crate::proxy::{Proxies, Proxy};
use crate::stream::{Duplex, Stream};
use crate::{errno, message};

/// The route of connections: TLS, socket, networks and proxies.
#[derive(Clone, Debug)]
pub struct Target {
    /// Protection of connections to `https` URLs, as [`crate::tls::client_config`] returns it.
    pub tls: Arc<ClientConfig>,
    /// Name that the certificate of the server must have, instead of the host of the URL.
    pub server_name: Option<String>,
    /// Path of the Unix socket to connect to, instead of the host of the URL.
    pub socket: Option<String>,
    /// Networks that connections may lead to, checked after names are resolved.
    pub networks: Arc<NetworkRules>,
    /// Proxies that connections go through. Without one for the host, connections are direct.
    pub proxies: Arc<Proxies>,
    /// Maximum time until a connection is ready for requests.
    pub connect_timeout: Option<Duration>,
}

/// Opens connections for hyper-util.
#[derive(Clone)]
pub struct Connector(pub Arc<Target>);

fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Connect, message)
}

impl Target {
    async fn connect(&self, uri: &Uri) -> Result<Stream, Error> {
        let Some(timeout) = self.connect_timeout else {
            return self.open(uri).await;
        };
        let result = tokio::time::timeout(timeout, self.open(uri)).await;
        result.unwrap_or_else(|_| {
            let host = uri.authority().map_or("", |authority| authority.as_str());
            let text = format!(
                "timeout: no connection to {host} within {} seconds",
                timeout.as_secs()
            );
            Err(Error::new(ErrorKind::Timeout, text))
        })
    }

    async fn open(&self, uri: &Uri) -> Result<Stream, Error> {
        if let Some(path) = &self.socket {
            self.networks.check_socket().map_err(|special_use| {
                Error::new(
                    ErrorKind::Denied,
                    format!("dial unix {path}: {}", self.networks.denial(special_use)),
                )
            })?;
            return Ok(Stream::new(dial_socket(path).await?, false));
        }
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let proxy = self
            .proxies
            .proxy_for(is_secure, host, port)
            .map_err(failed)?;
        let stream: Box<dyn Duplex> = match &proxy {
            None => Box::new(dial(host, port, &self.networks, lookup).await?),
            Some(proxy) => {
                self.networks.check_proxied(host).map_err(|special_use| {
                    Error::new(
                        ErrorKind::Denied,
                        format!("dial tcp {host}: {}", self.networks.denial(special_use)),
                    )
                })?;
                let stream = self.dial_proxy(proxy).await;
                stream.map_err(|error| error.within("proxyconnect tcp"))?
            }
        };
        if !is_secure {
            return Ok(match proxy {
                None => Stream::new(stream, false),
                Some(_) => Stream::to_proxy(stream),
            });
        }
        let stream = match proxy {
            None => stream,
            Some(proxy) => proxy.tunnel(stream, host, port).await.map_err(failed)?,
        };
        let name = self.server_name.as_deref().unwrap_or(host).to_owned();
        let (stream, is_http2) = encrypt(self.tls.clone(), name, stream).await?;
        Ok(Stream::new(stream, is_http2))
    }

    /// Opens a connection to a proxy. HTTP/2 is not offered: the connection carries a request of HTTP/1 or `CONNECT`.
    async fn dial_proxy(&self, proxy: &Proxy) -> Result<Box<dyn Duplex>, Error> {
        let stream = dial(&proxy.host, proxy.port, &self.networks, lookup).await?;
        if !proxy.is_secure {
            return Ok(Box::new(stream));
        }
        let mut tls = ClientConfig::clone(&self.tls);
        tls.alpn_protocols.clear();
        let (stream, _) = encrypt(Arc::new(tls), proxy.host.clone(), Box::new(stream)).await?;
        Ok(stream)
    }
}

/// Performs the TLS handshake. The second result is `true` if both sides agreed on HTTP/2.
async fn encrypt(
    tls: Arc<ClientConfig>,
    name: String,
    stream: Box<dyn Duplex>,
) -> Result<(Box<dyn Duplex>, bool), Error> {
    let failed = |message| Error::new(ErrorKind::Tls, message);
    let name = ServerName::try_from(name.clone()).map_err(|_| {
        let text = format!("tls: failed to verify certificate: x509: invalid server name `{name}`");
        failed(text)
    })?;
    let stream = TlsConnector::from(tls).connect(name, stream).await;
    let stream = stream.map_err(|error| failed(message::of_tls(&error)))?;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream: Box<dyn Duplex> = Box::new(stream);
    Ok((stream, is_http2))
}

/// Returns the addresses of a host, in the order of the resolver.
async fn lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

/// Connects to the first address of a host that is allowed and accepts. The check is made on the address that is connected to: a second
/// lookup of the name could return another one.
async fn dial<'h, F>(
    host: &'h str,
    port: u16,
    networks: &NetworkRules,
    lookup: impl Fn(&'h str, u16) -> F,
) -> Result<TcpStream, Error>
where
    F: Future<Output = io::Result<Vec<SocketAddr>>>,
{
    let addresses = lookup(host, port).await;
    let addresses = addresses.map_err(|error| {
        let problem = message::of_lookup(&error);
        failed(format!("dial tcp: lookup {host}: {problem}"))
    })?;
    let mut first = None;
    for address in addresses {
        if let Err(special_use) = networks.check(address.ip()) {
            let text = format!("dial tcp {address}: {}", networks.denial(special_use));
            first = first.or(Some(Error::new(ErrorKind::Denied, text)));
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // a request in several writes must not wait for acknowledgements
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => first = first.or(Some(not_accepted(address, &error))),
        }
    }
    Err(first.unwrap_or_else(|| failed(format!("dial tcp: lookup {host}: no such host"))))
}

fn not_accepted(address: SocketAddr, error: &io::Error) -> Error {
    failed(format!(
        "dial tcp {address}: connect: {}",
        errno::text(error)
    ))
}

#[cfg(unix)]
async fn dial_socket(path: &str) -> Result<impl Duplex + 'static, Error> {
    let stream = tokio::net::UnixStream::connect(path).await;
    stream.map_err(|error| {
        failed(format!(
            "dial unix {path}: connect: {}",
            errno::text(&error)
        ))
    })
}

#[cfg(not(unix))]
async fn dial_socket(path: &str) -> Result<TcpStream, Error> {
    Err(failed(format!(
        "dial unix {path}: connect: no such sockets here"
    )))
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let target = self.0.clone();
        Box::pin(async move { target.connect(&uri).await })
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::net::TcpListener;

    use super::dial;
    use crate::error::ErrorKind;
    use crate::networks::NetworkRules;

    /// Two listeners on different addresses of this machine: the first is allowed, the second denied.
    async fn listeners() -> (TcpListener, TcpListener, NetworkRules) {
        let allowed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let denied = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let networks = NetworkRules::unrestricted()
            .deny_private()
            .allow("127.0.0.1/32".parse().unwrap());
        (allowed, denied, networks)
    }

    async fn was_reached(listener: &TcpListener) -> bool {
        let accepted = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
        accepted.is_ok()
    }

    /// A name whose address changes with each lookup (DNS rebinding): the address that was checked is the one that is connected to.
    #[tokio::test]
    async fn a_name_is_looked_up_once_for_check_and_connection() {
        let (allowed, denied, networks) = listeners().await;
        let addresses = [allowed.local_addr().unwrap(), denied.local_addr().unwrap()];
        let lookups = AtomicUsize::new(0);
        let lookup = |_: &str, _: u16| {
            let lookup = lookups.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok(vec![addresses[lookup % 2]]))
        };
        for _ in 0..3 {
            let stream = dial("rebinding.example", 80, &networks, lookup)
                .await
                .unwrap();
            assert_eq!(stream.peer_addr().unwrap(), addresses[0]);
            let error = dial("rebinding.example", 80, &networks, lookup)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied);
        }
        assert_eq!(lookups.load(Ordering::Relaxed), 6);
        assert!(!was_reached(&denied).await);
    }

    /// A name with allowed and denied addresses: the denied ones are not connected to, whatever their order is.
    #[tokio::test]
    async fn denied_addresses_of_a_name_are_skipped() {
        let (allowed, denied, networks) = listeners().await;
        let (good, bad) = (allowed.local_addr().unwrap(), denied.local_addr().unwrap());
        let closed = SocketAddr::from(([127, 0, 0, 1], 1));
        for addresses in [vec![bad, good], vec![good, bad], vec![closed, bad, good]] {
            let lookup = |_: &str, _: u16| std::future::ready(Ok(addresses.clone()));
            let stream = dial("h", 80, &networks, lookup).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), good);
        }
        // if no allowed address accepts, a denied one is not tried
        for addresses in [vec![closed, bad], vec![bad, closed], vec![bad]] {
            let lookup = |_: &str, _: u16| std::future::ready(Ok(addresses.clone()));
            dial("h", 80, &networks, lookup).await.unwrap_err();
        }
        assert!(!was_reached(&denied).await);
    }
}
