//! Inputs of a batch, as its body contains them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use solon::{Value, json};
use solon_syntax::stack;

use super::super::ApiError;
use super::super::body::{self, BodyDocument};
use super::super::call::Call;
use super::super::members::Members;

/// Inputs by key, in the order of keys. Cheap to clone.
#[derive(Clone, Default)]
pub struct Inputs {
    /// Number of inputs in the body, which may exceed the limit.
    count: usize,
    keys: Arc<Vec<String>>,
    items: Arc<Vec<BatchInput>>,
    text: Bytes,
    /// Object that is merged into each input.
    common: Option<Value>,
}

enum BatchInput {
    Text(Range<usize>),
    Read(Value),
}

/// Reads up to `max` inputs of a body. Returns `None` if the body has no inputs.
pub fn read(request: &Call<'_>, max: usize) -> Result<Option<Inputs>, ApiError> {
    let rejection =
        |message| ApiError::invalid(format!("body contains malformed input document: {message}"));
    let inputs = match body::parsed_body(request).map_err(rejection)? {
        Some(parsed) => of_value(&parsed).map_err(rejection)?,
        None => of_text(request, max).map_err(rejection)?,
    };
    match &inputs {
        Some(inputs) if inputs.count > max => Err(ApiError::invalid(format!(
            "a batch has {} inputs; at most {max} are taken at once (--max-batch)",
            inputs.count
        ))),
        _ => Ok(inputs),
    }
}

fn of_text(request: &Call<'_>, max: usize) -> Result<Option<Inputs>, String> {
    let body = request.request().body();
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    // invalid UTF-8 is read as U+FFFD
    let text = match body::text(request) {
        Cow::Borrowed(_) => body.clone(),
        Cow::Owned(text) => Bytes::from(text),
    };
    let body_text = std::str::from_utf8(&text).map_err(|error| error.to_string())?;
    let members = Members::from_text(body_text)?;
    let common = match members.get("common_input") {
        Some(common) => {
            let common = json::read(common.as_bytes());
            Some(common.map_err(|_| json::error_message(body_text.as_bytes()))?)
        }
        None => None,
    };
    let Some(inputs) = members.get("inputs").filter(|inputs| *inputs != "null") else {
        return Ok(None);
    };
    let members = Members::at_most(inputs, max)?;
    let count = members.count();
    // the last of equal keys is used
    let pairs: BTreeMap<String, BatchInput> = members
        .into_pairs()
        .map(|(key, item)| {
            let start = item.as_ptr().addr() - body_text.as_ptr().addr();
            (
                key.into_owned(),
                BatchInput::Text(start..start + item.len()),
            )
        })
        .collect();
    Ok(Some(Inputs::new(count, pairs, text.clone(), common)))
}

fn of_value(body: &Value) -> Result<Option<Inputs>, String> {
    let expected = |value: &Value| format!("expected an object, got {}", value.kind().as_str());
    if body.is_null() {
        return Ok(None);
    }
    let members = body.as_object().ok_or_else(|| expected(body))?;
    let Some(inputs) = members.get_str("inputs").filter(|inputs| !inputs.is_null()) else {
        return Ok(None);
    };
    let inputs = inputs.as_object().ok_or_else(|| expected(inputs))?;
    let pairs = inputs.iter().map(|(key, value)| {
        let key = key.as_str().unwrap_or_default().to_owned();
        (key, BatchInput::Read(value.clone()))
    });
    let common = members.get_str("common_input").cloned();
    let pairs = pairs.collect();
    Ok(Some(Inputs::new(inputs.len(), pairs, Bytes::new(), common)))
}

impl Inputs {
    fn new(
        count: usize,
        pairs: BTreeMap<String, BatchInput>,
        text: Bytes,
        common: Option<Value>,
    ) -> Self {
        let (keys, items) = pairs.into_iter().unzip();
        Self {
            count,
            keys: Arc::new(keys),
            items: Arc::new(items),
            text,
            common: common.filter(|common| common.as_object().is_some()),
        }
    }

    /// Returns the keys in order, shared.
    pub fn keys(&self) -> Arc<Vec<String>> {
        self.keys.clone()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the input at a position, or `None` if it is undefined.
    pub fn get(&self, index: usize) -> Result<Option<BodyDocument<'_>>, String> {
        let text = match self.items.get(index) {
            Some(BatchInput::Text(range)) => self.text.get(range.clone()).unwrap_or_default(),
            None => return Ok(None),
            Some(BatchInput::Read(input)) if input.is_null() => return Ok(None),
            Some(BatchInput::Read(input)) => return Ok(Some(self.with_common(input))),
        };
        match &self.common {
            _ if text == b"null" => Ok(None),
            Some(_) if text.starts_with(b"{") => {
                let input = json::read(text).map_err(|_| json::error_message(text))?;
                Ok(Some(self.with_common(&input)))
            }
            _ => Ok(Some(BodyDocument::Json(text))),
        }
    }

    /// Merges an input with the common object.
    fn with_common(&self, input: &Value) -> BodyDocument<'static> {
        let common = self.common.as_ref();
        let merged_input =
            common.map_or_else(|| input.clone(), |common| merge_values(common, input));
        BodyDocument::Read(Cow::Owned(merged_input))
    }
}

/// Merges two documents: objects key by key, at any depth. If one of them is not an object, the second replaces the first.
fn merge_values(first: &Value, second: &Value) -> Value {
    let (Some(first), Some(members)) = (first.as_object(), second.as_object()) else {
        return second.clone();
    };
    let merged_members = members.iter().map(|(key, value)| {
        let value = match first.get(key.borrow()) {
            Some(common_member) => stack::level(|| merge_values(common_member, value)),
            None => value.clone(),
        };
        (key.clone(), value)
    });
    let first = first.iter();
    let first = first.map(|(key, value)| (key.clone(), value.clone()));
    // the last of equal keys is used
    Value::object(first.chain(merged_members).collect())
}

#[cfg(test)]
mod tests {
    use super::merge_values;
    use solon::json;

    #[test]
    fn the_input_of_an_item_overrides_the_common_one() {
        let merge = |first: &str, second: &str| {
            let parse = |text: &str| json::read(text.as_bytes()).unwrap();
            merge_values(&parse(first), &parse(second))
                .rego_text()
                .to_string()
        };
        assert_eq!(merge(r#"{"a": 1}"#, "[2]"), "[2]");
        assert_eq!(merge("1", r#"{"a": 1}"#), r#"{"a": 1}"#);
        assert_eq!(
            merge(
                r#"{"a": {"x": 1, "y": 1}, "b": {"z": 1}, "c": 1}"#,
                r#"{"a": {"y": 2}, "b": 2, "d": 2}"#
            ),
            r#"{"a": {"x": 1, "y": 2}, "b": 2, "c": 1, "d": 2}"#
        );
    }
}
