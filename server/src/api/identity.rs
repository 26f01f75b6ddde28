//! Identity of the client in the input of the authorization policy: an unverified token, or a verified certificate.

use solon::Value;
use solon::x509::parse_certificates_in_der;

use super::ApiError;
use super::call::Call;
use crate::config::Authentication;
use crate::http::RequestExt as _;
use crate::http::header::AUTHORIZATION;

/// Returns the identity of the client, or `None` if it sends none.
///
/// # Errors
/// Fails if the client sends a token or a certificate that cannot be represented as a value. It must not be treated as a client
/// without one.
pub fn identity_of(
    authentication: Authentication,
    request: &Call<'_>,
) -> Result<Option<Value>, ApiError> {
    match authentication {
        Authentication::Off => Ok(None),
        Authentication::Token => {
            let header = request.headers().get(AUTHORIZATION);
            let token = header.and_then(|header| token(header.as_bytes()));
            match token.map(std::str::from_utf8).transpose() {
                Ok(token) => Ok(token.map(Value::from)),
                Err(_) => Err(ApiError::unauthorized(
                    "the bearer token is not valid UTF-8",
                )),
            }
        }
        Authentication::Tls if request.info().peer.certificates.is_empty() => Ok(None),
        Authentication::Tls => {
            let subject = read(request).and_then(|certificates| {
                let first = certificates.as_array()?.first()?;
                Some(distinguished_name(first.get("Subject")?))
            });
            match subject {
                Some(subject) => Ok(Some(Value::from(subject.as_str()))),
                None => Err(ApiError::unauthorized(
                    "the certificate of the client cannot be read",
                )),
            }
        }
    }
}

/// Returns the parsed certificates of the client.
pub fn certificates(authentication: Authentication, request: &Call<'_>) -> Option<Value> {
    (authentication == Authentication::Tls)
        .then(|| read(request).cloned())
        .flatten()
}

/// Returns the token of a header `Bearer TOKEN`, which is case-sensitive. As in OPA, any other header or a token with whitespace is
/// ignored.
fn token(header: &[u8]) -> Option<&[u8]> {
    let rest = header.strip_prefix(b"Bearer")?;
    let blanks = rest.iter().take_while(|byte| is_space(**byte)).count();
    let token = rest.get(blanks..)?;
    let is_apart = blanks > 0;
    (is_apart && !token.is_empty() && !token.iter().any(|byte| is_space(*byte))).then_some(token)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

/// Parses the certificates of a connection once.
fn read<'a>(request: &'a Call<'_>) -> Option<&'a Value> {
    let peer = &request.info().peer;
    let certificates = peer.certificates_read.get_or_init(|| {
        let der = peer.certificates.concat();
        if der.is_empty() {
            return None;
        }
        parse_certificates_in_der(&der).ok()
    });
    certificates.as_ref()
}

/// Returns a subject in Go's notation, for example `CN=client,O=Solon`.
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
        let value = subject.get(field);
        let values: Vec<&str> = match value.and_then(Value::as_array) {
            Some(values) => values.iter().filter_map(Value::as_str).collect(),
            None => {
                let text = value.and_then(Value::as_str);
                text.filter(|text| !text.is_empty()).into_iter().collect()
            }
        };
        let values: Vec<String> = values
            .into_iter()
            .map(|value| format!("{name}={}", escape(value)))
            .collect();
        if !values.is_empty() {
            parts.push(values.join("+"));
        }
    }
    parts.join(",")
}

/// Escapes the special characters of a value in a distinguished name.
fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (index, c) in value.chars().enumerate() {
        let is_special = matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';')
            || index == 0 && matches!(c, '#' | ' ')
            || index == last && c == ' ';
        if is_special {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use solon::x509::parse_certificates_in_der;
    use solon::{Engine, Request, json};

    use super::{distinguished_name, token};

    #[test]
    fn certificates_equal_those_that_policies_parse() {
        let certificates = ["one", "two"].map(|name| {
            let key = rcgen::KeyPair::generate().unwrap();
            let mut parameters = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
            let subject = &mut parameters.distinguished_name;
            subject.push(rcgen::DnType::CommonName, name);
            parameters.self_signed(&key).unwrap().der().to_vec()
        });
        let engine = Engine::new();
        let query = engine
            .prepare_query("x := crypto.x509.parse_certificates(input)")
            .unwrap();
        for count in 1..=2 {
            let der = certificates.get(..count).unwrap().concat();
            let parsed = parse_certificates_in_der(&der).unwrap();
            assert_eq!(parsed.as_array().map(|all| all.len()), Some(count));
            let input = solon::Value::from(STANDARD.encode(&der).as_str());
            let solutions = query.solutions(&Request::new().input(&input)).unwrap();
            let (_, expected) = solutions.into_iter().next().unwrap().bindings.remove(0);
            assert_eq!(parsed, expected);
            let truncated = der.get(..der.len() - 1).unwrap();
            assert!(parse_certificates_in_der(truncated).is_err());
        }
    }

    #[test]
    fn tokens() {
        let abc: Option<&[u8]> = Some(b"abc");
        assert_eq!(token(b"Bearer abc"), abc);
        assert_eq!(token(b"Bearer \t abc"), abc);
        assert_eq!(token(b"Bearer \xff"), Some(&b"\xff"[..]));
        for none in [
            "",
            "bearer abc",
            "Bearer",
            "Bearer ",
            "Bearerabc",
            "Bearer\u{a0}abc",
            "Bearer a b",
            "Basic x",
        ] {
            assert_eq!(token(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn names() {
        let name = |text: &str| distinguished_name(&json::read(text.as_bytes()).unwrap());
        let text = r#"{"CommonName": "a, b", "Organization": ["x", "y"], "Country": null, "SerialNumber": ""}"#;
        assert_eq!(name(text), "CN=a\\, b,O=x+O=y");
    }
}
