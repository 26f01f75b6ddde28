//! Signature schemes, and Ed25519 signatures.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

use super::hash::Sha2;
use super::rsa::Padding;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Rsa(Padding, Sha2),
    /// ECDSA. Tokens contain the two numbers of a signature one after the other.
    Ecdsa(Sha2),
    Ed25519,
}

impl Scheme {
    /// Returns its index among all schemes.
    pub fn number(self) -> u8 {
        match self {
            Self::Rsa(Padding::Pkcs1, hash) => hash.number(),
            Self::Rsa(Padding::Pss, hash) => 3 + hash.number(),
            Self::Ecdsa(hash) => 6 + hash.number(),
            Self::Ed25519 => 9,
            Self::Rsa(Padding::PssAnySalt, hash) => 10 + hash.number(),
        }
    }
}

/// Verifies an Ed25519 signature. An invalid key verifies nothing.
pub fn verify_ed25519(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, key)
        .verify(message, signature)
        .is_ok()
}

/// Signs with Ed25519. Returns `None` if the seed is invalid.
pub fn sign_ed25519(seed: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    Some(pair.sign(message).as_ref().to_vec())
}

/// Returns the public key of an Ed25519 seed, or `None` if the seed has the wrong length.
pub fn ed25519_public(seed: &[u8]) -> Option<Vec<u8>> {
    use aws_lc_rs::signature::KeyPair;
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    Some(pair.public_key().as_ref().to_vec())
}
