//! X.509 certificates, decoded as by Go.

pub mod algorithm;
pub mod constraints;
mod domain;
pub mod dotted;
pub mod extensions;
pub mod host;
pub mod name;
pub mod names;
pub mod policy;
pub mod time;

use std::borrow::Cow;

pub use super::asn1::Asn1Error;
use super::der::{self, Bits, DerReader};
use super::oids;
use super::public::{AlgorithmIdentifier, PublicKey};
use crate::limits::DECIMAL_BYTES;
use algorithm::SignatureAlgorithm;
use extensions::{Extension, Extensions};
use name::Name;
use time::Time;

#[derive(Clone, Debug)]
pub struct Certificate<'d> {
    /// Whole certificate, in DER.
    pub raw: &'d [u8],
    /// Signed part, in DER.
    pub signed: &'d [u8],
    /// Public key with its algorithm, undecoded.
    pub raw_key: &'d [u8],
    /// Subject, in DER.
    pub raw_subject: &'d [u8],
    /// Issuer, in DER.
    pub raw_issuer: &'d [u8],
    pub version: i64,
    /// Serial number, without leading zeros.
    pub serial: &'d [u8],
    pub signature_algorithm: SignatureAlgorithm,
    pub signature: Cow<'d, [u8]>,
    pub issuer: Name<'d>,
    pub subject: Name<'d>,
    /// Start of the validity period.
    pub not_before: Time,
    /// End of the validity period.
    pub not_after: Time,
    /// Public key. `None` if its algorithm is not supported.
    pub public_key: Option<PublicKey>,
    pub all_extensions: Vec<Extension<'d>>,
    pub extensions: Extensions<'d>,
}

impl<'d> Certificate<'d> {
    /// Decodes a single certificate. Fails if it is malformed or bytes follow it.
    pub fn parse(text: &'d [u8]) -> Result<Self, Asn1Error> {
        let mut reader = DerReader::new(text);
        let certificate = Self::read(&mut reader)?;
        if !reader.is_empty() {
            return Err("x509: trailing data".into());
        }
        Ok(certificate)
    }

    /// Decodes a sequence of certificates. Fails if one is malformed.
    pub fn parse_all(text: &'d [u8]) -> Result<Vec<Self>, Asn1Error> {
        let mut reader = DerReader::new(text);
        let mut all = Vec::new();
        while !reader.is_empty() {
            all.push(Self::read(&mut reader)?);
        }
        Ok(all)
    }

    fn read(reader: &mut DerReader<'d>) -> Result<Self, Asn1Error> {
        const BODY: &str = "x509: malformed tbs certificate";
        let outer = reader
            .element(der::SEQUENCE)
            .ok_or("x509: malformed certificate")?;
        let raw = outer.whole;
        let mut outer = DerReader::new(outer.content);
        let body = outer.element(der::SEQUENCE).ok_or(BODY)?;
        let signed = body.whole;
        let mut body = DerReader::new(body.content);
        let version = version(&mut body)?;
        let serial = serial(&mut body)?;
        let inner_algorithm = body
            .take(der::SEQUENCE)
            .ok_or("x509: malformed signature algorithm identifier")?;
        let outer_algorithm = outer
            .take(der::SEQUENCE)
            .ok_or("x509: malformed algorithm identifier")?;
        if inner_algorithm != outer_algorithm {
            return Err("x509: inner and outer signature algorithm identifiers don't match".into());
        }
        let algorithm = AlgorithmIdentifier::read(DerReader::new(inner_algorithm))?;
        let raw_issuer = body
            .element(der::SEQUENCE)
            .ok_or("x509: malformed issuer")?;
        let issuer = name::read(DerReader::new(raw_issuer.content))?;
        let mut validity = body
            .inside(der::SEQUENCE)
            .ok_or("x509: malformed validity")?;
        let not_before = time::read(&mut validity)?;
        let not_after = time::read(&mut validity)?;
        let raw_subject = body
            .element(der::SEQUENCE)
            .ok_or("x509: malformed issuer")?;
        let subject = name::read(DerReader::new(raw_subject.content))?;
        let (raw_key, public_key) = key(&mut body)?;
        let all_extensions = extensions(&mut body, version)?;
        let extensions = Extensions::read(&all_extensions)?;
        let signature = outer.bits().ok_or("x509: malformed signature")?;
        Ok(Self {
            raw,
            signed,
            raw_key,
            raw_subject: raw_subject.whole,
            raw_issuer: raw_issuer.whole,
            version,
            serial,
            signature_algorithm: SignatureAlgorithm::from_identifier(algorithm),
            signature: signature.aligned(),
            issuer,
            subject,
            not_before,
            not_after,
            public_key,
            extensions,
            all_extensions,
        })
    }
}

fn version(body: &mut DerReader<'_>) -> Result<i64, Asn1Error> {
    const MALFORMED: &str = "x509: malformed version";
    let version = match body.optional(der::CONTEXT_0).ok_or(MALFORMED)? {
        None => 0,
        Some(content) => {
            let mut reader = DerReader::new(content);
            let version = reader.small().ok_or(MALFORMED)?;
            if version < 0 || !reader.is_empty() {
                return Err(MALFORMED.into());
            }
            version
        }
    };
    if version > 2 {
        return Err("x509: invalid version".into());
    }
    Ok(version + 1)
}

fn serial<'d>(body: &mut DerReader<'d>) -> Result<&'d [u8], Asn1Error> {
    let mut ahead = *body;
    body.integer()
        .filter(|serial| serial.len() <= DECIMAL_BYTES)
        .ok_or("x509: malformed serial number")?;
    let serial = ahead.natural().ok_or("x509: negative serial number")?;
    Ok(serial)
}

/// Reads the public key with its algorithm, undecoded and decoded.
fn key<'d>(body: &mut DerReader<'d>) -> Result<(&'d [u8], Option<PublicKey>), Asn1Error> {
    let info = body.element(der::SEQUENCE).ok_or("x509: malformed spki")?;
    let mut fields = DerReader::new(info.content);
    let algorithm = fields
        .inside(der::SEQUENCE)
        .ok_or("x509: malformed public key algorithm identifier")?;
    let algorithm = AlgorithmIdentifier::read(algorithm)?;
    let bits = fields.bits().ok_or("x509: malformed subjectPublicKey")?;
    Ok((info.whole, signing_key(algorithm, bits)?))
}

/// Decodes the key if its algorithm can sign: certificates do not name the kind of other keys.
pub fn signing_key(
    algorithm: AlgorithmIdentifier<'_>,
    bits: Bits<'_>,
) -> Result<Option<PublicKey>, Asn1Error> {
    match algorithm.oid {
        oids::X25519 => Ok(None),
        _ => PublicKey::read(algorithm, bits),
    }
}

fn extensions<'d>(body: &mut DerReader<'d>, version: i64) -> Result<Vec<Extension<'d>>, Asn1Error> {
    const MALFORMED: &str = "x509: malformed extensions";
    const ISSUER_ID: u8 = 0x81;
    const SUBJECT_ID: u8 = 0x82;
    const EXTENSIONS: u8 = 0xa3;
    if version < 2 {
        return Ok(Vec::new());
    }
    body.optional(ISSUER_ID)
        .ok_or("x509: malformed issuerUniqueID")?;
    body.optional(SUBJECT_ID)
        .ok_or("x509: malformed subjectUniqueID")?;
    if version < 3 {
        return Ok(Vec::new());
    }
    let Some(list) = body.optional(EXTENSIONS).ok_or(MALFORMED)? else {
        return Ok(Vec::new());
    };
    let mut list = DerReader::new(list)
        .inside(der::SEQUENCE)
        .ok_or(MALFORMED)?;
    let mut all: Vec<Extension<'d>> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    while !list.is_empty() {
        let extension = Extension::read(&mut list)?;
        if !ids.insert(extension.id) {
            let id = dotted::text(extension.id);
            return Err(format!(
                "x509: certificate contains duplicate extension with OID \"{id}\""
            )
            .into());
        }
        all.push(extension);
    }
    Ok(all)
}
