//! Executes requests: destination, redirections, retries, timeouts.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::failure::{NetworkFailure, RequestFailure};
use super::fields;
use super::freshness::header;
use super::request::{self, HttpSendRequest};
use super::url::{self, quoted};
use crate::builtins::BuiltinContext;
use crate::host::{HttpRequest, HttpResponse};
use crate::limits::{REDIRECTIONS, RESPONSE_BYTES};
use crate::uri::Uri;
use crate::value::ObjectView;

/// Minimum and maximum delay before a retry, in seconds.
const PAUSES: (f64, f64) = (0.1, 60.0);

/// Sends a request and follows redirects. Repeats it after network errors, with growing delays, as often as `max_retry_attempts`
/// of `object` permits.
///
/// # Errors
/// Fails with the error of the last attempt, or immediately for any other error than one of the network.
pub fn carry_out(
    call: &BuiltinContext<'_>,
    request: &HttpSendRequest,
    object: ObjectView<'_>,
) -> Result<HttpResponse, RequestFailure> {
    let retries = fields::retries(object)?;
    if let Some(metrics) = call.hooks.send_metrics {
        metrics.sends();
    }
    let mut pause = PAUSES.0;
    for _ in 0..retries {
        match follow(call, request) {
            Err(RequestFailure::Network(_)) => {}
            outcome => return outcome,
        }
        let time = Duration::from_secs_f64(add_jitter(call, pause));
        let wait = call.budget.wait();
        let pause_ended = call.hooks.host_call(|| wait.pause(time));
        if pause_ended
            .map_err(|error| RequestFailure::end(&error))?
            .is_err()
            && let Some(end) = call.budget.ended("http.send")
        {
            return Err(RequestFailure::end(&end));
        }
        pause = (pause * 1.6).min(PAUSES.1);
    }
    follow(call, request)
}

/// Returns a delay that is randomly up to a fifth longer or shorter, so that clients that failed at the same time do
/// not retry at the same time.
fn add_jitter(call: &BuiltinContext<'_>, seconds: f64) -> f64 {
    let mut byte = [128];
    // without randomness all clients wait equally long, which is correct as well
    let _ = call.host.fill_random(&mut byte);
    let [byte] = byte;
    seconds * (0.8 + f64::from(byte) / 255.0 * 0.4)
}

/// Makes one attempt, following all redirections.
fn follow(
    call: &BuiltinContext<'_>,
    request: &HttpSendRequest,
) -> Result<HttpResponse, RequestFailure> {
    let deadline = request
        .timeout
        .and_then(|time| Instant::now().checked_add(time));
    let wait = call.budget.wait().at_most_until(deadline);
    let mut hop = Hop::first(request);
    for _ in 0..REDIRECTIONS {
        let outgoing = hop.outgoing(call, request)?;
        let result = call.hooks.host_call(|| call.host.send(&outgoing, &wait));
        let result = result.map_err(|error| RequestFailure::end(&error))?;
        let response = result.map_err(|error| {
            RequestFailure::of_host(call, operation(&hop.method), outgoing.url.clone(), error)
        })?;
        if !request.follows {
            return Ok(response);
        }
        match hop.next(call, &response)? {
            Some(next) => hop = next,
            None => return Ok(response),
        }
    }
    Err(hop.failed(format!("stopped after {REDIRECTIONS} redirects")))
}

/// Formats `GET` as `Get`.
fn operation(method: &str) -> String {
    let mut letters = method.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first
        .into_iter()
        .chain(letters.map(|c| c.to_ascii_lowercase()))
        .collect()
}

/// One request of a chain of redirections.
struct Hop {
    method: String,
    url: Uri,
    headers: Vec<(String, Vec<u8>)>,
    host: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
    /// `true` while the destination is the server that the policy named.
    home: bool,
}

impl Hop {
    fn first(request: &HttpSendRequest) -> Self {
        Self {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            host: request.host.clone(),
            body: request.body.clone(),
            home: true,
        }
    }

    fn failed(&self, message: impl Into<String>) -> RequestFailure {
        RequestFailure::Network(std::sync::Arc::new(NetworkFailure {
            operation: operation(&self.method),
            url: url::redacted(&self.url),
            message: message.into(),
            late: false,
        }))
    }

    /// Converts it to the host's request.
    fn outgoing(
        &self,
        call: &BuiltinContext<'_>,
        request: &HttpSendRequest,
    ) -> Result<HttpRequest, RequestFailure> {
        let secure = match &*self.url.scheme {
            "http" => false,
            "https" => true,
            other => {
                let scheme = quoted(other);
                return Err(self.failed(format!("unsupported protocol scheme {scheme}")));
            }
        };
        if self.url.host.is_empty() {
            return Err(self.failed("http: no Host in request URL"));
        }
        let (host, port) = url::host_and_port(&self.url);
        let port = match &*port {
            "" if secure => 443,
            "" => 80,
            port => port
                .parse()
                .map_err(|_| self.failed(format!("dial tcp: address {port}: invalid port")))?,
        };
        Ok(HttpRequest {
            method: self.method.clone(),
            url: url::redacted(&self.url),
            secure,
            host: if host.is_empty() {
                "localhost".to_owned()
            } else {
                host
            },
            port,
            target: url::target(&self.url),
            socket: request.socket.clone().filter(|_| self.home),
            headers: self.outgoing_headers()?,
            body: self.body.clone(),
            tls: request.tls.clone(),
            body_limit: RESPONSE_BYTES.min(call.budget.remaining_memory()),
        })
    }

    fn outgoing_headers(&self) -> Result<Vec<(String, Vec<u8>)>, RequestFailure> {
        // the connection sets these
        const OWNED: [&str; 3] = ["Content-Length", "Transfer-Encoding", "Trailer"];
        let host = self.host.clone();
        let host = host.unwrap_or_else(|| url::authority(&self.url).to_vec());
        let mut headers = vec![("Host".to_owned(), host)];
        for (name, value) in &self.headers {
            if name.is_empty() || !name.bytes().all(request::is_token_byte) {
                let name = quoted(name);
                return Err(self.failed(format!("net/http: invalid header field name {name}")));
            }
            let control = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f;
            if value.iter().any(control) {
                let name = quoted(name);
                return Err(self.failed(format!("net/http: invalid header field value for {name}")));
            }
            if !OWNED.contains(&&**name) {
                headers.push((name.clone(), value.clone()));
            }
        }
        let has = |header_name: &str| headers.iter().any(|(name, _)| name == header_name);
        let (agent, authorised) = (has("User-Agent"), has("Authorization"));
        if !agent {
            headers.push(("User-Agent".to_owned(), USER_AGENT.into()));
        }
        if !self.url.user.is_empty() && !authorised {
            let mut credentials = url::decode(&self.url.user);
            if !credentials.contains(&b':') {
                credentials.push(b':');
            }
            let credentials = STANDARD.encode(credentials);
            headers.push((
                "Authorization".to_owned(),
                format!("Basic {credentials}").into(),
            ));
        }
        Ok(headers)
    }

    /// Returns the next request if a response is a redirection, and `None` otherwise.
    fn next(
        &self,
        call: &BuiltinContext<'_>,
        response: &HttpResponse,
    ) -> Result<Option<Self>, RequestFailure> {
        let keeps_body = match response.status {
            301..=303 => false,
            307 | 308 => true,
            _ => return Ok(None),
        };
        let Some(location) = header(response, "Location").filter(|location| !location.is_empty())
        else {
            return Ok(None);
        };
        let parsed = url::parse(location)
            .and_then(|reference| Ok((url::join(&self.url, &reference)?, reference)));
        let (url, reference) = parsed.map_err(|problem| {
            let location = quoted(location);
            self.failed(format!(
                "failed to parse Location header {location}: {problem}"
            ))
        })?;
        let home = self.home && url.host == self.url.host;
        let mut headers = self.headers.clone();
        if !home && !is_within(&url, &self.url) {
            // credentials for one server must not reach another
            const SECRETS: [&str; 5] = [
                "Authorization",
                "Cookie",
                "Cookie2",
                "Proxy-Authorization",
                "Www-Authenticate",
            ];
            headers.retain(|(name, _)| !SECRETS.contains(&&**name));
        }
        if !keeps_body {
            const OF_BODIES: [&str; 4] = [
                "Content-Encoding",
                "Content-Language",
                "Content-Location",
                "Content-Type",
            ];
            headers.retain(|(name, _)| !OF_BODIES.contains(&&**name));
        }
        headers.retain(|(name, _)| name != "Referer");
        if self.url.scheme != "https" || url.scheme == "https" {
            let mut from = self.url.clone();
            from.user.clear();
            headers.push(("Referer".to_owned(), url::redacted(&from).into()));
        }
        let method = match &*self.method {
            "HEAD" => "HEAD",
            method if keeps_body => method,
            _ => "GET",
        };
        let relative = reference.host.is_empty() && reference.scheme.is_empty();
        let next = Self {
            method: method.to_owned(),
            headers,
            host: self.host.clone().filter(|_| relative),
            body: self.body.clone().filter(|_| keeps_body),
            url,
            home,
        };
        request::check_host(call, &next.url).map_err(|problem| next.failed(problem))?;
        Ok(Some(next))
    }
}

/// Returns `true` if the host of an address equals that of another one, or is a subdomain of it.
fn is_within(url: &Uri, other: &Uri) -> bool {
    let prefix = url.hostname().strip_suffix(other.hostname());
    prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(b"."))
}

/// Default `User-Agent` header.
const USER_AGENT: &str = concat!("Solon/", env!("CARGO_PKG_VERSION"));
