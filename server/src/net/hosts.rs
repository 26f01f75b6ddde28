//! Hosts that requests may name. Web pages could otherwise access a server without authentication by DNS rebinding: if the name of
//! a page resolves to the server's address, the browser treats both as one origin.

use std::net::IpAddr;
use std::sync::OnceLock;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

use super::listen::Address;

/// Hosts that requests on a listener may name.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    hosts: Vec<NamedHost>,
}

/// A name in a request that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignName {
    /// Host of the request; empty if it has none.
    Host(String),
    /// Origin of the web page that sent the request.
    Origin(String),
}

/// A host, and the only allowed port, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHost {
    host: Host,
    port: Option<u16>,
}

/// A host in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    /// In lower case, without a trailing dot.
    Name(String),
}

impl NamedHost {
    /// Parses `name`, `name:port`, `192.0.2.1`, `[2001:db8::1]:port`; without a port also `2001:db8::1`.
    ///
    /// # Errors
    /// Returns the expected format.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self {
                host: Host::Address(address.to_canonical()),
                port: None,
            });
        }
        parse(text).ok_or_else(|| {
            format!(
                "invalid host `{text}`: expected a host name or an IP address, perhaps with a port"
            )
        })
    }

    fn allows(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

impl AllowedHosts {
    /// Allows the hosts of the configuration, and the addresses that the server listens on. `localhost` and loopback addresses are
    /// always allowed.
    pub fn new<'a>(allowed: &[NamedHost], listens_on: impl Iterator<Item = &'a Address>) -> Self {
        let listener_hosts = listens_on.filter_map(|address| match address {
            Address::Tcp(host_and_port, _) => parse(host_and_port),
            Address::Unix(_) => None,
        });
        let listener_hosts = listener_hosts.filter(|listener_hosts| match &listener_hosts.host {
            Host::Address(address) => !address.is_unspecified(),
            Host::Name(_) => true,
        });
        let listener_hosts = listener_hosts.map(|listener_hosts| NamedHost {
            port: None,
            ..listener_hosts
        });
        Self {
            hosts: allowed.iter().cloned().chain(listener_hosts).collect(),
        }
    }

    /// Rejects a request that names another host in its target, in `Host` or in `Origin`. `local` is the address that the client
    /// has connected to. `accepted` is a host that was accepted on the same connection; the first one is stored there.
    ///
    /// # Errors
    /// Returns the rejected host.
    pub fn check(
        &self,
        target: &Uri,
        headers: &HeaderMap,
        local: Option<IpAddr>,
        accepted: &OnceLock<Box<str>>,
    ) -> Result<(), ForeignName> {
        let authority = target.authority().map(|authority| {
            // the part before `@` does not belong to the host
            let text = authority.as_str();
            text.rsplit_once('@').map_or(text, |(_, host)| host)
        });
        let header = headers.get(HOST).map(|host| host.to_str().unwrap_or(""));
        if authority.is_none() && header.is_none() {
            return Err(ForeignName::Host(String::new()));
        }
        for text in [authority, header].into_iter().flatten() {
            if accepted.get().is_some_and(|accepted| **accepted == *text) {
                continue;
            }
            if !self.allows(local, text) {
                return Err(ForeignName::Host(text.to_owned()));
            }
            // a client that changes hosts is checked each time
            let _ = accepted.set(text.into());
        }
        self.check_origin(headers, local)
    }

    fn check_origin(&self, headers: &HeaderMap, local: Option<IpAddr>) -> Result<(), ForeignName> {
        for origin in headers.get_all(ORIGIN) {
            let text = String::from_utf8_lossy(origin.as_bytes());
            let host = text.split_once("://").map(|(_, host)| host);
            if !host.is_some_and(|host| self.allows(local, host)) {
                return Err(ForeignName::Origin(text.into_owned()));
            }
        }
        Ok(())
    }

    fn allows(&self, local: Option<IpAddr>, text: &str) -> bool {
        let Some(requested) = parse(text) else {
            return false;
        };
        let is_own = match &requested.host {
            Host::Address(address) => address.is_loopback() || local == Some(*address),
            Host::Name(name) => name == "localhost",
        };
        is_own || self.hosts.iter().any(|host| host.allows(&requested))
    }
}

/// Parses a host with or without a port. IPv6 addresses are in brackets.
fn parse(text: &str) -> Option<NamedHost> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            let address: std::net::Ipv6Addr = address.parse().ok()?;
            (Host::Address(IpAddr::V6(address).to_canonical()), rest)
        }
        None => {
            let end = text.find(':').unwrap_or(text.len());
            let (name, rest) = text.split_at_checked(end)?;
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_of_name) {
                return None;
            }
            let host = match name.parse::<std::net::Ipv4Addr>() {
                Ok(address) => Host::Address(IpAddr::V4(address)),
                Err(_) => Host::Name(name.to_ascii_lowercase()),
            };
            (host, rest)
        }
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        None => return None,
        Some("") => None,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok()?)
        }
        Some(_) => return None,
    };
    Some(NamedHost { host, port })
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use http::header::{HOST, ORIGIN};
    use http::{HeaderMap, Uri};

    use super::{AllowedHosts, ForeignName, NamedHost, parse};

    /// The requests of one connection.
    #[test]
    fn an_accepted_host_allows_no_other_name() {
        let hosts = AllowedHosts {
            hosts: vec![NamedHost::parse("policies.example").unwrap()],
        };
        let accepted = OnceLock::new();
        let check = |target: &str, host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
            headers.extend(origin.map(|origin| (ORIGIN, origin.parse().unwrap())));
            let target: Uri = target.parse().unwrap();
            hosts.check(&target, &headers, None, &accepted)
        };
        let host = |name: &str| Err(ForeignName::Host(name.to_owned()));
        let origin = "http://other.example";
        assert_eq!(check("/", "other.example", None), host("other.example"));
        for _ in 0..2 {
            assert_eq!(check("/", "policies.example:80", None), Ok(()));
            assert_eq!(check("/", "localhost", None), Ok(()));
            assert_eq!(check("/", "other.example", None), host("other.example"));
            assert_eq!(
                check("http://other.example/", "policies.example:80", None),
                host("other.example")
            );
            assert_eq!(
                check("/", "policies.example:80", Some(origin)),
                Err(ForeignName::Origin(origin.to_owned()))
            );
        }
        assert_eq!(
            accepted.get().map(|host| &**host),
            Some("policies.example:80")
        );
    }

    #[test]
    fn hosts_have_one_spelling() {
        let assert_same = |texts: &[&str]| {
            let first = parse(texts[0]).unwrap();
            for text in texts {
                assert_eq!(parse(text).unwrap().host, first.host, "{text}");
            }
        };
        assert_same(&[
            "localhost",
            "LocalHost",
            "localhost.",
            "localhost:1",
            "localhost:",
        ]);
        assert_same(&[
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.",
            "[::ffff:127.0.0.1]",
        ]);
        assert_same(&["[::1]", "[0:0:0:0:0:0:0:1]", "[::1]:8181", "[::1]:"]);
        for text in [
            "",
            ":80",
            ".",
            "::1",
            "[::1",
            "[::1]x",
            "[localhost]",
            "[::1%25lo]",
            "a b",
            "a:b",
            "a:1:2",
            "a:-1",
            "a:65536",
            "a/b",
            "a@b",
            "%6cocalhost",
            "a..:x",
            "a,b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(NamedHost::parse("::1"), NamedHost::parse("[::1]"));
        assert!(NamedHost::parse("http://a").is_err() && NamedHost::parse("*").is_err());
    }
}
