//! Removal and replacement of event fields by the mask policy.

use solon::{Kind, Value, json};

use super::event::Event;

/// Maximum number of keys in a path. A path may depend on a request, and each missing key adds a nested object.
const MAX_KEYS: usize = 256;

#[derive(Debug, PartialEq)]
struct Rule<'v> {
    /// Path as it is written.
    path: &'v str,
    /// Member of the event.
    root: Root,
    /// Keys below the member.
    keys: Vec<&'v str>,
    operation: Operation<'v>,
}

/// Event members that a mask can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Input,
    Result,
    NdBuiltinCache,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation<'v> {
    Remove,
    Upsert(&'v Value),
}

/// Changes an event by the value of the mask document as JSON: an array of paths and operations.
///
/// # Errors
/// Fails if the value is not valid, in OPA's words. The event must not be logged then.
pub fn mask(event: &mut Event<'_>, value: &Value) -> Result<(), String> {
    let rules = rules(value)?;
    let mut parts = ChangedMembers::default();
    for rule in rules {
        let part = parts.part(event, rule.root)?;
        match rule.operation {
            Operation::Remove => {
                let Some(value) = part else { continue };
                if rule.keys.is_empty() {
                    *part = None;
                } else if let Some(new_value) = remove_at(value, &rule.keys) {
                    *part = Some(new_value);
                } else {
                    continue;
                }
                event.erased.push(escape_path(rule.path));
            }
            Operation::Upsert(new) => {
                if let Some(new_value) = upsert(part.as_ref(), &rule.keys, new) {
                    *part = Some(new_value);
                    event.masked.push(escape_path(rule.path));
                }
            }
        }
    }
    parts.write(event);
    Ok(())
}

/// Event members that were parsed to be changed.
#[derive(Default)]
struct ChangedMembers([Option<Option<Value>>; 3]);

impl ChangedMembers {
    /// Returns a member. Its text is parsed once.
    fn part<'p>(
        &'p mut self,
        event: &Event<'_>,
        root: Root,
    ) -> Result<&'p mut Option<Value>, String> {
        let [input, result, cache] = &mut self.0;
        let (part, text) = match root {
            Root::Input => (input, &event.input),
            Root::Result => (result, &event.result),
            Root::NdBuiltinCache => (cache, &event.nd_builtin_cache),
        };
        if part.is_none() {
            let parsed = text.as_deref().map(json::read).transpose();
            *part = Some(parsed.map_err(|error| error.to_string())?);
        }
        Ok(part.get_or_insert_default())
    }

    /// Writes the parsed members back to the event.
    fn write(self, event: &mut Event<'_>) {
        let [input, result, cache] = self.0;
        for (part, text) in [
            (input, &mut event.input),
            (result, &mut event.result),
            (cache, &mut event.nd_builtin_cache),
        ] {
            if let Some(part) = part {
                *text = part.map(|value| {
                    let mut text = Vec::new();
                    json::write_styled(
                        value.borrow(),
                        json::Style::default().html(true),
                        &mut text,
                    );
                    text
                });
            }
        }
    }
}

/// Parses the rules of a mask.
///
/// # Errors
/// The value is not an array, or a rule is not valid: OPA's message.
fn rules(value: &Value) -> Result<Vec<Rule<'_>>, String> {
    let items: Vec<&Value> = match value.as_array() {
        Some(items) => items.iter().collect(),
        None => {
            return Err(format!("unexpected rule format {}", with_go_type(value)));
        }
    };
    items.into_iter().map(rule).collect()
}

fn rule(value: &Value) -> Result<Rule<'_>, String> {
    match value.kind() {
        Kind::String => Rule::new(value.as_str().unwrap_or_default(), Operation::Remove),
        Kind::Object => {
            let operation = match value.get("op") {
                None => "",
                Some(name) => text("op", name)?,
            };
            let path = match value.get("path") {
                None => "",
                Some(path) => text("path", path)?,
            };
            match operation {
                "remove" => Rule::new(path, Operation::Remove),
                "upsert" => {
                    let new = value.get("value").unwrap_or(&Value::NULL);
                    Rule::new(path, Operation::Upsert(new))
                }
                other => {
                    // an invalid path is reported first
                    Rule::new(path, Operation::Remove)?;
                    Err(format!("mask op is not supported: {other}"))
                }
            }
        }
        _ => Err(format!(
            "invalid mask rule format encountered: {}",
            go_type(value)
        )),
    }
}

fn text<'v>(name: &str, value: &'v Value) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| {
        format!(
            "invalid {name:?} value: {} {}",
            compact(value),
            go_type(value)
        )
    })
}

impl<'v> Rule<'v> {
    fn new(path: &'v str, operation: Operation<'v>) -> Result<Self, String> {
        if path.is_empty() {
            return Err("mask must be non-empty".to_owned());
        }
        let Some(rest) = path.strip_prefix('/') else {
            return Err("mask must be slash-prefixed".to_owned());
        };
        let mut keys = rest.split('/');
        let root = match keys.next().unwrap_or_default() {
            "input" => Root::Input,
            "result" => Root::Result,
            "nd_builtin_cache" => Root::NdBuiltinCache,
            other => return Err(format!("mask prefix not allowed: {other}")),
        };
        let keys: Vec<&str> = keys.collect();
        if keys.len() > MAX_KEYS {
            return Err(format!("mask path has more than {MAX_KEYS} keys"));
        }
        if let Some(escape) = keys.iter().find_map(|key| invalid_escape(key)) {
            return Err(format!("invalid URL escape {escape:?}"));
        }
        Ok(Self {
            path,
            root,
            keys,
            operation,
        })
    }
}

/// Returns the first invalid URL escape, or `None`.
fn invalid_escape(text: &str) -> Option<&str> {
    text.match_indices('%').find_map(|(index, _)| {
        let rest = text.get(index..)?;
        let is_valid = rest.len() >= 3
            && rest
                .bytes()
                .skip(1)
                .take(2)
                .all(|byte| byte.is_ascii_hexdigit());
        let end = rest
            .char_indices()
            .nth(3)
            .map_or(rest.len(), |(end, _)| end);
        (!is_valid).then(|| rest.get(..end)).flatten()
    })
}

/// Returns a value without the member at a path, or `None` if it does not exist.
fn remove_at(value: &Value, keys: &[&str]) -> Option<Value> {
    let (first, rest) = keys.split_first()?;
    let change = |member: &Value| match rest {
        [] => Some(None),
        rest => remove_at(member, rest).map(Some),
    };
    with_member_changed(value, first, change)
}

/// Returns a value with a new member at a path. Missing objects are added. Returns `None` if a parent is not an object.
fn upsert(value: Option<&Value>, keys: &[&str], new: &Value) -> Option<Value> {
    let Some((first, rest)) = keys.split_first() else {
        return Some(new.clone());
    };
    let Some(value) = value else {
        let member = upsert(None, rest, new)?;
        return Some(Value::object(vec![(Value::string(first), member)]));
    };
    if let Some(object) = value.as_object()
        && resolve_key(object, first).is_none()
    {
        let member = upsert(None, rest, new)?;
        let pairs = object.iter();
        let mut pairs: Vec<_> = pairs
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        pairs.push((Value::string(first), member));
        return Some(Value::object(pairs));
    }
    with_member_changed(value, first, |member| {
        upsert(Some(member), rest, new).map(Some)
    })
}

/// Returns a value whose member `key` is replaced by the result of `change`, or removed. Returns `None` if the member does not
/// exist, or `change` fails.
fn with_member_changed(
    value: &Value,
    key: &str,
    change: impl FnOnce(&Value) -> Option<Option<Value>>,
) -> Option<Value> {
    if let Some(object) = value.as_object() {
        let key = resolve_key(object, key)?;
        let mut new = change(object.get(key.borrow())?)?;
        let mut pairs = Vec::with_capacity(object.len());
        for (name, value) in object.iter() {
            if *name != key {
                pairs.push((name.clone(), value.clone()));
            } else if let Some(new) = new.take() {
                pairs.push((name.clone(), new));
            }
        }
        return Some(Value::object(pairs));
    }
    let mut items = value.as_array()?.to_vec();
    let index: usize = key.parse().ok()?;
    match change(items.get(index)?)? {
        Some(new) => *items.get_mut(index)? = new,
        None => drop(items.remove(index)),
    }
    Some(Value::array(items))
}

/// Returns the key of an object that a path segment refers to. Usually it is the segment itself. If this key does not exist, URL
/// and JSON pointer escapes are decoded, because a policy that uses them must not disclose the field.
fn resolve_key(object: &solon::Object, segment: &str) -> Option<Value> {
    let existing = |text: &str| {
        let key = Value::string(text);
        object.get(key.borrow()).is_some().then_some(key)
    };
    if let Some(key) = existing(segment) {
        return Some(key);
    }
    let decoded = percent_encoding::percent_decode_str(segment).decode_utf8();
    let decoded = decoded.ok().and_then(|text| existing(&text));
    decoded.or_else(|| existing(&segment.replace("~1", "/").replace("~0", "~")))
}

/// Returns a path as events contain it: each segment is escaped like a query parameter.
fn escape_path(path: &str) -> String {
    let segments = path
        .split('/')
        .map(|segment| form_urlencoded::byte_serialize(segment.as_bytes()).collect::<String>());
    segments.collect::<Vec<_>>().join("/")
}

/// Returns a JSON value with its type in Go's notation, as OPA does.
fn with_go_type(value: &Value) -> String {
    let text = match value {
        value if value.is_null() => "<nil>".to_owned(),
        value => match value.as_str() {
            Some(text) => text.to_owned(),
            None => compact(value),
        },
    };
    format!("{text} ({})", go_type(value))
}

fn compact(value: &Value) -> String {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the type name of a value in OPA's messages.
fn go_type(value: &Value) -> &'static str {
    match value.kind() {
        Kind::Null => "<nil>",
        Kind::Boolean => "bool",
        Kind::Number => "json.Number",
        Kind::String => "string",
        Kind::Object => "map[string]interface {}",
        _ => "[]interface {}",
    }
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/mask.rs"]
mod tests;
