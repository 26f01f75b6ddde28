//! RSA keys and signatures.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use aws_lc_rs::signature::{
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaParameters,
};
use num_bigint::BigUint;
use subtle::ConstantTimeEq;

use super::hash::Sha2;
use crate::bug::bug;
use crate::limits::{RSA_BITS, RSA_EXPONENT_BITS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// `RSASSA-PKCS1-v1_5`
    Pkcs1,
    /// `RSASSA-PSS` with a salt as long as the digest (RFC 7518, section 3.5).
    Pss,
    /// `RSASSA-PSS` with a salt of any length, for `io.jwt.verify_ps*`.
    PssAnySalt,
}

/// Minimum size of a modulus for verification, as in Go.
const FEWEST_BITS: u64 = 1024;

/// Minimum size of a modulus for signing, as in the library.
const FEWEST_SIGNING_BYTES: usize = 2048 / 8;

/// A public key. The numbers have no leading zeros.
#[derive(Clone, Debug)]
pub struct RsaPublic {
    /// Modulus.
    pub n: Box<[u8]>,
    /// Exponent.
    pub e: Box<[u8]>,
}

impl RsaPublic {
    /// Returns the key for the library's verification, or `None` if the library does not support it.
    pub fn parsed(&self, padding: Padding, hash: Sha2) -> Option<ParsedPublicKey> {
        let parameters: &'static RsaParameters = match (padding, hash) {
            (Padding::Pkcs1, Sha2::Sha256) => &RSA_PKCS1_2048_8192_SHA256,
            (Padding::Pkcs1, Sha2::Sha384) => &RSA_PKCS1_2048_8192_SHA384,
            (Padding::Pkcs1, Sha2::Sha512) => &RSA_PKCS1_2048_8192_SHA512,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha256) => &RSA_PSS_2048_8192_SHA256,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha384) => &RSA_PSS_2048_8192_SHA384,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha512) => &RSA_PSS_2048_8192_SHA512,
        };
        let key = PublicKeyComponents {
            n: &*self.n,
            e: &*self.e,
        };
        key.to_parsed_public_key(parameters).ok()
    }

    /// Verifies a signature, given the result of [`Self::parsed`].
    pub fn verify(
        &self,
        parsed: Option<&ParsedPublicKey>,
        (padding, hash): (Padding, Sha2),
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        if parsed.is_some_and(|key| key.verify_sig(message, signature).is_ok()) {
            return true;
        }
        // the library rejects other key sizes and other salt lengths
        let usual = (256..=1024).contains(&self.n.len());
        if usual && padding != Padding::PssAnySalt {
            return false;
        }
        let Some((encoded, bits)) = self.encoded_message(signature) else {
            return false;
        };
        match padding {
            Padding::Pkcs1 => is_pkcs1(&encoded, hash, message),
            Padding::Pss => is_pss(&encoded, bits - 1, hash, message, Some(hash.len())),
            Padding::PssAnySalt => is_pss(&encoded, bits - 1, hash, message, None),
        }
    }

    /// Computes the encoded message of a signature, as long as the modulus, and the modulus's number of bits. Handles
    /// public values only, so it need not run in constant time.
    fn encoded_message(&self, signature: &[u8]) -> Option<(Vec<u8>, u64)> {
        let (n, e) = (
            BigUint::from_bytes_be(&self.n),
            BigUint::from_bytes_be(&self.e),
        );
        let number = BigUint::from_bytes_be(signature);
        let bits = n.bits();
        let fits = (FEWEST_BITS..=RSA_BITS).contains(&bits)
            && (2..=RSA_EXPONENT_BITS).contains(&e.bits())
            && n.bit(0)
            && e.bit(0);
        if !fits || signature.len() != self.n.len() || number >= n {
            return None;
        }
        let encoded = number.modpow(&e, &n).to_bytes_be();
        let zeros = vec![0; self.n.len().checked_sub(encoded.len())?];
        Some(([zeros, encoded].concat(), bits))
    }
}

/// Compares the encoded message with the only valid encoding.
fn is_pkcs1(encoded: &[u8], hash: Sha2, message: &[u8]) -> bool {
    let digest_info: &[u8] = match hash {
        Sha2::Sha256 => {
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
        }
        Sha2::Sha384 => {
            b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"
        }
        Sha2::Sha512 => {
            b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"
        }
    };
    let tail = [digest_info, hash.digest(message).as_ref()].concat();
    let Some(filling) = encoded.len().checked_sub(tail.len() + 3) else {
        return false;
    };
    let expected = [&[0, 1], &*vec![0xff; filling], &[0], &tail].concat();
    filling >= 8 && expected.ct_eq(encoded).into()
}

/// Removes the mask and compares the digest, with a salt of a given or of any length (RFC 8017, section 9.1.2).
fn is_pss(
    encoded: &[u8],
    bits: u64,
    hash: Sha2,
    message: &[u8],
    salt_length: Option<usize>,
) -> bool {
    let unused = u32::try_from((8 - bits % 8) % 8).unwrap_or(0);
    // a modulus of one bit more than whole bytes leaves a byte unused
    let encoded = match encoded {
        [0, rest @ ..] if bits.is_multiple_of(8) => rest,
        _ if bits.is_multiple_of(8) => return false,
        encoded => encoded,
    };
    let Some((masked, [digest @ .., 0xbc])) = encoded
        .len()
        .checked_sub(hash.len() + 1)
        .and_then(|split| encoded.split_at_checked(split))
    else {
        return false;
    };
    let keep = 0xff_u8.checked_shr(unused);
    let keep = keep.unwrap_or_else(|| bug!("a byte of more than eight bits"));
    if masked.first().is_none_or(|first| first & !keep != 0) {
        return false;
    }
    let mut block: Vec<u8> = masked
        .iter()
        .zip(mask(digest, hash, masked.len()))
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    if let Some(first) = block.first_mut() {
        *first &= keep;
    }
    let zeros = block.iter().take_while(|byte| **byte == 0).count();
    let Some([1, salt @ ..]) = block.get(zeros..) else {
        return false;
    };
    if salt_length.is_some_and(|length| length != salt.len()) {
        return false;
    }
    let digested = [&[0; 8], hash.digest(message).as_ref(), salt].concat();
    hash.digest(&digested).as_ref().ct_eq(digest).into()
}

/// Returns the mask for a seed (MGF1).
fn mask(seed: &[u8], hash: Sha2, length: usize) -> Vec<u8> {
    let mut mask = Vec::with_capacity(length + hash.len());
    for counter in 0_u32.. {
        if mask.len() >= length {
            break;
        }
        let block = [seed, &counter.to_be_bytes()].concat();
        mask.extend(hash.digest(&block).as_ref());
    }
    mask.truncate(length);
    mask
}

/// A private key. The numbers have no leading zeros.
#[derive(Clone)]
pub struct RsaPrivate {
    pub public: RsaPublic,
    /// Private exponent.
    pub d: Box<[u8]>,
    /// Two factors of the modulus.
    pub primes: [Box<[u8]>; 2],
    /// Exponents for the factors, and the inverse of the second modulo the first, if given.
    pub shortcuts: [Option<Box<[u8]>>; 3],
}

impl RsaPrivate {
    /// Returns the exponents for the factors and the inverse of the second modulo the first, or `None` if the factors
    /// are invalid.
    pub fn precomputed(&self) -> Option<[BigUint; 3]> {
        let [p, q] = self
            .primes
            .each_ref()
            .map(|prime| BigUint::from_bytes_be(prime));
        let d = BigUint::from_bytes_be(&self.d);
        let one = BigUint::from(1_u8);
        if p <= one || q <= one {
            return None;
        }
        Some([&d % (&p - &one), &d % (&q - &one), q.modinv(&p)?])
    }

    /// Signs a message. The error is the message.
    pub fn sign(
        &self,
        padding: Padding,
        hash: Sha2,
        message: &[u8],
    ) -> Result<Vec<u8>, &'static str> {
        let encoding: &'static dyn RsaEncoding = match (padding, hash) {
            (Padding::Pkcs1, Sha2::Sha256) => &RSA_PKCS1_SHA256,
            (Padding::Pkcs1, Sha2::Sha384) => &RSA_PKCS1_SHA384,
            (Padding::Pkcs1, Sha2::Sha512) => &RSA_PKCS1_SHA512,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha256) => &RSA_PSS_SHA256,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha384) => &RSA_PSS_SHA384,
            (Padding::Pss | Padding::PssAnySalt, Sha2::Sha512) => &RSA_PSS_SHA512,
        };
        let pair = self.pair()?;
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
            .map_err(|_| "crypto/rsa: message too long for RSA key size")?;
        Ok(signature)
    }

    fn pair(&self) -> Result<KeyPair, &'static str> {
        if self.public.n.len() < FEWEST_SIGNING_BYTES {
            return Err("RSA keys of less than 2048 bits do not sign");
        }
        let [p, q] = &self.primes;
        let [dp, dq, inverse] = match &self.shortcuts {
            [Some(dp), Some(dq), Some(inverse)] => [dp.clone(), dq.clone(), inverse.clone()],
            _ => self
                .precomputed()
                .ok_or("crypto/rsa: invalid prime")?
                .map(|number| number.to_bytes_be().into()),
        };
        KeyPair::from_components(&KeyPairComponents {
            public_key: PublicKeyComponents {
                n: &*self.public.n,
                e: &*self.public.e,
            },
            d: &*self.d,
            p: &**p,
            q: &**q,
            dP: &*dp,
            dQ: &*dq,
            qInv: &*inverse,
        })
        .map_err(|_| {
            self.inconsistency()
                .unwrap_or("crypto/rsa: invalid exponents")
        })
    }
}
