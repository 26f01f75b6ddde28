//! Who can reach a server: the check of hosts, and warnings about what is open.

use std::io;
use std::sync::Arc;

use tracing::warn;

use crate::config::{Authentication, Authorization, ServerOptions};
use crate::net::{Address, AllowedHosts, Listener, NamedHost};

/// Enables the check of the `Host` header on listeners without authentication. Web pages cannot connect to Unix sockets, so these
/// are not checked.
pub fn restrict_hosts(listeners: &mut [Listener], options: &ServerOptions) -> io::Result<()> {
    if options.authentication != Authentication::Off {
        return Ok(());
    }
    let named_hosts = options.allowed_hosts.iter();
    let named_hosts: Result<Vec<_>, _> = named_hosts.map(|host| NamedHost::parse(host)).collect();
    let named_hosts =
        named_hosts.map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))?;
    let all = options
        .addresses
        .iter()
        .chain(&options.diagnostic_addresses);
    let all: Vec<_> = all.map(|text| Address::parse(text)).collect();
    let hosts = Arc::new(AllowedHosts::new(&named_hosts, all.iter()));
    for listener in listeners {
        let is_unix = listener.is_unix();
        if named_hosts.is_empty() && listener.is_wildcard() {
            warn!(
                addr = listener.address(),
                "Requests may name any host, so that web pages reach the server by DNS rebinding: see --allowed-host."
            );
        } else if !is_unix {
            listener.hosts = Some(hosts.clone());
        }
    }
    Ok(())
}

/// Logs warnings about insecure options.
pub fn warn_of_openness(options: &ServerOptions) {
    let is_open = options
        .addresses
        .iter()
        .any(|text| !Address::parse(text).is_local());
    if options.authentication == Authentication::Off && is_open {
        warn!(
            "The server listens on addresses that other machines reach, without authentication: see --authentication and --authorization."
        );
    }
    if options.authentication == Authentication::Token
        && options.authorization == Authorization::Off
    {
        warn!(
            "Token authentication is enabled without authorization: every request is admitted, with and without a token."
        );
    }
    if options.authentication == Authentication::Token && options.tls.is_none() && is_open {
        warn!("Tokens are sent without encryption: see --tls-cert-file.");
    }
}
