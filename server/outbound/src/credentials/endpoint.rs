//! Requests to servers that issue credentials: token endpoints and metadata services.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Method, Request, Uri};
use serde::de::DeserializeOwned;

use crate::config::Secret;
use crate::error::{Error, ErrorKind};
use crate::transport::Transport;

/// Maximum time until the end of a response.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size, in bytes, of a response.
const MAX_BODY: usize = 1 << 20;

/// Resources that credentials need in addition to their own configuration.
#[derive(Clone)]
pub struct Sources {
    /// Connections with the proxy of the service. They accept any certificate if those to the service do.
    pub service: Transport,
    /// Connections with the proxy of the service, to servers with a certificate of a known authority.
    pub verified: Transport,
    /// Connections without a proxy, to metadata services of the machine: a proxy would read the credentials.
    pub direct: Transport,
    /// Reads a variable of the environment.
    pub environment: Environment,
}

/// The variables of the environment, read on each look-up.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

/// Looks up an environment variable; `None` if it is not set.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// Returns the variables that a function reads. It is called for each look-up.
    pub fn new(read_variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read_variable))
    }

    /// Returns the value of a variable. An empty value counts as unset.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0(name).filter(|value| !value.is_empty())
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sources")
    }
}

/// Creates an error of the kind [`ErrorKind::Credentials`].
pub fn failed(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::Credentials, text)
}

/// Returns a request to an absolute URL, without headers.
///
/// # Errors
/// The URL is not valid. The message does not contain it.
pub fn request(method: Method, url: &str, body: impl Into<Bytes>) -> Result<Request<Bytes>, Error> {
    let url: Uri = url
        .parse()
        .map_err(|_| failed("invalid URL of an endpoint"))?;
    let mut request = Request::new(body.into());
    *request.method_mut() = method;
    *request.uri_mut() = url;
    Ok(request)
}

/// Sets a header and marks its value as sensitive, so that debug output omits it.
///
/// # Errors
/// The name or the value is not valid. The message does not contain the value.
pub fn add_header(request: &mut Request<Bytes>, name: &str, value: &str) -> Result<(), Error> {
    let name = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| failed(format!("`{name}` is not a valid name of a header")))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| failed(format!("the value of `{name}` is not valid in a header")))?;
    value.set_sensitive(true);
    request.headers_mut().insert(name, value);
    Ok(())
}

/// Returns a `POST` of form parameters.
///
/// # Errors
/// The URL is not valid.
pub fn form(url: &str, parameters: &[(&str, &str)]) -> Result<Request<Bytes>, Error> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(parameters);
    let mut request = request(Method::POST, url, body.finish())?;
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(request)
}

/// Sends a request and returns the body of the response. Redirects are not followed because the request contains
/// credentials.
///
/// # Errors
/// No response arrives in time, or its status is not a success. `name` identifies the server in the message.
pub async fn fetch(
    name: &str,
    transport: &Transport,
    request: Request<Bytes>,
) -> Result<Bytes, Error> {
    let exchange = async {
        let response = transport.send(request).await?;
        let status = response.status();
        let body = response.into_body().read_bounded(MAX_BODY).await?;
        Ok::<_, Error>((status, body))
    };
    let exchange = tokio::time::timeout(TIMEOUT, exchange).await;
    let exchange = exchange.map_err(|_| {
        failed(format!(
            "{name}: no response within {} seconds",
            TIMEOUT.as_secs()
        ))
    })?;
    let (status, body) = exchange.map_err(|error| failed(format!("{name}: {error}")))?;
    if status.is_success() {
        return Ok(body);
    }
    // OAuth 2.0 reports the reason in two members; other bodies could repeat the request
    let reason = serde_json::from_slice::<Reason>(&body).unwrap_or_default();
    let reason = [reason.error, reason.error_description];
    let reason: Vec<String> = reason.into_iter().flatten().collect();
    let reason = if reason.is_empty() {
        String::new()
    } else {
        format!(": {}", reason.join(": "))
    };
    Err(failed(format!(
        "{name}: server replied with {status}{reason}"
    )))
}

#[derive(Default, serde::Deserialize)]
struct Reason {
    error: Option<String>,
    error_description: Option<String>,
}

/// Reads the JSON of a response.
///
/// # Errors
/// The response is not as expected. The message does not contain the response.
pub fn parsed<T: DeserializeOwned>(name: &str, body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        failed(format!(
            "{name}: invalid response at line {line}, column {column}"
        ))
    })
}

/// Reads a text of a response.
///
/// # Errors
/// The value is empty, or not valid UTF-8.
pub fn text(name: &str, body: &[u8]) -> Result<Secret, Error> {
    match std::str::from_utf8(body).map(str::trim) {
        Ok("") => Err(failed(format!("{name}: empty response"))),
        Ok(text) => Ok(text.into()),
        Err(_) => Err(failed(format!("{name}: response is not UTF-8"))),
    }
}
