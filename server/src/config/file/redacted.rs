//! A configuration without its secrets.

use serde_json::{Map, Value};

/// Stands for a secret whose key is shown.
const REDACTED: &str = "REDACTED";

/// Returns the configuration without secrets:
///
/// - the `credentials` of services, and the `key` and `private_key` of keys, are removed
/// - the values of `headers` of services, and user, password and query of their `url`, are replaced
///
/// Names of these keys are compared without regard to case: a key that is spelled another way has no effect, and may hold a secret.
pub fn redacted(config: &Value) -> Value {
    let mut config = config.clone();
    each(&mut config, "services", |service| {
        service.retain(|name, _| !name.eq_ignore_ascii_case("credentials"));
        for (name, value) in service {
            if name.eq_ignore_ascii_case("headers") {
                hide_all(value);
            } else if name.eq_ignore_ascii_case("url")
                && let Value::String(url) = value
            {
                *url = without_secrets(url);
            }
        }
    });
    each(&mut config, "keys", |key| {
        let is_secret = |name: &str| {
            ["key", "private_key"]
                .iter()
                .any(|secret| name.eq_ignore_ascii_case(secret))
        };
        key.retain(|name, _| !is_secret(name));
    });
    config
}

/// Replaces every member, or a value that has none.
fn hide_all(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for value in fields.values_mut() {
                *value = REDACTED.into();
            }
        }
        other => *other = REDACTED.into(),
    }
}

/// Replaces user and password, and the query, of a URL. Everything before the last `@` of the authority counts as user and password.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{REDACTED}@{host}"),
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, _)) => format!("{path}?{REDACTED}"),
        None => path.to_owned(),
    };
    format!("{scheme}{authority}{path}")
}

fn each(config: &mut Value, section: &str, change: fn(&mut Map<String, Value>)) {
    let items: Vec<&mut Value> = match config.get_mut(section) {
        Some(Value::Object(named)) => named.values_mut().collect(),
        Some(Value::Array(items)) => items.iter_mut().collect(),
        _ => return,
    };
    for item in items {
        if let Value::Object(fields) = item {
            change(fields);
        }
    }
}
