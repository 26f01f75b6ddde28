//! The system, and what policies are told of this server.

use std::net::IpAddr;

use solon::Value;
use solon::host::{Host, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon_host::SystemHost;

/// The system's clock, random source, resolver and HTTP client; `opa.runtime` tells of the configuration, too.
pub struct ServerHost {
    runtime: Value,
}

impl ServerHost {
    /// Tells of a configuration.
    pub fn new(config: Value, is_authorized: bool) -> Self {
        let runtime = SystemHost.runtime();
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
        Self {
            runtime: Value::object(fields),
        }
    }
}

impl Host for ServerHost {
    fn now_ns(&self) -> i64 {
        SystemHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), String> {
        SystemHost.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        self.runtime.clone()
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        SystemHost.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        SystemHost.send(request, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        SystemHost.variable(name)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        SystemHost.file(path)
    }
}
