//! Elliptic curves and ECDSA.

use ::der::asn1::{ObjectIdentifier, UintRef};
use ::der::{Encode as _, SliceWriter};
use aws_lc_rs::digest::Digest;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P256_SHA384_ASN1,
    ECDSA_P256_SHA512_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P384_SHA512_ASN1, ECDSA_P521_SHA256_ASN1,
    ECDSA_P521_SHA384_ASN1, ECDSA_P521_SHA512_ASN1, ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, EcdsaVerificationAlgorithm, KeyPair as _, ParsedPublicKey,
    UnparsedPublicKey,
};

use super::hash::Sha2;
use super::oids;
use crate::bug::Within;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// P-224. Keys can be decoded and displayed, but not sign.
    P224,
    P256,
    P384,
    P521,
}

impl Curve {
    /// Returns the name used in JWKs.
    pub fn name(self) -> &'static str {
        match self {
            Self::P224 => "P-224",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// Returns the number of bytes of a coordinate.
    pub fn len(self) -> usize {
        match self {
            Self::P224 => 28,
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// Returns the DER content of its object identifier.
    pub fn oid(self) -> &'static [u8] {
        match self {
            Self::P224 => oids::P224,
            Self::P256 => oids::P256,
            Self::P384 => oids::P384,
            Self::P521 => oids::P521,
        }
    }

    /// Returns the curve with an object identifier, or `None` for other curves.
    pub fn by_oid(oid: &[u8]) -> Option<Self> {
        let curves = [Self::P224, Self::P256, Self::P384, Self::P521];
        curves.into_iter().find(|curve| curve.oid() == oid)
    }

    fn algorithm(self, hash: Sha2) -> Option<&'static EcdsaVerificationAlgorithm> {
        Some(match (self, hash) {
            (Self::P224, _) => return None,
            (Self::P256, Sha2::Sha256) => &ECDSA_P256_SHA256_ASN1,
            (Self::P256, Sha2::Sha384) => &ECDSA_P256_SHA384_ASN1,
            (Self::P256, Sha2::Sha512) => &ECDSA_P256_SHA512_ASN1,
            (Self::P384, Sha2::Sha256) => &ECDSA_P384_SHA256_ASN1,
            (Self::P384, Sha2::Sha384) => &ECDSA_P384_SHA384_ASN1,
            (Self::P384, Sha2::Sha512) => &ECDSA_P384_SHA512_ASN1,
            (Self::P521, Sha2::Sha256) => &ECDSA_P521_SHA256_ASN1,
            (Self::P521, Sha2::Sha384) => &ECDSA_P521_SHA384_ASN1,
            (Self::P521, Sha2::Sha512) => &ECDSA_P521_SHA512_ASN1,
        })
    }

    /// Returns the signature algorithm and the hash that the library combines with this curve.
    fn signing(self) -> Option<(&'static EcdsaSigningAlgorithm, Sha2)> {
        match self {
            Self::P224 => None,
            Self::P256 => Some((&ECDSA_P256_SHA256_FIXED_SIGNING, Sha2::Sha256)),
            Self::P384 => Some((&ECDSA_P384_SHA384_FIXED_SIGNING, Sha2::Sha384)),
            Self::P521 => Some((&ECDSA_P521_SHA512_FIXED_SIGNING, Sha2::Sha512)),
        }
    }

    /// Returns Go's error message if a text is not a point of the curve.
    pub fn point_error(self, point: &[u8]) -> Option<String> {
        if self.contains(point) {
            return None;
        }
        let name = self.name().replace('-', "");
        Some(if point.first() != Some(&4) {
            "ecdsa: invalid uncompressed public key".to_owned()
        } else if point.len() == 1 + 2 * self.len() {
            format!("{name} point not on curve")
        } else {
            format!("invalid {name} point encoding")
        })
    }

    /// Returns `true` if an uncompressed point is on the curve. For P-224 only the encoding is checked.
    pub fn contains(self, point: &[u8]) -> bool {
        let well_formed = point.len() == 1 + 2 * self.len() && point.first() == Some(&4);
        well_formed
            && self
                .algorithm(Sha2::Sha512)
                .is_none_or(|algorithm| UnparsedPublicKey::new(algorithm, point).parse().is_ok())
    }
}

#[derive(Clone, Debug)]
pub struct PublicPoint {
    pub curve: Curve,
    /// Uncompressed point, in the encoding of SEC 1.
    pub point: Box<[u8]>,
}

impl PublicPoint {
    pub fn coordinates(&self) -> (&[u8], &[u8]) {
        let point = self.point.within(1..);
        point
            .split_at_checked(self.curve.len())
            .unwrap_or((point, &[]))
    }

    /// Verifies a signature encoded as two integers in DER.
    pub fn verify(&self, hash: Sha2, message: &[u8], signature: &[u8]) -> bool {
        self.curve.algorithm(hash).is_some_and(|algorithm| {
            UnparsedPublicKey::new(algorithm, &self.point)
                .verify(message, signature)
                .is_ok()
        })
    }

    /// Verifies a signature encoded as two concatenated numbers of the curve's length.
    pub fn verify_fixed(&self, key: &ParsedPublicKey, message: &[u8], signature: &[u8]) -> bool {
        let length = self.curve.len();
        if signature.len() != 2 * length {
            return false;
        }
        let (r, s) = signature.split_at(length);
        let mut room = [0; MOST_SIGNATURE_BYTES];
        numbers(r, s, &mut room).is_ok_and(|signature| key.verify_sig(message, signature).is_ok())
    }

    /// Returns the key for the library's verification, or `None` if the library does not support it.
    pub fn parsed(&self, hash: Sha2) -> Option<ParsedPublicKey> {
        let algorithm = self.curve.algorithm(hash)?;
        ParsedPublicKey::new(algorithm, &*self.point).ok()
    }
}

/// Signs with a scalar. The signature consists of two concatenated numbers of the curve's length. Returns `None` if the
/// curve cannot sign or the scalar is not valid for it.
pub fn sign(curve: Curve, scalar: &[u8], hash: Sha2, message: &[u8]) -> Option<Vec<u8>> {
    let (algorithm, curve_hash) = curve.signing()?;
    let pair = key_pair(algorithm, curve, scalar)?;
    let signature = if curve_hash == hash {
        pair.sign(&SystemRandom::new(), message)
    } else {
        pair.sign_digest(&resize_digest(&hash.digest(message), hash, curve_hash)?)
    };
    Some(signature.ok()?.as_ref().to_vec())
}

/// Returns the public key of a scalar. Returns `None` if the curve cannot sign or the scalar is not valid for it.
pub fn public(curve: Curve, scalar: &[u8]) -> Option<PublicPoint> {
    let (algorithm, _) = curve.signing()?;
    let pair = key_pair(algorithm, curve, scalar)?;
    Some(PublicPoint {
        curve,
        point: pair.public_key().as_ref().into(),
    })
}

/// Converts a digest to the length of another hash function. ECDSA uses the leftmost bits as a number: a longer digest
/// is truncated, a shorter one is padded with leading zeros.
fn resize_digest(digest: &Digest, hash: Sha2, curve_hash: Sha2) -> Option<Digest> {
    let bytes = digest.as_ref();
    let resized = match curve_hash.len().checked_sub(hash.len()) {
        Some(missing) => [&vec![0; missing], bytes].concat(),
        None => bytes.get(..curve_hash.len())?.to_vec(),
    };
    Digest::import_less_safe(&resized, curve_hash.algorithm()).ok()
}

/// Maximum length of a signature in DER. Those of P-521 are shorter.
const MOST_SIGNATURE_BYTES: usize = 160;

/// Encodes a signature as two integers in DER.
fn numbers<'r>(r: &[u8], s: &[u8], room: &'r mut [u8]) -> ::der::Result<&'r [u8]> {
    let (r, s) = (UintRef::new(r)?, UintRef::new(s)?);
    let mut writer = SliceWriter::new(room);
    writer.sequence((r.encoded_len()? + s.encoded_len()?)?, |writer| {
        r.encode(writer)?;
        s.encode(writer)
    })?;
    writer.finish()
}

/// Returns the key pair of a scalar, or `None` if the scalar is not valid for the curve.
fn key_pair(
    algorithm: &'static EcdsaSigningAlgorithm,
    curve: Curve,
    scalar: &[u8],
) -> Option<EcdsaKeyPair> {
    let curve = ObjectIdentifier::from_bytes(curve.oid()).ok()?;
    let key = sec1::EcPrivateKey {
        private_key: scalar,
        parameters: Some(sec1::EcParameters::NamedCurve(curve)),
        public_key: None,
    };
    EcdsaKeyPair::from_private_key_der(algorithm, &key.to_der().ok()?).ok()
}
