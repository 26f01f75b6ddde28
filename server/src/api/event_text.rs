//! JSON texts of events of the decision log.

use serde_json::{Map, Value as Json};
use solon::{ResponseMetadata, Value, json as text};

use super::body::BodyDocument as Input;

/// Returns the input of a decision as JSON text on one line, or `None` if the input cannot be parsed.
pub fn input_text(input: Option<&Input<'_>>) -> Option<Vec<u8>> {
    match input? {
        Input::Json(json) => read(json),
        // the members of a logged body have been parsed, unless they are malformed
        Input::Enveloped(_) => None,
        Input::Read(value) => Some(compact(value)),
    }
}

fn read(json: &[u8]) -> Option<Vec<u8>> {
    Some(compact(&text::read(json).ok()?))
}

/// Returns the metadata that the caller and host functions added to a request and its response.
pub fn metadata(request: Option<&Value>, response: Option<&ResponseMetadata>) -> Option<Json> {
    let json = |value: &Value| solon::from_value::<Json>(value.borrow()).ok();
    let is_some = |value: &Value| value.as_object().is_some_and(|object| !object.is_empty());
    let mut custom = Map::new();
    if let Some(metadata) = request.filter(|value| is_some(value)).and_then(json) {
        custom.insert("request_metadata".to_owned(), metadata);
    }
    let response = response.filter(|metadata| !metadata.is_empty());
    if let Some(metadata) = response
        .map(ResponseMetadata::to_value)
        .as_ref()
        .and_then(json)
    {
        custom.insert("response_metadata".to_owned(), metadata);
    }
    (!custom.is_empty()).then_some(Json::Object(custom))
}

/// Returns a value as JSON text on one line.
pub fn compact(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    text::write_styled(value.borrow(), text::Style::default().html(true), &mut out);
    out
}

pub fn one_line(json: &[u8]) -> Vec<u8> {
    let json = json.trim_ascii_end();
    if !json.contains(&b'\n') {
        return json.to_vec();
    }
    read(json).unwrap_or_else(|| json.to_vec())
}
