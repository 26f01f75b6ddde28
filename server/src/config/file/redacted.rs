//! Redaction of secrets in a configuration.

use serde_json::{Map, Value};

use super::schema::valid_members;

/// Replacement of a secret whose key is shown.
const REDACTED: &str = "REDACTED";

/// Value of each variable when the configuration is read a second time. It is a plain scalar of YAML in every context.
pub const PLACEHOLDER: &str = "solon-placeholder-of-a-variable";

/// Returns the configuration without secrets:
///
/// - unknown members of services and keys are removed, since a misspelled one may contain a secret.
/// - the `credentials` of services, and the `key` and `private_key` of keys, are removed.
/// - user, password and query of the `url` of services are replaced.
/// - in every section, also one with an unknown name, the values of `headers` are replaced, and `credentials` are removed.
///
/// Section names are compared case-insensitively, since a misspelled section contains secrets, too.
pub fn redacted(config: &Value) -> Value {
    let mut config = config.clone();
    let sections = config.as_object_mut().into_iter().flatten();
    for (name, section) in sections {
        if name.eq_ignore_ascii_case("services") {
            *section = valid_members("services", section);
            each(section, without_secrets_of_service);
        } else if name.eq_ignore_ascii_case("keys") {
            *section = valid_members("keys", section);
            each(section, |key| {
                key.remove("key");
                key.remove("private_key");
            });
        }
    }
    without_headers(&mut config);
    config
}

/// Replaces the values of all members named `headers` and removes all members named `credentials`, at any depth.
fn without_headers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.eq_ignore_ascii_case("credentials"));
            for (name, value) in fields {
                if !name.eq_ignore_ascii_case("headers") {
                    without_headers(value);
                } else if let Value::Object(headers) = value {
                    for header in headers.values_mut() {
                        *header = REDACTED.into();
                    }
                } else if !value.is_null() {
                    *value = REDACTED.into();
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_headers),
        _ => {}
    }
}

fn without_secrets_of_service(service: &mut Map<String, Value>) {
    if let Some(Value::String(url)) = service.get_mut("url") {
        *url = redacted_url(url);
    }
}

/// Replaces user and password, and the query, of a URL. A password may contain any character, so that everything up to the last
/// `@` counts as user and password. If that is in the query, only the scheme is left.
fn redacted_url(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (format!("{scheme}://"), rest),
        _ => (String::new(), url),
    };
    let (address, query) = match rest.split_once('?') {
        Some((_, query)) if query.contains('@') => return format!("{scheme}{REDACTED}"),
        Some((address, _)) => (address, format!("?{REDACTED}")),
        None => (rest, String::new()),
    };
    match address.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}{REDACTED}@{host}{query}"),
        None => format!("{scheme}{address}{query}"),
    }
}

/// Returns `true` if a text can be the scheme of a URL: `[A-Za-z][A-Za-z0-9+.-]*`.
fn is_scheme(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_inner)
}

/// Changes each item of a section, which is an object of names or a list.
fn each(section: &mut Value, change: fn(&mut Map<String, Value>)) {
    let items: Vec<&mut Value> = match section {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => return,
    };
    for item in items {
        if let Value::Object(fields) = item {
            change(fields);
        }
    }
}

/// Replaces every value of `config` that differs in `other`, which is the same configuration read with [`PLACEHOLDER`] in place of
/// each variable. A value that is equal in both does not depend on a variable. The comparison also covers variables whose text is
/// YAML of several values, which a search for the text would not find. The name of a member that depends on a variable is replaced
/// as well.
pub fn masked(config: &Value, other: &Value) -> Value {
    match (config, other) {
        (Value::Object(fields), Value::Object(other_fields)) => {
            let fields = fields
                .iter()
                .map(|(name, value)| match other_fields.get(name) {
                    Some(other) => (name.clone(), masked(value, other)),
                    None => (REDACTED.to_owned(), REDACTED.into()),
                });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        (Value::Array(items), Value::Array(other_items)) => {
            let items = items.iter().enumerate().map(|(index, item)| {
                let other = other_items.get(index);
                other.map_or_else(|| REDACTED.into(), |other| masked(item, other))
            });
            Value::Array(items.collect())
        }
        (value, other) if value == other => value.clone(),
        _ => REDACTED.into(),
    }
}
