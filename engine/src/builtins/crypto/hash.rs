//! Hash functions of signatures.

use aws_lc_rs::digest::{self, Algorithm, Digest, SHA256, SHA384, SHA512};

/// A member of the SHA-2 family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sha2 {
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
}

impl Sha2 {
    /// Returns the digest of a message.
    pub fn digest(self, message: &[u8]) -> Digest {
        digest::digest(self.algorithm(), message)
    }

    /// Returns the length of a digest in bytes.
    pub fn len(self) -> usize {
        self.algorithm().output_len()
    }

    /// Returns its index in the family.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Sha256 => 0,
            Self::Sha384 => 1,
            Self::Sha512 => 2,
        }
    }

    pub(super) fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Sha256 => &SHA256,
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
        }
    }
}
