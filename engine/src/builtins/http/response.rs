//! Answers as values.

use super::failure::Failure;
use super::fields;
use super::freshness::header;
use crate::builtins::BuiltinContext;
use crate::host::HttpResponse;
use crate::value::{ObjectView, Value, ValueRef, json, yaml};

/// How bodies are read.
#[derive(Clone, Copy)]
pub struct Decoding {
    /// As JSON, whatever the server calls it.
    json: bool,
    /// As YAML, whatever the server calls it.
    yaml: bool,
}

/// What a body is.
enum Format {
    Json,
    Yaml,
    Other,
}

impl Decoding {
    /// What a request says.
    pub fn read(asked: ObjectView<'_>) -> Result<Self, Failure> {
        Ok(Self {
            json: fields::flag(asked, "force_json_decode")?,
            yaml: fields::flag(asked, "force_yaml_decode")?,
        })
    }

    fn format(self, answer: &HttpResponse) -> Format {
        let kind = header(answer, "Content-Type").unwrap_or_default();
        let is_yaml = ["application/yaml", "application/x-yaml"]
            .iter()
            .any(|name| kind.contains(name));
        if self.json || is_json(kind) {
            Format::Json
        } else if self.yaml || is_yaml {
            Format::Yaml
        } else {
            Format::Other
        }
    }

    /// The decoded body, owned; null for one that cannot be decoded.
    pub fn body(self, answer: &HttpResponse) -> Value {
        match self.format(answer) {
            Format::Json => json::read(&answer.body).unwrap_or(Value::Null),
            Format::Yaml => yaml::read(&answer.body).unwrap_or(Value::Null),
            Format::Other => Value::Null,
        }
    }

    /// An answer as policies see it.
    pub fn value<'e>(
        self,
        call: &BuiltinContext<'e>,
        answer: &HttpResponse,
    ) -> Result<ValueRef<'e>, Failure> {
        reserve(call, answer)?;
        let arena = call.arena;
        let body = match self.format(answer) {
            Format::Json => {
                let text: &'e [u8] = arena.bump().alloc_slice_copy(&answer.body);
                json::read_into(arena, text).unwrap_or(ValueRef::Null)
            }
            Format::Yaml => {
                yaml::read(&answer.body).map_or(ValueRef::Null, |body| arena.copy_of(&body))
            }
            Format::Other => ValueRef::Null,
        };
        value_with(call, answer, body)
    }
}

/// An answer as policies see it, its body decoded already.
pub fn value_with<'e>(
    call: &BuiltinContext<'e>,
    answer: &HttpResponse,
    body: ValueRef<'e>,
) -> Result<ValueRef<'e>, Failure> {
    reserve(call, answer)?;
    let arena = call.arena;
    let mut headers: std::collections::BTreeMap<String, Vec<ValueRef<'e>>> =
        std::collections::BTreeMap::new();
    for (name, value) in &answer.headers {
        let values = headers.entry(name.to_ascii_lowercase()).or_default();
        values.push(arena.bytes_text(value));
    }
    let headers = headers
        .iter()
        .map(|(name, values)| (arena.text(name), arena.array(values)));
    let status = format!("{} {}", answer.status, answer.reason);
    Ok(arena.object_from([
        (arena.text("status"), arena.text(&status)),
        (
            arena.text("status_code"),
            ValueRef::Int(answer.status.into()),
        ),
        (arena.text("body"), body),
        (arena.text("raw_body"), arena.bytes_text(&answer.body)),
        (arena.text("headers"), arena.object_from(headers)),
    ]))
}

fn reserve(call: &BuiltinContext<'_>, answer: &HttpResponse) -> Result<(), Failure> {
    let reserved = call.budget.reserve(answer.body.len());
    reserved.map_err(|fault| Failure::end(&fault))
}

/// `application/json` or `application/….+json`, whatever parameters are behind it.
fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    match kind.strip_prefix("application/") {
        Some(name) => name == "json" || name.ends_with("+json"),
        None => false,
    }
}
