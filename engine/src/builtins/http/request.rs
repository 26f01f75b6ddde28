//! Parses the request objects of `http.send`, and rejects unknown fields.

use std::sync::Arc;
use std::time::Duration;

use super::failure::RequestFailure;
use super::fields;
use super::tls::TlsFields;
use super::url::{self, quoted};
use crate::builtins::BuiltinContext;
use crate::builtins::operands::plain_int;
use crate::builtins::time::duration;
use crate::host::Tls;
use crate::uri::Uri;
use crate::value::{ObjectView, RefRepr, ValueRef, json};

/// Allowed fields, sorted.
const FIELDS: [&str; 28] = [
    "body",
    "cache",
    "cache_ignored_headers",
    "caching_mode",
    "enable_redirect",
    "force_cache",
    "force_cache_duration_seconds",
    "force_json_decode",
    "force_yaml_decode",
    "headers",
    "max_retry_attempts",
    "method",
    "raise_error",
    "raw_body",
    "timeout",
    "tls_ca_cert",
    "tls_ca_cert_env_variable",
    "tls_ca_cert_file",
    "tls_client_cert",
    "tls_client_cert_env_variable",
    "tls_client_cert_file",
    "tls_client_key",
    "tls_client_key_env_variable",
    "tls_client_key_file",
    "tls_insecure_skip_verify",
    "tls_server_name",
    "tls_use_system_certs",
    "url",
];

/// Default timeout, unless the request or the environment overrides it.
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct HttpSendRequest {
    /// Method, in upper case.
    pub method: String,
    pub url: Uri,
    /// Headers with canonical names, without `Host`.
    pub headers: Vec<(String, Vec<u8>)>,
    /// `Host` header, if it differs from that of the URL.
    pub host: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
    /// `true` if redirections are followed.
    pub follows: bool,
    /// Timeout. `None` if unlimited.
    pub timeout: Option<Duration>,
    pub tls: Option<Arc<Tls>>,
    /// Unix socket to connect to.
    pub socket: Option<String>,
}

/// Rejects unknown fields and requests without the required fields.
pub fn check_fields(options: ObjectView<'_>) -> Result<(), RequestFailure> {
    let list = |names: &[ValueRef<'_>]| {
        let names: Vec<String> = names
            .iter()
            .map(|name| name.rego_text().to_string())
            .collect();
        format!("{{{}}}", names.join(", "))
    };
    let unknown: Vec<ValueRef<'_>> = options
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !is_field(*name))
        .collect();
    if !unknown.is_empty() {
        let names = list(&unknown);
        return Err(RequestFailure::mistyped(format!(
            "invalid request parameters(s): {names}"
        )));
    }
    let missing: Vec<&str> = ["method", "url"]
        .into_iter()
        .filter(|name| options.get_str(name).is_none())
        .collect();
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().map(quoted).collect();
        return Err(RequestFailure::mistyped(format!(
            "missing required request parameters(s): {{{}}}",
            names.join(", ")
        )));
    }
    Ok(())
}

/// Returns `true` if requests may have a field with this name.
pub fn is_field(name: ValueRef<'_>) -> bool {
    let name = name.as_text();
    name.is_some_and(|name| {
        FIELDS
            .iter()
            .any(|field| field.as_bytes() == name.as_bytes())
    })
}

impl HttpSendRequest {
    /// Parses a request. Reports the first error in the order of the fields, except for errors in the URL and the
    /// headers, which come last.
    pub fn read(
        call: &BuiltinContext<'_>,
        options: ObjectView<'_>,
    ) -> Result<Self, RequestFailure> {
        let mut request = Self {
            method: String::new(),
            url: Uri::default(),
            headers: Vec::new(),
            host: None,
            body: None,
            follows: false,
            timeout: default_timeout(call),
            tls: None,
            socket: None,
        };
        let mut tls = TlsFields::default();
        let mut raw_body = None;
        let (mut address, mut headers) = (String::new(), Ok(()));
        for (name, value) in options.iter() {
            let name = name.text_or_empty();
            let name = name.to_str();
            match &*name {
                "method" => request.method = text(&name, value)?.to_uppercase(),
                "url" => {
                    address = text(&name, value)?;
                    if call.allow_net.is_some() {
                        request.read_url(call, &address)?;
                    }
                }
                "body" => {
                    let mut body = Vec::new();
                    json::write_go(value, &mut body);
                    request.body = Some(body);
                }
                "raw_body" => raw_body = Some(raw(&name, value)?),
                "headers" => match value.as_object() {
                    Some(value) => headers = request.read_headers(value),
                    None => return Err(RequestFailure::rejected("invalid type for headers key")),
                },
                "enable_redirect" => request.follows = fields::lenient_flag(value)?,
                "timeout" => request.timeout = timeout(value)?,
                "tls_ca_cert" => tls.ca.text = text(&name, value)?,
                "tls_ca_cert_file" => tls.ca.file = text(&name, value)?,
                "tls_ca_cert_env_variable" => tls.ca.variable = text(&name, value)?,
                "tls_client_cert" => tls.certificate.text = text(&name, value)?,
                "tls_client_cert_file" => tls.certificate.file = text(&name, value)?,
                "tls_client_cert_env_variable" => tls.certificate.variable = text(&name, value)?,
                "tls_client_key" => tls.key.text = text(&name, value)?,
                "tls_client_key_file" => tls.key.file = text(&name, value)?,
                "tls_client_key_env_variable" => tls.key.variable = text(&name, value)?,
                "tls_insecure_skip_verify" => tls.insecure = fields::lenient_flag(value)?,
                "tls_use_system_certs" => tls.system = Some(fields::lenient_flag(value)?),
                "tls_server_name" => tls.server_name = Some(text(&name, value)?),
                // the fields of caches and responses are parsed by their modules
                _ => {}
            }
        }
        if raw_body.is_some() {
            request.body = raw_body;
        }
        // the host header names the server that the request is intended for
        if let (Some(host), None) = (&request.host, &tls.server_name) {
            tls.server_name = Some(String::from_utf8_lossy(host).into_owned());
        }
        tls.server_name = tls.server_name.filter(|name| !name.is_empty());
        request.tls = tls.resolve(call.host)?;
        if request.method.is_empty() {
            "GET".clone_into(&mut request.method);
        }
        if !request.method.bytes().all(is_token_byte) {
            let method = quoted(&request.method);
            return Err(RequestFailure::rejected(format!(
                "net/http: invalid method {method}"
            )));
        }
        if call.allow_net.is_none() {
            request.read_url(call, &address)?;
        }
        headers?;
        Ok(request)
    }

    fn read_url(&mut self, call: &BuiltinContext<'_>, text: &str) -> Result<(), RequestFailure> {
        let mut url = url::parse(text).map_err(RequestFailure::rejected)?;
        check_host(call, &url).map_err(RequestFailure::rejected)?;
        if url.scheme == "unix" && !url.query.is_empty() {
            self.socket = Some(split_socket(&mut url));
            "http".clone_into(&mut url.scheme);
        }
        self.url = url;
        Ok(())
    }

    fn read_headers(&mut self, headers: ObjectView<'_>) -> Result<(), RequestFailure> {
        for (name, value) in headers.iter() {
            let name = match name.as_text() {
                Some(name) => canonical(&name.to_str()),
                None => canonical(&name.rego_text().to_string()),
            };
            let Some(value) = value.as_text() else {
                return Err(RequestFailure::rejected(format!(
                    "invalid type for headers value {}",
                    go_quoted(value)
                )));
            };
            let value = value.as_bytes().to_vec();
            if name == "Host" {
                self.host = Some(value);
            } else {
                self.headers.retain(|(other, _)| *other != name);
                self.headers.push((name, value));
            }
        }
        Ok(())
    }
}

/// Rejects hosts that policies must not connect to.
pub fn check_host(call: &BuiltinContext<'_>, url: &Uri) -> Result<(), String> {
    check_name(call, &url::host_and_port(url).0)
}

/// Rejects host names that policies must not connect to.
pub fn check_name(call: &BuiltinContext<'_>, name: &str) -> Result<(), String> {
    match call.allow_net {
        Some(allowed) if !allowed.iter().any(|allowed_name| allowed_name == name) => {
            Err(format!("disallowed host: {name}"))
        }
        _ => Ok(()),
    }
}

/// Removes the parameter with the socket from the query of a `unix` URL. The other parameters stay.
fn split_socket(url: &mut Uri) -> String {
    let mut socket = None;
    let mut other_parameters: Vec<&[u8]> = Vec::new();
    for parameter in url.query.split(|byte| *byte == b'&') {
        match parameter.strip_prefix(b"socket=") {
            Some(path) => socket = socket.or(Some(url::decode(path))),
            None => other_parameters.push(parameter),
        }
    }
    other_parameters.sort_by_key(|parameter| parameter.split(|byte| *byte == b'=').next());
    url.query = other_parameters.join(&b'&');
    String::from_utf8_lossy(&socket.unwrap_or_default()).into_owned()
}

/// Returns a string field, without quotes around it.
fn text(name: &str, value: ValueRef<'_>) -> Result<String, RequestFailure> {
    Ok(String::from_utf8_lossy(&raw(name, value)?).into_owned())
}

fn raw(name: &str, value: ValueRef<'_>) -> Result<Vec<u8>, RequestFailure> {
    let Some(text) = value.as_text() else {
        return Err(RequestFailure::rejected(format!(
            "{} must be a string",
            quoted(name)
        )));
    };
    let mut bytes = text.as_bytes();
    while let Some(inner) = bytes.strip_prefix(b"\"") {
        bytes = inner;
    }
    while let Some(inner) = bytes.strip_suffix(b"\"") {
        bytes = inner;
    }
    Ok(bytes.to_vec())
}

fn default_timeout(call: &BuiltinContext<'_>) -> Option<Duration> {
    let variable = call.host.variable("HTTP_SEND_TIMEOUT");
    let ns = variable.and_then(|text| duration::parse(text.as_bytes()).ok());
    ns.map_or(Some(TIMEOUT), positive_duration)
}

/// Converts nanoseconds to a duration. Returns `None` for 0 and negative numbers.
fn positive_duration(ns: i64) -> Option<Duration> {
    let ns = u64::try_from(ns).ok().filter(|ns| *ns > 0);
    ns.map(Duration::from_nanos)
}

fn timeout(value: ValueRef<'_>) -> Result<Option<Duration>, RequestFailure> {
    if let Some(number) = value.as_number() {
        return match plain_int(number) {
            Some(ns) => Ok(positive_duration(ns)),
            None => Err(RequestFailure::rejected(format!(
                "invalid timeout number value {value}, must be int64",
                value = value.rego_text()
            ))),
        };
    }
    let Some(text) = value.as_text() else {
        return Err(RequestFailure::mistyped(format!(
            "'timeout' must be one of {{string, number}} but got {}",
            value.kind().as_str()
        )));
    };
    let text = text.to_str();
    if let Ok(ns) = text.parse() {
        return Ok(positive_duration(ns));
    }
    match duration::parse_go(text.as_bytes()) {
        Ok(ns) => Ok(positive_duration(ns)),
        Err(problem) => Err(RequestFailure::rejected(format!(
            "invalid timeout value {value}: {problem}",
            value = value.rego_text()
        ))),
    }
}

/// Returns `true` for bytes that methods and header names may contain.
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Formats `x-request-id` as `X-Request-Id`. Invalid header names are returned unchanged.
fn canonical(name: &str) -> String {
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return name.to_owned();
    }
    let mut first = true;
    let letters = name.chars().map(|c| {
        let letter = if first {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        };
        first = c == '-';
        letter
    });
    letters.collect()
}

/// Formats a value that is not a string as Go's `%q` does.
fn go_quoted(value: ValueRef<'_>) -> String {
    match value {
        ValueRef(RefRepr::Null) => "%!q(<nil>)".to_owned(),
        ValueRef(RefRepr::Bool(value)) => format!("%!q(bool={value})"),
        _ => {
            if let Some(text) = value.as_text() {
                return quoted(&text.to_str());
            }
            if let Some(items) = value.as_array() {
                let items: Vec<String> = items.iter().map(go_quoted).collect();
                return format!("[{}]", items.join(" "));
            }
            if let Some(items) = value.as_set() {
                let items: Vec<String> = items.iter().map(go_quoted).collect();
                return format!("[{}]", items.join(" "));
            }
            if let Some(pairs) = value.as_object() {
                let pair = |(key, value): (ValueRef<'_>, ValueRef<'_>)| {
                    let key = match key.as_text() {
                        Some(text) => text.to_str().into_owned(),
                        None => key.rego_text().to_string(),
                    };
                    format!("{}:{}", quoted(&key), go_quoted(value))
                };
                let pairs: Vec<String> = pairs.iter().map(pair).collect();
                return format!("map[{}]", pairs.join(" "));
            }
            quoted(&value.rego_text().to_string())
        }
    }
}
