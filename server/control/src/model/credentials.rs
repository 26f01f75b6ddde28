//! Credentials in plain fields of data sources: headers, addresses and bodies, which all readers of the source can see.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Replaces a credential that was stored by a version that did not reject it.
const REDACTED: &str = "REDACTED";

/// Advice in the error message for a field.
pub(super) const ADVICE: &str =
    "must not hold a credential; put it into a secret and name that by `credentials`";

/// Last words of the names of headers, parameters and members that hold credentials.
const LAST_WORDS: [&str; 17] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sig",
    "signature",
    "token",
    "xapikey",
];

/// Words before a last word `key` that make it a credential.
const KEYS: [&str; 9] = [
    "access",
    "account",
    "api",
    "auth",
    "functions",
    "private",
    "secret",
    "shared",
    "subscription",
];

/// Returns `true` if a header, a parameter or a member of this name holds a credential, in any case and with any separators:
/// `Authorization`, `X-API-Key`, `private_token`, `clientSecret`.
pub fn is_credential_name(name: &str) -> bool {
    let mut name_words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = letter.is_uppercase() && was_lower;
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        if begins || !letter.is_alphanumeric() {
            name_words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(last) = name_words.last_mut()
        {
            last.extend(letter.to_lowercase());
        }
    }
    name_words.retain(|name_word| !name_word.is_empty());
    let mut backwards = name_words.iter().rev().map(String::as_str);
    match backwards.next() {
        Some("key") => backwards
            .next()
            .is_some_and(|last_but_one| KEYS.contains(&last_but_one)),
        Some(last) => LAST_WORDS.contains(&last),
        None => false,
    }
}

/// Returns the places of credentials in the `config` of an HTTP data source: `headers.Authorization`, `url`, `body`.
pub fn in_config(config: &Value) -> Vec<String> {
    let mut fields = Vec::new();
    let mut config = config.clone();
    if let Some(config) = config.as_object_mut() {
        redact_config(config, Redacted::Found, &mut fields);
    }
    fields
}

/// Returns the places of credentials in the body of a stored source: `datasources[0].config.url`.
pub fn in_source(body: &str) -> Vec<String> {
    redact(body).map(|(_, fields)| fields).unwrap_or_default()
}

/// Returns the body of a stored source with its credentials redacted.
///
/// Writing it back is rejected: the names of the fields stay.
pub fn redacted_source(body: &str) -> Cow<'_, str> {
    match redact(body) {
        Some((redacted, fields)) if !fields.is_empty() => Cow::Owned(redacted),
        _ => Cow::Borrowed(body),
    }
}

/// Decides whether redacted credentials are found as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redacted {
    /// Found, because a client may write back the redacted body that it has read.
    Found,
    /// Skipped, because a redacted value in a stored body reveals nothing.
    Skipped,
}

fn redact(body: &str) -> Option<(String, Vec<String>)> {
    // most sources have no data sources and need not be parsed
    if !body.contains("\"datasources\"") {
        return None;
    }
    let mut source: Value = serde_json::from_str(body).ok()?;
    let mut fields = Vec::new();
    let datasources = source.get_mut("datasources")?.as_array_mut()?;
    for (index, datasource) in datasources.iter_mut().enumerate() {
        let mut config_fields = Vec::new();
        if let Some(config) = datasource.get_mut("config").and_then(Value::as_object_mut) {
            redact_config(config, Redacted::Skipped, &mut config_fields);
        }
        let of_source = |field| format!("datasources[{index}].config.{field}");
        fields.extend(config_fields.into_iter().map(of_source));
    }
    Some((source.to_string(), fields))
}

fn redact_config(config: &mut Map<String, Value>, redacted: Redacted, fields: &mut Vec<String>) {
    let is_skipped = |is_redacted| is_redacted && redacted == Redacted::Skipped;
    let headers = config.get_mut("headers").and_then(Value::as_object_mut);
    for (name, value) in headers.into_iter().flatten() {
        if is_credential_name(name) && !is_skipped(value == REDACTED) {
            fields.push(format!("headers.{name}"));
            *value = REDACTED.into();
        }
    }
    for (field, redact) in [
        ("url", redacted_address as fn(&str) -> Option<String>),
        ("endpoint", redacted_address),
        ("body", redacted_body),
    ] {
        if let Some(Value::String(text)) = config.get_mut(field)
            && let Some(redacted) = redact(text)
            && !is_skipped(redacted == *text)
        {
            fields.push(field.to_owned());
            *text = redacted;
        }
    }
}

/// Returns an address with user information and credentials among its parameters redacted, or `None` if it has none.
fn redacted_address(address: &str) -> Option<String> {
    let (before, fragment) = match address.split_once('#') {
        Some((before, fragment)) => (before, format!("#{fragment}")),
        None => (address, String::new()),
    };
    let (target, query) = match before.split_once('?') {
        Some((target, query)) => (target, Some(query)),
        None => (before, None),
    };
    let scheme = target
        .find("://")
        .map_or(0, |after_scheme| after_scheme + 3);
    let (scheme, rest) = target.split_at_checked(scheme)?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let user = authority.rsplit_once('@');
    let query = query.map(|query| (query, redacted_parameters(query)));
    let redacted_query = query.as_ref().and_then(|(_, redacted)| redacted.clone());
    if user.is_none() && redacted_query.is_none() {
        return None;
    }
    let authority = user.map_or(authority.to_owned(), |(_, host)| {
        format!("{REDACTED}@{host}")
    });
    let query = query.map_or_else(String::new, |(query, _)| {
        format!("?{}", redacted_query.unwrap_or_else(|| query.to_owned()))
    });
    Some(format!("{scheme}{authority}{path}{query}{fragment}"))
}

/// Returns `a=1&token=…` with credentials redacted, or `None` if it has none.
fn redacted_parameters(text: &str) -> Option<String> {
    let mut has_credential = false;
    let pairs = text.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_credential_name(&percent_decode(name)) => {
            has_credential = true;
            format!("{name}={REDACTED}")
        }
        _ => pair.to_owned(),
    });
    let redacted = pairs.collect::<Vec<_>>().join("&");
    has_credential.then_some(redacted)
}

/// Decodes the escapes of a name, because an escaped name is equivalent to the decoded one.
fn percent_decode(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escaped = (first == b'%').then(|| rest.split_first_chunk::<2>());
        match escaped
            .flatten()
            .map(|(digits, after)| (hex::decode(digits), after))
        {
            Some((Ok(byte), after)) => {
                bytes.extend(byte);
                rest = after;
            }
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a body with credentials among the members of its JSON or among its parameters redacted, or `None` if it has none.
fn redacted_body(body: &str) -> Option<String> {
    if let Ok(mut value) = serde_json::from_str::<Value>(body) {
        return redact_members(&mut value).then(|| value.to_string());
    }
    redacted_parameters(body)
}

fn redact_members(value: &mut Value) -> bool {
    let mut has_credential = false;
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if !text.is_empty() && is_credential_name(name) => {
                        REDACTED.clone_into(text);
                        has_credential = true;
                    }
                    value => has_credential |= redact_members(value),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                has_credential |= redact_members(item);
            }
        }
        _ => {}
    }
    has_credential
}

#[cfg(test)]
mod tests {
    use super::{is_credential_name, redacted_address, redacted_body, redacted_source};

    #[test]
    fn names_of_credentials() {
        for name in [
            "Authorization",
            "AUTHORIZATION",
            "Proxy-Authorization",
            "cookie",
            "X-Api-Key",
            "X-API-KEY",
            "x_api_key",
            "Api-Key",
            "apikey",
            "APIKey",
            "X-Auth-Token",
            "Private-Token",
            "X-Vault-Token",
            "X-Goog-Api-Key",
            "Ocp-Apim-Subscription-Key",
            "x-functions-key",
            "X-Auth-Key",
            "accessToken",
            "client_secret",
            "clientSecret",
            "password",
            "sig",
            "X-Amz-Signature",
            "X-Registry-Auth",
        ] {
            assert!(is_credential_name(name), "{name}");
        }
        for name in [
            "Accept",
            "Content-Type",
            "User-Agent",
            "If-None-Match",
            "X-Request-Id",
            "X-Api-Version",
            "X-Api-Key-Id",
            "token_type",
            "grant_type",
            "max_tokens",
            "key",
            "Sort-Key",
            "author",
            "X-Auth-User",
            "",
            "-",
        ] {
            assert!(!is_credential_name(name), "{name}");
        }
    }

    #[test]
    fn addresses_and_bodies_are_redacted() {
        let address = |text| redacted_address(text);
        assert_eq!(address("https://a.example.com/x?page=1#f"), None);
        assert_eq!(address("https://a.example.com/@x?y=a@b"), None);
        for (text, redacted) in [
            ("https://u:p@h/x", "https://REDACTED@h/x"),
            ("https://token@h", "https://REDACTED@h"),
            ("https://a@b@h/x?y", "https://REDACTED@h/x?y"),
            (
                "https://h/x?a=1&token=t#f",
                "https://h/x?a=1&token=REDACTED#f",
            ),
            ("https://h/x?%74oken=t", "https://h/x?%74oken=REDACTED"),
            ("https://h?sv=1&sig=s", "https://h?sv=1&sig=REDACTED"),
        ] {
            assert_eq!(address(text).as_deref(), Some(redacted));
        }
        assert_eq!(redacted_body("plain text"), None);
        assert_eq!(
            redacted_body(r#"{"a": [{"b": "c"}], "password": ""}"#),
            None
        );
        for (text, redacted) in [
            (
                r#"{"a":[{"password":"p"}]}"#,
                r#"{"a":[{"password":"REDACTED"}]}"#,
            ),
            (
                "grant_type=x&client_secret=s",
                "grant_type=x&client_secret=REDACTED",
            ),
        ] {
            assert_eq!(redacted_body(text).as_deref(), Some(redacted));
        }
        let unchanged = r#"{"datasources": [{"config": {"url": "https://h"}}], "n": 1.0}"#;
        assert_eq!(redacted_source(unchanged), unchanged);
    }
}
