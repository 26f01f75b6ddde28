//! Detached signatures with PEM keys or secrets, as in the signatures of bundles.

use super::algorithm::{JwsAlgorithm, code, is_code};
use crate::builtins::crypto::certificate::Certificate;
use crate::builtins::crypto::curve;
use crate::builtins::crypto::private::{KeyEncoding, PrivateKey};
use crate::builtins::crypto::public::PublicKey;
use crate::builtins::crypto::signature::{Scheme, sign_ed25519};
use crate::builtins::crypto::verifying::VerifyingKey;
use crate::builtins::pem::{self, PemBlock};

const NO_PEM: &str = "failed to parse PEM block containing the key";

/// Signs a message with a token algorithm (`HS256`, `RS256`, `PS256`, `ES256`, …). `key` is a secret, or a private key
/// in PEM.
///
/// # Errors
/// OPA's message.
pub fn sign(name: &str, key: &[u8], message: &[u8]) -> Result<Vec<u8>, String> {
    let algorithm = algorithm(name)?;
    let scheme = match algorithm {
        Some(JwsAlgorithm::Secret(hash)) => return Ok(code(hash, key, message)),
        Some(JwsAlgorithm::Key(scheme)) => Some(scheme),
        None => None,
    };
    let Some((block, _)) = pem::block(key) else {
        return Err(NO_PEM.to_owned());
    };
    let key =
        private(&block)?.ok_or_else(|| format!("unsupported key type: {}", text(block.kind)))?;
    let failed =
        |reason: String| format!("jwt.signFast: failed to sign payload with {name}: {reason}");
    let Some(scheme) = scheme else {
        return Err(failed(format!(
            "jwsbb.Sign: dsig algorithm {name:?} not registered"
        )));
    };
    match (scheme, &key) {
        (Scheme::Rsa(padding, hash), PrivateKey::Rsa(key)) => key
            .sign(padding, hash, message)
            .map_err(|reason| failed(reason.to_owned())),
        (Scheme::Ecdsa(hash), PrivateKey::Ec(point, scalar)) => {
            curve::sign(point.curve, scalar, hash, message)
                .ok_or_else(|| failed("ecdsa: invalid private key".to_owned()))
        }
        (Scheme::Ed25519, PrivateKey::Ed25519(seed, _)) => sign_ed25519(seed, message)
            .ok_or_else(|| failed("ed25519: invalid private key".to_owned())),
        _ => Err(failed(unfit_private(scheme, &key))),
    }
}

/// Verifies a signature of a message. `key` is a secret, or a public key, certificate or private key in PEM.
///
/// # Errors
/// OPA's message.
pub fn verify(name: &str, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), String> {
    let failed = |reason: &str| Err(format!("failed to verify JWT signature: {reason}"));
    let scheme = match algorithm(name)? {
        Some(JwsAlgorithm::Secret(hash)) => {
            return if is_code(hash, key, message, signature) {
                Ok(())
            } else {
                failed("invalid HMAC signature")
            };
        }
        Some(JwsAlgorithm::Key(scheme)) => scheme,
        None => {
            public(key)?;
            return failed(&format!(
                "jwsbb.Verify: dsig algorithm {name:?} not registered"
            ));
        }
    };
    let key = public(key)?;
    let (kind, curve) = match &key {
        PublicKey::Rsa(_) => ("*rsa.PublicKey", None),
        PublicKey::Ec(point) => ("*ecdsa.PublicKey", Some(point.curve)),
        PublicKey::Ed25519(_) => ("ed25519.PublicKey", None),
        PublicKey::X25519 | PublicKey::Dsa(_) => ("unsupported key", None),
    };
    let expected = match scheme {
        Scheme::Rsa(..) => "rsa",
        Scheme::Ecdsa(_) => "ecdsa",
        Scheme::Ed25519 => "ed25519",
    };
    if kind.trim_start_matches('*') != format!("{expected}.PublicKey") {
        return failed(&format!(
            "jwsbb.Verify: invalid key type {kind}. *{expected}.PublicKey is required: keyconv: expected {expected}.PublicKey/{expected}.PrivateKey or *{expected}.PublicKey/*{expected}.PrivateKey, got {kind}"
        ));
    }
    if let Some(curve) = curve
        && signature.len() != 2 * curve.len()
    {
        return failed(&format!(
            "dsig.VerifyECDSA: failed to unpack ECDSA signature: invalid signature length for curve {:?}",
            curve.name()
        ));
    }
    if VerifyingKey::from(key).verify(None, scheme, message, signature) {
        return Ok(());
    }
    failed(match scheme {
        Scheme::Rsa(..) => "crypto/rsa: verification error",
        Scheme::Ecdsa(_) => "invalid ECDSA signature",
        Scheme::Ed25519 => "invalid Ed25519 signature",
    })
}

/// Returns the algorithm with a name, or `None` for `none`, which OPA accepts as a name and cannot sign with.
fn algorithm(name: &str) -> Result<Option<JwsAlgorithm>, String> {
    match JwsAlgorithm::by_name(name) {
        None if name == "none" => Ok(None),
        None => Err(format!("unknown signature algorithm: {name}")),
        algorithm => Ok(algorithm),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn private(block: &PemBlock<'_>) -> Result<Option<PrivateKey>, String> {
    let encoding = KeyEncoding::by_label(block.kind);
    let key = encoding.map(|encoding| encoding.read(&block.content));
    key.transpose().map_err(|problem| problem.to_string())
}

fn public(key: &[u8]) -> Result<PublicKey, String> {
    let Some((block, _)) = pem::block(key) else {
        return Err(NO_PEM.to_owned());
    };
    let unsupported = || format!("unsupported key type: {}", text(block.kind));
    match block.kind {
        b"CERTIFICATE" => {
            let certificate = Certificate::parse(&block.content);
            let certificate = certificate.map_err(|problem| problem.to_string())?;
            certificate.public_key.clone().ok_or_else(unsupported)
        }
        b"PUBLIC KEY" => {
            PublicKey::from_info(&block.content).map_err(|problem| problem.to_string())
        }
        b"RSA PUBLIC KEY" => {
            PublicKey::from_info(&rsa_info(&block.content)).map_err(|problem| problem.to_string())
        }
        _ => match private(&block)?.ok_or_else(unsupported)? {
            PrivateKey::Rsa(key) => Ok(PublicKey::Rsa(key.public.clone())),
            PrivateKey::Ec(point, _) => Ok(PublicKey::Ec(point)),
            PrivateKey::Ed25519(_, public) => Ok(PublicKey::Ed25519(public)),
            PrivateKey::X25519(..) => Err(unsupported()),
        },
    }
}

/// Wraps a plain RSA key in the structure with its algorithm.
fn rsa_info(key: &[u8]) -> Vec<u8> {
    /// `rsaEncryption` without parameters.
    const ALGORITHM: &[u8] = &[
        0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0,
    ];
    let bits = [&[0][..], key].concat();
    let bits = element(3, &bits);
    element(0x30, &[ALGORITHM, &bits].concat())
}

/// Encodes a DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let length = length.get(zeros..).unwrap_or_default();
    let mut out = vec![tag];
    match length {
        [] => out.push(0),
        [short] if *short < 0x80 => out.push(*short),
        long => {
            let count = u8::try_from(long.len()).unwrap_or_default();
            out.push(0x80 | count);
            out.extend(long);
        }
    }
    out.extend(content);
    out
}

/// Returns the error for a private key of the wrong kind, in the words of OPA's library.
fn unfit_private(scheme: Scheme, key: &PrivateKey) -> String {
    let (expected, step) = match scheme {
        Scheme::Rsa(..) => ("rsa.PrivateKey", ""),
        Scheme::Ecdsa(_) => ("ecdsa.PrivateKey", "keyconv: "),
        Scheme::Ed25519 => ("ed25519.PrivateKey", ""),
    };
    let pointer = if scheme == Scheme::Ed25519 { "" } else { "*" };
    let name = match key {
        PrivateKey::Rsa(_) => "rsaPrivateKey",
        PrivateKey::Ec(..) => "ecdsaPrivateKey",
        PrivateKey::Ed25519(..) | PrivateKey::X25519(..) => "okpPrivateKey",
    };
    format!(
        "jwsbb.Sign: invalid key type *jwk.{name}. {pointer}{expected} is required: {step}failed to produce {expected} from *jwk.{name}: jwk.Export: no suitable exporter found for key type '*jwk.{name}'"
    )
}
