//! What bodies hold.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use solon::Value;
use solon::{json, yaml};

use super::call::Call;
use crate::http::RequestExt as _;

/// A document as a body declares it.
pub enum Document<'a> {
    /// JSON text.
    Json(&'a [u8]),
    /// JSON text of an object whose member `input` it is.
    Enveloped(&'a [u8]),
    /// One that was read.
    Read(Cow<'a, Value>),
}

impl<'a> Document<'a> {
    /// Adds the document to what is asked as its input.
    pub fn as_input<'r>(&'r self, asked: solon::Request<'r>) -> solon::Request<'r>
    where
        'a: 'r,
    {
        match self {
            Self::Json(text) => asked.input_json(text),
            Self::Enveloped(text) => asked.input_member(text, "input"),
            Self::Read(value) => asked.input(value),
        }
    }
}

/// The body as text; bytes that are no UTF-8 become U+FFFD. What the authorization policy has read is written anew: nothing
/// that it did not see is answered to.
pub fn text<'a>(request: &Call<'a>) -> Cow<'a, str> {
    if let Some(read) = read_before(request) {
        let mut text = Vec::new();
        json::write(read.borrow(), &mut text);
        return Cow::Owned(String::from_utf8_lossy(&text).into_owned());
    }
    String::from_utf8_lossy(request.request().body())
}

/// The document that a body is; `None` when it is empty.
pub fn document<'a>(request: &Call<'a>) -> Result<Option<Document<'a>>, String> {
    if let Some(read) = read_before(request) {
        return Ok(Some(Document::Read(Cow::Borrowed(read))));
    }
    if is_yaml(request) {
        return Ok(yaml_document(request)?.map(|value| Document::Read(Cow::Owned(value))));
    }
    let body = request.request().body();
    Ok((!body.trim_ascii().is_empty()).then_some(Document::Json(body)))
}

/// What a body holds beside and below `input`.
#[derive(Default)]
pub struct Envelope<'a> {
    /// The document below `input`; `None` when it is known that there is none.
    pub input: Option<Document<'a>>,
    /// All else, where that is of use: what the caller tells about the request.
    pub metadata: Option<Value>,
}

/// What the body is where it is not left to be read from its text: the authorization policy has seen it, or it is YAML.
pub fn whole<'a>(request: &Call<'a>) -> Result<Option<Cow<'a, Value>>, String> {
    match read_before(request) {
        Some(read) => Ok(Some(Cow::Borrowed(read))),
        None if is_yaml(request) => {
            let read = yaml_document(request)?.unwrap_or(Value::Null);
            Ok(Some(Cow::Owned(read)))
        }
        None => Ok(None),
    }
}

/// Takes the envelope of a body apart.
pub fn enveloped<'a>(request: &Call<'a>, with_metadata: bool) -> Result<Envelope<'a>, String> {
    let Some(read) = whole(request)? else {
        let body = request.request().body();
        if body.trim_ascii().is_empty() {
            return Ok(Envelope::default());
        }
        let metadata = with_metadata.then(|| metadata_of_text(&text(request)));
        return Ok(Envelope {
            input: Some(Document::Enveloped(body)),
            metadata: metadata.transpose()?,
        });
    };
    if !matches!(&*read, Value::Object(_) | Value::Null) {
        return Err(format!("expected an object, got {}", read.kind().as_str()));
    }
    let is_input = if read_before(request).is_some() {
        is_input
    } else {
        is_input_in_any_case
    };
    let metadata = with_metadata.then(|| metadata_of(&read, is_input));
    let input = match read {
        Cow::Borrowed(read) => last(read, is_input).map(Cow::Borrowed),
        Cow::Owned(read) => last(&read, is_input).cloned().map(Cow::Owned),
    };
    let input = input.filter(|input| !matches!(&**input, Value::Null));
    Ok(Envelope {
        input: input.map(Document::Read),
        metadata,
    })
}

/// The last member whose name fits.
fn last(read: &Value, fits: fn(&Value) -> bool) -> Option<&Value> {
    let members = read.as_object().into_iter();
    let members = members.flat_map(|object| object.iter());
    let fitting = members.filter(|(name, _)| fits(name)).last();
    fitting.map(|(_, value)| value)
}

/// Whether a member is the input of a body that the authorization policy has read: what it looked at has this name alone, so
/// nothing else is decided on.
fn is_input(name: &Value) -> bool {
    name.as_str() == Some(INPUT)
}

/// The same of another body.
fn is_input_in_any_case(name: &Value) -> bool {
    name.as_str()
        .is_some_and(|name| name.eq_ignore_ascii_case(INPUT))
}

/// The member that holds the input.
const INPUT: &str = "input";

fn metadata_of_text(text: &str) -> Result<Value, String> {
    let members = Members::of(text)?.kept.into_iter();
    let others = members.filter(|(name, _)| !name.eq_ignore_ascii_case(INPUT));
    let read = others.map(|(name, member)| {
        let value = json::read(member.get().as_bytes());
        let value = value.map_err(|error| error.to_string())?;
        Ok((Value::string(&name), value))
    });
    Ok(Value::object(read.collect::<Result<_, String>>()?))
}

fn metadata_of(read: &Value, is_input: fn(&Value) -> bool) -> Value {
    let members = read
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter());
    let others = members.filter(|(name, _)| !is_input(name));
    Value::object(
        others
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Whether a body names no input at all.
pub fn is_without_input(request: &Call<'_>) -> bool {
    match enveloped(request, false).map(|envelope| envelope.input) {
        Ok(Some(Document::Enveloped(_))) => Members::of(&text(request))
            .is_ok_and(|members| members.get(INPUT).is_none_or(|input| input == "null")),
        Ok(document) => document.is_none(),
        Err(_) => false,
    }
}

/// What the body was read as before.
fn read_before<'a>(request: &Call<'a>) -> Option<&'a Value> {
    request.request().parsed_body()
}

/// The document that a body is, read for whoever decides whether it may be asked: all of it has to be one.
pub fn read_all(request: &Call<'_>) -> Result<Option<Value>, String> {
    if is_yaml(request) {
        return yaml_document(request);
    }
    let body = request.request().body();
    if body.is_empty() {
        return Ok(None);
    }
    json::read(body)
        .map(Some)
        .map_err(|_| json::error_message(body))
}

/// Whether a body is to be read as YAML. JSON in a body that is declared as YAML keeps its numbers as written.
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
    // the reader takes it for space, which indentation may not have
    if text.trim_start_matches([' ', '\n', '\r']).starts_with('\t') {
        return Err("yaml: found character that cannot start any token".to_owned());
    }
    yaml::read(text.as_bytes())
        .map(Some)
        .map_err(|error| error.to_string())
}

/// The JSON value that a text is, without the blanks around it.
fn json_value(text: &str) -> Result<&str, String> {
    whole_text::<&RawValue>(text)
        .map(RawValue::get)
        .map_err(|_| json::error_message(text.as_bytes()))
}

/// Returns what is wrong with a text that is not JSON, in the words that OPA has for bodies, or `None` if it is JSON.
pub fn malformed(text: &[u8]) -> Option<String> {
    (!json::is_valid(text)).then(|| json::error_message(text))
}

/// The items of the list that a text is; none of null.
pub fn items(text: &str) -> Result<Vec<&str>, String> {
    let items: Option<Vec<&RawValue>> =
        whole_text(text).map_err(|error| mismatch(text, &error, "an array"))?;
    Ok(items
        .unwrap_or_default()
        .into_iter()
        .map(RawValue::get)
        .collect())
}

/// How names of members are matched.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    /// Whatever their case.
    #[default]
    InAnyCase,
    /// As they are, in a body that the authorization policy has read: it looks for these alone.
    Exactly,
}

impl Names {
    /// Those in the body of a request.
    pub fn of(request: &Call<'_>) -> Self {
        if read_before(request).is_some() {
            Self::Exactly
        } else {
            Self::InAnyCase
        }
    }
}

/// The members of an object, unread.
#[derive(Default)]
pub struct Members<'a> {
    kept: Vec<(Cow<'a, str>, &'a RawValue)>,
    left_out: usize,
    names: Names,
}

impl<'a> Members<'a> {
    /// The members of the object that a text is; none of null.
    pub fn of(text: &'a str) -> Result<Self, String> {
        Self::at_most(text, usize::MAX)
    }

    /// Those of a whole body. One that the authorization policy has read has to be an object.
    pub fn named(text: &'a str, names: Names) -> Result<Self, String> {
        if names == Names::Exactly && text == "null" {
            return Err("expected an object, got null".to_owned());
        }
        Ok(Self::of(text)?.matched(names))
    }

    /// The same, with names that are matched so.
    pub fn matched(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// The same, so many at most; of what is beyond only the number is known.
    pub fn at_most(text: &'a str, most: usize) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = reader.deserialize_any(MembersVisitor { most });
        let members = members.and_then(|members| reader.end().map(|()| members));
        members.map_err(|error| mismatch(text, &error, "an object"))
    }

    /// How many there are, whether they were kept or not.
    pub fn count(&self) -> usize {
        self.kept.len() + self.left_out
    }

    /// A member's text; of several the last one counts.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let fits = |key: &str| match self.names {
            Names::InAnyCase => key.eq_ignore_ascii_case(name),
            Names::Exactly => key == name,
        };
        let named = self.kept.iter().rfind(|(key, _)| fits(key));
        named.map(|(_, value)| value.get())
    }

    /// All names with their texts, in the order that they stand in.
    pub fn into_pairs(self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        let pairs = self.kept.into_iter();
        pairs.map(|(name, value)| (name, value.get()))
    }

    /// A member that has to be a string, if it is there and not null.
    pub fn string(&self, name: &str) -> Result<Option<String>, String> {
        let Some(text) = self.get(name).filter(|text| *text != "null") else {
            return Ok(None);
        };
        match json::read(text.as_bytes()) {
            Ok(value) if value.borrow().is_string() => {
                Ok(Some(value.borrow().text_or_empty().to_str().into_owned()))
            }
            _ => Err(format!("`{name}` must be a string, got {}", kind(text))),
        }
    }

    /// A member that has to be a list of strings, if it is there and not null.
    pub fn strings(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let Some(text) = self.get(name).filter(|text| *text != "null") else {
            return Ok(None);
        };
        serde_json::from_str(text)
            .map(Some)
            .map_err(|_| format!("`{name}` must be an array of strings"))
    }

    /// A member that has to be true or false; false where it is not there.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None | Some("null" | "false") => Ok(false),
            Some("true") => Ok(true),
            Some(text) => Err(format!("`{name}` must be a boolean, got {}", kind(text))),
        }
    }
}

/// Reads a text that has to be one JSON value: nothing but blanks may follow it.
fn whole_text<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// What is wrong with a text: it is no JSON, or another kind of JSON.
fn mismatch(text: &str, error: &serde_json::Error, wanted: &str) -> String {
    match json_value(text) {
        Ok(other) if error.is_data() => format!("expected {wanted}, got {}", kind(other)),
        Ok(_) => error.to_string(),
        Err(malformed) => malformed,
    }
}

/// The kind of a JSON text.
fn kind(text: &str) -> &'static str {
    match text.bytes().next() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

struct MembersVisitor {
    /// How many are kept.
    most: usize,
}

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Members::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while members.kept.len() < self.most {
            match map.next_entry()? {
                Some(member) => members.kept.push(member),
                None => return Ok(members),
            }
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            members.left_out += 1;
        }
        Ok(members)
    }
}
