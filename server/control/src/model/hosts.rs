//! Hosts that may receive a secret, and the hosts that items send secrets to.

/// The destination of a secret: a host in lower case, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The host, without brackets and a final dot.
    pub host: String,
    port: u16,
    default_port: u16,
}

/// A host of `allowed_hosts`: `example.com`, `*.example.com`, `example.com:8443`, `[::1]:8443`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedHost {
    host: String,
    /// Matches the names below the host instead of the host.
    is_wildcard: bool,
    /// The port, or `None` for only the default port of the protocol.
    port: Option<u16>,
}

impl Address {
    /// Returns the destination of a request for an address, or `None` if it is ambiguous.
    pub(super) fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let default_port = match scheme.to_ascii_lowercase().as_str() {
            "https" => 443,
            "http" => 80,
            "ssh" => 22,
            "git" => 9418,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let (host, port) = split_port(after_user(authority)?)?;
        Some(Self {
            host: host_name(host)?,
            port: port.unwrap_or(default_port),
            default_port,
        })
    }

    /// Returns the destination of the requests for a repository: a URL, or `user@host:path` of ssh.
    pub(super) fn of_repository(address: &str) -> Option<Self> {
        if address.contains("://") {
            return Self::of_url(address);
        }
        let (user_and_host, _) = address.split_once(':')?;
        Some(Self {
            host: host_name(after_user(user_and_host)?)?,
            port: 22,
            default_port: 22,
        })
    }

    /// Returns the host of S3 or of a compatible service. Clients may use bucket names as subdomains of it.
    pub(super) fn of_s3(endpoint: &str, region: &str) -> Option<Self> {
        let region = if region.is_empty() {
            "us-east-1"
        } else {
            region
        };
        match endpoint {
            "" => Self::of_service(&format!("s3.{region}.amazonaws.com")),
            endpoint => Self::of_url(endpoint),
        }
    }

    /// Returns the host of a service that is accessed by HTTPS.
    pub(super) fn of_service(host: &str) -> Option<Self> {
        Some(Self {
            host: host_name(host)?,
            port: 443,
            default_port: 443,
        })
    }

    /// Returns `true` if a list of hosts includes this one. An empty list includes none.
    pub fn is_in(&self, allowed_hosts: &[String]) -> bool {
        let allowed = allowed_hosts
            .iter()
            .filter_map(|host| AllowedHost::read(host).ok());
        allowed.into_iter().any(|allowed| allowed.includes(self))
    }
}

impl AllowedHost {
    fn read(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str =
            "must be a host such as `example.com`, `*.example.com` or `example.com:8443`";
        let (is_wildcard, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = split_port(rest).ok_or(EXPECTED)?;
        let is_bracketed = rest.starts_with('[');
        let host = host_name(host).ok_or(EXPECTED)?;
        if is_wildcard && (is_bracketed || !host.contains('.')) {
            return Err("must have at least two labels after `*.`");
        }
        Ok(Self {
            host,
            is_wildcard,
            port,
        })
    }

    fn includes(&self, address: &Address) -> bool {
        let is_host = if self.is_wildcard {
            let subdomain = address.host.strip_suffix(self.host.as_str());
            subdomain.is_some_and(|subdomain| subdomain.len() > 1 && subdomain.ends_with('.'))
        } else {
            address.host == self.host
        };
        is_host && address.port == self.port.unwrap_or(address.default_port)
    }
}

/// Checks a host of `allowed_hosts`.
///
/// # Errors
/// A message with the expected syntax.
pub(super) fn check_allowed_host(text: &str) -> Result<(), &'static str> {
    AllowedHost::read(text).map(drop)
}

/// Returns the text after `user@`, or `None` if clients may disagree about the host.
fn after_user(authority: &str) -> Option<&str> {
    match authority.split_once('@') {
        None => Some(authority),
        Some((user, host)) => {
            let is_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%+:".contains(&byte);
            user.bytes().all(is_user).then_some(host)
        }
    }
}

/// Splits `host:port` and `[address]:port`. Returns `None` if a part is not valid.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after_host) = rest.split_once(']')?;
            if !host.contains(':') {
                return None;
            }
            match after_host {
                "" => (host, None),
                after_host => (host, Some(after_host.strip_prefix(':')?)),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let Some(port) = port else {
        return Some((host, None));
    };
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|port| *port != 0 && is_number)?;
    Some((host, Some(port)))
}

/// Returns the canonical spelling of a host, or `None` if clients may parse it in several ways.
fn host_name(text: &str) -> Option<String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
        return Some(address.to_string());
    }
    let is_label = |label: &str| {
        let mut bytes = label.bytes();
        !label.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let is_host = text.len() <= 253 && text.split('.').all(is_label);
    is_host.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{Address, check_allowed_host};

    #[test]
    fn hosts_are_included_by_name_and_port() {
        let allowed = [
            "api.example.com",
            "*.Example.org:8443",
            "[::1]:9000",
            "10.0.0.1",
        ]
        .map(str::to_owned);
        let is_in = |address: Option<Address>| {
            address.is_some_and(|address_in_test| address_in_test.is_in(&allowed))
        };
        for url in [
            "https://api.example.com/x",
            "https://API.example.COM./x",
            "https://api.example.com:443",
            "http://api.example.com?x",
            "https://a.example.org:8443",
            "https://a.b.example.org:8443/",
            "https://[::1]:9000/x",
            "https://[0:0:0:0:0:0:0:1]:9000/x",
            "https://10.0.0.1",
            "ssh://git@api.example.com/x",
        ] {
            assert!(is_in(Address::of_url(url)), "{url}");
        }
        for url in [
            "https://evil.com/api.example.com",
            "https://api.example.com.evil.com",
            "https://xapi.example.com",
            "https://example.com",
            "https://example.org:8443",
            "https://.example.org:8443",
            "https://xexample.org:8443",
            "https://a.example.org",
            "https://api.example.com:8443",
            "https://api.example.com:",
            "https://api.example.com:x",
            "https://api.example.com@evil.com",
            "https://evil.com#@api.example.com",
            "https://evil.com?@api.example.com",
            "https://evil.com\\@api.example.com",
            "https://api.example.com\\.evil.com",
            "https://api.example.com%2eevil.com",
            "https://api.ex\u{430}mple.com",
            "https://167772161",
            "https://[::1]",
            "ftp://api.example.com",
            "https://",
            "api.example.com",
        ] {
            assert!(!is_in(Address::of_url(url)), "{url}");
        }
        assert!(is_in(Address::of_repository(
            "git@api.example.com:org/repo"
        )));
        for repository in [
            "git@evil.com:api.example.com/repo",
            "api.example.com@evil.com:x",
            "ssh://git@api.example.com:2222/x",
            "/srv/repo",
            "file:///api.example.com",
        ] {
            assert!(!is_in(Address::of_repository(repository)), "{repository}");
        }
        assert!(!Address::of_service("api.example.com").unwrap().is_in(&[]));
    }

    #[test]
    fn lists_contain_only_hosts() {
        for text in [
            "h",
            "a.b",
            "*.a.b",
            "a.b:1",
            "*.a.b:65535",
            "[::1]",
            "[::1]:1",
            "10.0.0.1",
            "a_b.c",
        ] {
            assert_eq!(check_allowed_host(text), Ok(()), "{text}");
        }
        for text in [
            "",
            "*",
            "*.",
            "*.com",
            "a.*",
            "*a.b",
            "https://a.b",
            "a.b/",
            "a.b/c",
            "u@a.b",
            "a b",
            "a.b:",
            "a.b:0",
            "a.b:65536",
            "a.b:x",
            "::1",
            "[a.b]",
            "*.[::1]",
            "..",
            "a..b",
            "\u{e4}.b",
            "a.b:+1",
        ] {
            assert!(check_allowed_host(text).is_err(), "{text}");
        }
    }
}
