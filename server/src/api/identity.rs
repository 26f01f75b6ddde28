//! Who asks, as the authorization policy sees it: a token that nobody has looked into, or a certificate that was verified.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use solon::{Engine, PreparedQuery, Value};

use crate::config::Authentication;
use crate::http::Request;

/// Who asks.
pub fn of(authentication: Authentication, request: &Request<'_>) -> Option<Value> {
    match authentication {
        Authentication::Off => None,
        Authentication::Token => token(request.header("authorization")).map(Value::from),
        Authentication::Tls => {
            let certificates = read(request)?;
            let first = certificates.as_array()?.first()?;
            Some(Value::from(
                distinguished_name(first.get("Subject")?).as_str(),
            ))
        }
    }
}

/// The certificates that the client showed, read.
pub fn certificates(authentication: Authentication, request: &Request<'_>) -> Option<Value> {
    (authentication == Authentication::Tls)
        .then(|| read(request).cloned())
        .flatten()
}

/// The token of a header: `Bearer TOKEN`, where case counts.
fn token(header: &str) -> Option<&str> {
    let rest = header.strip_prefix("Bearer")?;
    let token = rest.trim_start_matches(is_space);
    let is_apart = token.len() < rest.len();
    (is_apart && !token.is_empty() && !token.contains(is_space)).then_some(token)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}

/// Reads the certificates of a connection, once.
fn read<'a>(request: &'a Request<'_>) -> Option<&'a Value> {
    /// What policies call as well, so that both see the same.
    static READER: LazyLock<Option<PreparedQuery>> = LazyLock::new(|| {
        let query = "x := crypto.x509.parse_certificates(input)";
        Engine::new().prepare_query(query).ok()
    });
    let peer = &request.peer;
    let known = peer.certificates_read.get_or_init(|| {
        let joined = peer.certificates.concat();
        if joined.is_empty() {
            return None;
        }
        let input = Value::from(STANDARD.encode(joined).as_str());
        let solutions = READER
            .as_ref()?
            .solutions(&solon::Request::new().input(&input))
            .ok()?;
        let (_, value) = solutions.into_iter().next()?.bindings.into_iter().next()?;
        Some(value)
    });
    known.as_ref()
}

/// A subject as Go writes it: `CN=client,O=Solon`.
fn distinguished_name(subject: &Value) -> String {
    const FIELDS: [(&str, &str); 9] = [
        ("SerialNumber", "SERIALNUMBER"),
        ("CommonName", "CN"),
        ("PostalCode", "POSTALCODE"),
        ("StreetAddress", "STREET"),
        ("Province", "ST"),
        ("Locality", "L"),
        ("OrganizationalUnit", "OU"),
        ("Organization", "O"),
        ("Country", "C"),
    ];
    let mut parts = Vec::new();
    for (field, name) in FIELDS {
        let values: Vec<String> = match subject.get(field) {
            Some(Value::Array(values)) => values
                .iter()
                .filter_map(Value::as_str)
                .map(|value| format!("{name}={}", escaped(value)))
                .collect(),
            Some(value) => match value.as_str() {
                Some(text) if !text.is_empty() => vec![format!("{name}={}", escaped(text))],
                _ => Vec::new(),
            },
            None => Vec::new(),
        };
        if !values.is_empty() {
            parts.push(values.join("+"));
        }
    }
    parts.join(",")
}

/// A value of a distinguished name, with its special characters escaped.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (at, c) in value.chars().enumerate() {
        let is_special = matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';')
            || at == 0 && matches!(c, '#' | ' ')
            || at == last && c == ' ';
        if is_special {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{distinguished_name, token};
    use solon::json;

    #[test]
    fn tokens() {
        assert_eq!(token("Bearer abc"), Some("abc"));
        assert_eq!(token("Bearer \t abc"), Some("abc"));
        for none in [
            "",
            "bearer abc",
            "Bearer",
            "Bearer ",
            "Bearerabc",
            "Bearer a b",
            "Basic x",
        ] {
            assert_eq!(token(none), None, "{none}");
        }
    }

    #[test]
    fn names() {
        let name = |text: &str| distinguished_name(&json::read(text.as_bytes()).unwrap());
        let text = r#"{"CommonName": "a, b", "Organization": ["x", "y"], "Country": null, "SerialNumber": ""}"#;
        assert_eq!(name(text), "CN=a\\, b,O=x+O=y");
    }
}
