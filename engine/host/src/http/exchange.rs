//! One request and its response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
};
use http::{Method, Request};
use solon::host::{HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use solon_outbound::proxy::Proxies;
use solon_outbound::transport::reason;
use solon_outbound::{Error, ErrorKind, Transport};

use super::body;

/// A response as received: its body may be compressed.
pub struct Received {
    pub answer: HttpResponse,
    /// `true` if its body must be decompressed without the policy knowing.
    pub packed: bool,
}

/// Sends a request and reads the response. `answering` is set once the headers are received.
pub async fn exchange(
    transport: Transport,
    request: HttpRequest,
    answering: Arc<AtomicBool>,
) -> Result<Received, HttpError> {
    let limit = request.body_limit;
    let (request, unpacks) = outgoing(request).map_err(HttpError::network)?;
    let response = transport
        .send(request)
        .await
        .map_err(|error| failed(&error))?;
    answering.store(true, Ordering::Relaxed);
    let (status, reason) = (response.status().as_u16(), reason(&response));
    let packed = unpacks && body::is_gzip(response.headers());
    let headers = response.headers().iter();
    let mut headers: Vec<(String, Vec<u8>)> = headers
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect();
    let body = response.into_body().read_bounded(limit).await;
    let body = Vec::from(body.map_err(|error| failed(&error))?);
    if packed {
        headers.retain(|(name, _)| name != "content-encoding" && name != "content-length");
    }
    without_framing(&mut headers);
    let http_response = HttpResponse::new(status);
    let answer = http_response.reason(reason).headers(headers).body(body);
    Ok(Received { answer, packed })
}

/// Removes headers that only concern the connection: `transfer-encoding`, `trailer` of chunked bodies, and `connection: close`.
fn without_framing(headers: &mut Vec<(String, Vec<u8>)>) {
    let chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
    headers.retain(|(name, value)| match &**name {
        "transfer-encoding" => false,
        "trailer" => !chunked,
        "connection" => !value.eq_ignore_ascii_case(b"close"),
        _ => true,
    });
}

fn failed(error: &Error) -> HttpError {
    match error.kind() {
        ErrorKind::Body | ErrorKind::BodyTooLarge => {
            HttpError::new(HttpErrorKind::Body, error.message())
        }
        _ => HttpError::network(error.message()),
    }
}

/// Converts a request to hyper's type. The flag is `true` if a compressed body must be decompressed without the policy knowing.
fn outgoing(request: HttpRequest) -> Result<(Request<Bytes>, bool), String> {
    let scheme = if request.secure { "https" } else { "http" };
    let host = if request.host.contains(':') {
        // a host name must not contain the zone of an address
        let bare = request.host.split('%').next().unwrap_or_default();
        format!("[{bare}]")
    } else {
        request.host.clone()
    };
    let usual = if request.secure { 443 } else { 80 };
    let port = match request.port {
        port if port == usual => String::new(),
        port => format!(":{port}"),
    };
    let uri = format!("{scheme}://{host}{port}{}", request.target);
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|e| e.to_string())?;
    let has = |header_name: &str| {
        let mut headers = request.headers.iter();
        headers.any(|(name, _)| name.eq_ignore_ascii_case(header_name))
    };
    let unpacks = !has("accept-encoding") && !has("range") && method != Method::HEAD;
    let proxy = if request.secure || request.socket.is_some() {
        None
    } else {
        Proxies::system().proxy_for(false, &request.host, request.port)?
    };
    let is_single_use = !super::is_shared(&request) && !has("connection");
    let body = Bytes::from(request.body.unwrap_or_default());
    let mut outgoing = Request::new(body);
    *outgoing.method_mut() = method;
    *outgoing.uri_mut() = uri.parse().map_err(|e| format!("{e}"))?;
    let headers = outgoing.headers_mut();
    for (name, value) in request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        let value = HeaderValue::from_bytes(&value).map_err(|e| e.to_string())?;
        headers.append(name, value);
    }
    if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization)
        && !headers.contains_key(PROXY_AUTHORIZATION)
    {
        let value = HeaderValue::from_str(&authorization).map_err(|e| e.to_string())?;
        headers.insert(PROXY_AUTHORIZATION, value);
    }
    // methods that usually have a body send its length even if it is empty
    let empty = outgoing.body().is_empty();
    if empty && [Method::POST, Method::PUT, Method::PATCH].contains(outgoing.method()) {
        let none = HeaderValue::from_static("0");
        outgoing.headers_mut().insert(CONTENT_LENGTH, none);
    }
    if is_single_use {
        let close = HeaderValue::from_static("close");
        let headers = outgoing.headers_mut();
        headers.insert(CONNECTION, close);
    }
    if unpacks {
        let gzip = HeaderValue::from_static("gzip");
        let headers = outgoing.headers_mut();
        headers.insert(ACCEPT_ENCODING, gzip);
    }
    Ok((outgoing, unpacks))
}
