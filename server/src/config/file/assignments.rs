//! Assignments on the command line: `a.b=c`, `a={1,2}`, `a[0].b=c`, several separated by commas.

use serde_json::{Map, Value};

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Maximum index of a list that assignments create.
const INDEX: usize = 10_000;

/// Applies assignments. `read_value` converts an assigned text to a value.
pub fn apply(
    value: &mut Value,
    text: &str,
    read_value: &dyn Fn(&str) -> Result<Value, String>,
) -> Result<(), String> {
    // assignments of one text to a list create a new list, which replaces the existing one
    let mut assigned_values = Value::Object(Map::new());
    for assignment in split(text, ',') {
        let (key, assigned) = cut(&assignment);
        let steps = steps(&key)?;
        let Some(assigned) = assigned else {
            return Err(format!("key \"{key}\" has no value"));
        };
        let list = assigned
            .strip_prefix('{')
            .and_then(|list| list.strip_suffix('}'));
        let assigned = match list {
            Some("") => Value::Array(Vec::new()),
            Some(items) => {
                let items = split(items, ',');
                let items = items.iter().map(|item| read_value(&plain(item)));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            None => read_value(&plain(assigned))?,
        };
        put(&mut assigned_values, &steps, assigned);
    }
    merge(value, assigned_values);
    Ok(())
}

/// Parses a text of the command line as a value.
pub fn typed(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "0" => 0.into(),
        _ if text.starts_with('0') => text.into(),
        _ => text
            .parse::<i64>()
            .map_or_else(|_| text.into(), Value::from),
    }
}

/// Splits a text at each separator that is neither escaped nor within braces. Escapes remain.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut is_escaped) = (0_usize, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => {}
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// Splits an assignment into its path and its value.
fn cut(text: &str) -> (String, Option<&str>) {
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        if c == '='
            && !is_escaped
            && let (Some(key), Some(value)) = (text.get(..index), text.get(index + 1..))
        {
            return (key.trim().to_owned(), Some(value));
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (text.trim().to_owned(), None)
}

/// Removes the escapes of a text.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_escaped = false;
    for c in text.chars() {
        if c == '\\' && !is_escaped {
            is_escaped = true;
        } else {
            is_escaped = false;
            out.push(c);
        }
    }
    out
}

fn steps(key: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for part in split(key, '.') {
        let (name, mut rest) = match part.split_once('[') {
            Some((name, rest)) => (name.to_owned(), Some(rest.to_owned())),
            None => (part, None),
        };
        if name.is_empty() {
            return Err(format!("key \"{key}\" has an empty name"));
        }
        steps.push(Step::Key(plain(&name)));
        while let Some(text) = rest {
            let number = text.split_once(']').and_then(|(number, after)| {
                let number = number.parse().ok().filter(|number| *number <= INDEX)?;
                Some((number, after.strip_prefix('[').map(str::to_owned)))
            });
            let Some((number, after)) = number else {
                return Err(format!("key \"{key}\" has a wrong index"));
            };
            steps.push(Step::Index(number));
            rest = after;
        }
    }
    Ok(steps)
}

fn put(target: &mut Value, steps: &[Step], value: Value) {
    let Some((step, rest)) = steps.split_first() else {
        *target = value;
        return;
    };
    match step {
        Step::Key(name) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            if let Value::Object(fields) = target {
                put(
                    fields.entry(name.as_str()).or_insert(Value::Null),
                    rest,
                    value,
                );
            }
        }
        Step::Index(index) => {
            if !target.is_array() {
                *target = Value::Array(Vec::new());
            }
            if let Value::Array(items) = target {
                if items.len() <= *index {
                    items.resize(index + 1, Value::Null);
                }
                if let Some(item) = items.get_mut(*index) {
                    put(item, rest, value);
                }
            }
        }
    }
}

/// Merges a value over another: objects member by member, anything else is replaced, and `null` removes.
fn merge(base: &mut Value, overlay: Value) {
    match (base, overlay) {
        (Value::Object(base_members), Value::Object(overlay_members)) => {
            for (name, value) in overlay_members {
                if value.is_null() {
                    base_members.remove(&name);
                } else {
                    merge(base_members.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (base, overlay) => *base = overlay,
    }
}
