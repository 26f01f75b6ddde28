//! Requests for certificates (PKCS #10).

use super::asn1;
use super::certificate::algorithm::SignatureAlgorithm;
use super::certificate::extensions::Extension;
use super::certificate::name::{self, Name};
use super::certificate::names::AlternativeNames;
use super::certificate::{self};
use super::der::{self, Reader};
use super::json::Json;
use super::public::{Algorithm, PublicKey};
use crate::value::V;

/// A request.
pub struct Request<'d> {
    raw: &'d [u8],
    signed: &'d [u8],
    raw_key: &'d [u8],
    raw_subject: &'d [u8],
    version: i64,
    subject: Name<'d>,
    public_key: Option<PublicKey>,
    algorithm: SignatureAlgorithm,
    signature: &'d [u8],
    attributes: Vec<&'d [u8]>,
    extensions: Vec<Extension<'d>>,
    names: AlternativeNames<'d>,
}

/// The attribute that holds extensions.
const EXTENSION_REQUEST: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x0e";
/// The extension that holds other names of the subject.
const SUBJECT_NAMES: &[u8] = b"\x55\x1d\x11";

impl<'d> Request<'d> {
    /// Reads a request; the error is the message.
    pub fn parse(text: &'d [u8]) -> Result<Self, String> {
        const NAME: &str = "certificateRequest";
        let mut outer = Reader::new(text);
        let mut fields = asn1::structure(&mut outer, NAME)?;
        let body = fields
            .element(der::SEQUENCE)
            .ok_or_else(|| asn1::field(fields, NAME))?;
        let algorithm = fields
            .inside(der::SEQUENCE)
            .ok_or_else(|| asn1::field(fields, NAME))?;
        let algorithm = Algorithm::read(algorithm)?;
        let signature = fields.bits().ok_or_else(|| asn1::field(fields, NAME))?;
        let signed = body.whole;
        let mut body = Reader::new(body.content);
        let version = body.small().ok_or_else(|| asn1::number(body))?;
        let subject = body
            .element(der::SEQUENCE)
            .ok_or_else(|| asn1::field(body, NAME))?;
        let raw_subject = subject.whole;
        let subject = name::read(Reader::new(subject.content))?;
        let (raw_key, public_key) = certificate::key(&mut body)?;
        if !outer.is_empty() {
            return Err(asn1::trailing());
        }
        let attributes = attributes(&mut body).ok_or_else(|| asn1::field(body, NAME))?;
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
            algorithm: SignatureAlgorithm::of(algorithm),
            signature: signature.bytes,
            attributes,
            extensions,
            names: names.unwrap_or_default(),
        })
    }

    /// The request as OPA shows it.
    pub fn value<'e>(&self, json: Json<'e>) -> V<'e> {
        let key = self.public_key.as_ref();
        let names = &self.names;
        json.object([
            ("Raw", json.bytes(self.raw)),
            ("RawTBSCertificateRequest", json.bytes(self.signed)),
            ("RawSubjectPublicKeyInfo", json.bytes(self.raw_key)),
            ("RawSubject", json.bytes(self.raw_subject)),
            ("Version", V::Int(self.version)),
            ("Signature", json.bytes(self.signature)),
            ("SignatureAlgorithm", V::Int(self.algorithm.0.into())),
            ("PublicKeyAlgorithm", Json::key_kind(key)),
            ("PublicKey", key.map_or(V::Null, |key| json.public_key(key))),
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
            ("ExtraExtensions", V::Null),
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

/// The attributes, each with its tag.
fn attributes<'d>(body: &mut Reader<'d>) -> Option<Vec<&'d [u8]>> {
    let mut list = Reader::new(body.take(der::CONTEXT_0)?);
    let mut all = Vec::new();
    while !list.is_empty() {
        all.push(list.any()?.whole);
    }
    Some(all)
}

/// The extensions that are asked for.
fn extensions<'d>(attributes: &[&'d [u8]]) -> Result<Vec<Extension<'d>>, String> {
    let mut extensions = Vec::new();
    for attribute in attributes {
        let list = || {
            let mut fields = Reader::new(attribute).inside(der::SEQUENCE)?;
            let wanted = fields.oid()? == EXTENSION_REQUEST;
            let values = fields.inside(der::SET).filter(|_| wanted)?;
            { values }.inside(der::SEQUENCE)
        };
        let Some(mut list) = list() else {
            continue;
        };
        while !list.is_empty() {
            extensions.push(Extension::read(&mut list)?);
        }
    }
    Ok(extensions)
}

/// An attribute whose values are lists of named values; others are left out.
fn attribute_value<'e>(json: Json<'e>, attribute: &[u8]) -> Option<V<'e>> {
    let mut fields = Reader::new(attribute).inside(der::SEQUENCE)?;
    let kind = fields.oid()?;
    let mut sets = fields.inside(der::SET)?;
    let mut lists = Vec::new();
    while !sets.is_empty() {
        let mut list = sets.inside(der::SEQUENCE)?;
        let mut values = Vec::new();
        while !list.is_empty() {
            let mut pair = list.inside(der::SEQUENCE)?;
            let kind = pair.oid()?;
            let value = json.any(pair.any()?);
            values.push(json.object([("Type", json.oid(kind)), ("Value", value)]));
        }
        lists.push(json.0.array(&values));
    }
    let lists = json.0.array(&lists);
    Some(json.object([("Type", json.oid(kind)), ("Value", lists)]))
}
