//! Signatures that were verified before: one token comes with many requests, and to verify it takes most of their time.
//!
//! Whether a key made a signature never changes, so the cache has nothing to forget. It holds digests, neither tokens nor
//! secrets, and no signature that was refused: nobody fills it who has no key.

use sha2::{Digest, Sha256};

use super::patterns::{Family, Pattern, Patterns, PatternsView};

/// A bounded cache of signatures, shared by all evaluations of an engine. `None` if it is off.
pub struct VerifiedSignatures(Option<Patterns>);

/// A signature that was verified; that it is there is all there is to know.
struct Verified;

impl Pattern for Verified {
    fn bytes(&self) -> usize {
        /// What an entry of the cache takes beside its text, about.
        const ENTRY_OVERHEAD_BYTES: usize = 128;
        ENTRY_OVERHEAD_BYTES
    }
}

impl VerifiedSignatures {
    /// A cache of at most `most` signatures, which is off if that is 0.
    pub fn new(most: usize) -> Self {
        Self((most > 0).then(|| Patterns::new(most)))
    }

    /// Whether a key has signed a message by a scheme, each of which has a number of its own: `verify` tells it of what is
    /// not kept.
    pub fn has_signed(
        &self,
        key: u64,
        scheme: u8,
        (message, signature): (&[u8], &[u8]),
        verify: impl FnOnce() -> bool,
    ) -> bool {
        let Some(known) = &self.0 else {
            return verify();
        };
        let mut digest = Sha256::new();
        digest.update(key.to_le_bytes());
        // where the message ends: its last bytes must not be taken for the first ones of the signature
        digest.update(message.len().to_le_bytes());
        digest.update([scheme]);
        digest.update(message);
        digest.update(signature);
        let verify = || verify().then_some(Verified).ok_or(());
        PatternsView::new(known)
            .with(Family::Signature, &digest.finalize(), verify, |Verified| ())
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_verified_signatures_are_cached() {
        let known = VerifiedSignatures::new(4096);
        let (message, signature) = (&b"header.payload"[..], &b"signature"[..]);
        for scheme in 0..10 {
            let signed = (message, signature);
            assert!(!known.has_signed(1, scheme, signed, || false));
            assert!(known.has_signed(1, scheme, signed, || true));
            assert!(known.has_signed(1, scheme, signed, || false));
        }
        // neither another key, nor other parts of the same bytes, nor other bytes
        for (key, message, signature) in [
            (2, message, signature),
            (1, &b"header.payload"[..13], &b"dsignature"[..]),
            (1, &b"header.payloads"[..], &b"ignature"[..]),
            (1, &b"header.payloae"[..], signature),
            (1, message, &b"signaturf"[..]),
            (1, message, &b""[..]),
        ] {
            for scheme in 0..10 {
                assert!(!known.has_signed(key, scheme, (message, signature), || false));
            }
        }
    }

    #[test]
    fn a_cache_of_nothing_verifies_each_time() {
        let known = VerifiedSignatures::new(0);
        let mut verified = 0;
        for _ in 0..3 {
            let count = || {
                verified += 1;
                true
            };
            assert!(known.has_signed(1, 9, (b"m", b"s"), count));
        }
        assert_eq!(verified, 3);
    }
}
