//! Parsing of request bodies.

use std::borrow::Cow;

use solon::Value;
use solon::{json, yaml};

use super::call::Call;
use super::members::{Members, Names};
use crate::http::RequestExt as _;

pub enum BodyDocument<'a> {
    Json(&'a [u8]),
    /// JSON text of an object whose member `input` is the document.
    Enveloped(&'a [u8]),
    Read(Cow<'a, Value>),
}

impl<'a> BodyDocument<'a> {
    /// Adds the document to an evaluation request as its input.
    pub fn as_input<'r>(&'r self, eval_request: solon::Request<'r>) -> solon::Request<'r>
    where
        'a: 'r,
    {
        match self {
            Self::Json(text) => eval_request.input_json(text),
            Self::Enveloped(text) => eval_request.input_member(text, "input"),
            Self::Read(value) => eval_request.input(value),
        }
    }
}

/// Returns the body as text; invalid UTF-8 becomes U+FFFD. A body that the authorization policy has read is serialized again, so
/// that the request never uses content that the policy did not receive.
pub fn text<'a>(request: &Call<'a>) -> Cow<'a, str> {
    if let Some(parsed) = read_before(request) {
        let mut text = Vec::new();
        json::write(parsed.borrow(), &mut text);
        return Cow::Owned(String::from_utf8_lossy(&text).into_owned());
    }
    String::from_utf8_lossy(request.request().body())
}

/// Parses the body as a document. Returns `None` if it is empty.
pub fn document<'a>(request: &Call<'a>) -> Result<Option<BodyDocument<'a>>, String> {
    if let Some(parsed) = read_before(request) {
        return Ok(Some(BodyDocument::Read(Cow::Borrowed(parsed))));
    }
    if is_yaml(request) {
        return Ok(yaml_document(request)?.map(|value| BodyDocument::Read(Cow::Owned(value))));
    }
    let body = request.request().body();
    Ok((!body.trim_ascii().is_empty()).then_some(BodyDocument::Json(body)))
}

/// Parts of a body: the document below `input`, and the other members.
#[derive(Default)]
pub struct Envelope<'a> {
    /// Document below `input`; `None` if the body is known to have none.
    pub input: Option<BodyDocument<'a>>,
    /// Other members, if they are needed: metadata that the caller adds to the request.
    pub metadata: Option<Value>,
}

/// Returns the parsed body if it is not parsed from its text later: because the authorization policy has read it, or because it is
/// YAML.
pub fn parsed_body<'a>(request: &Call<'a>) -> Result<Option<Cow<'a, Value>>, String> {
    match read_before(request) {
        Some(parsed) => Ok(Some(Cow::Borrowed(parsed))),
        None if is_yaml(request) => {
            let parsed = yaml_document(request)?.unwrap_or(Value::NULL);
            Ok(Some(Cow::Owned(parsed)))
        }
        None => Ok(None),
    }
}

/// Splits a body into its input and, if `with_metadata` is set, the other members.
pub fn enveloped<'a>(request: &Call<'a>, with_metadata: bool) -> Result<Envelope<'a>, String> {
    let Some(parsed) = parsed_body(request)? else {
        let body = request.request().body();
        if body.trim_ascii().is_empty() {
            return Ok(Envelope::default());
        }
        if with_metadata {
            return of_members(&text(request), body);
        }
        return Ok(Envelope {
            input: Some(BodyDocument::Enveloped(body)),
            metadata: None,
        });
    };
    if !parsed.is_null() && parsed.as_object().is_none() {
        return Err(format!(
            "expected an object, got {}",
            parsed.kind().as_str()
        ));
    }
    let is_input = if read_before(request).is_some() {
        is_input
    } else {
        is_input_in_any_case
    };
    let metadata = with_metadata.then(|| metadata_of(&parsed, is_input));
    let input = match parsed {
        Cow::Borrowed(value) => last(value, is_input).map(Cow::Borrowed),
        Cow::Owned(value) => last(&value, is_input).cloned().map(Cow::Owned),
    };
    let input = input.filter(|input| !input.is_null());
    Ok(Envelope {
        input: input.map(BodyDocument::Read),
        metadata,
    })
}

/// Returns the last member whose name satisfies `fits`.
fn last(object: &Value, fits: fn(&Value) -> bool) -> Option<&Value> {
    let members = object.as_object().into_iter();
    let members = members.flat_map(|object| object.iter());
    let fitting = members.filter(|(name, _)| fits(name)).last();
    fitting.map(|(_, value)| value)
}

/// Returns `true` if a member is the input of a body that the authorization policy has read. The policy matches the exact name
/// only, so no other spelling may provide the input.
fn is_input(name: &Value) -> bool {
    name.as_str() == Some(INPUT)
}

/// Returns `true` if a member is the input of any other body, in any case of letters.
fn is_input_in_any_case(name: &Value) -> bool {
    name.as_str()
        .is_some_and(|name| name.eq_ignore_ascii_case(INPUT))
}

/// Name of the member that contains the input.
const INPUT: &str = "input";

/// Parses each member of a body once: the evaluation and the decision log use the same input. `text` is the text of `body`.
fn of_members<'a>(text: &str, body: &'a [u8]) -> Result<Envelope<'a>, String> {
    let mut input = None;
    let mut metadata = Vec::new();
    for (name, member) in Members::from_text(text)?.into_pairs() {
        if name.eq_ignore_ascii_case(INPUT) {
            // the last one is used
            input = Some(member).filter(|member| *member != "null");
            continue;
        }
        let value = json::read(member.as_bytes()).map_err(|error| error.to_string())?;
        metadata.push((Value::string(&name), value));
    }
    Ok(Envelope {
        input: input.map(|input| match json::read(input.as_bytes()) {
            Ok(input) => BodyDocument::Read(Cow::Owned(input)),
            // the evaluation returns the error
            Err(_) => BodyDocument::Enveloped(body),
        }),
        metadata: Some(Value::object(metadata)),
    })
}

fn metadata_of(object: &Value, is_input: fn(&Value) -> bool) -> Value {
    let members = object
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter());
    let other_members = members.filter(|(name, _)| !is_input(name));
    Value::object(
        other_members
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Returns `true` if a body has no input. `null` counts as none; a malformed body does not.
pub fn is_without_input(request: &Call<'_>) -> bool {
    match enveloped(request, false).map(|envelope| envelope.input) {
        Ok(Some(BodyDocument::Enveloped(_))) => Members::from_text(&text(request))
            .is_ok_and(|members| members.get(INPUT).is_none_or(|input| input == "null")),
        Ok(document) => document.is_none(),
        Err(_) => false,
    }
}

/// Returns the value that the authorization policy has parsed.
fn read_before<'a>(request: &Call<'a>) -> Option<&'a Value> {
    request.request().parsed_body()
}

/// Parses the whole body as a document for the authorization policy.
pub fn read_all(request: &Call<'_>) -> Result<Option<Value>, String> {
    if is_yaml(request) {
        return yaml_document(request);
    }
    if request.body().is_empty() {
        return Ok(None);
    }
    read_json(request).map(Some)
}

/// Parses the whole body of a request that needs one.
pub fn value(request: &Call<'_>) -> Result<Value, String> {
    match parsed_body(request)? {
        Some(parsed) => Ok(parsed.into_owned()),
        None => read_json(request),
    }
}

fn read_json(request: &Call<'_>) -> Result<Value, String> {
    json::read(request.body()).map_err(|_| json::error_message(request.body()))
}

/// Returns `true` if a body is parsed as YAML. JSON in a body that is declared as YAML keeps its numbers as written.
fn is_yaml(request: &Call<'_>) -> bool {
    request.is_yaml() && !json::is_valid(request.body())
}

fn yaml_document(request: &Call<'_>) -> Result<Option<Value>, String> {
    let text = std::str::from_utf8(request.body())
        .map_err(|_| "yaml: invalid leading UTF-8 octet".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    // the YAML parser accepts tabs as space, which indentation must not contain
    if text.trim_start_matches([' ', '\n', '\r']).starts_with('\t') {
        return Err("yaml: found character that cannot start any token".to_owned());
    }
    yaml::read(text.as_bytes())
        .map(Some)
        .map_err(|error| error.to_string())
}

/// Returns what is wrong with a text that is not JSON, in OPA's words for bodies, or `None` if it is JSON.
pub fn malformed(text: &[u8]) -> Option<String> {
    (!json::is_valid(text)).then(|| json::error_message(text))
}

impl Names {
    /// Returns how names in the body of a request are matched.
    pub fn from_request(request: &Call<'_>) -> Self {
        if read_before(request).is_some() {
            Self::Exactly
        } else {
            Self::InAnyCase
        }
    }
}
