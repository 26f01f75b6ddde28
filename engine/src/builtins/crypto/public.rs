//! Public keys and their encoding with an algorithm (`SubjectPublicKeyInfo`).

pub use super::asn1::Asn1Error;
use super::asn1::FieldReader;
use super::curve::{Curve, PublicPoint};
use super::der::{self, Bits, DerReader, Element};
use super::oids;
use super::rsa::RsaPublic;
use crate::limits::DECIMAL_BYTES;

#[derive(Clone, Debug)]
pub enum PublicKey {
    Rsa(RsaPublic),
    Ec(PublicPoint),
    /// Ed25519, for signatures.
    Ed25519(Box<[u8]>),
    /// X25519, for key agreement only.
    X25519,
    /// DSA, for display only: the parameters P, Q and G, and Y.
    Dsa([Box<[u8]>; 4]),
}

#[derive(Clone, Copy, Debug)]
pub struct AlgorithmIdentifier<'d> {
    pub oid: &'d [u8],
    pub parameters: Option<Element<'d>>,
}

impl<'d> AlgorithmIdentifier<'d> {
    /// Decodes the content of the sequence. The error is the message.
    pub fn read(mut fields: DerReader<'d>) -> Result<Self, &'static str> {
        let oid = fields.oid().ok_or("x509: malformed OID")?;
        let parameters = if fields.is_empty() {
            None
        } else {
            Some(fields.any().ok_or("x509: malformed parameters")?)
        };
        Ok(Self { oid, parameters })
    }

    /// Decodes an algorithm that is a field of a structure.
    pub fn field(fields: &mut FieldReader<'d>) -> Result<Self, Asn1Error> {
        let (mut fields, _) = fields.structure("AlgorithmIdentifier")?;
        let oid = fields.oid()?;
        let parameters = if fields.rest().is_empty() {
            None
        } else {
            Some(fields.any()?)
        };
        Ok(Self { oid, parameters })
    }
}

impl PublicKey {
    /// Decodes the key of an algorithm. Returns `None` if the algorithm is not supported. The error is the message.
    pub fn read(
        algorithm: AlgorithmIdentifier<'_>,
        bits: Bits<'_>,
    ) -> Result<Option<Self>, Asn1Error> {
        let key = &*bits.aligned();
        Ok(Some(match algorithm.oid {
            oids::RSA => Self::Rsa(rsa(algorithm, key)?),
            oids::EC => Self::Ec(point(algorithm, key)?),
            oids::ED25519 if algorithm.parameters.is_some() => {
                return Err("x509: Ed25519 key encoded with illegal parameters".into());
            }
            oids::ED25519 if key.len() != 32 => {
                return Err("x509: wrong Ed25519 public key size".into());
            }
            oids::ED25519 => Self::Ed25519(key.into()),
            oids::X25519 if algorithm.parameters.is_some() => {
                return Err("x509: X25519 key encoded with illegal parameters".into());
            }
            oids::X25519 if key.len() != 32 => return Err("crypto/ecdh: invalid public key".into()),
            oids::X25519 => Self::X25519,
            oids::DSA => Self::Dsa(dsa(algorithm, key)?),
            _ => return Ok(None),
        }))
    }

    /// Decodes a key with its algorithm. The error is the message.
    pub fn from_info(text: &[u8]) -> Result<Self, Asn1Error> {
        let (algorithm, bits) = info(text)?;
        Self::read(algorithm, bits)?.ok_or_else(|| "x509: unknown public key algorithm".into())
    }
}

fn info(text: &[u8]) -> Result<(AlgorithmIdentifier<'_>, Bits<'_>), Asn1Error> {
    let mut outer = FieldReader::inside(text);
    match info_field(&mut outer) {
        Ok((_, algorithm, bits)) if outer.rest().is_empty() => Ok((algorithm, bits)),
        Ok(_) => Err("x509: trailing data after ASN.1 of public-key".into()),
        Err(_) if is_bare_rsa(text) => Err("x509: failed to parse public key (use ParsePKCS1PublicKey instead for this key format)".into()),
        Err(problem) => Err(problem),
    }
}

/// Decodes a key with its algorithm that is a field of a structure. Returns it undecoded, and its two parts.
pub fn info_field<'d>(
    fields: &mut FieldReader<'d>,
) -> Result<(&'d [u8], AlgorithmIdentifier<'d>, Bits<'d>), Asn1Error> {
    let (mut fields, raw) = fields.structure("publicKeyInfo")?;
    let algorithm = AlgorithmIdentifier::field(&mut fields)?;
    Ok((raw, algorithm, fields.bits()?))
}

/// Returns `true` if a text is an RSA key without an algorithm.
fn is_bare_rsa(text: &[u8]) -> bool {
    FieldReader::parse_struct(text, "pkcs1PublicKey")
        .is_ok_and(|(mut fields, _)| fields.integer().is_ok() && fields.small().is_ok())
}

fn rsa(algorithm: AlgorithmIdentifier<'_>, key: &[u8]) -> Result<RsaPublic, &'static str> {
    let null = |element: Element<'_>| element.tag == der::NULL && element.content.is_empty();
    if !algorithm.parameters.is_some_and(null) {
        return Err("x509: RSA key missing NULL parameters");
    }
    let mut numbers = DerReader::new(key)
        .inside(der::SEQUENCE)
        .ok_or("x509: invalid RSA public key")?;
    let n = numbers.integer().ok_or("x509: invalid RSA modulus")?;
    let mut exponent = numbers;
    let e = numbers.small().ok_or("x509: invalid RSA public exponent")?;
    let n = positive(n).ok_or("x509: RSA modulus is not a positive number")?;
    let e = exponent
        .natural()
        .filter(|_| e > 0)
        .ok_or("x509: RSA public exponent is not a positive number")?;
    Ok(RsaPublic {
        n: n.into(),
        e: e.into(),
    })
}

/// Returns the bytes of a positive number, without leading zeros.
pub fn positive(number: &[u8]) -> Option<&[u8]> {
    match number {
        [0] => None,
        [0, rest @ ..] if rest.len() <= DECIMAL_BYTES => Some(rest),
        [first, ..] if first & 0x80 == 0 && number.len() <= DECIMAL_BYTES => Some(number),
        _ => None,
    }
}

fn point(algorithm: AlgorithmIdentifier<'_>, key: &[u8]) -> Result<PublicPoint, Asn1Error> {
    let curve_parameters = algorithm
        .parameters
        .filter(|parameters| parameters.tag == der::OID && der::is_small(parameters.content))
        .ok_or("x509: invalid ECDSA parameters")?;
    let curve =
        Curve::by_oid(curve_parameters.content).ok_or("x509: unsupported elliptic curve")?;
    if let Some(rejection) = curve.point_error(key) {
        return Err(rejection.into());
    }
    Ok(PublicPoint {
        curve,
        point: key.into(),
    })
}

fn dsa(algorithm: AlgorithmIdentifier<'_>, key: &[u8]) -> Result<[Box<[u8]>; 4], &'static str> {
    let y = DerReader::new(key)
        .integer()
        .ok_or("x509: invalid DSA public key")?;
    let parameters = algorithm
        .parameters
        .filter(|parameters| parameters.tag == der::SEQUENCE)
        .ok_or("x509: invalid DSA parameters")?;
    let mut numbers = DerReader::new(parameters.content);
    let mut number = || numbers.integer().ok_or("x509: invalid DSA parameters");
    let all = [number()?, number()?, number()?, y];
    let mut numbers = all
        .into_iter()
        .map(|number| positive(number).map(Into::into));
    let mut next = || {
        numbers
            .next()
            .flatten()
            .ok_or("x509: zero or negative DSA parameter")
    };
    Ok([next()?, next()?, next()?, next()?])
}
