//! The host environment of a server's policies.

use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use solon::Value;
use solon::host::{Host, HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon_host::RestrictedHost;

use crate::telemetry::ClientSpan;

/// A host that uses the system's clock, random source, resolver and HTTP client. Its `opa.runtime()` also contains the configuration.
pub struct ServerHost {
    system: RestrictedHost,
    runtime: ArcSwap<Value>,
    is_authorized: bool,
}

impl ServerHost {
    /// Returns the host of a server with this configuration, which must be without secrets.
    pub fn new(system: RestrictedHost, config: Value, is_authorized: bool) -> Self {
        let runtime = runtime(&system, config, is_authorized);
        Self {
            system,
            runtime: ArcSwap::from_pointee(runtime),
            is_authorized,
        }
    }

    /// Replaces the configuration that `opa.runtime()` returns. Running evaluations keep the earlier one.
    pub fn configure(&self, config: Value) {
        let runtime = runtime(&self.system, config, self.is_authorized);
        self.runtime.store(Arc::new(runtime));
    }
}

/// Returns the value of `opa.runtime()`: that of the system with the configuration.
fn runtime(system: &RestrictedHost, config: Value, is_authorized: bool) -> Value {
    let runtime = system.runtime();
    let fields = runtime
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter());
    let mut fields: Vec<(Value, Value)> = fields
        .filter(|(name, _)| name.as_str() != Some("authorization_enabled"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    fields.push(("authorization_enabled".into(), is_authorized.into()));
    fields.push(("config".into(), config));
    Value::object(fields)
}

impl Host for ServerHost {
    fn now_ns(&self) -> i64 {
        self.system.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        self.system.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        Value::clone(&self.runtime.load())
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        self.system.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let Some(span) = ClientSpan::begin(&request.method, &request.url) else {
            return self.system.send(request, wait);
        };
        let mut request = request.clone();
        for (name, value) in span.headers() {
            request
                .headers
                .retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
            request.headers.push((name, value.into_bytes()));
        }
        let result = self.system.send(&request, wait);
        match &result {
            Ok(response) => span.responded(response.status),
            Err(error) => span.failed(&error.message),
        }
        result
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.system.variable(name)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.system.file(path)
    }
}
