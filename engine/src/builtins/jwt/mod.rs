//! JSON Web Tokens: decoding, verifying and signing.

mod algorithm;
mod constraints;
mod detached;
mod header;
mod header_json;
mod jwk;
mod jwk_fields;
mod keys;
mod sign;
mod token;

pub use detached::{sign as sign_message, verify as verify_signature};

use std::sync::Arc;

use super::crypto::hash::Sha2;
use super::crypto::rsa::Padding;
use super::crypto::signature::Scheme;
use super::encoding::hex;
use super::{Builtin, BuiltinContext, BuiltinError, Operands, Prepared};
use crate::bug::Within;
use crate::value::{RefRepr, ValueRef};
use algorithm::{Coder, JwsAlgorithm, is_code};
use constraints::Constraints;
use header::Header;
use keys::{Allowed, Keys};
use token::{EncodedToken, object};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "io.jwt.decode",
        "jwt: string => output: array<object[any: any], object[any: any], string>",
        "The header, the payload and the signature (hexadecimal) of a token, without verification.",
        decode,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.decode_verify",
        "jwt: string, constraints: object[string: any] => output: array<boolean, object[any: any], object[any: any]>",
        "The validity of a token under constraints, and if it is valid its header and payload.",
        decode_verify,
    ).listed(&["tokens"])
    .nondeterministic(),
    Builtin::new(
        "io.jwt.encode_sign",
        "headers: object[string: any], payload: object[string: any], key: object[string: any] => output: string",
        "A token signed with a JWK.",
        sign::encode_sign,
    ).listed(&["tokensign"])
    .nondeterministic(),
    Builtin::new(
        "io.jwt.encode_sign_raw",
        "headers: string, payload: string, key: string => output: string",
        "A token of JSON texts, signed with a JWK.",
        sign::encode_sign_raw,
    ).listed(&["tokensign"])
    .nondeterministic(),
Builtin::new(
        "io.jwt.verify_hs256",
        "jwt: string, secret: string => result: boolean",
        "Returns `true` if a token has an authentication code (HMAC, SHA-256) under a secret.",
        verify_code::<256>,
    ).listed(&["tokens"])
    .specialise(prepare_code::<256>),
    Builtin::new(
        "io.jwt.verify_hs384",
        "jwt: string, secret: string => result: boolean",
        "Returns `true` if a token has an authentication code (HMAC, SHA-384) under a secret.",
        verify_code::<384>,
    ).listed(&["tokens"])
    .specialise(prepare_code::<384>),
    Builtin::new(
        "io.jwt.verify_hs512",
        "jwt: string, secret: string => result: boolean",
        "Returns `true` if a token has an authentication code (HMAC, SHA-512) under a secret.",
        verify_code::<512>,
    ).listed(&["tokens"])
    .specialise(prepare_code::<512>),
    Builtin::new(
        "io.jwt.verify_rs256",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PKCS #1 1.5, SHA-256).",
        verify::<RSA, 256>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_rs384",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PKCS #1 1.5, SHA-384).",
        verify::<RSA, 384>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_rs512",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PKCS #1 1.5, SHA-512).",
        verify::<RSA, 512>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_ps256",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PSS, SHA-256).",
        verify::<RSA_PSS, 256>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_ps384",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PSS, SHA-384).",
        verify::<RSA_PSS, 384>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_ps512",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has an RSA signature (PSS, SHA-512).",
        verify::<RSA_PSS, 512>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_es256",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has a signature on an elliptic curve (ECDSA, SHA-256).",
        verify::<CURVE, 256>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_es384",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has a signature on an elliptic curve (ECDSA, SHA-384).",
        verify::<CURVE, 384>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_es512",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has a signature on an elliptic curve (ECDSA, SHA-512).",
        verify::<CURVE, 512>,
    ).listed(&["tokens"]),
    Builtin::new(
        "io.jwt.verify_eddsa",
        "jwt: string, certificate: string => result: boolean",
        "Returns `true` if a token has a signature of Ed25519.",
        verify::<ED25519, 0>,
    ).listed(&["tokens"]),
];

const RSA: char = 'R';
const RSA_PSS: char = 'P';
const CURVE: char = 'E';
const ED25519: char = 'D';

const fn hash(bits: u16) -> Sha2 {
    match bits {
        256 => Sha2::Sha256,
        384 => Sha2::Sha384,
        _ => Sha2::Sha512,
    }
}

const fn scheme(family: char, bits: u16) -> Scheme {
    match family {
        RSA => Scheme::Rsa(Padding::Pkcs1, hash(bits)),
        RSA_PSS => Scheme::Rsa(Padding::PssAnySalt, hash(bits)),
        CURVE => Scheme::Ecdsa(hash(bits)),
        _ => Scheme::Ed25519,
    }
}

fn verify_code<'e, const BITS: u16>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, secret) = (operands.text(0)?, operands.text(1)?);
    call.budget.reserve(text.as_bytes().len())?;
    let token = EncodedToken::split(text.as_bytes())?;
    let signature = token.signature(call).map_err(BuiltinError::error)?;
    let hash = hash(BITS);
    let verified = is_code(hash, secret.as_bytes(), token.signed, signature);
    Ok(ValueRef(RefRepr::Bool(verified)))
}

/// A call with a constant secret.
struct Coded(Coder);

impl Prepared for Coded {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let text = operands.text(0)?;
        call.budget.reserve(text.as_bytes().len())?;
        let token = EncodedToken::split(text.as_bytes())?;
        let signature = token.signature(call).map_err(BuiltinError::error)?;
        Ok(ValueRef(RefRepr::Bool(
            self.0.clone().verifies(token.signed, signature),
        )))
    }
}

fn prepare_code<const BITS: u16>(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let secret = operands.get(1).copied()??.as_text()?;
    Some(Arc::new(Coded(Coder::new(hash(BITS), secret.as_bytes())?)))
}

fn verify<'e, const FAMILY: char, const BITS: u16>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.reserve(text.as_bytes().len())?;
    let token = EncodedToken::split(text.as_bytes())?;
    let keys = Keys::read(call, operands.text(1)?.as_bytes())?;
    let signature = token.signature(call).map_err(BuiltinError::error)?;
    let header = Header::read(token.header(call)?.fields)?;
    let algorithm = (JwsAlgorithm::Key(scheme(FAMILY, BITS)), Allowed::Public);
    let verified = keys.verify(call, &header, algorithm, token.signed, signature);
    Ok(ValueRef(RefRepr::Bool(verified)))
}

fn decode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.reserve(text.as_bytes().len())?;
    let mut text = text.as_bytes();
    loop {
        let token = EncodedToken::split(text)?;
        let header = token.header(call)?;
        let nested = match header.fields.get_str("cty") {
            None => false,
            Some(content) => match content.as_text() {
                Some(content) => content.as_bytes() == b"JWT",
                None => return Err(BuiltinError::error("cty: must be a string")),
            },
        };
        let payload = token.payload(call)?;
        if nested {
            text = unquote(payload);
            continue;
        }
        let claims = object(call, payload).map_err(BuiltinError::error)?;
        let signature = token.signature(call).map_err(|error| {
            BuiltinError::error(format!("JWT signature had invalid encoding: {error}"))
        })?;
        let signature = hex::written(call, signature);
        return Ok(call.arena.array(&[header.value, claims.value, signature]));
    }
}

/// Removes the quotes at both ends.
fn unquote(text: &[u8]) -> &[u8] {
    let quote = |byte: &u8| *byte == b'"';
    let start = text.iter().take_while(|byte| quote(byte)).count();
    let text = text.within(start..);
    let end = text.iter().rev().take_while(|byte| quote(byte)).count();
    text.within(..text.len() - end)
}

fn decode_verify<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let constraints = Constraints::read(call, operands.object(1)?)?;
    let text = operands.text(0)?;
    call.budget.reserve(text.as_bytes().len())?;
    let mut text = text.as_bytes();
    let rejection = |call: &BuiltinContext<'e>| {
        let empty = call.arena.object_from([]);
        call.arena
            .array(&[ValueRef(RefRepr::Bool(false)), empty, empty])
    };
    loop {
        let token = EncodedToken::split(text)?;
        let parameters = token.header(call)?;
        let header = Header::read(parameters.fields)?;
        if !header.is_valid() || !constraints.allow(&header) {
            return Ok(rejection(call));
        }
        let signature = token.signature(call).map_err(BuiltinError::error)?;
        let verified = JwsAlgorithm::by_name(&header.algorithm).is_some_and(|algorithm| {
            let trusted = &constraints.trusted;
            trusted.verify(call, &header, algorithm, token.signed, signature)
        });
        if !verified {
            return Ok(rejection(call));
        }
        let payload = token.payload(call)?;
        if header.nested {
            text = payload;
            continue;
        }
        let claims = object(call, payload).map_err(BuiltinError::error)?;
        return Ok(if constraints.are_satisfied(claims.fields)? {
            call.arena.array(&[
                ValueRef(RefRepr::Bool(true)),
                parameters.value,
                claims.value,
            ])
        } else {
            rejection(call)
        });
    }
}
