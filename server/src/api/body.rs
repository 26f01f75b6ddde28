//! What bodies hold.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use solon::Value;
use solon::value::{json, yaml};

use crate::http::Request;

/// A document as a body declares it.
pub enum Document<'a> {
    /// JSON text.
    Json(&'a str),
    /// A YAML document.
    Yaml(Value),
}

impl<'a> Document<'a> {
    /// Adds the document to what is asked as its input.
    pub fn as_input<'r>(&'r self, asked: solon::Request<'r>) -> solon::Request<'r>
    where
        'a: 'r,
    {
        match self {
            Self::Json(text) => asked.input_json(text.as_bytes()),
            Self::Yaml(value) => asked.input(value),
        }
    }
}

/// The body as text; bytes that are no UTF-8 become U+FFFD.
pub fn text(request: &Request) -> Cow<'_, str> {
    String::from_utf8_lossy(&request.body)
}

/// The document that a body is; `None` when it is empty.
pub fn document<'a>(request: &Request, text: &'a str) -> Result<Option<Document<'a>>, String> {
    if request.is_yaml() {
        return Ok(yaml_document(text)?.map(Document::Yaml));
    }
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    Ok(Some(Document::Json(first_json(text)?)))
}

/// The document below `input` of a body; `None` when there is none or it is null.
pub fn enveloped<'a>(request: &Request, text: &'a str) -> Result<Option<Document<'a>>, String> {
    if request.is_yaml() {
        return match yaml_document(text)? {
            Some(Value::Object(object)) => Ok(object
                .get_str("input")
                .filter(|input| !matches!(input, Value::Null))
                .cloned()
                .map(Document::Yaml)),
            None | Some(Value::Null) => Ok(None),
            Some(other) => Err(format!("expected an object, got {}", other.kind().as_str())),
        };
    }
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let envelope: Envelope<'_> = first(text)?;
    Ok(envelope
        .input
        .map(|input| Document::Json(input.get()))
        .filter(|input| !matches!(input, Document::Json("null"))))
}

fn yaml_document(text: &str) -> Result<Option<Value>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    yaml::read(text.as_bytes())
        .map(Some)
        .map_err(|error| error.to_string())
}

/// The first JSON value of a text; what follows it is left alone.
pub fn first_json(text: &str) -> Result<&str, String> {
    first::<&RawValue>(text).map(RawValue::get)
}

/// The first JSON value of a text as some type; what follows it is left alone.
pub fn first<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    T::deserialize(&mut serde_json::Deserializer::from_str(text))
        .map_err(|error| json_error(text, &error))
}

/// What is wrong with a text, in the words of Go's decoder when it is no JSON.
fn json_error(text: &str, error: &serde_json::Error) -> String {
    if error.is_data() {
        let words = error.to_string();
        return words
            .rsplit_once(" at line ")
            .map_or(words.clone(), |(what, _)| what.to_owned());
    }
    malformed(text)
}

/// What Go's decoder says of a text that is no JSON.
pub fn malformed(text: &str) -> String {
    if text.trim_ascii().is_empty() {
        return "EOF".to_owned();
    }
    match json::read(text.as_bytes()) {
        Err(error) if matches!(error.kind(), json::JsonErrorKind::End) => {
            "unexpected EOF".to_owned()
        }
        Err(error) => error.to_string(),
        Ok(_) => "invalid JSON".to_owned(),
    }
}

/// The object around an input. Keys are matched whatever their case; the last one counts.
#[derive(Default)]
struct Envelope<'a> {
    input: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Envelope::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let value: &RawValue = map.next_value()?;
            if key.eq_ignore_ascii_case("input") {
                envelope.input = Some(value);
            }
        }
        Ok(envelope)
    }
}
