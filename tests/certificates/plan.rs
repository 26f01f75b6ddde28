//! Specifications of certificates, with encoded fields.

use crate::asn1::{self, OCTET_STRING, SET, element, integer, oid, sequence};
use crate::fixtures::Signer;
use crate::random::Random;

/// An unsigned certificate or certificate request.
#[derive(Clone)]
pub struct Plan {
    pub version: Vec<u8>,
    pub serial: Vec<u8>,
    /// The algorithm in the signed part, and the one before the signature.
    pub algorithms: [Vec<u8>; 2],
    pub issuer: Vec<u8>,
    pub validity: Vec<u8>,
    pub subject: Vec<u8>,
    pub key: Vec<u8>,
    /// Fields between the key and the extensions.
    pub ids: Vec<u8>,
    pub extensions: Vec<Extension>,
    /// Fields at the end of the signed part.
    pub tail: Vec<u8>,
    pub signer: Signer,
    /// Numbers of mutations in the signed part before signing, and in the whole certificate after it.
    pub mistakes: [usize; 2],
}

#[derive(Clone)]
pub struct Extension {
    pub id: Vec<u8>,
    /// The element with the critical flag, if present.
    pub critical: Vec<u8>,
    pub value: Vec<u8>,
}

pub const TRUE: &[u8] = &[1, 1, 0xff];

impl Extension {
    pub fn new(id: &str, critical: bool, value: Vec<u8>) -> Self {
        let critical = if critical { TRUE.to_vec() } else { Vec::new() };
        Self {
            id: oid(id),
            critical,
            value,
        }
    }

    fn write(&self) -> Vec<u8> {
        sequence(&[
            &self.id,
            &self.critical,
            &element(OCTET_STRING, &self.value),
        ])
    }
}

/// Encodes a name of one attribute.
pub fn common_name(text: &str) -> Vec<u8> {
    named(&[("2.5.4.3", 12, text.as_bytes())])
}

/// Encodes a name with each attribute in a set of its own.
pub fn named(attributes: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let sets: Vec<Vec<u8>> = attributes
        .iter()
        .map(|(kind, tag, text)| element(SET, &sequence(&[oid(kind), element(*tag, text)])))
        .collect();
    sequence(&sets)
}

/// Encodes a validity time.
pub fn time(text: &str) -> Vec<u8> {
    let tag = if text.len() < 15 { 23 } else { 24 };
    element(tag, text.as_bytes())
}

/// Returns the basic constraints of an authority.
pub fn authority(path_length: Option<i64>) -> Extension {
    let length = path_length.map(integer).unwrap_or_default();
    Extension::new("2.5.29.19", true, sequence(&[TRUE, &length]))
}

impl Plan {
    /// Returns a valid certificate for a key.
    pub fn new(issuer: &str, subject: &str, key: Vec<u8>, signer: Signer) -> Self {
        let algorithm = signer.algorithm();
        Self {
            version: element(0xa0, &integer(2)),
            serial: integer(1234),
            algorithms: [algorithm.clone(), algorithm],
            issuer: common_name(issuer),
            validity: sequence(&[time("000101000000Z"), time("20900101000000Z")]),
            subject: common_name(subject),
            key,
            ids: Vec::new(),
            extensions: Vec::new(),
            tail: Vec::new(),
            signer,
            mistakes: [0, 0],
        }
    }

    /// Adds an extension. Unless another one may stay, replaces extensions of its kind.
    pub fn put(&mut self, extension: Extension, beside: bool) {
        if !beside {
            self.extensions.retain(|other| other.id != extension.id);
        }
        self.extensions.push(extension);
    }

    fn extension_list(&self) -> Vec<u8> {
        let list: Vec<Vec<u8>> = self.extensions.iter().map(Extension::write).collect();
        sequence(&list)
    }

    fn signed(&self, random: &mut Random, body: &[u8]) -> Vec<u8> {
        let body = asn1::spoil(random, body, self.mistakes[0]);
        let signature = asn1::bits(&self.signer.sign(&body));
        let whole = sequence(&[&body, &self.algorithms[1], &signature]);
        asn1::spoil(random, &whole, self.mistakes[1])
    }

    /// Encodes the certificate.
    pub fn certificate(&self, random: &mut Random) -> Vec<u8> {
        let extensions = match self.extensions.as_slice() {
            [] => Vec::new(),
            _ => element(0xa3, &self.extension_list()),
        };
        let body = sequence(&[
            &self.version,
            &self.serial,
            &self.algorithms[0],
            &self.issuer,
            &self.validity,
            &self.subject,
            &self.key,
            &self.ids,
            &extensions,
            &self.tail,
        ]);
        self.signed(random, &body)
    }

    /// Encodes a request for the certificate, with more attributes.
    pub fn request(&self, random: &mut Random, attributes: &[Vec<u8>]) -> Vec<u8> {
        let wanted = element(SET, &self.extension_list());
        let wanted = sequence(&[oid("1.2.840.113549.1.9.14"), wanted]);
        let attributes = [&[wanted], attributes].concat().concat();
        let version = match self.version.as_slice() {
            [0xa0, 3, number @ ..] if number != [2, 1, 2] => number.to_vec(),
            _ => integer(0),
        };
        let attributes = element(0xa0, &attributes);
        let body = sequence(&[&version, &self.subject, &self.key, &attributes, &self.tail]);
        self.signed(random, &body)
    }
}
