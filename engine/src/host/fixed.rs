//! A host with fixed responses, for tests.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use super::{Host, HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait, runtime_of};
use crate::value::Value;

/// A host with fixed responses, for tests only: its clock never moves, so that expired tokens stay valid, and its
/// random numbers are predictable.
///
/// Lookups and requests without a configured response fail.
///
/// ```
/// use std::sync::Arc;
/// use solon::host::HttpResponse;
/// use solon::{Engine, FixedHost, Request};
///
/// let response = HttpResponse::new(200).reason("OK").body("yes");
/// let host = FixedHost::at_time(0).with_response("GET", "http://h/", Ok(response));
/// let engine = Engine::builder().host(Arc::new(host)).build();
/// let query = engine.prepare_query(
///     r#"http.send({"method": "get", "url": "http://h/"}).raw_body == "yes""#,
/// )?;
/// assert_eq!(query.solutions(&Request::new())?.len(), 1);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FixedHost {
    /// The clock, in nanoseconds since the Unix epoch.
    pub now_ns: i64,
    /// Addresses by name. `localhost` is always known.
    pub addresses: HashMap<String, Vec<IpAddr>>,
    /// Responses by method and URL.
    pub responses: HashMap<(String, String), Result<HttpResponse, HttpError>>,
    /// Environment variables by name.
    pub variables: HashMap<String, String>,
    /// Contents of files by path.
    pub files: HashMap<String, Vec<u8>>,
}

impl FixedHost {
    /// Creates a host with a clock that shows `now_ns`.
    pub fn at_time(now_ns: i64) -> Self {
        Self {
            now_ns,
            ..Self::default()
        }
    }

    /// Adds a response to requests of a method and a URL.
    #[must_use]
    pub fn with_response(
        mut self,
        method: &str,
        url: &str,
        response: Result<HttpResponse, HttpError>,
    ) -> Self {
        self.responses.insert((method.into(), url.into()), response);
        self
    }
}

impl Host for FixedHost {
    fn now_ns(&self) -> i64 {
        self.now_ns
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        for (at, byte) in (0_u8..=255).cycle().zip(buffer) {
            *byte = at;
        }
        Ok(())
    }

    /// Returns an empty object, as without a surrounding program, unless there are environment variables.
    fn runtime(&self) -> Value {
        if self.variables.is_empty() {
            Value::object(Vec::new())
        } else {
            runtime_of(self.variables.clone())
        }
    }

    fn addresses(&self, name: &str, _: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        match self.addresses.get(name) {
            Some(addresses) => Ok(addresses.clone()),
            None if name == "localhost" => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            None => Err(LookupError::Failed("no such host".to_owned())),
        }
    }

    fn send(&self, request: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let key = (request.method.clone(), request.url.clone());
        let response = self.responses.get(&key).cloned();
        response.unwrap_or_else(|| Err(HttpError::network("no response is recorded")))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let file = self.files.get(path).cloned();
        file.ok_or_else(HostError::not_found)
    }
}
