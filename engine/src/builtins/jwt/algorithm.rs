//! Signature algorithms of tokens.

use hmac::digest::common::KeyInit;
use hmac::{Hmac, Mac};
use sha2::{Sha256, Sha384, Sha512};

use super::super::crypto::hash::Sha2;
use super::super::crypto::rsa::Padding;
use super::super::crypto::signature::Scheme;
use crate::bug::bug;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwsAlgorithm {
    /// HMAC with a shared secret.
    Secret(Sha2),
    /// Signature with a private key.
    Key(Scheme),
}

impl JwsAlgorithm {
    pub fn by_name(name: &str) -> Option<Self> {
        if name == "EdDSA" {
            return Some(Self::Key(Scheme::Ed25519));
        }
        let (family, bits) = name.split_at_checked(2)?;
        let hash = match bits {
            "256" => Sha2::Sha256,
            "384" => Sha2::Sha384,
            "512" => Sha2::Sha512,
            _ => return None,
        };
        match family {
            "HS" => Some(Self::Secret(hash)),
            "RS" => Some(Self::Key(Scheme::Rsa(Padding::Pkcs1, hash))),
            "PS" => Some(Self::Key(Scheme::Rsa(Padding::Pss, hash))),
            "ES" => Some(Self::Key(Scheme::Ecdsa(hash))),
            _ => None,
        }
    }
}

/// Returns the authentication code (HMAC) of a message.
pub fn code(hash: Sha2, secret: &[u8], message: &[u8]) -> Vec<u8> {
    match hash {
        Sha2::Sha256 => mac::<Hmac<Sha256>>(secret, message),
        Sha2::Sha384 => mac::<Hmac<Sha384>>(secret, message),
        Sha2::Sha512 => mac::<Hmac<Sha512>>(secret, message),
    }
}

fn mac<M: Mac + KeyInit>(secret: &[u8], message: &[u8]) -> Vec<u8> {
    <M as KeyInit>::new_from_slice(secret).map_or_else(
        |_| bug!("a secret of a length that codes do not take"),
        |mac| {
            mac.chain_update(message)
                .finalize()
                .into_bytes()
                .as_slice()
                .to_vec()
        },
    )
}

/// Returns `true` if a code is that of a message. The comparison takes constant time.
pub fn is_code(hash: Sha2, secret: &[u8], message: &[u8], code: &[u8]) -> bool {
    Coder::new(hash, secret).map_or_else(
        || bug!("a secret of a length that codes do not take"),
        |coder| coder.verifies(message, code),
    )
}

/// HMAC state prepared with a constant secret. Each message consumes a clone.
#[derive(Clone)]
pub enum Coder {
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
}

impl Coder {
    /// Prepares a secret, so that each message needs no key setup.
    pub fn new(hash: Sha2, secret: &[u8]) -> Option<Self> {
        Some(match hash {
            Sha2::Sha256 => Self::Sha256(Hmac::new_from_slice(secret).ok()?),
            Sha2::Sha384 => Self::Sha384(Hmac::new_from_slice(secret).ok()?),
            Sha2::Sha512 => Self::Sha512(Hmac::new_from_slice(secret).ok()?),
        })
    }

    /// Returns `true` if a code is that of a message. The comparison takes constant time.
    pub fn verifies(self, message: &[u8], code: &[u8]) -> bool {
        match self {
            Self::Sha256(mac) => is_mac(mac, message, code),
            Self::Sha384(mac) => is_mac(mac, message, code),
            Self::Sha512(mac) => is_mac(mac, message, code),
        }
    }
}

fn is_mac<M: Mac>(mac: M, message: &[u8], code: &[u8]) -> bool {
    mac.chain_update(message).verify_slice(code).is_ok()
}
