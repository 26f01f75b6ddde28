//! Decodes the fields of a JWK: texts, and numbers in base64url.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::jwk::go_kind;
use crate::builtins::crypto::certificate::Certificate;
use crate::builtins::encoding::base64::standard;
use crate::value::{RefRepr, ValueRef};

#[derive(Default)]
pub struct JwkFields {
    /// `alg`
    pub algorithm: Option<Box<str>>,
    /// `kid`
    pub id: Option<Box<str>>,
    /// `crv`. Empty if there is none.
    pub curve: &'static str,
    numbers: Vec<(&'static str, Vec<u8>)>,
}

/// Accepted values of `alg`.
const ALGORITHMS: &[&str] = &[
    "none",
    "HS256",
    "HS384",
    "HS512",
    "RS256",
    "RS384",
    "RS512",
    "ES256",
    "ES384",
    "ES512",
    "ES256K",
    "PS256",
    "PS384",
    "PS512",
    "EdDSA",
    "Ed25519",
    "RSA1_5",
    "RSA-OAEP",
    "RSA-OAEP-256",
    "RSA-OAEP-384",
    "RSA-OAEP-512",
    "A128KW",
    "A192KW",
    "A256KW",
    "A128GCMKW",
    "A192GCMKW",
    "A256GCMKW",
    "dir",
    "ECDH-ES",
    "ECDH-ES+A128KW",
    "ECDH-ES+A192KW",
    "ECDH-ES+A256KW",
    "PBES2-HS256+A128KW",
    "PBES2-HS384+A192KW",
    "PBES2-HS512+A256KW",
    "A128GCM",
    "A192GCM",
    "A256GCM",
    "A128CBC-HS256",
    "A192CBC-HS384",
    "A256CBC-HS512",
];

/// Accepted values of `crv`.
const CURVES: &[&str] = &[
    "P-256", "P-384", "P-521", "Ed25519", "Ed448", "X25519", "X448",
];

impl JwkFields {
    /// Decodes the fields of a key type, in their order. The error is the message.
    pub fn read(
        kind: &str,
        private: bool,
        all: &[(ValueRef<'_>, ValueRef<'_>)],
    ) -> Result<Self, String> {
        // required fields, then optional ones
        let (required, optional): (&[&'static str], &[&'static str]) = match (kind, private) {
            ("RSA", false) => (&["e", "n"], &[]),
            ("RSA", true) => (&["d", "e", "n"], &["dp", "dq", "p", "q", "qi"]),
            ("EC", false) => (&["crv", "x", "y"], &[]),
            ("EC", true) => (&["crv", "d", "x", "y"], &[]),
            ("OKP", false) => (&["crv", "x"], &[]),
            ("OKP", true) => (&["crv", "d", "x"], &[]),
            _ => (&["k"], &[]),
        };
        let mut fields = Self::default();
        for (name, value) in all {
            let Some(name) = name.as_text() else {
                continue;
            };
            let name = name.to_str();
            let known_name = required
                .iter()
                .chain(optional)
                .find(|known_name| **known_name == name);
            fields
                .field(&name, known_name.copied(), *value)
                .map_err(|error| format!("failed to decode value for key {name}: {error}"))?;
        }
        let is_there = |name: &str| {
            all.iter().any(|(key, _)| {
                key.as_text()
                    .is_some_and(|key| key.as_bytes() == name.as_bytes())
            })
        };
        match required.iter().find(|name| !is_there(name)) {
            Some(name) => Err(format!("required field {name} is missing")),
            None => Ok(fields),
        }
    }

    fn field(
        &mut self,
        name: &str,
        known_name: Option<&'static str>,
        value: ValueRef<'_>,
    ) -> Result<(), String> {
        match (name, known_name) {
            ("crv", Some(_)) => {
                let name = string(value).map_err(|error| {
                    format!("failed to unmarshal EllipticCurveAlgorithm: {error}")
                })?;
                let curve = CURVES.iter().find(|curve| **curve == name);
                self.curve =
                    curve.ok_or_else(|| format!("unknown EllipticCurveAlgorithm: \"{name}\""))?;
            }
            (_, Some(known_name)) => {
                let text = next_string(value)?;
                let bytes =
                    decode(text.as_bytes()).ok_or("expected base64 encoded []byte (string)")?;
                self.numbers.push((known_name, bytes));
            }
            ("alg", None) => {
                let name = string(value)?;
                if !ALGORITHMS.contains(&&*name) {
                    return Err(format!(
                        "invalid key value: \"{name}\": invalid key algorithm"
                    ));
                }
                self.algorithm = Some(name.into());
            }
            ("kid", None) => self.id = Some(next_string(value)?.into()),
            ("use" | "x5t" | "x5t#S256" | "x5u", None) => drop(next_string(value)?),
            ("key_ops", None) => operations(value)?,
            ("x5c", None) => chain(value)?,
            _ => {}
        }
        Ok(())
    }

    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let (_, bytes) = self
            .numbers
            .iter()
            .rev()
            .find(|(number_name, _)| *number_name == name)?;
        Some(bytes)
    }

    /// Returns a field of bytes as a positive number, without leading zeros.
    pub fn number(&self, name: &str) -> Option<Box<[u8]>> {
        let bytes = self.bytes(name)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let digits = bytes.get(zeros..).filter(|digits| !digits.is_empty())?;
        Some(digits.into())
    }
}

fn string(value: ValueRef<'_>) -> Result<String, String> {
    if value == ValueRef(RefRepr::Null) {
        return Ok(String::new());
    }
    let text = value.as_text().ok_or_else(|| {
        let kind = go_kind(value);
        format!("json: cannot unmarshal {kind} into Go value of type string")
    })?;
    Ok(text.to_str().into_owned())
}

fn next_string(value: ValueRef<'_>) -> Result<String, String> {
    string(value).map_err(|error| format!("error reading next value: {error}"))
}

fn operations(value: ValueRef<'_>) -> Result<(), String> {
    let mismatch = |value: ValueRef<'_>, type_name: &str| {
        let kind = go_kind(value);
        format!("json: cannot unmarshal {kind} into Go value of type jwk.{type_name}")
    };
    if value == ValueRef(RefRepr::Null) {
        return Ok(());
    }
    let list = value
        .as_array()
        .ok_or_else(|| mismatch(value, "KeyOperationList"))?;
    let wrong = list
        .iter()
        .find(|operation| *operation != ValueRef(RefRepr::Null) && operation.as_text().is_none());
    wrong.map_or(Ok(()), |value| Err(mismatch(value, "KeyOperation")))
}

/// Checks that certificates of a key can be decoded. They are not used.
fn chain(value: ValueRef<'_>) -> Result<(), String> {
    let list = value
        .as_array()
        .ok_or("failed to unmarshal certificate chain: expected JSON array")?;
    for (index, certificate) in list.iter().enumerate() {
        string(certificate)
            .and_then(|text| {
                let bytes = standard(text.as_bytes())
                    .map_err(|error| format!("failed to base64 decode the certificate: {error}"))?;
                Certificate::parse(&bytes)
                    .map(|_| ())
                    .map_err(|error| format!("failed to parse x509 certificate: {error}"))
            })
            .map_err(|error| format!("failed to decode certificate at index {index}: {error}"))?;
    }
    Ok(())
}

/// Decodes base64 in either alphabet. Padding is optional.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    const PADDED: GeneralPurposeConfig =
        CONFIG.with_decode_padding_mode(DecodePaddingMode::RequireCanonical);
    const BARE: GeneralPurposeConfig =
        CONFIG.with_decode_padding_mode(DecodePaddingMode::RequireNone);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, BARE);
    const URL_SAFE_PADDED: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDED);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, BARE);
    const STANDARD_PADDED: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDED);
    let standard = text.iter().any(|byte| matches!(byte, b'+' | b'/'));
    let engine = match (standard, text.ends_with(b"=")) {
        (false, false) => &URL_SAFE,
        (false, true) => &URL_SAFE_PADDED,
        (true, false) => &STANDARD,
        (true, true) => &STANDARD_PADDED,
    };
    engine.decode(text).ok()
}
