//! Signing of built bundles.

use serde::Serialize;
use serde_json::Value;

use super::{Failure, FieldPath, Kind, Phase, Reader, Reference, Secret, Status};

const SECRET: &str = "signing_key";

/// The default algorithm, which is OPA's.
const DEFAULT: &str = "RS256";

/// The algorithms that policy servers verify.
const ALGORITHMS: [&str; 12] = [
    "ES256", "ES384", "ES512", "HS256", "HS384", "HS512", "PS256", "PS384", "PS512", "RS256",
    "RS384", "RS512",
];

/// How the archives of a bundle are signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundleSigning {
    /// The name of the secret, of the type `signing_key`.
    pub key: String,
    /// The id of the key, by which policy servers find theirs. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub keyid: String,
    /// The algorithm of the signature, such as `RS256`.
    pub algorithm: String,
    /// The scope, which policy servers compare with the one of their configuration. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
}

impl BundleSigning {
    /// Parses the member `signing` of a bundle.
    pub(super) fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let key = members.required(reader, field_path, "key");
        let keyid = members.text(reader, field_path, "keyid");
        let algorithm = members.text(reader, field_path, "algorithm");
        let scope = members.text(reader, field_path, "scope");
        members.end(reader, field_path);
        let algorithm = if algorithm.is_empty() {
            DEFAULT.to_owned()
        } else {
            algorithm
        };
        if !ALGORITHMS.contains(&algorithm.as_str()) {
            let algorithms = ALGORITHMS.join(", ");
            reader.report(
                &field_path.member("algorithm"),
                format_args!("must be one of {algorithms}"),
            );
        }
        Self {
            key,
            keyid,
            algorithm,
            scope,
        }
    }

    /// Returns the reference to the secret. A key for signing is sent to no host, so `allowed_hosts` never permit it: a
    /// bundle uses keys of its own owner, unless an administrator or a file writes it.
    pub(super) fn reference(&self) -> Reference {
        Reference {
            kind: Kind::Secret,
            name: self.key.clone(),
            field: "signing.key".to_owned(),
            address: None,
        }
    }

    /// Returns the private key in PEM, or the shared secret of HMAC.
    ///
    /// # Errors
    /// A configuration error: the secret is absent, has another type, or its key does not belong to the algorithm.
    pub fn key<'s>(&self, secret: Option<&'s Secret>) -> Result<&'s str, Failure> {
        let name = &self.key;
        let failed = |message: &str| Failure {
            phase: Phase::Build,
            status: Status::ConfigError,
            message: format!("signing: secret {name:?} {message}"),
        };
        let value = secret.and_then(|secret| secret.value.as_ref());
        let value = value.ok_or_else(|| failed("is not configured"))?;
        if value.kind() != SECRET {
            let kind = value.kind();
            return Err(failed(&format!("is a `{kind}` and not a `{SECRET}`")));
        }
        let key = value.text("key").unwrap_or_default();
        let is_pem = key.contains("-----BEGIN ");
        match self.algorithm.starts_with("HS") {
            // the text of a public or private key as a shared secret is a mistake, and a public key is known to all
            true if is_pem => Err(failed("is a key in PEM form, which HMAC does not use")),
            false if !is_pem => Err(failed("is not a key in PEM form")),
            _ => Ok(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::BundleSigning;
    use crate::model::{Compat, FieldPath, Origin, Reader, Secret, Status};

    fn secret(value: &serde_json::Value) -> Secret {
        let mut reader = Reader::new(Compat::Strict, Origin::Api);
        let secret = Secret::read(&mut reader, &FieldPath::Root, value);
        reader.finish(secret).unwrap()
    }

    #[test]
    fn keys_belong_to_their_algorithms() {
        let pem = "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----";
        let key = |text: &str| secret(&json!({"type": "signing_key", "key": text}));
        let other = secret(&json!({"type": "password", "password": "canary"}));
        for (algorithm, secret, expected) in [
            ("RS256", Some(key(pem)), Ok(pem)),
            ("ES512", Some(key(pem)), Ok(pem)),
            ("HS256", Some(key("canary")), Ok("canary")),
            (
                "HS256",
                Some(key(pem)),
                Err("is a key in PEM form, which HMAC does not use"),
            ),
            (
                "PS256",
                Some(key("canary")),
                Err("is not a key in PEM form"),
            ),
            (
                "RS256",
                Some(other),
                Err("is a `password` and not a `signing_key`"),
            ),
            ("RS256", None, Err("is not configured")),
        ] {
            let signing = BundleSigning {
                key: "k".to_owned(),
                keyid: String::new(),
                algorithm: algorithm.to_owned(),
                scope: String::new(),
            };
            match (signing.key(secret.as_ref()), expected) {
                (Ok(actual), Ok(expected)) => assert_eq!(actual, expected, "{algorithm}"),
                (Err(failure), Err(expected)) => {
                    assert_eq!(failure.status, Status::ConfigError);
                    assert_eq!(failure.message, format!("signing: secret \"k\" {expected}"));
                    assert!(!failure.message.contains("canary"));
                }
                (actual, expected) => panic!("{algorithm}: {actual:?}, wanted {expected:?}"),
            }
        }
    }
}
