//! Members of a JSON object whose values are parsed when they are needed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use solon::json;

/// Returns the JSON value in a text, without surrounding whitespace.
fn json_value(text: &str) -> Result<&str, String> {
    serde_json::from_str::<&RawValue>(text)
        .map(RawValue::get)
        .map_err(|_| json::error_message(text.as_bytes()))
}

/// Returns the elements of a JSON array; none for `null`. Fails for other values.
pub fn items(text: &str) -> Result<Vec<&str>, String> {
    let items: Option<Vec<&RawValue>> =
        serde_json::from_str(text).map_err(|error| mismatch(text, &error, "an array"))?;
    Ok(items
        .unwrap_or_default()
        .into_iter()
        .map(RawValue::get)
        .collect())
}

/// Matching of member names, as Go's decoder does it or exactly.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    #[default]
    InAnyCase,
    /// Exact, in a body that the authorization policy has read, because the policy matches exact names.
    Exactly,
}

/// Members of an object with unparsed values.
#[derive(Default)]
pub struct Members<'a> {
    pairs: Vec<(Cow<'a, str>, &'a RawValue)>,
    left_out: usize,
    names: Names,
}

impl<'a> Members<'a> {
    /// Returns the members of a JSON object; none for `null`. Fails for other values.
    pub fn from_text(text: &'a str) -> Result<Self, String> {
        Self::at_most(text, usize::MAX)
    }

    /// Returns the members of a whole body. If the authorization policy has read it, it must be an object.
    pub fn from_body(text: &'a str, names: Names) -> Result<Self, String> {
        if names == Names::Exactly && text == "null" {
            return Err("expected an object, got null".to_owned());
        }
        Ok(Self::from_text(text)?.matched(names))
    }

    /// Sets how names are matched. It applies to later look-ups.
    pub fn matched(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Returns the first `max` members of a JSON object. Only the number of the others is kept.
    pub fn at_most(text: &'a str, max: usize) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = reader.deserialize_any(MembersVisitor { most: max });
        let members = members.and_then(|members| reader.end().map(|()| members));
        members.map_err(|error| mismatch(text, &error, "an object"))
    }

    /// Returns the number of members in the text, including those that were not kept.
    pub fn count(&self) -> usize {
        self.pairs.len() + self.left_out
    }

    /// Returns the text of a member, or `None` if it is missing. The last one of a name is used.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let fits = |key: &str| match self.names {
            Names::InAnyCase => key.eq_ignore_ascii_case(name),
            Names::Exactly => key == name,
        };
        let member = self.pairs.iter().rfind(|(key, _)| fits(key));
        member.map(|(_, value)| value.get())
    }

    /// Returns all names with their texts, in the order of the text.
    pub fn into_pairs(self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        let pairs = self.pairs.into_iter();
        pairs.map(|(name, value)| (name, value.get()))
    }

    /// Returns a member that must be a string, if it is present and not null.
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

    /// Returns a member that must be an array of strings, if it is present and not null.
    pub fn strings(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let Some(text) = self.get(name).filter(|text| *text != "null") else {
            return Ok(None);
        };
        serde_json::from_str(text)
            .map(Some)
            .map_err(|_| format!("`{name}` must be an array of strings"))
    }

    /// Returns a boolean member, or `false` if it is absent. Fails if it is not a boolean.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None | Some("null" | "false") => Ok(false),
            Some("true") => Ok(true),
            Some(text) => Err(format!("`{name}` must be a boolean, got {}", kind(text))),
        }
    }
}

/// Returns the error for a text that is not JSON, or that is another kind of JSON.
fn mismatch(text: &str, error: &serde_json::Error, wanted: &str) -> String {
    match json_value(text) {
        Ok(other) if error.is_data() => format!("expected {wanted}, got {}", kind(other)),
        Ok(_) => error.to_string(),
        Err(malformed) => malformed,
    }
}

/// Returns the kind of a JSON text by its first byte. The text must be valid.
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
    /// Number of members that are kept.
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
        while members.pairs.len() < self.most {
            match map.next_entry()? {
                Some(member) => members.pairs.push(member),
                None => return Ok(members),
            }
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            members.left_out += 1;
        }
        Ok(members)
    }
}
