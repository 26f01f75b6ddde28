//! Cache of verified signatures: a token comes with many requests, and its verification takes most of their time.
//!
//! A verified signature stays valid for its key, so entries need no expiry. Entries are digests, neither tokens nor
//! secrets. Rejected signatures are not cached, so clients without a key cannot fill the cache.

use sha2::{Digest, Sha256};

use super::patterns::{CompiledPattern, Family, Patterns, PatternsView};

/// Bounded cache of verified signatures, shared by all evaluations of an engine. `None` if it is disabled.
pub struct VerifiedSignatures(Option<Patterns>);

/// Marker of a verified signature. Its presence is the only information.
struct Verified;

impl CompiledPattern for Verified {
    fn bytes(&self) -> usize {
        /// Approximate size of a cache entry in bytes, in addition to its key.
        const ENTRY_OVERHEAD_BYTES: usize = 128;
        ENTRY_OVERHEAD_BYTES
    }
}

impl VerifiedSignatures {
    /// Returns a cache of at most `max_entries` signatures. 0 disables it.
    pub fn new(max_entries: usize) -> Self {
        Self((max_entries > 0).then(|| Patterns::new(max_entries)))
    }

    /// Returns `true` if a key has signed a message with a scheme, both given by their numbers. Calls `verify` if the
    /// signature is not cached.
    pub fn has_signed(
        &self,
        key: u64,
        scheme: u8,
        (message, signature): (&[u8], &[u8]),
        verify: impl FnOnce() -> bool,
    ) -> bool {
        let Some(patterns) = &self.0 else {
            return verify();
        };
        let mut digest = Sha256::new();
        digest.update(key.to_le_bytes());
        // length-prefixed, so that the end of the message cannot be shifted into the signature
        digest.update(message.len().to_le_bytes());
        digest.update([scheme]);
        digest.update(message);
        digest.update(signature);
        let verify = || verify().then_some(Verified).ok_or(());
        PatternsView::new(patterns)
            .with(Family::Signature, &digest.finalize(), verify, |Verified| ())
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_verified_signatures_are_cached() {
        let signatures = VerifiedSignatures::new(4096);
        let (message, signature) = (&b"header.payload"[..], &b"signature"[..]);
        for scheme in 0..10 {
            let signed = (message, signature);
            assert!(!signatures.has_signed(1, scheme, signed, || false));
            assert!(signatures.has_signed(1, scheme, signed, || true));
            assert!(signatures.has_signed(1, scheme, signed, || false));
        }
        // neither another key, nor another split of the same bytes, nor other bytes
        for (key, message, signature) in [
            (2, message, signature),
            (1, &b"header.payload"[..13], &b"dsignature"[..]),
            (1, &b"header.payloads"[..], &b"ignature"[..]),
            (1, &b"header.payloae"[..], signature),
            (1, message, &b"signaturf"[..]),
            (1, message, &b""[..]),
        ] {
            for scheme in 0..10 {
                assert!(!signatures.has_signed(key, scheme, (message, signature), || false));
            }
        }
    }

    #[test]
    fn a_cache_of_nothing_verifies_each_time() {
        let signatures = VerifiedSignatures::new(0);
        let mut verified = 0;
        for _ in 0..3 {
            let count = || {
                verified += 1;
                true
            };
            assert!(signatures.has_signed(1, 9, (b"m", b"s"), count));
        }
        assert_eq!(verified, 3);
    }
}
