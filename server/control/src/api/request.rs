//! Parsed requests: headers, query parameters and body.

use bytes::Bytes;
use http::HeaderMap;
use solon_common::escapes;

use crate::error::ApiError;
use crate::limits;

/// The request id for logs. The listener adds it to the extensions of the request.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

impl RequestId {
    /// Truncates a name to the length that the audit log stores.
    pub fn new(name: &str) -> Self {
        Self(name.chars().take(limits::REQUEST_ID).collect())
    }
}

/// The parts of a request that handlers use.
pub struct ApiRequest {
    /// The query parameters, in the order they were sent.
    pub params: Params,
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    pub id: String,
}

/// Query parameters, decoded, in the order of the request.
#[derive(Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Parses the query string, without the question mark.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        // separators are ASCII, so each part is valid if the whole query is
        decode(query)?;
        let pairs = form_urlencoded::parse(query.as_bytes());
        Ok(Self(pairs.into_owned().collect()))
    }

    /// Returns the value of a parameter, or the last one if there are several.
    pub fn last(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().rev();
        let parameter = values.find(|(other, _)| other == name);
        parameter.map(|(_, value)| value.as_str())
    }

    /// Returns `true` if a flag is set: given without a value, or with `true` among its values.
    pub fn flag(&self, name: &str) -> bool {
        let mut values = self.0.iter().filter(|(other, _)| other == name);
        values.any(|(_, value)| value.is_empty() || value.eq_ignore_ascii_case("true"))
    }

    /// Returns the page size: `limit`, unless the request limits it to less.
    pub fn limit(&self, limit: usize) -> Result<usize, ApiError> {
        let Some(text) = self.last("limit").filter(|text| !text.is_empty()) else {
            return Ok(limit);
        };
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("`limit` must be an integer, not {text:?}");
            return Err(ApiError::invalid(message));
        }
        // zero and negative numbers are ignored, and larger ones are clamped to the maximum
        let is_negative = text.starts_with('-');
        let requested = digits.parse::<usize>().unwrap_or(usize::MAX);
        Ok(if is_negative || requested == 0 {
            limit
        } else {
            requested.min(limit)
        })
    }
}

/// Decodes percent escapes once. Fails if an escape is malformed or not UTF-8.
pub fn decode(text: &str) -> Result<String, ApiError> {
    escapes::decode(text).ok_or_else(|| {
        ApiError::invalid("the address has a percent sign that begins no escape of UTF-8")
    })
}

impl ApiRequest {
    /// Parses the body as JSON. Fails if it is too large, empty or not JSON.
    pub fn json(&self) -> Result<serde_json::Value, ApiError> {
        if self.body.len() > limits::RESOURCE_BODY {
            let message = format!("the body is larger than {} bytes", limits::RESOURCE_BODY);
            return Err(ApiError::new(crate::error::ApiErrorKind::TooLarge, message));
        }
        if self.body.trim_ascii().is_empty() {
            return Err(ApiError::invalid("the body is empty; it must be JSON"));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| ApiError::invalid(format!("the body is not valid JSON: {error}")))
    }
}

/// Returns the key in the headers of a request, or `None` if there is none.
pub fn key(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = header.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::{Params, decode};

    #[test]
    fn switches_and_sizes() {
        let params = |query: &str| Params::parse(query).unwrap();
        for query in ["pretty", "pretty=", "pretty=True", "pretty=no&pretty=true"] {
            assert!(params(query).flag("pretty"), "{query}");
        }
        for query in ["", "pretty=1", "pretty=false", "Pretty"] {
            assert!(!params(query).flag("pretty"), "{query}");
        }
        for (query, size) in [
            ("", 10),
            ("limit=", 10),
            ("limit=0", 10),
            ("limit=-1", 10),
            ("limit=3", 3),
            ("limit=10", 10),
            ("limit=11", 10),
            ("limit=99999999999999999999", 10),
            ("limit=1&limit=2", 2),
        ] {
            assert_eq!(params(query).limit(10).unwrap(), size, "{query}");
        }
        for query in ["limit=x", "limit=1.5", "limit=-"] {
            assert!(params(query).limit(10).is_err(), "{query}");
        }
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decode("a%2Fb").unwrap(), "a/b");
        assert_eq!(decode("a%252Fb").unwrap(), "a%2Fb");
        assert_eq!(decode("%C3%A4").unwrap(), "ä");
        for text in ["%", "%2", "%ZZ", "%ff", "%+1"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
