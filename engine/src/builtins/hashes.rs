//! Digests and keyed digests, in hexadecimal.

use hmac::digest::common::KeyInit;
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq;

use super::encoding::hex;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "crypto.md5",
        "x: string => y: string",
        "The MD5 digest of a string.",
        digest::<Md5>,
    ),
    Builtin::new(
        "crypto.sha1",
        "x: string => y: string",
        "The SHA-1 digest of a string.",
        digest::<Sha1>,
    ),
    Builtin::new(
        "crypto.sha256",
        "x: string => y: string",
        "The SHA-256 digest of a string.",
        digest::<Sha256>,
    ),
    Builtin::new(
        "crypto.hmac.md5",
        "x: string, key: string => y: string",
        "The MD5 authentication code of a string under a key.",
        hmac::<Hmac<Md5>>,
    ),
    Builtin::new(
        "crypto.hmac.sha1",
        "x: string, key: string => y: string",
        "The SHA-1 authentication code of a string under a key.",
        hmac::<Hmac<Sha1>>,
    ),
    Builtin::new(
        "crypto.hmac.sha256",
        "x: string, key: string => y: string",
        "The SHA-256 authentication code of a string under a key.",
        hmac::<Hmac<Sha256>>,
    ),
    Builtin::new(
        "crypto.hmac.sha512",
        "x: string, key: string => y: string",
        "The SHA-512 authentication code of a string under a key.",
        hmac::<Hmac<Sha512>>,
    ),
    Builtin::new(
        "crypto.hmac.equal",
        "mac1: string, mac2: string => result: boolean",
        "Compares two authentication codes in constant time.",
        equal,
    ),
];

fn digest<'e, D: Digest>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let digest = D::digest(operands.text(0)?.as_bytes());
    Ok(hex::written(call, &digest))
}

fn hmac<'e, M: Mac + KeyInit>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, key) = (operands.text(0)?, operands.text(1)?);
    let mac = <M as KeyInit>::new_from_slice(key.as_bytes());
    let mac = mac.map_err(|_| BuiltinError::error("invalid key length"))?;
    let code = mac.chain_update(text.as_bytes()).finalize().into_bytes();
    Ok(hex::written(call, &code))
}

fn equal<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.text(0)?, operands.text(1)?);
    let equal = left.as_bytes().ct_eq(right.as_bytes());
    Ok(ValueRef(RefRepr::Bool(equal.into())))
}
