//! Sets, with the standard library.

use std::collections::HashSet;

use solon::Value;

use super::{Prepare, elements, number, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("set_algebra", || Some(Box::new(algebra))),
    ("set_union", || Some(Box::new(missing))),
    ("set_common", || Some(Box::new(common))),
    ("sets", || Some(Box::new(permissions))),
];

type Names<'v> = HashSet<&'v str>;

fn algebra(data: &Value, _: &Value) -> Option<Value> {
    let named = |key: &str| texts(data, key).collect::<Names<'_>>();
    let (staff, contractors) = (named("staff"), named("contractors"));
    let trained = named("trained");
    let all: Names<'_> = &staff | &contractors;
    let answer = [
        ("both", number((&staff & &contractors).len())?),
        ("all", number(all.len())?),
        ("trained", number((&all & &trained).len())?),
        ("untrained", number((&all - &trained).len())?),
        (
            "ready",
            Value::from(&trained - &contractors == &trained - &(&contractors & &trained)),
        ),
    ];
    let pairs = answer.map(|(key, value)| (Value::string(key), value));
    Some(Value::object(pairs.into()))
}

/// Returns the permissions of each role.
fn rights(data: &Value) -> impl Iterator<Item = Names<'_>> {
    let roles = data.get("roles").map(elements).into_iter().flatten();
    roles.map(|role| texts(role, "rights").collect())
}

fn missing(data: &Value, _: &Value) -> Option<Value> {
    let granted = rights(data).reduce(|mut all, rights| {
        all.extend(rights);
        all
    })?;
    let needed: Names<'_> = texts(data, "needed").collect();
    number((&needed - &granted).len())
}

fn common(data: &Value, _: &Value) -> Option<Value> {
    let common = rights(data).reduce(|mut common, rights| {
        common.retain(|right| rights.contains(right));
        common
    })?;
    number(common.len())
}

fn permissions(data: &Value, _: &Value) -> Option<Value> {
    let (held, needed): (Names<'_>, Names<'_>) = (
        texts(data, "held").collect(),
        texts(data, "needed").collect(),
    );
    let either = &held | &needed;
    let missing = &needed - &held;
    let answer = [
        (
            "all",
            number(either.len() + usize::from(!either.contains("root")))?,
        ),
        ("both", number((&held & &needed).len())?),
        ("either", number(either.len())?),
        ("enough", Value::from(missing.is_empty())),
        ("missing", number(missing.len())?),
    ];
    let pairs = answer.map(|(key, value)| (Value::string(key), value));
    Some(Value::object(pairs.into()))
}
