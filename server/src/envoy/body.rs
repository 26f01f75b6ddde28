//! Bodies of checked requests, parsed by their content type.

use std::collections::{BTreeMap, HashMap};

use solon::{Value, json};

use super::descriptors::Descriptors;
use super::target;

/// Header that Envoy adds if it forwards only a part of the body.
const PARTIAL: &str = "x-envoy-auth-partial-body";

#[derive(Debug, Default, PartialEq)]
pub struct BodyContent {
    /// The value; null if the body is missing, incomplete or of an unknown type.
    pub value: Value,
    /// `true` if Envoy has cut the body, so that it is not parsed.
    pub is_truncated: bool,
}

impl BodyContent {
    fn of_value(value: Value) -> Self {
        Self {
            value,
            is_truncated: false,
        }
    }

    fn truncated() -> Self {
        Self {
            value: Value::default(),
            is_truncated: true,
        }
    }
}

pub struct ParsedRequest<'a> {
    /// Headers with lower-case names.
    pub headers: &'a HashMap<String, String>,
    pub text: &'a str,
    /// Body as bytes, if it was not forwarded as text.
    pub bytes: &'a [u8],
    pub path: &'a [String],
    /// Message types of gRPC services.
    pub descriptors: &'a Descriptors,
}

impl ParsedRequest<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn bytes(&self) -> &[u8] {
        match self.text {
            "" => self.bytes,
            text => text.as_bytes(),
        }
    }

    /// Parses the body.
    ///
    /// # Errors
    /// The body is not of its content type.
    pub async fn parse(&self) -> Result<BodyContent, String> {
        if self.header(PARTIAL) == Some("true") {
            return Ok(BodyContent::truncated());
        }
        let Some(kind) = self.header("content-type") else {
            return Ok(BodyContent::default());
        };
        if kind.contains("application/json") {
            return self.complete(|bytes| match bytes {
                [] => Ok(Value::default()),
                bytes => json::read(bytes).map_err(|_| json::error_message(bytes)),
            });
        }
        if kind.contains("application/grpc") {
            return self.descriptors.parse(self.path, self.bytes);
        }
        if kind.contains("application/x-www-form-urlencoded") {
            return self.complete(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                target::parameters(&text).map(target::to_value)
            });
        }
        if kind.contains("multipart/form-data") {
            if self.is_cut()? {
                return Ok(BodyContent::truncated());
            }
            return Ok(BodyContent::of_value(self.multipart(kind).await?));
        }
        Ok(BodyContent::default())
    }

    /// Parses a body that has its whole length. A body that Envoy has cut is marked, not parsed.
    fn complete(
        &self,
        parse: impl Fn(&[u8]) -> Result<Value, String>,
    ) -> Result<BodyContent, String> {
        if self.is_cut()? {
            return Ok(BodyContent::truncated());
        }
        parse(self.bytes()).map(BodyContent::of_value)
    }

    /// Returns `true` if the declared length is larger than the body.
    fn is_cut(&self) -> Result<bool, String> {
        let Some(length) = self.header("content-length") else {
            return Ok(false);
        };
        let length: i64 = length
            .parse()
            .map_err(|_| format!("invalid content-length {length:?}"))?;
        Ok(usize::try_from(length).is_ok_and(|length| length > self.bytes().len()))
    }

    /// Parses the parts of a form: JSON parts as values, others as texts.
    async fn multipart(&self, kind: &str) -> Result<Value, String> {
        let Ok(boundary) = multer::parse_boundary(kind) else {
            return Ok(Value::default());
        };
        let bytes = bytes::Bytes::copy_from_slice(self.bytes());
        let stream = futures_util::stream::once(async move { Ok::<_, std::io::Error>(bytes) });
        let mut parts = multer::Multipart::new(stream, boundary);
        let mut fields = BTreeMap::<String, Vec<Value>>::new();
        let error = |error: multer::Error| format!("multipart: {error}");
        while let Some(part) = parts.next_field().await.map_err(error)? {
            let Some(name) = part.name().map(str::to_owned) else {
                continue;
            };
            let is_json = part
                .content_type()
                .is_some_and(|kind| kind.as_ref().contains("application/json"));
            let content = part.bytes().await.map_err(error)?;
            let value = if is_json {
                json::read(&content).map_err(|_| json::error_message(&content))?
            } else {
                Value::from(String::from_utf8_lossy(&content).into_owned())
            };
            fields.entry(name).or_default().push(value);
        }
        let pairs = fields.into_iter();
        let pairs = pairs.map(|(name, values)| (Value::from(name), Value::array(values)));
        Ok(Value::object(pairs.collect()))
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/envoy_body.rs"]
mod tests;
