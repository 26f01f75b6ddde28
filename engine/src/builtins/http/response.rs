//! Responses as values, decoded by content type or on request.

use super::failure::RequestFailure;
use super::fields;
use super::freshness::header;
use crate::builtins::BuiltinContext;
use crate::host::HttpResponse;
use crate::value::{ObjectView, RefRepr, Repr, Value, ValueRef, json, yaml};

/// How the body of a response is decoded.
#[derive(Clone, Copy)]
pub struct Decoding {
    /// Decode as JSON, whatever the content type is.
    json: bool,
    /// Decode as YAML, whatever the content type is.
    yaml: bool,
}

enum BodyFormat {
    Json,
    Yaml,
    Other,
}

impl Decoding {
    pub fn read(options: ObjectView<'_>) -> Result<Self, RequestFailure> {
        Ok(Self {
            json: fields::flag(options, "force_json_decode")?,
            yaml: fields::flag(options, "force_yaml_decode")?,
        })
    }

    fn format(self, response: &HttpResponse) -> BodyFormat {
        let kind = header(response, "Content-Type").unwrap_or_default();
        let is_yaml = ["application/yaml", "application/x-yaml"]
            .iter()
            .any(|name| kind.contains(name));
        if self.json || is_json(kind) {
            BodyFormat::Json
        } else if self.yaml || is_yaml {
            BodyFormat::Yaml
        } else {
            BodyFormat::Other
        }
    }

    /// Decodes the body. Returns null if that fails.
    pub fn body(self, response: &HttpResponse) -> Value {
        match self.format(response) {
            BodyFormat::Json => json::read(&response.body).unwrap_or(Value(Repr::Null)),
            BodyFormat::Yaml => yaml::read(&response.body).unwrap_or(Value(Repr::Null)),
            BodyFormat::Other => Value(Repr::Null),
        }
    }

    /// Returns a response as policies see it.
    pub fn value<'e>(
        self,
        call: &BuiltinContext<'e>,
        response: &HttpResponse,
    ) -> Result<ValueRef<'e>, RequestFailure> {
        reserve(call, response)?;
        let arena = call.arena;
        let body = match self.format(response) {
            BodyFormat::Json => {
                let text: &'e [u8] = arena.bump().alloc_slice_copy(&response.body);
                json::read_into(arena, text).unwrap_or(ValueRef(RefRepr::Null))
            }
            BodyFormat::Yaml => yaml::read(&response.body)
                .map_or(ValueRef(RefRepr::Null), |body| arena.copy_of(&body)),
            BodyFormat::Other => ValueRef(RefRepr::Null),
        };
        value_with(call, response, body)
    }
}

/// Returns a response as policies see it, given its decoded body.
pub fn value_with<'e>(
    call: &BuiltinContext<'e>,
    response: &HttpResponse,
    body: ValueRef<'e>,
) -> Result<ValueRef<'e>, RequestFailure> {
    reserve(call, response)?;
    let arena = call.arena;
    let mut headers: std::collections::BTreeMap<String, Vec<ValueRef<'e>>> =
        std::collections::BTreeMap::new();
    for (name, value) in &response.headers {
        let values = headers.entry(name.to_ascii_lowercase()).or_default();
        values.push(arena.bytes_text(value));
    }
    let headers = headers
        .iter()
        .map(|(name, values)| (arena.text(name), arena.array(values)));
    let status = format!("{} {}", response.status, response.reason);
    Ok(arena.object_from([
        (arena.text("status"), arena.text(&status)),
        (
            arena.text("status_code"),
            ValueRef(RefRepr::Int(response.status.into())),
        ),
        (arena.text("body"), body),
        (arena.text("raw_body"), arena.bytes_text(&response.body)),
        (arena.text("headers"), arena.object_from(headers)),
    ]))
}

fn reserve(call: &BuiltinContext<'_>, response: &HttpResponse) -> Result<(), RequestFailure> {
    let reserved = call.budget.reserve(response.body.len());
    reserved.map_err(|error| RequestFailure::end(&error))
}

/// Returns `true` for `application/json` and `application/….+json`, with any parameters.
fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    match kind.strip_prefix("application/") {
        Some(name) => name == "json" || name.ends_with("+json"),
        None => false,
    }
}
