//! Lookups and comparisons.

use solon::Value;

use super::{Prepare, elements};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("a0_floor", || Some(Box::new(floor))),
    ("a1_rbac_admin", || Some(Box::new(is_admin))),
    ("b3_map_hit", || Some(Box::new(map_hit))),
    ("c1_sum", || Some(Box::new(sum))),
    ("c2_filter_count", || Some(Box::new(filter_count))),
];

/// Returns the value of a key in an object, where the key is a value.
pub(super) fn under<'v>(value: &'v Value, key: &Value) -> Option<&'v Value> {
    value.as_object()?.get(key.borrow())
}

/// Returns `true` if a value is the given string.
pub(super) fn is(value: Option<&Value>, text: &str) -> bool {
    value.is_some_and(|value| {
        let text = Value::string(text);
        *value == text
    })
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the form of all decisions: others have no answer where something is missing"
)]
fn floor(_: &Value, input: &Value) -> Option<Value> {
    Some(Value::from(is(input.get("user"), "alice")))
}

fn is_admin(data: &Value, input: &Value) -> Option<Value> {
    let roles = under(data.get("user_roles")?, input.get("user")?)?;
    Some(Value::from(
        elements(roles).any(|role| is(Some(role), "admin")),
    ))
}

fn map_hit(data: &Value, input: &Value) -> Option<Value> {
    let roles = under(data.get("users")?, input.get("user")?)?.get("roles")?;
    let (resource, action) = (input.get("resource")?, input.get("action")?);
    let granted = |role: &Value| {
        let permissions = under(data.get("roles")?, role)?.get("perm_map")?;
        let granted = under(under(permissions, resource)?, action)?;
        Some(granted.as_bool() != Some(false))
    };
    let found = elements(roles).any(|role| granted(role) == Some(true));
    Some(Value::from(found))
}

fn sum(data: &Value, _: &Value) -> Option<Value> {
    let amounts = elements(data.get("items")?).map(|item| item.get("amount"));
    let sum = amounts.map(|amount| amount.and_then(Value::as_i64).unwrap_or(0));
    Some(Value::from(sum.sum::<i64>()))
}

fn filter_count(data: &Value, _: &Value) -> Option<Value> {
    let high = elements(data.get("items")?).filter(|item| {
        item.get("amount").and_then(Value::as_i64) > Some(500) && is(item.get("status"), "open")
    });
    Some(Value::from(i64::try_from(high.count()).ok()?))
}
