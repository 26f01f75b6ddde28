//! Hash functions of signatures.

use aws_lc_rs::digest::{self, Algorithm, Digest, SHA256, SHA384, SHA512};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sha2 {
    Sha256,
    Sha384,
    Sha512,
}

impl Sha2 {
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
