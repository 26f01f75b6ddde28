//! Certificate requests (PKCS #10).

use std::borrow::Cow;
use std::collections::HashSet;

use super::asn1::{Asn1Error, FieldReader, TRAILING};
use super::certificate::algorithm::SignatureAlgorithm;
use super::certificate::extensions::Extension;
use super::certificate::name::{self, Name};
use super::certificate::names::AlternativeNames;
use super::certificate::signing_key;
use super::der::{self, Element};
use super::json::ArenaJson;
use super::oids::{EXTENSION_REQUEST, SUBJECT_NAMES};
use super::public::{AlgorithmIdentifier, PublicKey, info_field};
use crate::value::{RefRepr, ValueRef};

pub struct CertificateRequest<'d> {
    raw: &'d [u8],
    signed: &'d [u8],
    raw_key: &'d [u8],
    raw_subject: &'d [u8],
    version: i64,
    subject: Name<'d>,
    public_key: Option<PublicKey>,
    algorithm: SignatureAlgorithm,
    signature: Cow<'d, [u8]>,
    attributes: Vec<Element<'d>>,
    extensions: Vec<Extension<'d>>,
    names: AlternativeNames<'d>,
}

impl<'d> CertificateRequest<'d> {
    /// Decodes a request. The error is the message.
    pub fn parse(text: &'d [u8]) -> Result<Self, Asn1Error> {
        const ATTRIBUTES: u8 = 0xa0;
        let (mut fields, rest) = FieldReader::parse_struct(text, "certificateRequest")?;
        let (mut body, signed) = fields.structure("tbsCertificateRequest")?;
        let version = body.small()?;
        let subject = body.any()?;
        let (raw_key, key_algorithm, bits) = info_field(&mut body)?;
        let attributes = body.list(ATTRIBUTES, None)?;
        let algorithm = AlgorithmIdentifier::field(&mut fields)?;
        let signature = fields.bits()?;
        if !rest.is_empty() {
            return Err(TRAILING.into());
        }
        let public_key = signing_key(key_algorithm, bits)?;
        let raw_subject = subject.whole;
        let subject = name::of_request(raw_subject)?;
        let extensions = extensions(&attributes)?;
        let names = extensions
            .iter()
            .find(|extension| extension.id == SUBJECT_NAMES)
            .map(|extension| AlternativeNames::read(extension.value))
            .transpose()?;
        Ok(Self {
            raw: text,
            signed,
            raw_key,
            raw_subject,
            version,
            subject,
            public_key,
            algorithm: SignatureAlgorithm::from_identifier(algorithm),
            signature: signature.aligned(),
            attributes,
            extensions,
            names: names.unwrap_or_default(),
        })
    }

    /// Returns the request as OPA does.
    pub fn value<'e>(&self, json: ArenaJson<'e>) -> ValueRef<'e> {
        let key = self.public_key.as_ref();
        let names = &self.names;
        json.object([
            ("Raw", json.bytes(self.raw)),
            ("RawTBSCertificateRequest", json.bytes(self.signed)),
            ("RawSubjectPublicKeyInfo", json.bytes(self.raw_key)),
            ("RawSubject", json.bytes(self.raw_subject)),
            ("Version", ValueRef(RefRepr::Int(self.version))),
            ("Signature", json.bytes(&self.signature)),
            (
                "SignatureAlgorithm",
                ValueRef(RefRepr::Int(self.algorithm.0.into())),
            ),
            ("PublicKeyAlgorithm", ArenaJson::key_kind(key)),
            (
                "PublicKey",
                key.map_or(ValueRef(RefRepr::Null), |key| json.public_key(key)),
            ),
            ("Subject", json.name(&self.subject)),
            (
                "Attributes",
                json.list(
                    self.attributes
                        .iter()
                        .filter_map(|attribute| attribute_value(json, attribute)),
                    |value| value,
                ),
            ),
            (
                "Extensions",
                json.list(&self.extensions, |extension| json.extension(extension)),
            ),
            ("ExtraExtensions", ValueRef(RefRepr::Null)),
            ("DNSNames", json.list(&names.dns, |name| json.text(name))),
            (
                "EmailAddresses",
                json.list(&names.emails, |name| json.text(name)),
            ),
            (
                "IPAddresses",
                json.list(&names.addresses, |address| json.address(address)),
            ),
            ("URIs", json.list(&names.uris, |uri| json.uri(uri))),
        ])
    }
}

fn extensions<'d>(attributes: &[Element<'d>]) -> Result<Vec<Extension<'d>>, Asn1Error> {
    let mut extensions = Vec::new();
    let mut ids = HashSet::new();
    for attribute in attributes {
        let Some(extension_elements) = extension_list(attribute) else {
            continue;
        };
        let mut list = FieldReader::inside(extension_elements.whole);
        for extension in list.list(der::SEQUENCE, Some(der::SEQUENCE))? {
            let mut fields = FieldReader::inside(extension.content);
            let extension = Extension {
                id: fields.oid()?,
                critical: fields.boolean_or_false()?,
                value: fields.octets()?,
            };
            extensions.push(extension);
        }
    }
    // two lists must not contain the same extension, either
    if extensions.iter().all(|extension| ids.insert(extension.id)) {
        return Ok(extensions);
    }
    Err("x509: certificate request contains duplicate requested extensions".into())
}

/// Returns the first value of an attribute that contains extensions.
fn extension_list<'d>(attribute: &Element<'d>) -> Option<Element<'d>> {
    let (mut fields, rest) = FieldReader::parse_struct(attribute.whole, "pkcs10Attribute").ok()?;
    let kind = fields.oid().ok()?;
    let values = fields.list(der::SET, None).ok()?;
    let is_extension_request = rest.is_empty() && kind == EXTENSION_REQUEST;
    values.first().copied().filter(|_| is_extension_request)
}

/// Returns an attribute whose values are lists of named values, or `None` for others.
fn attribute_value<'e>(json: ArenaJson<'e>, attribute: &Element<'_>) -> Option<ValueRef<'e>> {
    let (mut fields, rest) =
        FieldReader::parse_struct(attribute.whole, "AttributeTypeAndValueSET").ok()?;
    let kind = fields.oid().ok()?;
    let mut lists = Vec::new();
    for list in fields.list(der::SET, Some(der::SEQUENCE)).ok()? {
        let mut values = Vec::new();
        for pair in FieldReader::members(list.content, Some(der::SEQUENCE)).ok()? {
            let mut pair = FieldReader::inside(pair.content);
            let (kind, value) = (pair.oid().ok()?, pair.interpreted().ok()?);
            values.push(json.object([("Type", json.oid(kind)), ("Value", json.any(&value))]));
        }
        lists.push(json.0.array(&values));
    }
    let lists = json.0.array(&lists);
    rest.is_empty()
        .then(|| json.object([("Type", json.oid(kind)), ("Value", lists)]))
}
