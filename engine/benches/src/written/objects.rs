//! Objects that are merged and changed, each into a new owned object.

use std::collections::BTreeSet;

use solon::Value;

use super::{Prepare, elements, number};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("overlays", || Some(Box::new(overlays))),
    ("layers", || Some(Box::new(layers))),
    ("overlay_one", || Some(Box::new(overlay_one))),
    ("patch_long", || Some(Box::new(marked))),
];

fn pairs(value: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    value
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter())
}

/// Merges objects recursively. If one side is not an object, the right value is used.
fn merge(left: &Value, right: &Value) -> Value {
    if left.as_object().is_none() || right.as_object().is_none() {
        return right.clone();
    }
    let mut merged = Vec::with_capacity(8);
    let (mut lefts, mut rights) = (pairs(left).peekable(), pairs(right).peekable());
    loop {
        let next = match (lefts.peek(), rights.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return Value::object(merged),
        };
        let left = lefts.next_if(|_| next.is_le());
        let right = rights.next_if(|_| next.is_ge());
        match (left, right) {
            (Some((key, left)), Some((_, right))) => merged.push((key.clone(), merge(left, right))),
            (Some((key, value)), None) | (None, Some((key, value))) => {
                merged.push((key.clone(), value.clone()));
            }
            (None, None) => {}
        }
    }
}

/// Returns the effective settings of each service: defaults, settings of its environment, and its own.
fn effective(data: &Value) -> impl Iterator<Item = Option<Value>> {
    let services = data.get("services").into_iter().flat_map(pairs);
    services.map(|(_, service)| {
        let environments = data.get("environments")?;
        let environment = environments.get(service.get("environment")?.utf8()?)?;
        let base = merge(data.get("defaults")?, environment);
        Some(merge(&base, service.get("settings")?))
    })
}

fn overlays(data: &Value, _: &Value) -> Option<Value> {
    let all: Vec<Value> = effective(data).collect::<Option<_>>()?;
    let below = |settings: &Value, part: &str, key: &str| settings.get(part)?.get(key).cloned();
    let replicas = all.iter().map(|settings| {
        below(settings, "scaling", "replicas")
            .and_then(|value| value.as_i64())
            .unwrap_or(0)
    });
    let debug = Value::string("debug");
    let debugged = all
        .iter()
        .filter(|settings| below(settings, "logging", "level").as_ref() == Some(&debug));
    let labels = all.iter().filter_map(|settings| settings.get("labels"));
    let labels: BTreeSet<&Value> = labels.flat_map(pairs).map(|(label, _)| label).collect();
    Some(Value::object(vec![
        (
            Value::string("replicas"),
            Value::from(replicas.sum::<i64>()),
        ),
        (Value::string("debug"), number(debugged.count())?),
        (Value::string("labels"), number(labels.len())?),
    ]))
}

fn layers(data: &Value, _: &Value) -> Option<Value> {
    let labels = effective(data).map(|merged| Some(pairs(merged?.get("labels")?).count()));
    number(labels.sum::<Option<usize>>()?)
}

fn overlay_one(data: &Value, _: &Value) -> Option<Value> {
    let object = |key: &str, value| Value::object(vec![(Value::string(key), value)]);
    let scaling = object("scaling", object("replicas", Value::from(9)));
    let change = object("service-7", object("settings", scaling));
    let raised = merge(data.get("services")?, &change);
    let settings = raised.get("service-7")?.get("settings")?;
    let replicas = settings.get("scaling")?.get("replicas")?.clone();
    Some(Value::array(vec![
        number(pairs(&raised).count())?,
        replicas,
    ]))
}

/// A change of a list.
enum Change {
    Remove(String),
    Add(String, Value),
    Replace(String, Value),
}

/// Parses a path below a list of items: the index of an item, and optionally one of its keys.
fn named(path: &str) -> Option<(usize, Option<&str>)> {
    let mut names = path.strip_prefix("/items/")?.splitn(2, '/');
    Some((names.next()?.parse().ok()?, names.next()))
}

fn apply(items: &mut Vec<Value>, change: &Change) -> Option<()> {
    match change {
        Change::Remove(path) => {
            let (at, _) = named(path)?;
            (at < items.len()).then(|| items.remove(at))?;
        }
        Change::Add(path, item) => {
            let (at, _) = named(path)?;
            (at <= items.len()).then(|| items.insert(at, item.clone()))?;
        }
        Change::Replace(path, value) => {
            let (at, key) = named(path)?;
            let (item, key) = (items.get_mut(at)?, key?);
            item.get(key)?;
            let key = Value::string(key);
            let changed = pairs(item).map(|(name, old)| {
                let value = if *name == key { value } else { old };
                (name.clone(), value.clone())
            });
            *item = Value::object(changed.collect());
        }
    }
    Some(())
}

fn marked(data: &Value, _: &Value) -> Option<Value> {
    let (open, seen) = (Value::string("open"), Value::string("seen"));
    let item = vec![
        (Value::string("id"), Value::from(-1)),
        (Value::string("state"), Value::string("new")),
    ];
    let mut changes = vec![
        Change::Remove("/items/3".to_owned()),
        Change::Add("/items/5".to_owned(), Value::object(item)),
    ];
    let list = data.get("items")?;
    for (at, item) in elements(list).enumerate() {
        if item.get("state") == Some(&open) && at > 9 {
            changes.push(Change::Replace(format!("/items/{at}/state"), seen.clone()));
        }
    }
    let mut items: Vec<Value> = elements(list).cloned().collect();
    for change in &changes {
        apply(&mut items, change)?;
    }
    let document = Value::object(vec![(Value::string("items"), Value::array(items))]);
    let patched = elements(document.get("items")?);
    number(
        patched
            .filter(|item| item.get("state") == Some(&seen))
            .count(),
    )
}
