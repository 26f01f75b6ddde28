//! Signing of bundles: the file `.signatures.json` with the digests of all others.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::hash;
use crate::bundle::BundleFile;
use crate::value::{Object, Value, json};

/// A key that signs bundles, with its algorithm and claims.
#[derive(Clone)]
pub struct SigningKey {
    algorithm: String,
    key: Vec<u8>,
    id: String,
    claims: Option<Object>,
}

impl SigningKey {
    /// A secret (`HS256`), or a private key in PEM (`RS256`, `PS256`, `ES256`).
    pub fn new(algorithm: impl Into<String>, key: impl Into<Vec<u8>>) -> Self {
        Self {
            algorithm: algorithm.into(),
            key: key.into(),
            id: String::new(),
            claims: None,
        }
    }

    /// Sets the id of the key, by which verifiers find theirs. It has no effect with [`Self::claims`].
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..self
        }
    }

    /// Sets further claims, like `scope` and `iss`: the members of an object.
    #[must_use]
    pub fn claims(self, claims: Object) -> Self {
        Self {
            claims: Some(claims),
            ..self
        }
    }
}

/// Returns the text of `.signatures.json` for files, which are listed by their paths without a leading slash.
///
/// # Errors
/// A structured file that cannot be read, or a key that does not sign by its algorithm.
pub fn sign(files: &[BundleFile], key: &SigningKey, with_plugin: bool) -> Result<Vec<u8>, String> {
    let mut payload = b"{\"files\":[".to_vec();
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            payload.push(b',');
        }
        let path = file.path.trim_start_matches('/');
        let digest = hash::digest(hash::DEFAULT, path, &file.bytes)?;
        payload.extend(b"{\"name\":");
        json::write_go(Value::string(path).borrow(), &mut payload);
        let rest = format!(
            ",\"hash\":\"{}\",\"algorithm\":\"{}\"}}",
            hex::encode(digest),
            hash::DEFAULT
        );
        payload.extend(rest.bytes());
    }
    payload.push(b']');
    let mut header = vec![("alg".into(), Value::string(&key.algorithm))];
    let mut member = |name: &Value, value: &Value| {
        payload.push(b',');
        json::write_go(name.borrow(), &mut payload);
        payload.push(b':');
        json::write_go(value.borrow(), &mut payload);
    };
    match &key.claims {
        Some(claims) => {
            // the list of files is ours
            let claims = claims
                .iter()
                .filter(|(name, _)| name.as_str() != Some("files"));
            claims.for_each(|(name, value)| member(name, value));
        }
        None if !key.id.is_empty() => {
            let id = Value::string(&key.id);
            member(&"keyid".into(), &id);
            header.push(("kid".into(), id));
        }
        None => {}
    }
    payload.push(b'}');
    header.push(("typ".into(), "JWT".into()));
    let mut text = Vec::new();
    json::write_go(Value::object(header).borrow(), &mut text);
    let mut token = URL_SAFE_NO_PAD.encode(text);
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(&payload, &mut token);
    let signature = crate::builtins::sign_message(&key.algorithm, &key.key, token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    let plugin = if with_plugin {
        ",\n \"plugin\": \"_default\""
    } else {
        ""
    };
    Ok(format!("{{\n \"signatures\": [\n  \"{token}\"\n ]{plugin}\n}}").into_bytes())
}
