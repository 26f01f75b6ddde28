//! Following `$ref` within a document.

use serde_json::Value as Json;

/// The part of a document that a reference leads to.
pub fn resolve<'a>(root: &'a Json, reference: &str) -> Result<&'a Json, String> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return match identified(root, reference) {
            Some(found) => Ok(found),
            None => Err(elsewhere(reference)),
        };
    };
    let fragment = decode(fragment);
    if !fragment.starts_with('/') {
        return Ok(identified(root, reference).unwrap_or(root));
    }
    let mut found = root;
    for step in fragment.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        found = match found {
            Json::Object(members) => {
                let member = members.get(&step);
                member.ok_or_else(|| format!("Object has no key '{step}'"))?
            }
            Json::Array(items) => {
                let item = step
                    .parse()
                    .ok()
                    .and_then(|position: usize| items.get(position));
                item.ok_or_else(|| format!("Invalid array index '{step}'"))?
            }
            _ => return Err(format!("Invalid token reference '{step}'")),
        };
    }
    Ok(found)
}

/// A definition that names itself.
fn identified<'a>(root: &'a Json, name: &str) -> Option<&'a Json> {
    ["definitions", "$defs"]
        .iter()
        .filter_map(|key| root.get(key)?.as_object())
        .flat_map(|definitions| definitions.values())
        .find(|definition| {
            let mut keys = ["$id", "id"].iter();
            keys.any(|key| definition.get(key).and_then(Json::as_str) == Some(name))
        })
}

/// Why a reference to another document is refused: nothing is fetched while a policy compiles.
fn elsewhere(reference: &str) -> String {
    if reference.contains("://") {
        format!("remote reference loading disabled: {reference}")
    } else {
        format!(
            "Reference /{} must be canonical",
            reference.trim_start_matches('/')
        )
    }
}

/// Undoes percent encoding.
fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) => {
                bytes.push(high * 16 + low);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}
