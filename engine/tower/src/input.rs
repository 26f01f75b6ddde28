//! The input of a policy for a request.

use http::request::Parts;
use percent_encoding::percent_decode_str;
use solon::Value;

/// A request without its body, and the parameters of its route.
#[derive(Debug)]
pub struct RequestHead<'r> {
    parts: &'r Parts,
    params: &'r [(String, String)],
}

impl<'r> RequestHead<'r> {
    /// Creates the head of a request. `params` are the decoded path parameters of its route, by name.
    pub fn new(parts: &'r Parts, params: &'r [(String, String)]) -> Self {
        Self { parts, params }
    }

    /// Returns method, URI, headers and extensions.
    pub fn parts(&self) -> &'r Parts {
        self.parts
    }

    /// Returns a header as text, or `None`. Values of repeated headers are joined by `", "`, bytes are characters of
    /// Latin-1.
    pub fn header(&self, name: &str) -> Option<String> {
        let mut values = self.parts.headers.get_all(name).iter();
        let mut text = latin1(values.next()?.as_bytes());
        for value in values {
            text.push_str(", ");
            text.push_str(&latin1(value.as_bytes()));
        }
        Some(text)
    }

    /// Returns a path parameter of the route, or `None`. Only the extractors, and layers on routes of axum, have them.
    pub fn param(&self, name: &str) -> Option<&'r str> {
        let mut params = self.params.iter();
        params
            .find(|(param, _)| param == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Returns the default input of a policy: the head of the request, without its body.
///
/// An object of
/// - `method`
/// - `path`: array of the decoded segments; `%2F` does not separate segments
/// - `query`: arrays of values, by name
/// - `headers`: values by lower-case name, as in [`RequestHead::header`]
/// - `params`: decoded path parameters of the route, by name
/// - `client`: address of the client without the port, or `null`. It is known to axum only, with
///   `into_make_service_with_connect_info::<SocketAddr>()`
///
/// Time and memory: linear in the length of the head.
pub fn request_input(head: &RequestHead<'_>) -> Value {
    let parts = head.parts();
    let path = parts.uri.path();
    let segments = path.strip_prefix('/').unwrap_or(path).split('/');
    let segments = segments.map(|segment| Value::from(decoded(segment)));

    let mut query: Vec<(String, Vec<Value>)> = Vec::new();
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        let value = Value::from(value.into_owned());
        match query.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => query.push((name.into_owned(), vec![value])),
        }
    }
    let query = query
        .into_iter()
        .map(|(name, values)| (Value::from(name), Value::array(values)));

    let headers = parts.headers.keys().map(|name| {
        let value = head.header(name.as_str()).unwrap_or_default();
        (Value::from(name.as_str().to_owned()), Value::from(value))
    });
    let params = head
        .params
        .iter()
        .map(|(name, value)| (Value::from(name.clone()), Value::from(value.clone())));

    Value::object(vec![
        member("method", Value::from(parts.method.as_str().to_owned())),
        member("path", Value::array(segments.collect())),
        member("query", Value::object(query.collect())),
        member("headers", Value::object(headers.collect())),
        member("params", Value::object(params.collect())),
        member("client", client(parts)),
    ])
}

fn member(name: &str, value: Value) -> (Value, Value) {
    (Value::from(name.to_owned()), value)
}

/// Returns the address of the client without its port, or `null` if the service does not know it.
#[cfg(feature = "axum")]
fn client(parts: &Parts) -> Value {
    let address = parts
        .extensions
        .get::<axum::extract::ConnectInfo<std::net::SocketAddr>>();
    address.map_or(Value::NULL, |info| Value::from(info.0.ip().to_string()))
}

/// Without axum nothing knows the address.
#[cfg(not(feature = "axum"))]
fn client(_: &Parts) -> Value {
    Value::NULL
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
