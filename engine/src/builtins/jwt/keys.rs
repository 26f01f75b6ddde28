//! Keys that verify tokens, from a certificate, a public key, or JSON.

use std::sync::Arc;

use super::algorithm::{JwsAlgorithm, is_code};
use super::header::Header;
use super::jwk::{self, Jwk, Material, OkpCurve};
use crate::builtins::crypto::certificate::Certificate;
use crate::builtins::crypto::public::PublicKey;
use crate::builtins::crypto::signature::ed25519_public;
use crate::builtins::crypto::verifying::VerifyingKey;
use crate::builtins::patterns::{CompiledPattern, Family};
use crate::builtins::pem;
use crate::builtins::signatures::VerifiedSignatures;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::TextView;

pub struct Keys(Vec<JwtKey>);

struct JwtKey {
    algorithm: Option<Box<str>>,
    id: Option<Box<str>>,
    verifier: Verifier,
    bytes: usize,
}

enum Verifier {
    Public(VerifyingKey),
    Private(VerifyingKey),
    Secret(Box<[u8]>),
    /// A key for another purpose, which cannot verify.
    Nothing,
}

/// Keys or secret that a token is verified with.
pub enum Trusted<'e> {
    /// Keys, one of which must have signed the token.
    Keys(Arc<Keys>),
    Secret(TextView<'e>),
}

impl Trusted<'_> {
    /// Returns `true` if the secret, or a key that matches the header, has signed.
    pub fn verify(
        &self,
        call: &BuiltinContext<'_>,
        header: &Header<'_>,
        algorithm: JwsAlgorithm,
        message: &[u8],
        signed: &[u8],
    ) -> bool {
        match (self, algorithm) {
            (Self::Keys(keys), _) => {
                keys.verify(call, header, (algorithm, Allowed::Private), message, signed)
            }
            (Self::Secret(secret), JwsAlgorithm::Secret(hash)) => {
                is_code(hash, secret.as_bytes(), message, signed)
            }
            (Self::Secret(_), JwsAlgorithm::Key(_)) => false,
        }
    }
}

/// Kinds of keys that may verify a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Public keys and secrets.
    Public,
    /// Also private keys.
    Private,
}

impl CompiledPattern for Keys {
    fn bytes(&self) -> usize {
        /// Approximate size of a parsed key in bytes.
        const PARSED: usize = 2 << 10;
        let each = self
            .0
            .iter()
            .map(|key| key.bytes + size_of::<JwtKey>() + PARSED);
        each.sum()
    }
}

impl Keys {
    /// Returns the keys of a certificate, a public key or JSON, or the error of parsing. Both are cached.
    pub fn read(call: &BuiltinContext<'_>, text: &[u8]) -> Result<Arc<Self>, BuiltinError> {
        call.patterns
            .get(Family::JwtKeys, text, || {
                Self::parse_keys(call, text).map(Self)
            })
            .map_err(BuiltinError::error)
    }

    fn parse_keys(call: &BuiltinContext<'_>, text: &[u8]) -> Result<Vec<JwtKey>, String> {
        let Some((block, rest)) = pem::block(text) else {
            let keys = jwk::read(call.arena, text).map_err(|error| {
                format!("failed to parse a JWK key (set): jwk.ParseString: failed to parse string: {error}")
            })?;
            let keys = keys.into_iter().map(JwtKey::of_jwk);
            // a key for encryption must not hide the key for signatures with the same `kid`
            return keys
                .filter(|key| key.as_ref().map_or(true, JwtKey::is_for_signatures))
                .collect();
        };
        if !rest.is_empty() {
            return Err("extra data after a PEM certificate block".to_owned());
        }
        let key = match block.kind {
            b"CERTIFICATE" => Certificate::parse(&block.content)
                .map_err(|error| format!("failed to parse a PEM certificate: {error}"))?
                .public_key
                .clone(),
            b"PUBLIC KEY" => Some(
                PublicKey::from_info(&block.content)
                    .map_err(|error| format!("failed to parse a PEM public key: {error}"))?,
            ),
            _ => return Err("failed to extract a Key from the PEM certificate".to_owned()),
        };
        Ok(vec![JwtKey {
            algorithm: None,
            id: None,
            verifier: key.map_or(Verifier::Nothing, |key| Verifier::Public(key.into())),
            bytes: block.content.len(),
        }])
    }

    /// Returns `true` if one of the keys that match a header has signed. With a key id, only that key is tried.
    pub fn verify(
        &self,
        call: &BuiltinContext<'_>,
        header: &Header<'_>,
        (algorithm, allowed): (JwsAlgorithm, Allowed),
        message: &[u8],
        signed: &[u8],
    ) -> bool {
        let signatures = call.signatures;
        let verifies = |key: &JwtKey| key.verify(signatures, (algorithm, allowed), message, signed);
        // with a key id only that key is tried, otherwise all keys that are not for another algorithm
        let key_id = header
            .key_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .and_then(|id| self.0.iter().find(|key| key.id.as_deref() == Some(id)));
        match key_id {
            Some(key) => verifies(key),
            None => self
                .0
                .iter()
                .filter(|key| {
                    key.algorithm
                        .as_deref()
                        .is_none_or(|key_algorithm| key_algorithm == header.algorithm)
                })
                .any(verifies),
        }
    }
}

impl JwtKey {
    fn of_jwk(jwk: Jwk) -> Result<Self, String> {
        const EXPORT: &str = "jwk.Export: failed to export jwk.Key to raw format:";
        let bytes = jwk.material.bytes();
        let verifier = match jwk.material {
            Material::RsaPublic(key) => Verifier::Public(PublicKey::Rsa(key).into()),
            Material::EcPublic(key) => Verifier::Public(PublicKey::Ec(key).into()),
            Material::EcPrivate(key, _) => Verifier::Private(PublicKey::Ec(key).into()),
            Material::OkpPublic(OkpCurve::Ed25519, key) => {
                Verifier::Public(PublicKey::Ed25519(key).into())
            }
            Material::OkpPrivate(OkpCurve::Ed25519, key, seed) => {
                if ed25519_public(&seed).as_deref() != Some(&*key) {
                    return Err(format!(
                        "{EXPORT} jwk.OKPPrivateKey: failed to build private key: ed25519: invalid x value given d value"
                    ));
                }
                Verifier::Private(PublicKey::Ed25519(key).into())
            }
            Material::Secret(secret) => Verifier::Secret(secret),
            Material::OkpPublic(OkpCurve::Other(name), _) => {
                return Err(format!(
                    "{EXPORT} jwk.OKPPublicKey: failed to build public key: invalid curve algorithm {name}"
                ));
            }
            Material::OkpPrivate(OkpCurve::Other(name), ..) => {
                return Err(format!(
                    "{EXPORT} jwk.OKPPrivateKey: failed to build private key: invalid curve algorithm {name}"
                ));
            }
            Material::RsaPrivate { .. } => match jwk.material.rsa_private() {
                Some(Ok(key)) => Verifier::Private(PublicKey::Rsa(key.public).into()),
                Some(Err(error)) => return Err(format!("{EXPORT} {error}")),
                None => Verifier::Nothing,
            },
            Material::OkpPublic(OkpCurve::X25519, _)
            | Material::OkpPrivate(OkpCurve::X25519, ..) => Verifier::Nothing,
        };
        Ok(Self {
            algorithm: jwk.algorithm,
            id: jwk.id,
            verifier,
            bytes,
        })
    }

    /// Returns `true` if the key names no algorithm, or one that signs tokens. `use` and `key_ops` are ignored, as in
    /// OPA.
    fn is_for_signatures(&self) -> bool {
        self.algorithm
            .as_deref()
            .is_none_or(|name| JwsAlgorithm::by_name(name).is_some())
    }

    fn verify(
        &self,
        signatures: Option<&VerifiedSignatures>,
        (algorithm, allowed): (JwsAlgorithm, Allowed),
        message: &[u8],
        signed: &[u8],
    ) -> bool {
        match (&self.verifier, algorithm) {
            (Verifier::Private(key), JwsAlgorithm::Key(scheme)) => {
                allowed == Allowed::Private && key.verify(signatures, scheme, message, signed)
            }
            (Verifier::Public(key), JwsAlgorithm::Key(scheme)) => {
                key.verify(signatures, scheme, message, signed)
            }
            (Verifier::Secret(secret), JwsAlgorithm::Secret(hash)) => {
                is_code(hash, secret, message, signed)
            }
            _ => false,
        }
    }
}
