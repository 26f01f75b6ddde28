//! Public keys that verify again and again: what the library makes of one is kept beside it.

use std::sync::OnceLock;

use aws_lc_rs::signature::ParsedPublicKey;

use super::hash::Hash;
use super::public::PublicKey;
use super::rsa::Padding;
use super::signature::{Scheme, verify_ed25519};

/// A public key, and the forms in which the library verifies by it, each made when it is first asked for.
pub struct VerifyingKey {
    key: PublicKey,
    /// By hash and, of RSA, padding.
    parsed: [OnceLock<Option<ParsedPublicKey>>; 6],
}

impl From<PublicKey> for VerifyingKey {
    fn from(key: PublicKey) -> Self {
        Self {
            key,
            parsed: Default::default(),
        }
    }
}

impl VerifyingKey {
    /// Verifies a signature as tokens write it. A key of another kind has signed nothing.
    pub fn verify(&self, scheme: Scheme, message: &[u8], signature: &[u8]) -> bool {
        match (&self.key, scheme) {
            (PublicKey::Rsa(key), Scheme::Rsa(padding, hash)) => {
                let form = self.form(hash, padding == Padding::Pss, || key.parsed(padding, hash));
                key.verify(form, (padding, hash), message, signature)
            }
            (PublicKey::Ec(key), Scheme::Ecdsa(hash)) => self
                .form(hash, false, || key.parsed(hash))
                .is_some_and(|form| key.verify_fixed(form, message, signature)),
            (PublicKey::Ed25519(key), Scheme::Ed25519) => verify_ed25519(key, message, signature),
            _ => false,
        }
    }

    fn form(
        &self,
        hash: Hash,
        second: bool,
        parse: impl FnOnce() -> Option<ParsedPublicKey>,
    ) -> Option<&ParsedPublicKey> {
        let at = match hash {
            Hash::Sha256 => 0,
            Hash::Sha384 => 1,
            Hash::Sha512 => 2,
        };
        let place = self.parsed.get(at + 3 * usize::from(second))?;
        place.get_or_init(parse).as_ref()
    }
}
