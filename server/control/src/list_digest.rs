//! Digest of a list of parts, which depends on where each part ends.

use aws_lc_rs::digest::{Context, SHA256};

/// SHA-256 over parts with their lengths, so that different lists never give the same bytes.
pub struct ListDigest(Context);

impl ListDigest {
    /// Creates the digest of an empty list.
    pub fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    /// Adds a part. Its length is hashed first, so parts cannot be confused with others.
    pub fn add(&mut self, bytes: &[u8]) {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.0.update(&length.to_be_bytes());
        self.0.update(bytes);
    }

    /// Returns the digest in lower-case hexadecimal.
    pub fn finish(self) -> String {
        hex::encode(self.0.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::ListDigest;

    fn digest_of(parts: &[&str]) -> String {
        let mut digest = ListDigest::new();
        for part in parts {
            digest.add(part.as_bytes());
        }
        digest.finish()
    }

    #[test]
    fn lists_with_equal_texts_differ() {
        assert_eq!(digest_of(&["a", "bc"]), digest_of(&["a", "bc"]));
        assert_ne!(digest_of(&["a", "bc"]), digest_of(&["ab", "c"]));
        assert_ne!(digest_of(&["a"]), digest_of(&["a", ""]));
    }
}
