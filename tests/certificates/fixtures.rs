//! Stored keys, signatures and chains, and signing with keys whose signatures are deterministic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, sync::LazyLock};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    Ed25519KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::asn1::{self, NULL, sequence};

/// Output of `keys.py`.
pub static FIXTURES: LazyLock<Fixtures> = LazyLock::new(|| {
    let text = fs::read_to_string(folder().join("keys.json")).unwrap();
    serde_json::from_str(&text).unwrap()
});

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/certificates")
}

#[derive(Deserialize)]
pub struct Fixtures {
    pub keys: BTreeMap<String, Key>,
    /// From the root to the leaf.
    pub chains: BTreeMap<String, Vec<Bytes>>,
    pub tokens: BTreeMap<String, String>,
}

impl Fixtures {
    pub fn key(&self, name: &str) -> &Key {
        &self.keys[name]
    }
}

/// A key in each of its encodings.
#[derive(Deserialize)]
pub struct Key {
    /// With its algorithm, as in certificates.
    pub public: Bytes,
    pub pkcs8: Bytes,
    /// PKCS #1 or SEC 1 encoding.
    pub own: Option<Bytes>,
}

/// Bytes encoded in base64.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl TryFrom<String> for Bytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}

/// Signing key and algorithm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    Ed25519(&'static str),
    /// RSA, with the number of bits of SHA-2.
    Rsa(&'static str, u16),
}

impl Signer {
    pub const ALL: [Self; 6] = [
        Self::Ed25519("ed25519"),
        Self::Ed25519("ed25519_other"),
        Self::Rsa("rsa", 256),
        Self::Rsa("rsa", 384),
        Self::Rsa("rsa_other", 512),
        Self::Rsa("rsa_other", 256),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ed25519(name) | Self::Rsa(name, _) => name,
        }
    }

    /// Returns the public key with its algorithm.
    pub fn public(self) -> Vec<u8> {
        FIXTURES.key(self.name()).public.0.clone()
    }

    /// Returns the identifier of the algorithm.
    pub fn algorithm(self) -> Vec<u8> {
        match self {
            Self::Ed25519(_) => sequence(&[asn1::oid("1.3.101.112")]),
            Self::Rsa(_, bits) => {
                let last = match bits {
                    256 => 11,
                    384 => 12,
                    _ => 13,
                };
                let oid = asn1::oid(&format!("1.2.840.113549.1.1.{last}"));
                sequence(&[&*oid, NULL])
            }
        }
    }

    pub fn sign(self, message: &[u8]) -> Vec<u8> {
        let key = &FIXTURES.key(self.name()).pkcs8.0;
        match self {
            Self::Ed25519(_) => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).unwrap();
                pair.sign(message).as_ref().to_vec()
            }
            Self::Rsa(_, bits) => {
                let encoding = match bits {
                    256 => &RSA_PKCS1_SHA256,
                    384 => &RSA_PKCS1_SHA384,
                    _ => &RSA_PKCS1_SHA512,
                };
                let pair = RsaKeyPair::from_pkcs8(key).unwrap();
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }
}
