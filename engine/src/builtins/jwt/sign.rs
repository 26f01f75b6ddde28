//! Signs tokens: `io.jwt.encode_sign` and `io.jwt.encode_sign_raw`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::algorithm::{JwsAlgorithm, code};
use super::header_json::{self, HeaderValue, unescaped};
use super::jwk::{self, Material, OkpCurve};
use crate::builtins::crypto::signature::{ed25519_public, sign_ed25519};
use crate::builtins::crypto::{curve, signature::Scheme};
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{ValueRef, json};

pub fn encode_sign<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let [headers, payload, key] = [0, 1, 2].map(|position| {
        let mut text = Vec::new();
        json::write_go(operands.operand(position), &mut text);
        text
    });
    sign(call, &headers, &payload, &key)
}

pub fn encode_sign_raw<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // errors of the key are reported first
    let key = operands.text(2)?;
    let (headers, payload) = (operands.text(0)?, operands.text(1)?);
    sign(call, headers.as_bytes(), payload.as_bytes(), key.as_bytes())
}

fn sign<'e>(
    call: &mut BuiltinContext<'e>,
    headers: &[u8],
    payload: &[u8],
    key: &[u8],
) -> Result<ValueRef<'e>, BuiltinError> {
    call.budget
        .reserve((headers.len() + payload.len() + key.len()).saturating_mul(2))?;
    let keys = jwk::read(call.arena, key).map_err(BuiltinError::error)?;
    let Some(key) = keys.first() else {
        return Err(BuiltinError::error("no keys found in JWK set"));
    };
    let text = String::from_utf8_lossy(headers);
    let bad =
        |error: &str| BuiltinError::error(format!("missing or invalid 'alg' header: {error}"));
    let parameters = header_json::read(&text).map_err(|error| bad(&error))?;
    let name = match parameters.get("alg") {
        Some(HeaderValue::Text(name)) => unescaped(name),
        Some(other) => {
            return Err(bad(&format!(
                "value doesn't contain string; it contains {}",
                other.kind()
            )));
        }
        None => return Err(bad("jwsbb: header \"alg\" not found")),
    };
    let algorithm = JwsAlgorithm::by_name(&name)
        .ok_or_else(|| BuiltinError::error(format!("unknown JWS algorithm: {name}")))?;
    let is_jwt = match parameters.get("typ") {
        Some(HeaderValue::Text(kind)) => unescaped(kind) == "JWT",
        _ => true,
    };
    if is_jwt && !json::is_valid(payload) {
        return Err(BuiltinError::error("type is JWT but payload is not JSON"));
    }
    let mut token = URL_SAFE_NO_PAD.encode(headers);
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut token);
    let signature =
        signature(algorithm, &key.material, token.as_bytes()).map_err(BuiltinError::error)?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(call.arena.text(&token))
}

/// Signs a message. The error is the message.
fn signature(algorithm: JwsAlgorithm, key: &Material, message: &[u8]) -> Result<Vec<u8>, String> {
    match (algorithm, key) {
        (JwsAlgorithm::Secret(hash), Material::Secret(secret)) => Ok(code(hash, secret, message)),
        (JwsAlgorithm::Key(Scheme::Rsa(padding, hash)), Material::RsaPrivate { .. }) => {
            let Some(Ok(key)) = key.rsa_private() else {
                return Err(unfit(algorithm, key));
            };
            let signature = key.sign(padding, hash, message);
            signature.map_err(str::to_owned)
        }
        (JwsAlgorithm::Key(Scheme::Ecdsa(hash)), Material::EcPrivate(point, scalar)) => {
            if scalar.iter().all(|byte| *byte == 0) {
                return Err(
                    "failed to sign payload using ecdsa: ecdsa: private key scalar is zero or negative"
                        .to_owned(),
                );
            }
            curve::sign(point.curve, scalar, hash, message).ok_or_else(|| {
                "failed to sign payload using ecdsa: ecdsa: private key scalar too large".to_owned()
            })
        }
        (
            JwsAlgorithm::Key(Scheme::Ed25519),
            Material::OkpPrivate(OkpCurve::Ed25519, public, seed),
        ) if ed25519_public(seed).as_deref() == Some(public) => {
            sign_ed25519(seed, message).ok_or_else(|| unfit(algorithm, key))
        }
        (JwsAlgorithm::Secret(hash), Material::OkpPrivate(OkpCurve::Ed25519, public, seed)) => {
            // OPA's library uses the bytes of such a key as secret
            Ok(code(hash, &[&**seed, public].concat(), message))
        }
        _ => Err(unfit(algorithm, key)),
    }
}

/// Returns the error for a key that cannot sign with an algorithm, in the words of the JWT library of OPA.
fn unfit(algorithm: JwsAlgorithm, key: &Material) -> String {
    const EXPORT: &str = "failed to export jwk.Key to raw format:";
    let (expected, plain, step) = match algorithm {
        JwsAlgorithm::Secret(_) => ("[]byte", "[]byte", "keyconv: "),
        JwsAlgorithm::Key(Scheme::Rsa(..)) => ("*rsa.PrivateKey", "rsa.PrivateKey", ""),
        JwsAlgorithm::Key(Scheme::Ecdsa(_)) => {
            ("*ecdsa.PrivateKey", "ecdsa.PrivateKey", "keyconv: ")
        }
        JwsAlgorithm::Key(Scheme::Ed25519) => ("ed25519.PrivateKey", "ed25519.PrivateKey", ""),
    };
    let target = match algorithm {
        JwsAlgorithm::Secret(_) => "*[]uint8".to_owned(),
        JwsAlgorithm::Key(_) => format!("*{plain}"),
    };
    let assign = |kind: &str| {
        format!(
            "failed to assign key: argument to AssignIfCompatible() must be compatible with {kind} (was {target})"
        )
    };
    let (name, reason) = match key {
        Material::RsaPublic(_) => ("rsaPublicKey", None),
        Material::RsaPrivate { .. } => {
            let missing = key.rsa_private().and_then(Result::err);
            let missing =
                missing.filter(|_| matches!(algorithm, JwsAlgorithm::Key(Scheme::Rsa(..))));
            (
                "rsaPrivateKey",
                missing.map(|error| format!("{EXPORT} {error}")),
            )
        }
        Material::EcPublic(_) => ("ecdsaPublicKey", None),
        Material::EcPrivate(..) => ("ecdsaPrivateKey", None),
        Material::OkpPublic(OkpCurve::Ed25519, _) => {
            ("okpPublicKey", Some(assign("ed25519.PublicKey")))
        }
        Material::OkpPublic(OkpCurve::X25519, _) => {
            ("okpPublicKey", Some(assign("*ecdh.PublicKey")))
        }
        Material::OkpPublic(OkpCurve::Other(curve), _) => (
            "okpPublicKey",
            Some(format!(
                "{EXPORT} jwk.OKPPublicKey: failed to build public key: invalid curve algorithm {curve}"
            )),
        ),
        Material::OkpPrivate(OkpCurve::Ed25519, public, seed)
            if ed25519_public(seed).as_deref() != Some(public) =>
        {
            (
                "okpPrivateKey",
                Some(format!(
                    "{EXPORT} jwk.OKPPrivateKey: failed to build private key: ed25519: invalid x value given d value"
                )),
            )
        }
        Material::OkpPrivate(OkpCurve::Ed25519, ..) => {
            ("okpPrivateKey", Some(assign("ed25519.PrivateKey")))
        }
        Material::OkpPrivate(OkpCurve::X25519, ..) => {
            ("okpPrivateKey", Some(assign("*ecdh.PrivateKey")))
        }
        Material::OkpPrivate(OkpCurve::Other(curve), ..) => (
            "okpPrivateKey",
            Some(format!(
                "{EXPORT} jwk.OKPPrivateKey: failed to build private key: invalid curve algorithm {curve}"
            )),
        ),
        Material::Secret(_) => ("symmetricKey", None),
    };
    let reason =
        reason.unwrap_or_else(|| format!("no suitable exporter found for key type '*jwk.{name}'"));
    format!(
        "jwsbb.Sign: invalid key type *jwk.{name}. {expected} is required: {step}failed to produce {plain} from *jwk.{name}: jwk.Export: {reason}"
    )
}
