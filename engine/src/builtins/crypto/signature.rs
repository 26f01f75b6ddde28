//! Signatures of messages by keys.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

use super::hash::Hash;
use super::rsa::Padding;

/// How a message is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// By RSA.
    Rsa(Padding, Hash),
    /// By a key on a curve; in tokens the two numbers of a signature stand one after the other.
    Ecdsa(Hash),
    /// By Ed25519.
    Ed25519,
}

impl Scheme {
    /// Its place among all of them.
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

/// Verifies a signature of Ed25519.
pub fn verify_ed25519(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, key)
        .verify(message, signature)
        .is_ok()
}

/// Signs by Ed25519; `None` when the seed is none.
pub fn sign_ed25519(seed: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    Some(pair.sign(message).as_ref().to_vec())
}

/// The public key of a seed of Ed25519.
pub fn ed25519_public(seed: &[u8]) -> Option<Vec<u8>> {
    use aws_lc_rs::signature::KeyPair;
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    Some(pair.public_key().as_ref().to_vec())
}
