//! A restricted version of the system for policies.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::IpAddr;
#[cfg(feature = "http")]
use std::sync::Arc;

use solon::Value;
use solon::host::{
    Host, HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait, runtime_of,
};

use crate::SystemHost;
#[cfg(feature = "http")]
use crate::http;
#[cfg(feature = "http")]
use solon_outbound::NetworkRules;

/// Variables that the engine itself reads: `HTTP_SEND_TIMEOUT` is the default timeout of `http.send`.
const ENGINE_VARIABLES: [&str; 1] = ["HTTP_SEND_TIMEOUT"];

/// [`SystemHost`] with restrictions, for policies that serve untrusted callers.
///
/// Without restrictions it behaves like [`SystemHost`].
///
/// ```
/// use std::sync::Arc;
/// use solon::Engine;
/// use solon_host::RestrictedHost;
///
/// let host = RestrictedHost::new().expose_variables(["REGION"]);
/// let engine = Engine::builder().host(Arc::new(host)).build();
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestrictedHost {
    /// Names of the variables that policies may read; `None` for all.
    variables: Option<BTreeSet<String>>,
    #[cfg(feature = "http")]
    networks: Arc<NetworkRules>,
}

impl RestrictedHost {
    /// Returns the system without restrictions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows policies to read only these environment variables. It applies to `opa.runtime().env` and to the fields
    /// `tls_*_env_variable` of `http.send`. Any other variable reads as unset, and files below `/proc` are denied.
    #[must_use]
    pub fn expose_variables<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.variables = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Rejects requests of `http.send` that would connect to an address outside of the public internet: loopback, link-local and
    /// private networks, metadata services of clouds, multicast, other reserved blocks, and IPv6 addresses that embed one of
    /// these. Unix sockets are denied as well.
    ///
    /// The address of each connection is checked after the name was resolved, also for redirects and for a proxy. A proxy
    /// resolves the names of its targets itself, so that it must make this check, too. For requests over a proxy, only targets
    /// that a URL names by address are checked here.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn deny_private_networks(mut self) -> Self {
        self.networks = Arc::new(NetworkRules::unrestricted().deny_metadata().deny_private());
        self
    }

    /// Sets the network rules for requests of `http.send`, instead of those of [`Self::deny_private_networks`].
    ///
    /// ```
    /// use solon_host::{NetworkRules, RestrictedHost};
    ///
    /// // metadata services of clouds give credentials to every program of the machine
    /// let host = RestrictedHost::new().networks(NetworkRules::unrestricted().deny_metadata());
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    pub fn networks(mut self, rules: NetworkRules) -> Self {
        self.networks = Arc::new(rules);
        self
    }
}

impl Host for RestrictedHost {
    fn now_ns(&self) -> i64 {
        SystemHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        SystemHost.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        let Some(names) = &self.variables else {
            return SystemHost.runtime();
        };
        runtime_of(names.iter().filter_map(|name| {
            let value = std::env::var_os(name)?;
            Some((name.clone(), value.to_string_lossy().into_owned()))
        }))
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        SystemHost.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        #[cfg(feature = "http")]
        return http::send(request, &self.networks, wait);
        #[cfg(not(feature = "http"))]
        SystemHost.send(request, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let names = self.variables.as_ref();
        let is_exposed = names.is_none_or(|names| names.contains(name));
        (is_exposed || ENGINE_VARIABLES.contains(&name))
            .then(|| SystemHost.variable(name))
            .flatten()
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        // `/proc` has a file with the environment of each process
        let real = std::fs::canonicalize(path);
        if self.variables.is_some() && real.is_ok_and(|real| real.starts_with("/proc")) {
            return Err(HostError::new(
                ErrorKind::PermissionDenied,
                "permission denied",
            ));
        }
        SystemHost.file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_read_exposed_variables_only() {
        let env = |host: &RestrictedHost| {
            let mut text = Vec::new();
            solon::json::write(host.runtime().borrow(), &mut text);
            let runtime: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            runtime["env"].clone()
        };
        let path = SystemHost.variable("PATH");
        let host = RestrictedHost::new();
        assert_eq!(env(&host)["PATH"].as_str(), path.as_deref());
        assert_eq!(host.variable("PATH"), path);
        let host = RestrictedHost::new().expose_variables(["PATH", "SOLON_NO_SUCH_VARIABLE"]);
        assert_eq!(env(&host), serde_json::json!({"PATH": path}));
        assert_eq!(host.variable("PATH"), path);
        assert_eq!(host.variable("CARGO_MANIFEST_DIR"), None);
        let host = RestrictedHost::new().expose_variables::<&str>([]);
        assert_eq!(env(&host), serde_json::json!({}));
        assert_eq!(host.variable("PATH"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_of_the_environment_is_denied_as_well() {
        let link = std::env::temp_dir().join(format!("solon-environ-{}", std::process::id()));
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        let link_path = link.to_str().unwrap();
        let restricted = RestrictedHost::new().expose_variables(["PATH"]);
        for path in [
            "/proc/self/environ",
            "/proc/thread-self/environ",
            "/proc/../proc/self/environ",
            link_path,
        ] {
            let result = RestrictedHost::new().file(path);
            assert!(result.is_ok_and(|text| !text.is_empty()), "{path}");
            assert_eq!(
                restricted.file(path),
                Err(HostError::new(
                    ErrorKind::PermissionDenied,
                    "permission denied"
                )),
                "{path}"
            );
        }
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(restricted.file(manifest).is_ok());
        std::fs::remove_file(link).unwrap();
    }
}
