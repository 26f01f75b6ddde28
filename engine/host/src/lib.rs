//! The real effects behind [`solon::Host`]: the system's clock, its random source, its resolver, and a client of HTTP.
//!
//! Feature `http`, on unless left out, holds the client; without it `http.send` fails and no network code is linked.

mod errno;
mod files;
#[cfg(feature = "http")]
mod http;
mod resolver;

pub use errno::text as error_text;
pub use files::SystemFiles;

use std::net::IpAddr;
use std::sync::LazyLock;

use solon::host::{LookupError, OfflineHost, Wait, runtime_of};
use solon::{Host, Value};

/// The environment as it was when a policy first asked for it: a program's own does not change from outside.
static RUNTIME: LazyLock<Value> = LazyLock::new(|| {
    runtime_of(std::env::vars_os().map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into_owned(),
        )
    }))
});

/// The system that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now_ns(&self) -> i64 {
        OfflineHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), String> {
        OfflineHost.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        RUNTIME.clone()
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        resolver::addresses(name, wait)
    }

    #[cfg(not(feature = "http"))]
    fn send(
        &self,
        _: &solon::host::HttpRequest,
        _: &Wait<'_>,
    ) -> Result<solon::host::HttpResponse, solon::host::HttpError> {
        let why = "`solon_host` was built without its feature `http`";
        Err(solon::host::HttpError::new(
            solon::host::HttpErrorKind::NoNetwork,
            why,
        ))
    }

    #[cfg(feature = "http")]
    fn send(
        &self,
        request: &solon::host::HttpRequest,
        wait: &Wait<'_>,
    ) -> Result<solon::host::HttpResponse, solon::host::HttpError> {
        http::send(request, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(path).map_err(|error| errno::text(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_and_random_bytes_differ() {
        let host = SystemHost;
        assert!(host.now_ns() > 1_700_000_000_000_000_000);
        let (mut a, mut b) = ([0; 32], [0; 32]);
        host.fill_random(&mut a).unwrap();
        host.fill_random(&mut b).unwrap();
        assert_ne!(a, b);
    }

    #[test]
    fn files_and_variables_are_those_of_the_system() {
        let host = SystemHost;
        let path = host.variable("PATH");
        assert!(path.is_some());
        let mut told = Vec::new();
        solon::json::write(host.runtime().borrow(), &mut told);
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap_or_default();
        assert_eq!(told["env"]["PATH"].as_str(), path.as_deref());
        assert_eq!(
            host.file("/no/such/file"),
            Err("no such file or directory".to_owned())
        );
    }

    #[test]
    fn names_have_addresses_or_none() {
        let host = SystemHost;
        let found = host.addresses("localhost", &Wait::default());
        assert!(found.is_ok_and(|found| found.iter().all(IpAddr::is_loopback)));
        let missing = host.addresses("no-such-name.invalid", &Wait::default());
        assert!(
            matches!(missing, Err(LookupError::Failed(_))),
            "{missing:?}"
        );
    }
}
