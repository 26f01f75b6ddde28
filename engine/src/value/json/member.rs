//! Parsing one member of an object from JSON text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::{error_message, first, readable};
use crate::value::{Arena, RefRepr, ValueRef};

/// Parses a document, which must be an object, and returns the member whose name matches regardless of case; the last
/// one of several. Returns `None` if the text is blank or `null`, or if the member is missing or `null`.
///
/// # Errors
/// If the text is not exactly one document.
pub fn read_member<'e>(
    arena: &'e Arena,
    text: &'e [u8],
    name: &str,
) -> Result<Option<ValueRef<'e>>, String> {
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let (value, is_alone) = first(arena, text)?;
    if !is_alone {
        return Err(error_message(text));
    }
    let Some(object) = value.as_object() else {
        return match value {
            ValueRef(RefRepr::Null) => Ok(None),
            other => Err(format!("expected an object, got {}", other.kind().as_str())),
        };
    };
    let has_name = |key: ValueRef<'_>| {
        key.as_text()
            .is_some_and(|key| key.as_bytes().eq_ignore_ascii_case(name.as_bytes()))
    };
    let mut matching = object.iter().filter(|(key, _)| has_name(*key));
    let member = match (matching.next(), matching.next()) {
        (Some((_, value)), None) => Some(value),
        (None, _) => None,
        // A parsed object does not preserve the order of its members.
        (Some((_, other)), Some(_)) => match last_named(readable(arena, text), name) {
            Some(last) => object.get_str(&last),
            None => Some(other),
        },
    };
    Ok(member.filter(|value| !matches!(value, ValueRef(RefRepr::Null))))
}

/// Returns the last name in the object at the start of a text that matches `name` regardless of case.
fn last_named<'t>(text: &'t str, name: &str) -> Option<Cow<'t, str>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(LastNamed { name }).ok().flatten()
}

struct LastNamed<'n> {
    name: &'n str,
}

impl<'t> Visitor<'t> for LastNamed<'_> {
    type Value = Option<Cow<'t, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut last = None;
        while let Some((key, _)) = map.next_entry::<Cow<'t, str>, IgnoredAny>()? {
            if key.eq_ignore_ascii_case(self.name) {
                last = Some(key);
            }
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::read_member;
    use crate::value::Arena;

    #[test]
    fn the_last_matching_name_in_the_text_wins() {
        let arena = Arena::new();
        let read_input = |text: &'static str| {
            let member = read_member(&arena, text.as_bytes(), "input");
            member.map(|value| {
                value.map_or_else(
                    || "nothing".to_owned(),
                    |value| value.rego_text().to_string(),
                )
            })
        };
        for (text, expected) in [
            (r#"{"input": 1}"#, "1"),
            (r#"{"Input": 1}"#, "1"),
            (r#"{"input": 5, "Input": 6}"#, "6"),
            (r#"{"Input": 6, "input": 5}"#, "5"),
            (
                r#"{"input": 1, "x": {"input": 2}, "INPUT": 3, "inpu": 4}"#,
                "3",
            ),
            (r#"{"INPUT": 1, "input": 2, "\u0049nput": 3} "#, "3"),
            (r#"{"input": 1, "INPUT": null}"#, "nothing"),
            (r#"{"INPUT": null, "input": 1}"#, "1"),
            (r#"{"x": 1}"#, "nothing"),
            ("null", "nothing"),
            (" ", "nothing"),
        ] {
            assert_eq!(read_input(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "[1]",
            r#"{"input": 1} tail"#,
            r#"{"input": 1}}"#,
            r#"{"input": 1} null"#,
            "null 1",
        ] {
            assert!(read_input(text).is_err(), "{text}");
        }
    }
}
