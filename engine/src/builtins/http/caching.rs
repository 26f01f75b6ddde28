//! Cache options of requests, and cached responses.

use super::cache::{CachedResponse, ResponseCache};
use super::failure::RequestFailure;
use super::request::HttpSendRequest;
use super::response::{Decoding, value_with};
use super::{exchange, fields, freshness, is_cacheable};
use crate::builtins::BuiltinContext;
use crate::host::HttpResponse;
use crate::value::{ObjectView, RefRepr, Value, ValueRef};

/// Cache options of a request, for caching across evaluations.
#[derive(Clone, Copy)]
pub struct Caching {
    /// Lifetime in seconds that overrides the response's headers.
    forced: Option<i64>,
    /// Content of cache entries. `None` if the request names an unknown mode: then nothing is cached.
    mode: Option<CacheMode>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CacheMode {
    /// The undecoded response.
    Serialized,
    /// The response with its decoded body.
    Deserialized,
}

/// Returns the cache key of a request: all fields except for the headers that are excluded.
pub fn key<'e>(
    call: &BuiltinContext<'e>,
    fields: ObjectView<'e>,
) -> Result<ValueRef<'e>, RequestFailure> {
    const IGNORED: &str = "cache_ignored_headers";
    let arena = call.arena;
    let (ignored, headers) = (fields.get_str(IGNORED), fields.get_str("headers"));
    let mut headers_in_key = None;
    if let (Some(ignored), Some(headers)) = (ignored, headers) {
        let must =
            || RequestFailure::Bare("cache_ignored_headers must be an array of strings".into());
        let ignored = ignored.as_array().ok_or_else(must)?;
        if !ignored.iter().all(|name| name.as_text().is_some()) {
            return Err(must());
        }
        headers_in_key = headers.as_object().map(|headers| {
            let counting = headers
                .iter()
                .filter(|(name, _)| !ignored.iter().any(|ignored_name| ignored_name == *name));
            arena.object_from(counting)
        });
    }
    let fields = fields.iter().map(|(name, value)| {
        let is = |field: &str| name.text_or_empty().as_bytes() == field.as_bytes();
        match headers_in_key {
            Some(headers) if is("headers") => (name, headers),
            _ if is(IGNORED) => (name, ValueRef(RefRepr::Null)),
            _ => (name, value),
        }
    });
    let none = ignored
        .is_none()
        .then(|| (arena.text(IGNORED), ValueRef(RefRepr::Null)));
    Ok(arena.object_from(fields.chain(none)))
}

/// Returns the text of a cache key, in Rego's syntax.
fn name(key: ValueRef<'_>) -> Vec<u8> {
    key.rego_text().to_string().into_bytes()
}

impl Caching {
    /// Reads the cache options of a request. Returns `None` if its response is cached for its evaluation only.
    pub fn read(options: ObjectView<'_>) -> Result<Option<Self>, RequestFailure> {
        let is_cached = fields::flag(options, "cache")?;
        let forced = fields::flag(options, "force_cache")?;
        if !is_cached && !forced {
            return Ok(None);
        }
        let mode = match options.get_str("caching_mode") {
            None => Some(CacheMode::Serialized),
            Some(mode) => match mode.text_or_empty().as_bytes() {
                b"serialized" => Some(CacheMode::Serialized),
                b"deserialized" => Some(CacheMode::Deserialized),
                _ => None,
            },
        };
        let forced = forced.then(|| duration(options)).transpose()?;
        Ok(Some(Self {
            // zero does not override the headers
            forced: forced.filter(|seconds| *seconds > 0),
            mode,
        }))
    }

    /// Returns a cached response, revalidated if it is stale. Returns `None` if there is none.
    pub fn lookup<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        responses: &ResponseCache,
        key: ValueRef<'e>,
    ) -> Result<Option<ValueRef<'e>>, RequestFailure> {
        let name = name(key);
        let Some(cached) = responses.get(&name) else {
            return Ok(None);
        };
        let Some(options) = key.as_object() else {
            return Ok(None);
        };
        let decoding = Decoding::read(options)?;
        if call.now_ns() < cached.expires {
            if let Some(metrics) = call.hooks.send_metrics {
                metrics.hits();
            }
            return value_of(call, &cached, decoding).map(Some);
        }
        let mut revalidation = HttpSendRequest::read(call, options)?;
        let stamps = [
            ("Etag", "If-None-Match"),
            ("Last-Modified", "If-Modified-Since"),
        ];
        let mut conditional = false;
        for (validator_name, condition) in stamps {
            if let Some(validator) = freshness::header(&cached.response, validator_name) {
                conditional = true;
                revalidation
                    .headers
                    .push((condition.to_owned(), validator.into()));
            }
        }
        responses.remove(&name);
        if !conditional {
            return Ok(None);
        }
        let response = exchange::carry_out(call, &revalidation, options)?;
        match response.status {
            200 => {
                let value = decoding.value(call, &response)?;
                self.keep(call.now_ns(), responses, key, response);
                Ok(Some(value))
            }
            304 => {
                let mut renewed = CachedResponse {
                    expires: self.expires(call.now_ns(), &response),
                    response: cached.response.clone(),
                    decoded: cached.decoded.clone(),
                };
                renew(&mut renewed.response, response);
                let value = value_of(call, &renewed, decoding)?;
                responses.put(&name, renewed);
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// Caches a response if caching is enabled, the response is cacheable, and its headers allow it or caching is forced.
    pub fn keep(
        &self,
        now: i64,
        responses: &ResponseCache,
        key: ValueRef<'_>,
        response: HttpResponse,
    ) {
        let allowed = self.forced.is_some() || freshness::may_keep(&response);
        let Some(mode) = self.mode.filter(|_| allowed && is_cacheable(&response)) else {
            return;
        };
        let options = (mode == CacheMode::Deserialized).then(|| key.as_object());
        let decoded = options.flatten();
        let decoded = decoded.and_then(|options| Decoding::read(options).ok());
        let cached = CachedResponse {
            expires: self.expires(now, &response),
            decoded: decoded.map(|decoding| decoding.body(&response)),
            response,
        };
        responses.put(&name(key), cached);
    }

    fn expires(&self, now: i64, response: &HttpResponse) -> i64 {
        match self.forced {
            Some(seconds) => freshness::time_after(now, seconds),
            None => freshness::expires(response),
        }
    }
}

fn value_of<'e>(
    call: &mut BuiltinContext<'e>,
    cached: &CachedResponse,
    decoding: Decoding,
) -> Result<ValueRef<'e>, RequestFailure> {
    match &cached.decoded {
        Some(body) => {
            let body: &Value = body;
            let body = call.arena.copy_of(body);
            value_with(call, &cached.response, body)
        }
        None => decoding.value(call, &cached.response),
    }
}

/// Merges the headers of a newer response without a body into an older one.
fn renew(old: &mut HttpResponse, newer: HttpResponse) {
    old.headers.retain(|(name, _)| {
        let mut new_headers = newer.headers.iter();
        !new_headers.any(|(other, _)| other.eq_ignore_ascii_case(name))
    });
    old.headers.extend(newer.headers);
}

/// `force_cache_duration_seconds`
fn duration(options: ObjectView<'_>) -> Result<i64, RequestFailure> {
    let Some(value) = options.get_str("force_cache_duration_seconds") else {
        return Err(RequestFailure::rejected(
            "'force_cache' set but 'force_cache_duration_seconds' parameter is missing",
        ));
    };
    let text = value.rego_text().to_string();
    let problem = match text.parse::<i64>() {
        Ok(seconds) if i32::try_from(seconds).is_ok() => return Ok(seconds),
        _ if is_integer(&text) => "value out of range",
        _ => "invalid syntax",
    };
    Err(RequestFailure::rejected(format!(
        "strconv.ParseInt: parsing {}: {problem}",
        super::url::quoted(&text)
    )))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
