//! Resolves `$ref` within a document.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use solon_syntax::stack;

use super::document::{Document, string_keyed};
use super::uri::UriReference;
use crate::value::{Repr, Value};

/// References of a document, and the ids of its subschemas.
pub struct SchemaReferences<'a> {
    /// Documents and subschemas by id.
    named: HashMap<String, &'a Value>,
    given: HashSet<String>,
    /// Resolved references of the schemas with a `$ref`, by address.
    absolute: HashMap<*const Value, UriReference>,
}

impl<'a> SchemaReferences<'a> {
    /// Collects ids and references. Fails for a duplicate id.
    pub fn new(root: &'a Value) -> Result<Self, String> {
        let mut references = Self {
            named: HashMap::from([(String::new(), root)]),
            given: HashSet::new(),
            absolute: HashMap::new(),
        };
        references.collect(root, &UriReference::default())?;
        Ok(references)
    }

    fn collect(&mut self, part: &'a Value, base: &UriReference) -> Result<(), String> {
        if let Some(items) = part.as_array() {
            let mut items = items.iter();
            return items.try_for_each(|item| stack::level(|| self.collect(item, base)));
        }
        let Some(members) = part.as_members() else {
            return Ok(());
        };
        let mut base = Cow::Borrowed(base);
        let name = members.get_str("id").or_else(|| members.get_str("$id"));
        if let Some(name) = name.and_then(Document::as_str) {
            let absolute_id = base.join(&UriReference::parse(name));
            let text = absolute_id.text();
            if !self.given.insert(text.clone()) {
                return Err(format!("Reference already exists: \"{text}\""));
            }
            // The empty id always refers to the document.
            self.named.entry(text).or_insert(part);
            base = Cow::Owned(absolute_id);
        }
        if let Some(reference) = members.get_str("$ref").and_then(Document::as_str) {
            let absolute = base.join(&UriReference::parse(reference));
            self.absolute.insert(std::ptr::from_ref(part), absolute);
        }
        for (key, value) in string_keyed(members) {
            match key {
                // The content is literal.
                "const" | "enum" => {}
                // The keys are not keywords.
                "properties" | "dependencies" | "patternProperties" => {
                    for (_, value) in value.as_members().into_iter().flat_map(string_keyed) {
                        stack::level(|| self.collect(value, &base))?;
                    }
                }
                _ => stack::level(|| self.collect(value, &base))?,
            }
        }
        Ok(())
    }

    /// Returns the resolved `$ref` of a schema, or an empty text, which refers to the document, if it has none.
    pub fn absolute(&self, schema: &Value) -> String {
        let absolute_uri = self.absolute.get(&std::ptr::from_ref(schema));
        absolute_uri.map(UriReference::text).unwrap_or_default()
    }

    /// Returns the target of a resolved reference. Fails if it is in another document or has no target.
    pub fn find(&self, reference: &str) -> Result<&'a Value, String> {
        let reference = &UriReference::parse(reference);
        if let Some(target) = self.named.get(&reference.text()) {
            return Ok(target);
        }
        match self.named.get(&reference.document()) {
            Some(document) => point(document, &reference.fragment),
            None if reference.is_canonical() => Err(format!(
                "remote reference loading disabled: {}",
                reference.text()
            )),
            None => Err(format!("Reference {} must be canonical", reference.text())),
        }
    }
}

/// Returns the target of a JSON pointer. Anything else refers to the whole document.
fn point<'a>(document: &'a Value, fragment: &str) -> Result<&'a Value, String> {
    let fragment = decode(fragment);
    if !fragment.starts_with('/') {
        return Ok(document);
    }
    let mut target = document;
    for step in fragment.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        target = match target {
            Value(Repr::Object(members)) => {
                let member = members.get_str(&step);
                member.ok_or_else(|| format!("Object has no key '{step}'"))?
            }
            Value(Repr::Array(items)) => {
                let item = step
                    .parse()
                    .ok()
                    .and_then(|position: usize| items.get(position));
                item.ok_or_else(|| format!("Invalid array index '{step}'"))?
            }
            _ => return Err(format!("Invalid token reference '{step}'")),
        };
    }
    Ok(target)
}

/// Decodes percent-encoding.
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
