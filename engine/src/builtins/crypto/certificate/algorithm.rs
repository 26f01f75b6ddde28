//! Signature algorithms of certificates, by the numbers of Go's `x509`.

use crate::builtins::crypto::der::{self, DerReader};
use crate::builtins::crypto::hash::Sha2;
use crate::builtins::crypto::oids;
use crate::builtins::crypto::public::{AlgorithmIdentifier, PublicKey};
use crate::builtins::crypto::rsa::Padding;
use crate::builtins::crypto::signature::{Scheme, verify_ed25519};

/// A signature algorithm by its number in Go. Results contain that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureAlgorithm(pub u8);

impl SignatureAlgorithm {
    const UNKNOWN: Self = Self(0);

    pub fn from_identifier(algorithm: AlgorithmIdentifier<'_>) -> Self {
        Self(match algorithm.oid {
            oids::RSA_MD5 => 2,
            oids::RSA_SHA1 | oids::RSA_SHA1_ISO => 3,
            oids::RSA_SHA256 => 4,
            oids::RSA_SHA384 => 5,
            oids::RSA_SHA512 => 6,
            oids::DSA_SHA1 => 7,
            oids::DSA_SHA256 => 8,
            oids::ECDSA_SHA1 => 9,
            oids::ECDSA_SHA256 => 10,
            oids::ECDSA_SHA384 => 11,
            oids::ECDSA_SHA512 => 12,
            oids::ED25519 if algorithm.parameters.is_none() => 16,
            oids::RSA_PSS => return pss(algorithm).unwrap_or(Self::UNKNOWN),
            _ => return Self::UNKNOWN,
        })
    }

    /// Returns the signature scheme, or `None` for insecure and unsupported algorithms.
    fn scheme(self) -> Option<Scheme> {
        Some(match self.0 {
            4 => Scheme::Rsa(Padding::Pkcs1, Sha2::Sha256),
            5 => Scheme::Rsa(Padding::Pkcs1, Sha2::Sha384),
            6 => Scheme::Rsa(Padding::Pkcs1, Sha2::Sha512),
            10 => Scheme::Ecdsa(Sha2::Sha256),
            11 => Scheme::Ecdsa(Sha2::Sha384),
            12 => Scheme::Ecdsa(Sha2::Sha512),
            13 => Scheme::Rsa(Padding::Pss, Sha2::Sha256),
            14 => Scheme::Rsa(Padding::Pss, Sha2::Sha384),
            15 => Scheme::Rsa(Padding::Pss, Sha2::Sha512),
            16 => Scheme::Ed25519,
            _ => return None,
        })
    }

    /// Returns `true` if a key has signed a message with this algorithm. Returns `false` for unsupported algorithms and
    /// keys of another algorithm.
    pub fn verify(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        match (key, self.scheme()) {
            (PublicKey::Rsa(key), Some(Scheme::Rsa(padding, hash))) => {
                let parsed = key.parsed(padding, hash);
                key.verify(parsed.as_ref(), (padding, hash), message, signature)
            }
            (PublicKey::Ec(key), Some(Scheme::Ecdsa(hash))) => key.verify(hash, message, signature),
            (PublicKey::Ed25519(key), Some(Scheme::Ed25519)) => {
                verify_ed25519(key, message, signature)
            }
            _ => false,
        }
    }
}

/// Returns the algorithm of PSS parameters: the same hash function throughout, and a salt of its length.
fn pss(algorithm: AlgorithmIdentifier<'_>) -> Option<SignatureAlgorithm> {
    const TRAILER: u8 = 0xa3;
    let parameters = algorithm.parameters?;
    let mut outer = DerReader::new(parameters.whole).inside(der::SEQUENCE)?;
    let hash = hash(outer.inside(der::CONTEXT_0)?)?;
    let mask = AlgorithmIdentifier::read(outer.inside(0xa1)?.inside(der::SEQUENCE)?).ok()?;
    let mask_hash = DerReader::new(mask.parameters?.whole);
    let salt = outer.inside(0xa2)?.small()?;
    let trailer = match outer.optional(TRAILER)? {
        None => 1,
        Some(content) => DerReader::new(content).small()?,
    };
    if mask.oid != oids::MGF1 || self::hash(mask_hash)? != hash || trailer != 1 {
        return None;
    }
    match (hash, salt) {
        (Sha2::Sha256, 32) => Some(SignatureAlgorithm(13)),
        (Sha2::Sha384, 48) => Some(SignatureAlgorithm(14)),
        (Sha2::Sha512, 64) => Some(SignatureAlgorithm(15)),
        _ => None,
    }
}

fn hash(mut reader: DerReader<'_>) -> Option<Sha2> {
    let algorithm = AlgorithmIdentifier::read(reader.inside(der::SEQUENCE)?).ok()?;
    let null = |element: der::Element<'_>| element.whole == [der::NULL, 0];
    if !algorithm.parameters.is_none_or(null) {
        return None;
    }
    match algorithm.oid {
        oids::SHA256 => Some(Sha2::Sha256),
        oids::SHA384 => Some(Sha2::Sha384),
        oids::SHA512 => Some(Sha2::Sha512),
        _ => None,
    }
}
