//! Signed tokens, verified by the same libraries.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use solon::Value;
use solon::internal::value::json;

use super::{Prepare, elements, text};

const SECRET: &[u8] = b"a secret of thirty-two characters";

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("jwt_hs256", || {
        Some(Box::new(|_, input| {
            is_code(SECRET, text(input, "hs256")?).map(Value::from)
        }))
    }),
    ("jwt_rs256", || {
        Some(Box::new(kept(rsa, "rs256", "certificate")))
    }),
    ("jwt_es256", || Some(Box::new(kept(curve, "es256", "jwks")))),
    ("jwt_decode_verify", || Some(Box::new(verified_claims))),
    ("jwt_decode", || Some(Box::new(decoded))),
    ("api_claims", || Some(Box::new(may_call))),
];

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Splits a token into the signed part and the signature.
fn parts(token: &str) -> Option<(&str, Vec<u8>)> {
    let (signed, signature) = token.rsplit_once('.')?;
    Some((signed, decode(signature)?))
}

fn is_code(secret: &[u8], token: &str) -> Option<bool> {
    let (signed, signature) = parts(token)?;
    let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    let mac = mac.chain_update(signed.as_bytes());
    Some(mac.verify_slice(&signature).is_ok())
}

/// Verifies a token with a key that is parsed once.
fn kept(
    parse: fn(&str) -> Option<ParsedPublicKey>,
    token: &'static str,
    key: &'static str,
) -> impl Fn(&Value, &Value) -> Option<Value> {
    let parsed = std::sync::OnceLock::new();
    move |data, input| {
        let key = parsed.get_or_init(|| parse(text(data, key)?));
        let (signed, signature) = parts(text(input, token)?)?;
        let verified = key.as_ref()?.verify_sig(signed.as_bytes(), &signature);
        Some(Value::from(verified.is_ok()))
    }
}

/// Returns the key of a certificate. It searches for the 2048-bit modulus and the exponent 65537, which no other part of the
/// certificate matches.
fn rsa(certificate: &str) -> Option<ParsedPublicKey> {
    const BEFORE: &[u8] = &[0x02, 0x82, 0x01, 0x01, 0x00];
    const AFTER: &[u8] = &[0x02, 0x03, 0x01, 0x00, 0x01];
    let lines = certificate.lines().filter(|line| !line.starts_with('-'));
    let der = STANDARD.decode(lines.collect::<String>()).ok()?;
    let found = der.windows(BEFORE.len() + 256 + AFTER.len());
    let key = found
        .filter(|part| part.starts_with(BEFORE) && part.ends_with(AFTER))
        .find_map(|part| part.get(BEFORE.len()..BEFORE.len() + 256))?;
    let components = PublicKeyComponents {
        n: key,
        e: &[1, 0, 1],
    };
    let parsed = components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256);
    parsed.ok()
}

fn curve(jwks: &str) -> Option<ParsedPublicKey> {
    let jwks = json::read(jwks.as_bytes()).ok()?;
    let key = elements(jwks.get("keys")?).next()?;
    let (x, y) = (decode(text(key, "x")?)?, decode(text(key, "y")?)?);
    ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, [&[4], &*x, &*y].concat()).ok()
}

fn object(part: &str) -> Option<Value> {
    json::read(&decode(part)?).ok()
}

fn is(value: &Value, key: &str, wanted: &str) -> bool {
    text(value, key) == Some(wanted)
}

/// Returns the claims of a token that is signed with the secret, is meant for the API and has not expired; `None` for any other
/// token.
fn claims(
    secret: &[u8],
    header: &Value,
    token: &str,
    issuer: &str,
    now: i64,
) -> Option<Option<Value>> {
    if !is(header, "alg", "HS256") || !is_code(secret, token)? {
        return Some(None);
    }
    let claims = object(token.split('.').nth(1)?)?;
    let end = claims.get("exp").and_then(Value::as_i64);
    let is_alive = end.is_none_or(|end| now < end);
    let holds = is_alive && is(&claims, "iss", issuer) && is(&claims, "aud", "api");
    Some(holds.then_some(claims))
}

fn verified_claims(_: &Value, input: &Value) -> Option<Value> {
    const NOW: i64 = 1_700_000_000;
    let token = text(input, "hs256")?;
    let header = object(token.split('.').next()?)?;
    let Some(claims) = claims(SECRET, &header, token, "issuer", NOW)? else {
        return Some(Value::from(false));
    };
    let is_admin = elements(claims.get("roles")?).any(|role| role.utf8() == Some("admin"));
    Some(Value::from(is_admin))
}

fn decoded(_: &Value, input: &Value) -> Option<Value> {
    let mut parts = text(input, "rs256")?.split('.');
    let (header, claims) = (object(parts.next()?)?, object(parts.next()?)?);
    let signature = decode(parts.next()?)?;
    let mut hex = vec![0; 2 * signature.len()];
    hex::encode_to_slice(&signature, &mut hex).ok()?;
    std::hint::black_box((&header, &hex));
    Some(Value::from(is(&claims, "sub", "alice")))
}

/// Returns `true` if the scopes of the token allow a call of the API.
fn may_call(data: &Value, input: &Value) -> Option<Value> {
    const NOW: i64 = 1_760_000_000;
    const ISSUER: &str = "https://login.example.com";
    let token = text(input.get("headers")?, "authorization")?.strip_prefix("Bearer ")?;
    // the header contains the key id
    let header = object(token.split('.').next()?)?;
    let secret = text(data.get("keys")?, text(&header, "kid")?)?;
    let Some(claims) = claims(secret.as_bytes(), &header, token, ISSUER, NOW)? else {
        return Some(Value::from(false));
    };
    let path: Vec<&str> = text(input, "path")?.trim_matches('/').split('/').collect();
    let action = match text(input, "method")? {
        "GET" | "HEAD" => "read",
        "POST" | "PUT" => "write",
        "DELETE" => "delete",
        _ => return Some(Value::from(false)),
    };
    let kind = *path.get(1)?;
    let mut needed = vec![format!("{kind}:{action}")];
    if path.get(2).copied() == text(&claims, "sub") {
        needed.push(format!("{kind}:own"));
    }
    if action != "delete" {
        needed.push("admin".to_owned());
    }
    let is_needed = |scope: &Value| needed.iter().any(|wanted| scope.utf8() == Some(wanted));
    Some(Value::from(elements(claims.get("scopes")?).any(is_needed)))
}
