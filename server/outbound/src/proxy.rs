//! The proxy of a request, from variables of the environment as Go's client reads them.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::errno;
use crate::networks::is_in_block;
use crate::stream::Duplex;

/// Maximum size, in bytes, of the response of a proxy to `CONNECT`.
const CONNECT_RESPONSE_BYTES: usize = 64 << 10;

/// A server that forwards requests.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// `true` if the connection to it is protected by TLS.
    pub is_secure: bool,
    /// Value of the header `Proxy-Authorization`. `None` without user and password.
    pub authorization: Option<String>,
}

/// The proxies of HTTP and HTTPS, and the hosts that are connected to directly.
#[derive(Debug, Default)]
pub struct Proxies {
    http: Option<Result<Proxy, String>>,
    https: Option<Result<Proxy, String>>,
    exceptions: Vec<Exception>,
}

/// Hosts that are connected to without a proxy.
#[derive(Debug, PartialEq, Eq)]
enum Exception {
    Everything,
    Address(IpAddr, Option<u16>),
    /// The first bits of addresses.
    Block(IpAddr, u8),
    /// All names below a domain, and the domain if `itself`.
    Domain {
        below: String,
        itself: bool,
        port: Option<u16>,
    },
}

static SYSTEM: LazyLock<Arc<Proxies>> =
    LazyLock::new(|| Arc::new(Proxies::read(|name| std::env::var(name).ok())));

impl Proxies {
    /// Returns the proxies of this process. The environment is read once.
    pub fn system() -> Arc<Self> {
        SYSTEM.clone()
    }

    /// Reads the variables `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in upper or lower case.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| {
            let set = |name: &str| variable(name).filter(|value| !value.is_empty());
            set(name).or_else(|| set(&name.to_ascii_lowercase()))
        };
        let mut http = either("HTTP_PROXY").map(|address| Proxy::parse(&address));
        if http.is_some() && variable("REQUEST_METHOD").is_some_and(|method| !method.is_empty()) {
            // a CGI web server sets this variable from a request header
            http = Some(Err(
                "refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy"
                    .to_owned(),
            ));
        }
        let exceptions = either("NO_PROXY").unwrap_or_default();
        Self {
            http,
            https: either("HTTPS_PROXY").map(|address| Proxy::parse(&address)),
            exceptions: exceptions.split(',').filter_map(Exception::parse).collect(),
        }
    }

    /// Returns one proxy for all servers but those of this machine.
    ///
    /// # Errors
    /// The address is not valid.
    pub fn always(address: &str) -> Result<Self, String> {
        let proxy = Proxy::parse(address)?;
        Ok(Self {
            http: Some(Ok(proxy.clone())),
            https: Some(Ok(proxy)),
            exceptions: Vec::new(),
        })
    }

    /// Returns the proxy for a server, or `None` if the connection is direct.
    ///
    /// # Errors
    /// The address of the proxy is not valid.
    pub fn proxy_for(&self, secure: bool, host: &str, port: u16) -> Result<Option<Proxy>, String> {
        let proxy = if secure { &self.https } else { &self.http };
        let Some(proxy) = proxy else {
            return Ok(None);
        };
        let address: Option<IpAddr> = host.parse().ok();
        let is_local = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        if is_local {
            return Ok(None);
        }
        let host = host.trim().to_ascii_lowercase();
        let mut exceptions = self.exceptions.iter();
        if exceptions.any(|exception| exception.contains(&host, address, port)) {
            return Ok(None);
        }
        proxy.clone().map(Some)
    }
}

impl Proxy {
    /// Reads the address of a proxy: `[http[s]://][user[:password]@]host[:port]`.
    ///
    /// # Errors
    /// The address is not valid. The message has no user and password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("invalid proxy address {:?}", without_user(text));
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            other => return Err(format!("unsupported proxy scheme {other:?}")),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = match rest.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, rest),
        };
        let uri: Uri = format!("http://{authority}/")
            .parse()
            .map_err(|_| invalid())?;
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(invalid)?;
        let authorization = user.map(|user| {
            let user = decoded(user);
            let colon = if user.contains(&b':') { "" } else { ":" };
            let credentials = [user.as_slice(), colon.as_bytes()].concat();
            format!("Basic {}", STANDARD.encode(credentials))
        });
        let port = match authority.get(host.len()..).unwrap_or_default() {
            "" | ":" => None,
            port => {
                let port = port.strip_prefix(':').and_then(|port| port.parse().ok());
                Some(port.ok_or_else(invalid)?)
            }
        };
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: port.unwrap_or(if is_secure { 443 } else { 80 }),
            is_secure,
            authorization,
        })
    }
}

impl Proxy {
    /// Returns the address of the proxy without user and password.
    pub fn address(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        if self.host.contains(':') {
            format!("{scheme}://[{}]:{}", self.host, self.port)
        } else {
            format!("{scheme}://{}:{}", self.host, self.port)
        }
    }

    /// Sends `CONNECT` and returns the connection, which then leads to the server.
    pub(crate) async fn tunnel(
        &self,
        mut stream: Box<dyn Duplex>,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn Duplex>, String> {
        let server = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        let authorization = self.authorization.as_ref();
        let authorization = authorization.map(|value| format!("Proxy-Authorization: {value}\r\n"));
        let request = format!(
            "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n{}\r\n",
            authorization.unwrap_or_default()
        );
        let error_text = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "unexpected EOF".to_owned(),
            _ => errno::text(&error),
        };
        stream
            .write_all(request.as_bytes())
            .await
            .map_err(error_text)?;
        stream.flush().await.map_err(error_text)?;
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            if response.len() >= CONNECT_RESPONSE_BYTES {
                return Err("the response of the proxy is too long".to_owned());
            }
            // bytes after the response belong to the server
            response.push(stream.read_u8().await.map_err(error_text)?);
        }
        let line = response.split(|byte| *byte == b'\r').next();
        let line = String::from_utf8_lossy(line.unwrap_or_default());
        let mut parts = line.splitn(3, ' ');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(version), Some("200"), _) if version.starts_with("HTTP/1.") => Ok(stream),
            (Some(version), Some(status), reason) if version.starts_with("HTTP/1.") => {
                Err(reason.unwrap_or(status).to_owned())
            }
            _ => Err(format!("malformed HTTP response {line:?}")),
        }
    }
}

/// Returns an address without user and password.
fn without_user(text: &str) -> String {
    match text.rsplit_once('@') {
        None => text.to_owned(),
        Some((before, host)) => match before.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://{host}"),
            None => host.to_owned(),
        },
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (&self.host, self.port);
        write!(f, "Proxy({host}:{port})")
    }
}

/// Returns a text without percent escapes.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let mut digit = || char::from(ahead.next()?).to_digit(16);
        let escaped = digit()
            .zip(digit())
            .and_then(|(a, b)| u8::try_from(a * 16 + b).ok());
        match escaped.filter(|_| byte == b'%') {
            Some(escaped) => {
                decoded.push(escaped);
                bytes = ahead;
            }
            None => decoded.push(byte),
        }
    }
    decoded
}

impl Exception {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Self::Everything);
        }
        if let Some((address, bits)) = text.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse::<u8>())
            && bits <= if address.is_ipv4() { 32 } else { 128 }
        {
            return Some(Self::Block(address, bits));
        }
        let (host, port) = match text.rsplit_once(':') {
            // an address with colons has its port after brackets
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, port.parse().ok())
            }
            _ => (&*text, None),
        };
        let host = host.trim_matches(['[', ']']);
        if host.is_empty() {
            return None;
        }
        if let Ok(address) = host.parse() {
            return Some(Self::Address(address, port));
        }
        let host = host
            .strip_prefix('*')
            .filter(|rest| rest.starts_with('.'))
            .unwrap_or(host);
        let itself = !host.starts_with('.');
        let suffix = if itself {
            format!(".{host}")
        } else {
            host.to_owned()
        };
        Some(Self::Domain {
            below: suffix,
            itself,
            port,
        })
    }

    fn contains(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        let is_port = |expected: &Option<u16>| expected.is_none_or(|expected| expected == port);
        match self {
            Self::Everything => true,
            Self::Address(expected, port) => address == Some(*expected) && is_port(port),
            Self::Block(block, bits) => {
                address.is_some_and(|address| is_in_block(address, *block, *bits))
            }
            Self::Domain {
                below: suffix,
                itself,
                port,
            } => {
                (host.ends_with(suffix) || *itself && suffix.strip_prefix('.') == Some(host))
                    && is_port(port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        Proxies::read(|name| {
            let mut remaining = variables.iter();
            remaining
                .find(|(variable_name, _)| *variable_name == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn proxy_of_url(proxies: &Proxies, url: &str) -> String {
        let uri: Uri = url.parse().unwrap();
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let host = uri.host().unwrap().trim_matches(['[', ']']);
        match proxies.proxy_for(secure, host, port) {
            Ok(None) => "direct".to_owned(),
            Ok(Some(proxy)) => format!("{}:{}", proxy.host, proxy.port),
            Err(problem) => problem,
        }
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both_schemes = proxies(&[("HTTP_PROXY", "http://p:8080"), ("https_proxy", "q")]);
        assert_eq!(proxy_of_url(&both_schemes, "http://a.test/"), "p:8080");
        assert_eq!(proxy_of_url(&both_schemes, "https://a.test/"), "q:80");
        assert_eq!(proxy_of_url(&both_schemes, "http://localhost/"), "direct");
        assert_eq!(proxy_of_url(&both_schemes, "http://127.0.0.9/"), "direct");
        assert_eq!(proxy_of_url(&both_schemes, "http://[::1]/"), "direct");
        let none = proxies(&[("HTTP_PROXY", "")]);
        assert_eq!(proxy_of_url(&none, "http://a.test/"), "direct");
        let capitals = proxies(&[("HTTP_PROXY", "a"), ("http_proxy", "b")]);
        assert_eq!(proxy_of_url(&capitals, "http://a.test/"), "a:80");
    }

    #[test]
    fn some_servers_need_no_proxy() {
        let not = |list: &str| proxies(&[("HTTP_PROXY", "p"), ("NO_PROXY", list)]);
        for (list, url, expected) in [
            ("*", "http://a.test/", "direct"),
            ("a.test", "http://a.test/", "direct"),
            ("A.Test", "http://b.a.test/", "direct"),
            ("a.test", "http://ba.test/", "p:80"),
            (".a.test", "http://a.test/", "p:80"),
            (".a.test", "http://b.a.test/", "direct"),
            ("*.a.test", "http://b.a.test/", "direct"),
            ("*.a.test", "http://a.test/", "p:80"),
            ("a.test:81", "http://a.test/", "p:80"),
            (" x , a.test:80 ", "http://a.test/", "direct"),
            ("10.0.0.1", "http://10.0.0.1/", "direct"),
            ("10.0.0.1:81", "http://10.0.0.1/", "p:80"),
            ("10.0.0.0/8", "http://10.9.9.9/", "direct"),
            ("10.0.0.0/8", "http://11.0.0.1/", "p:80"),
            ("0.0.0.0/0", "http://11.0.0.1/", "direct"),
            ("10.0.0.0/8", "http://a.test/", "p:80"),
            ("2001:db8::/32", "http://[2001:db8::1]/", "direct"),
            ("[2001:db8::1]:80", "http://[2001:db8::1]/", "direct"),
            ("2001:db8::1", "http://[2001:db8::1]/", "direct"),
            ("10.0.0.0/99", "http://10.0.0.0/", "p:80"),
            (",,:80,", "http://a.test/", "p:80"),
        ] {
            assert_eq!(proxy_of_url(&not(list), url), expected, "{list} {url}");
        }
    }

    #[test]
    fn addresses_of_proxies_may_be_wrong() {
        let proxy_for_address =
            |address: &str| proxy_of_url(&proxies(&[("HTTP_PROXY", address)]), "http://a.test/");
        assert_eq!(
            proxy_for_address("socks5://p"),
            "unsupported proxy scheme \"socks5\""
        );
        assert_eq!(
            proxy_for_address("http://"),
            "invalid proxy address \"http://\""
        );
        assert_eq!(proxy_for_address("p:x"), "invalid proxy address \"p:x\"");
        assert_eq!(proxy_for_address("https://p"), "p:443");
        assert_eq!(proxy_for_address("http://[::1]:3/x?y"), "::1:3");
        let in_cgi = proxies(&[("HTTP_PROXY", "p"), ("REQUEST_METHOD", "GET")]);
        assert!(proxy_of_url(&in_cgi, "http://a.test/").starts_with("refusing to use HTTP_PROXY"));
    }

    #[test]
    fn proxies_receive_credentials() {
        let proxy = |address: &str| Proxy::parse(address).unwrap().authorization;
        assert_eq!(proxy("p"), None);
        assert_eq!(proxy("http://u:p%40@p").as_deref(), Some("Basic dTpwQA=="));
        assert_eq!(proxy("http://u@p").as_deref(), Some("Basic dTo="));
    }
}
