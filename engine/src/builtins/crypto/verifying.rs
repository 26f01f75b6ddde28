//! Public keys for repeated verification, with the library's parsed form of each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::signature::ParsedPublicKey;

use super::hash::Sha2;
use super::public::PublicKey;
use super::rsa::Padding;
use super::signature::{Scheme, verify_ed25519};
use crate::builtins::signatures::VerifiedSignatures;

/// A public key, with the parsed forms for the library, each created at its first use.
pub struct VerifyingKey {
    key: PublicKey,
    number: u64,
    /// By hash function and, for RSA, padding.
    parsed: [OnceLock<Option<ParsedPublicKey>>; 6],
}

impl From<PublicKey> for VerifyingKey {
    fn from(key: PublicKey) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            key,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            parsed: Default::default(),
        }
    }
}

impl VerifyingKey {
    /// Verifies a signature in the encoding of tokens, unless it was verified before. Returns `false` for schemes of
    /// other kinds of keys.
    pub fn verify(
        &self,
        verified: Option<&VerifiedSignatures>,
        scheme: Scheme,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let verify = || self.has_signed(scheme, message, signature);
        match verified {
            Some(verified) => {
                verified.has_signed(self.number, scheme.number(), (message, signature), verify)
            }
            None => verify(),
        }
    }

    fn has_signed(&self, scheme: Scheme, message: &[u8], signature: &[u8]) -> bool {
        match (&self.key, scheme) {
            (PublicKey::Rsa(key), Scheme::Rsa(padding, hash)) => {
                let parsed = self.parsed_key(hash, padding != Padding::Pkcs1, || {
                    key.parsed(padding, hash)
                });
                key.verify(parsed, (padding, hash), message, signature)
            }
            (PublicKey::Ec(key), Scheme::Ecdsa(hash)) => self
                .parsed_key(hash, false, || key.parsed(hash))
                .is_some_and(|parsed| key.verify_fixed(parsed, message, signature)),
            (PublicKey::Ed25519(key), Scheme::Ed25519) => verify_ed25519(key, message, signature),
            _ => false,
        }
    }

    fn parsed_key(
        &self,
        hash: Sha2,
        second: bool,
        parse: impl FnOnce() -> Option<ParsedPublicKey>,
    ) -> Option<&ParsedPublicKey> {
        let index = usize::from(hash.number()) + 3 * usize::from(second);
        let cell = self.parsed.get(index)?;
        cell.get_or_init(parse).as_ref()
    }
}
