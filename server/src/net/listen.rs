//! Addresses and open sockets.

use std::io;
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt as _;
#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use super::QUEUE;
use super::hosts::AllowedHosts;
#[cfg(unix)]
use super::unix::{self, SocketFile};

/// Listening address: host and port, or the path of a Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `host:port`, and `true` if it uses TLS. The default is to use TLS if there is a certificate.
    Tcp(String, Option<bool>),
    /// Unix socket in the file system or, with a leading `@`, an abstract socket of Linux.
    Unix(String),
}

impl Address {
    /// Parses `host:port`, `http://host:port`, `https://host:port` or `unix://path`.
    pub fn parse(text: &str) -> Self {
        if let Some(path) = text.strip_prefix("unix://") {
            return Self::Unix(path.to_owned());
        }
        if let Some(rest) = text.strip_prefix("https://") {
            return Self::Tcp(rest.to_owned(), Some(true));
        }
        match text.strip_prefix("http://") {
            Some(rest) => Self::Tcp(rest.to_owned(), Some(false)),
            None => Self::Tcp(text.to_owned(), None),
        }
    }

    /// Checks that the text of an address has a port or a path.
    ///
    /// # Errors
    /// A message with the forms of an address.
    pub fn check(text: &str) -> Result<(), String> {
        let is_complete = match Self::parse(text) {
            Self::Unix(path) => !path.is_empty(),
            Self::Tcp(host_and_port, _) => {
                let port = host_and_port.rsplit_once(':').map(|(_, port)| port);
                port.is_some_and(|port| port.parse::<u16>().is_ok())
            }
        };
        if is_complete {
            Ok(())
        } else {
            Err("expected HOST:PORT, :PORT or unix://PATH".to_owned())
        }
    }

    /// Returns `true` if only this machine can connect to the address.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp(host_and_port, _) => {
                let host = host_and_port.rsplit_once(':').map_or("", |(host, _)| host);
                let host = host.trim_start_matches('[').trim_end_matches(']');
                let ip = host.parse::<std::net::IpAddr>();
                host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
            }
        }
    }
}

/// An open socket.
pub struct Listener {
    pub socket: Socket,
    /// `true` if the socket uses TLS.
    pub is_secure: bool,
    /// `true` if only health and metrics are served.
    pub is_diagnostic: bool,
    /// Hosts that requests may name; `None` allows all.
    pub hosts: Option<Arc<AllowedHosts>>,
}

/// Pause after a failed `accept`, for example when the process has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// An accepted connection, without TLS.
pub enum NewConnection {
    /// TCP, with the address of the client.
    Tcp(TcpStream, SocketAddr),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// Source of connections.
pub enum Socket {
    Tcp(TcpListener),
    /// A Unix socket, and its file if it has one. The file is dropped first: while the socket is open, no other file has its inode,
    /// so a starting server cannot mistake it for a stale socket.
    #[cfg(unix)]
    Unix(Option<SocketFile>, UnixListener),
}

impl Listener {
    /// Opens an address. A name that resolves to several addresses is opened as several sockets. A stale socket is replaced.
    async fn open(
        address: &Address,
        socket_mode: u32,
        has_certificate: bool,
    ) -> io::Result<Vec<Self>> {
        let listener = |socket, is_secure| Self {
            socket,
            is_secure,
            is_diagnostic: false,
            hosts: None,
        };
        match address {
            Address::Unix(path) => Ok(vec![listener(open_unix(path, socket_mode).await?, false)]),
            Address::Tcp(_, Some(true)) if !has_certificate => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "TLS needs --tls-cert-file and --tls-private-key-file",
            )),
            Address::Tcp(host_and_port, secure) => {
                let is_secure = secure.unwrap_or(has_certificate);
                let sockets = open_tcp(host_and_port).await?.into_iter();
                Ok(sockets
                    .map(|tcp| listener(Socket::Tcp(tcp), is_secure))
                    .collect())
            }
        }
    }

    /// Opens several addresses, given as texts. An error names the address.
    pub async fn open_all(
        texts: &[String],
        socket_mode: u32,
        has_certificate: bool,
    ) -> io::Result<Vec<Self>> {
        let mut listeners = Vec::new();
        for text in texts {
            let result = Self::open(&Address::parse(text), socket_mode, has_certificate).await;
            listeners.extend(result.map_err(|error| {
                io::Error::new(error.kind(), format!("listen {text}: {error}"))
            })?);
        }
        Ok(listeners)
    }

    /// Waits for a connection. Failures, which concern one connection or pass, are not reported.
    pub async fn accept(&self) -> NewConnection {
        loop {
            let accepted = match &self.socket {
                Socket::Tcp(tcp) => tcp.accept().await.map(|(stream, peer)| {
                    // disables Nagle's algorithm: a small response is not delayed
                    let _ = stream.set_nodelay(true);
                    NewConnection::Tcp(stream, peer)
                }),
                #[cfg(unix)]
                Socket::Unix(_, unix) => {
                    let accepted = unix.accept().await;
                    accepted.map(|(stream, _)| NewConnection::Unix(stream))
                }
            };
            match accepted {
                Ok(accepted) => return accepted,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Returns `true` if the socket accepts connections to every address of the machine.
    pub fn is_wildcard(&self) -> bool {
        match &self.socket {
            Socket::Tcp(listener) => {
                let address = listener.local_addr();
                address.is_ok_and(|address| address.ip().is_unspecified())
            }
            #[cfg(unix)]
            Socket::Unix(..) => false,
        }
    }

    /// Returns `true` if the socket is a Unix socket.
    pub fn is_unix(&self) -> bool {
        !matches!(self.socket, Socket::Tcp(_))
    }

    /// Returns the opened address, with the chosen port.
    pub fn address(&self) -> String {
        match &self.socket {
            Socket::Tcp(listener) => listener
                .local_addr()
                .map(|address| address.to_string())
                .unwrap_or_default(),
            #[cfg(unix)]
            Socket::Unix(Some(file), _) => format!("unix://{}", file.path().display()),
            #[cfg(unix)]
            Socket::Unix(None, listener) => abstract_name(listener),
        }
    }
}

/// Returns the name of a socket without a file.
#[cfg(target_os = "linux")]
fn abstract_name(listener: &UnixListener) -> String {
    let Ok(address) = listener.local_addr() else {
        return String::new();
    };
    let address: std::os::unix::net::SocketAddr = address.into();
    let name = address.as_abstract_name();
    name.map(|name| format!("unix://@{}", String::from_utf8_lossy(name)))
        .unwrap_or_default()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn abstract_name(_: &UnixListener) -> String {
    String::new()
}

/// Binds the first address that a name resolves to and that is free. The standard queue of 128 connections overflows when many clients
/// connect at once, and each that it drops tries again after a second.
async fn bind_tcp(host_and_port: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address");
    for address in lookup_host(host_and_port).await? {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // a restart must not wait for connections of the process before; elsewhere, this would share the port
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(QUEUE)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

async fn open_tcp(host_and_port: &str) -> io::Result<Vec<TcpListener>> {
    // `:8181` listens on every interface
    if let Some(port) = host_and_port.strip_prefix(':') {
        let every = match bind_tcp(&format!("[::]:{port}")).await {
            Ok(listener) => Ok(listener),
            Err(_) => bind_tcp(&format!("0.0.0.0:{port}")).await,
        };
        return every.map(|listener| vec![listener]);
    }
    let Some(port) = host_and_port.strip_prefix("localhost:") else {
        return bind_tcp(host_and_port).await.map(|listener| vec![listener]);
    };
    // clients may use either loopback address; a machine may have only one
    let first = bind_tcp(&format!("127.0.0.1:{port}")).await;
    let port = match &first {
        Ok(listener) => listener.local_addr()?.port().to_string(),
        Err(_) => port.to_owned(),
    };
    let second = bind_tcp(&format!("[::1]:{port}")).await;
    match (first, second) {
        (Ok(first), Ok(second)) => Ok(vec![first, second]),
        (Ok(listener), Err(error)) | (Err(error), Ok(listener)) => {
            if error.kind() == io::ErrorKind::AddrInUse {
                return Err(error);
            }
            Ok(vec![listener])
        }
        (Err(error), Err(_)) => Err(error),
    }
}

#[cfg(unix)]
async fn open_unix(path: &str, mode: u32) -> io::Result<Socket> {
    if let Some(name) = path.strip_prefix('@') {
        return open_abstract(name);
    }
    let (file, listener) = unix::listen(Path::new(path), mode).await?;
    Ok(Socket::Unix(Some(file), listener))
}

#[cfg(target_os = "linux")]
fn open_abstract(name: &str) -> io::Result<Socket> {
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    let listener = std::os::unix::net::UnixListener::bind_addr(&address)?;
    listener.set_nonblocking(true)?;
    Ok(Socket::Unix(None, UnixListener::from_std(listener)?))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open_abstract(_: &str) -> io::Result<Socket> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "sockets without a file exist on Linux only",
    ))
}

#[cfg(not(unix))]
async fn open_unix(_: &str, _: u32) -> io::Result<Socket> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no Unix sockets",
    ))
}

#[cfg(test)]
mod tests {
    use super::{Address, Listener, TcpStream};

    #[test]
    fn addresses() {
        let tcp = |host_and_port: &str, secure| Address::Tcp(host_and_port.to_owned(), secure);
        assert_eq!(Address::parse("localhost:1"), tcp("localhost:1", None));
        assert_eq!(Address::parse("http://a:1"), tcp("a:1", Some(false)));
        assert_eq!(Address::parse("https://:1"), tcp(":1", Some(true)));
        assert_eq!(Address::parse("unix:///a"), Address::Unix("/a".to_owned()));
        for local in ["localhost:1", "127.0.0.2:1", "[::1]:1", "unix://@x"] {
            assert!(Address::parse(local).is_local(), "{local}");
        }
        for open in [":1", "0.0.0.0:1", "[::]:1", "example.com:1"] {
            assert!(!Address::parse(open).is_local(), "{open}");
        }
    }

    #[tokio::test]
    async fn localhost_listens_on_all_its_addresses() {
        let open = |address: &'static str| async move {
            Listener::open(&Address::parse(address), 0o755, false).await
        };
        let listeners = open("localhost:0").await.unwrap();
        let ports: Vec<_> = listeners
            .iter()
            .map(|listener| listener.address().rsplit(':').next().unwrap().to_owned())
            .collect();
        assert!(ports.iter().all(|port| *port == ports[0]), "{ports:?}");
        assert!(open("https://localhost:0").await.is_err());
    }

    #[tokio::test]
    async fn connections_beyond_the_standard_queue_wait_without_a_retry() {
        let address = Address::parse("127.0.0.1:0");
        let listeners = Listener::open(&address, 0o755, false).await.unwrap();
        let address = listeners[0].address();
        // a client whose connection is dropped tries again after a second
        let all = tokio::time::timeout(std::time::Duration::from_millis(900), async {
            let mut clients = Vec::new();
            for _ in 0..300 {
                clients.push(TcpStream::connect(&*address).await.unwrap());
            }
            clients
        });
        assert_eq!(all.await.unwrap().len(), 300);
    }
}
