//! Small decisions that a policy computes with helper rules and functions.

use std::fmt::Write;

use solon::Value;

use super::lookups::{is, under};
use super::{Prepare, elements, text};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("helpers_allow", || {
        Some(Box::new(|data, input| allow(data, input).map(Value::from)))
    }),
    ("helpers_reason", || Some(Box::new(reason))),
    ("helpers_route", || Some(Box::new(route))),
];

fn number(value: &Value, key: &str) -> Option<i64> {
    value.get(key)?.as_i64()
}

fn allow(data: &Value, input: &Value) -> Option<bool> {
    let user = under(data.get("users")?, input.get("user")?)?;
    let roles = user.get("roles")?;
    let locked = user.get("locked").is_some_and(|locked| *locked == true)
        || number(user, "failures") > Some(5);
    if locked {
        return Some(false);
    }
    if elements(roles).any(|role| is(Some(role), "admin")) {
        return Some(true);
    }
    let (action, resource) = (input.get("action")?, input.get("resource")?);
    let (kind, tenant) = (resource.get("kind")?, resource.get("tenant")?);
    let permits = |grant: &Value| {
        grant.get("kind") == Some(kind)
            && (grant.get("actions").map(elements))
                .is_some_and(|mut all| all.any(|one| one == action))
    };
    let all = data.get("roles")?;
    let permitted = elements(roles).any(|role| {
        let grants = under(all, role).and_then(|role| role.get("grants"));
        grants.is_some_and(|grants| elements(grants).any(permits))
    });
    let at_home = user.get("tenant") == Some(tenant)
        || (user.get("guest_of").map(elements)).is_some_and(|mut all| all.any(|one| one == tenant));
    if !permitted || !at_home {
        return Some(false);
    }
    let limit = under(data.get("limits")?, user.get("plan")?);
    let too_large = is(Some(action), "write") && input.get("size") > limit;
    Some(!too_large)
}

fn reason(data: &Value, input: &Value) -> Option<Value> {
    if allow(data, input)? {
        return Some(Value::string("granted"));
    }
    let resource = input.get("resource")?;
    let (tenant, kind) = (text(resource, "tenant")?, text(resource, "kind")?);
    let (user, action) = (text(input, "user")?, text(input, "action")?);
    let mut message = String::with_capacity(64);
    let id = text(resource, "id")?;
    write!(message, "{user} may not {action} {tenant}/{kind}/{id}").ok()?;
    Some(Value::string(&message))
}

/// Normalizes a path or a prefix for comparison.
fn clean(path: &str) -> String {
    let mut clean = path.to_lowercase();
    if clean.ends_with('/') {
        clean.pop();
    }
    clean
}

fn route(data: &Value, input: &Value) -> Option<Value> {
    let path = clean(text(input, "path")?);
    let method = text(input, "method")?.to_lowercase();
    let routes = data.get("routes")?.as_object()?;
    let found = routes.iter().find(|(_, rule)| {
        text(rule, "method") == Some(&method)
            && text(rule, "prefix").is_some_and(|prefix| path.starts_with(&clean(prefix)))
    });
    Some(found.map_or_else(|| Value::string("none"), |(name, _)| name.clone()))
}
