//! Keys, certificates and signatures.

pub mod asn1;
pub mod certificate;
mod chain;
mod consistency;
pub mod curve;
pub mod der;
pub mod hash;
mod json;
pub mod oids;
mod options;
pub mod private;
pub mod public;
mod request;
pub mod rsa;
pub mod signature;
pub mod verifying;

use std::borrow::Cow;
use std::fmt;

use super::encoding::base64;
use super::{Builtin, BuiltinContext, BuiltinError, Operands, pem};
use crate::bug;
use crate::value::{Arena, RefRepr, Value, ValueRef};
use certificate::Certificate;
use chain::VerifyOptions;
use json::ArenaJson;
use private::{KeyEncoding, PrivateKey};
use request::CertificateRequest;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "crypto.parse_private_keys",
        "keys: string => output: array[object[string: any]]",
        "The private keys in a PEM text, which may be encoded in base64.",
        parse_private_keys,
    ),
    Builtin::new(
        "crypto.x509.parse_and_verify_certificates",
        "certs: string => output: array<boolean, array[object[string: any]]>",
        "Verifies a chain of certificates from a root to a leaf. Returns the validity, and the chain from the leaf to the root.",
        verify_certificates,
    ),
    Builtin::new(
        "crypto.x509.parse_and_verify_certificates_with_options",
        "certs: string, options: object[string: any] => output: array<boolean, array[object[string: any]]>",
        "Like `crypto.x509.parse_and_verify_certificates`, with a DNS name, a time and key usages.",
        verify_certificates_with_options,
    ),
    Builtin::new(
        "crypto.x509.parse_certificate_request",
        "csr: string => output: object[string: any]",
        "A certificate request (PKCS #10), from PEM or base64.",
        parse_certificate_request,
    ),
    Builtin::new(
        "crypto.x509.parse_certificates",
        "certs: string => output: array[object[string: any]]",
        "Certificates, from PEM or base64.",
        parse_certificates,
    ),
    Builtin::new(
        "crypto.x509.parse_keypair",
        "cert: string, pem: string => output: object[string: any]",
        "A certificate with its private key, each from PEM or base64.",
        parse_keypair,
    ),
    Builtin::new(
        "crypto.x509.parse_rsa_private_key",
        "pem: string => output: object[string: any]",
        "A private key in JSON (JWK), from PEM or base64.",
        parse_rsa_private_key,
    ),
];

/// Start of PEM text.
const BEGIN: &[u8] = b"-----BEGIN";

/// Returns PEM text verbatim, and decodes any other text as base64.
fn text_or_base64<'t>(text: &'t [u8], begin: &[u8]) -> Result<Cow<'t, [u8]>, BuiltinError> {
    if text.starts_with(begin) {
        return Ok(Cow::Borrowed(text));
    }
    base64::standard(text)
        .map(Cow::Owned)
        .map_err(BuiltinError::error)
}

/// Returns the concatenated certificates in a text. The error is the message.
fn certificates(text: &[u8]) -> Result<Vec<u8>, BuiltinError> {
    let text = text_or_base64(text, BEGIN)?;
    if !text.starts_with(BEGIN) {
        return Ok(text.into_owned());
    }
    let mut all = Vec::new();
    let mut rest = &*text;
    while let Some((block, after)) = pem::block(rest) {
        if block.kind != b"CERTIFICATE" {
            let kind = String::from_utf8_lossy(block.kind);
            return Err(BuiltinError::error(format!(
                "PEM block type is '{kind}', expected CERTIFICATE"
            )));
        }
        all.extend(block.content);
        rest = after;
    }
    Ok(all)
}

fn parse_certificates<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    reserve(call, text.as_bytes())?;
    let all = certificates(text.as_bytes())?;
    let all = Certificate::parse_all(&all).map_err(BuiltinError::error)?;
    let json = ArenaJson(call.arena);
    let values = all
        .iter()
        .map(|certificate| json.certificate_with_uris(certificate));
    Ok(call.arena.array_from(values))
}

/// The reason why certificates cannot be decoded. The text is the message of Go's decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError {
    message: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CertificateError {}

/// Returns certificates in DER, one after the other, as the list that `crypto.x509.parse_certificates` returns for
/// them: an object for each, with the names of Go's fields.
///
/// # Errors
/// The first certificate that cannot be decoded. No certificates are returned then.
pub fn parse_certificates_in_der(der: &[u8]) -> Result<Value, CertificateError> {
    let parse = || {
        let all = Certificate::parse_all(der).map_err(Cow::into_owned)?;
        let arena = Arena::new();
        let json = ArenaJson(&arena);
        let values = all
            .iter()
            .map(|certificate| json.certificate_with_uris(certificate));
        Ok(arena.array_from(values).to_value())
    };
    let parsed = bug::catch(parse).unwrap_or_else(|panic| Err(panic.to_string()));
    parsed.map_err(|message| CertificateError { message })
}

/// Reserves memory for the value of certificates, which is several times as large as their text.
fn reserve(call: &BuiltinContext<'_>, text: &[u8]) -> Result<(), BuiltinError> {
    call.budget.reserve(text.len().saturating_mul(8))
}

fn verify_certificates<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let options = VerifyOptions::for_servers_at(call.now_ns());
    verify(call, text.as_bytes(), &options, true)
}

fn verify_certificates_with_options<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let options_object = operands.object(1)?;
    // invalid certificates are rejected before options are parsed
    let blocks = certificates(text.as_bytes());
    let is_chain = blocks.is_ok_and(|blocks| Certificate::parse_all(&blocks).is_ok());
    let options = if is_chain {
        options::read(call, options_object)?
    } else {
        VerifyOptions::for_servers_at(call.now_ns())
    };
    verify(call, text.as_bytes(), &options, false)
}

fn verify<'e>(
    call: &BuiltinContext<'e>,
    text: &[u8],
    options: &VerifyOptions<'_>,
    with_uris: bool,
) -> Result<ValueRef<'e>, BuiltinError> {
    reserve(call, text)?;
    let arena = call.arena;
    let result_of = |valid, chain: &[ValueRef<'e>]| {
        arena.array(&[ValueRef(RefRepr::Bool(valid)), arena.array(chain)])
    };
    let Ok(all) = certificates(text) else {
        return Ok(result_of(false, &[]));
    };
    let all = Certificate::parse_all(&all).unwrap_or_default();
    let Some(chain) = chain::verify(&all, options) else {
        return Ok(result_of(false, &[]));
    };
    let json = ArenaJson(arena);
    let chain: Vec<ValueRef<'e>> = chain
        .iter()
        .map(|certificate| {
            if with_uris {
                json.certificate_with_uris(certificate)
            } else {
                json.object(json.certificate(certificate))
            }
        })
        .collect();
    Ok(result_of(true, &chain))
}

fn parse_certificate_request<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    const REQUEST: &[u8] = b"CERTIFICATE REQUEST";
    let text = operands.text(0)?;
    reserve(call, text.as_bytes())?;
    let text = text_or_base64(text.as_bytes(), b"-----BEGIN CERTIFICATE REQUEST-----")?;
    let bytes = match pem::block(&text) {
        Some((block, _)) if block.kind == REQUEST => Cow::Owned(block.content),
        Some(_) => {
            return Err(BuiltinError::error(
                "invalid PEM-encoded certificate signing request",
            ));
        }
        None => text,
    };
    let request = CertificateRequest::parse(&bytes).map_err(BuiltinError::error)?;
    Ok(request.value(ArenaJson(call.arena)))
}

/// Returns the private keys in PEM text. Other PEM blocks are skipped.
fn private_keys(text: &[u8]) -> Result<Vec<PrivateKey>, BuiltinError> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some((block, after)) = pem::block(rest) {
        if let Some(encoding) = KeyEncoding::by_label(block.kind) {
            keys.push(encoding.read(&block.content).map_err(BuiltinError::error)?);
        }
        rest = after;
    }
    Ok(keys)
}

fn parse_private_keys<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    reserve(call, text.as_bytes())?;
    if text.as_bytes().is_empty() {
        return Ok(ValueRef(RefRepr::Null));
    }
    let decoded = base64::standard(text.as_bytes()).ok();
    let keys = private_keys(decoded.as_deref().unwrap_or(text.as_bytes()))?;
    let json = ArenaJson(call.arena);
    let values = keys.iter().map(|key| json.private_key(key));
    Ok(call.arena.array_from(values))
}

fn parse_rsa_private_key<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    reserve(call, text.as_bytes())?;
    if text.as_bytes().is_empty() {
        return Err(BuiltinError::error("input PEM data was empty"));
    }
    let text = text_or_base64(text.as_bytes(), BEGIN)?;
    match private_keys(&text)?.first() {
        Some(key) => ArenaJson(call.arena).jwk(key).map_err(BuiltinError::error),
        None => Ok(ValueRef(RefRepr::Null)),
    }
}

fn parse_keypair<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // OPA's message names the first operand, whichever operand is not a string
    let text = |position| {
        let operand = operands.operand(position);
        operand
            .as_text()
            .ok_or_else(|| BuiltinError::operand(1, &["string"], operand))
    };
    let (certificate, key) = (text(0)?, text(1)?);
    reserve(call, certificate.as_bytes())?;
    reserve(call, key.as_bytes())?;
    let certificates = text_or_base64(certificate.as_bytes(), BEGIN)?;
    let key = text_or_base64(key.as_bytes(), BEGIN)?;
    let certificates = leaf_chain(&certificates).map_err(BuiltinError::error)?;
    let key = keypair_key(&key).map_err(BuiltinError::error)?;
    let first = certificates.first().map(Vec::as_slice).unwrap_or_default();
    let leaf = Certificate::parse(first).map_err(BuiltinError::error)?;
    let key = PrivateKey::parse_any_encoding(&key).map_err(BuiltinError::error)?;
    if matches!(key, PrivateKey::X25519(..)) {
        return Err(BuiltinError::error(
            "tls: found unknown private key type in PKCS#8 wrapping",
        ));
    }
    key.check(leaf.public_key.as_ref())
        .map_err(BuiltinError::error)?;
    let json = ArenaJson(call.arena);
    Ok(json.object([
        (
            "Certificate",
            json.list(&certificates, |bytes| json.bytes(bytes)),
        ),
        ("PrivateKey", json.private_key(&key)),
        ("SupportedSignatureAlgorithms", ValueRef(RefRepr::Null)),
        ("OCSPStaple", ValueRef(RefRepr::Null)),
        ("SignedCertificateTimestamps", ValueRef(RefRepr::Null)),
        ("Leaf", json.object(json.certificate(&leaf))),
    ]))
}

/// Returns the certificates in PEM text, leaf first, or a single certificate.
fn leaf_chain(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    if !text.starts_with(BEGIN) {
        return Ok(vec![text.to_vec()]);
    }
    let (mut certificates, mut skipped_kinds) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((block, after)) = pem::block(rest) {
        match block.kind {
            b"CERTIFICATE" => certificates.push(block.content),
            kind => skipped_kinds.push(String::from_utf8_lossy(kind)),
        }
        rest = after;
    }
    if !certificates.is_empty() {
        return Ok(certificates);
    }
    Err(match skipped_kinds.as_slice() {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [kind] if kind.ends_with("PRIVATE KEY") => "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched".to_owned(),
        several => format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [{}]",
            several.join(" ")
        ),
    })
}

/// Returns the private key in PEM text, or a single key.
fn keypair_key(text: &[u8]) -> Result<Vec<u8>, String> {
    if !text.starts_with(BEGIN) {
        return Ok(text.to_vec());
    }
    let mut skipped_kinds = Vec::new();
    let mut rest = text;
    while let Some((block, after)) = pem::block(rest) {
        if block.kind == b"PRIVATE KEY" || block.kind.ends_with(b" PRIVATE KEY") {
            return Ok(block.content);
        }
        skipped_kinds.push(String::from_utf8_lossy(block.kind));
        rest = after;
    }
    Err(match skipped_kinds.as_slice() {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [kind] if kind == "CERTIFICATE" => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        several => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the following types: [{}]",
            several.join(" ")
        ),
    })
}
