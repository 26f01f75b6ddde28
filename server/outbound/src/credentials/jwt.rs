//! Signed tokens (JWT) for token endpoints.

use std::fmt;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self as sig, EcdsaKeyPair, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Map, Value, json};

use crate::config::{KeyConfig, Secret};
use crate::files;

/// A key that signs tokens.
pub struct Signer {
    algorithm: String,
    key: Key,
}

enum Key {
    Hmac(Box<hmac::Key>),
    Rsa(RsaKeyPair, &'static dyn sig::RsaEncoding),
    Ecdsa(EcdsaKeyPair),
}

impl Signer {
    /// Reads the private key of a configuration, which is a PEM text, the path of a PEM file, or a secret.
    ///
    /// # Errors
    /// The private key is missing, it cannot be read, or its algorithm is not supported.
    pub fn new(config: &KeyConfig) -> Result<Self, String> {
        let name = config.algorithm.as_deref().filter(|name| !name.is_empty());
        let name = name.unwrap_or("RS256");
        let private = config
            .private_key
            .as_ref()
            .or(config.key.as_ref().filter(|_| name.starts_with("HS")));
        let private = private.map(Secret::expose).filter(|key| !key.is_empty());
        let private = private.ok_or("no private key")?;
        let key = match name {
            "HS256" => Key::Hmac(hmac_key(hmac::HMAC_SHA256, private)?),
            "HS384" => Key::Hmac(hmac_key(hmac::HMAC_SHA384, private)?),
            "HS512" => Key::Hmac(hmac_key(hmac::HMAC_SHA512, private)?),
            "RS256" => Key::Rsa(rsa(private)?, &sig::RSA_PKCS1_SHA256),
            "RS384" => Key::Rsa(rsa(private)?, &sig::RSA_PKCS1_SHA384),
            "RS512" => Key::Rsa(rsa(private)?, &sig::RSA_PKCS1_SHA512),
            "PS256" => Key::Rsa(rsa(private)?, &sig::RSA_PSS_SHA256),
            "PS384" => Key::Rsa(rsa(private)?, &sig::RSA_PSS_SHA384),
            "PS512" => Key::Rsa(rsa(private)?, &sig::RSA_PSS_SHA512),
            "ES256" => Key::Ecdsa(ecdsa(&sig::ECDSA_P256_SHA256_FIXED_SIGNING, private)?),
            "ES384" => Key::Ecdsa(ecdsa(&sig::ECDSA_P384_SHA384_FIXED_SIGNING, private)?),
            "ES512" => Key::Ecdsa(ecdsa(&sig::ECDSA_P521_SHA512_FIXED_SIGNING, private)?),
            other => return Err(format!("unsupported algorithm '{other}'")),
        };
        Ok(Self {
            algorithm: name.to_owned(),
            key,
        })
    }

    /// Returns a signed token. `header` is added to the header, which has `alg` and `typ`.
    ///
    /// # Errors
    /// The key cannot sign.
    pub fn sign(
        &self,
        header: Map<String, Value>,
        claims: &Map<String, Value>,
    ) -> Result<Secret, String> {
        let mut full_header = header;
        full_header.insert("alg".to_owned(), json!(self.algorithm));
        full_header.insert("typ".to_owned(), json!("JWT"));
        let encoded = |object: &Map<String, Value>| {
            let text = serde_json::to_vec(object).map_err(|error| error.to_string())?;
            Ok::<_, String>(URL_SAFE_NO_PAD.encode(text))
        };
        let message = format!("{}.{}", encoded(&full_header)?, encoded(claims)?);
        let signature = self.signature(message.as_bytes())?;
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)).into())
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |_| "the key cannot sign".to_owned();
        let random = SystemRandom::new();
        match &self.key {
            Key::Hmac(key) => Ok(hmac::sign(key, message).as_ref().to_vec()),
            Key::Rsa(key, encoding) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(*encoding, &random, message, &mut signature)
                    .map_err(failed)?;
                Ok(signature)
            }
            Key::Ecdsa(key) => {
                let signature = key.sign(&random, message).map_err(failed)?;
                Ok(signature.as_ref().to_vec())
            }
        }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.algorithm)
    }
}

fn hmac_key(algorithm: hmac::Algorithm, text: &str) -> Result<Box<hmac::Key>, String> {
    let secret = secret(text)?;
    Ok(Box::new(hmac::Key::new(algorithm, &secret)))
}

/// Returns the bytes of a key: the text, or the content of the file that it names.
fn secret(key: &str) -> Result<zeroize::Zeroizing<Vec<u8>>, String> {
    let is_pem = key.contains("-----BEGIN");
    let path = std::path::Path::new(key);
    if !is_pem && path.is_absolute() && path.exists() {
        return files::read(path).map(zeroize::Zeroizing::new);
    }
    Ok(zeroize::Zeroizing::new(key.as_bytes().to_vec()))
}

/// Reads a private key of PEM, or of the PEM file at a path.
fn private_key(key: &str) -> Result<PrivateKeyDer<'static>, String> {
    let pem = if key.contains("-----BEGIN") {
        zeroize::Zeroizing::new(key.as_bytes().to_vec())
    } else {
        zeroize::Zeroizing::new(
            files::read(key.as_ref())
                .map_err(|_| "expected a private key as PEM, or the path of its file".to_owned())?,
        )
    };
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| "no private key found in PEM".to_owned())
}

fn rsa(key: &str) -> Result<RsaKeyPair, String> {
    let key_pair = match private_key(key)? {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err("not an RSA key".to_owned()),
    };
    key_pair.map_err(|error| format!("invalid RSA key: {error}"))
}

fn ecdsa(
    algorithm: &'static sig::EcdsaSigningAlgorithm,
    key: &str,
) -> Result<EcdsaKeyPair, String> {
    let key_pair = match private_key(key)? {
        PrivateKeyDer::Pkcs8(der) => EcdsaKeyPair::from_pkcs8(algorithm, der.secret_pkcs8_der()),
        PrivateKeyDer::Sec1(der) => {
            EcdsaKeyPair::from_private_key_der(algorithm, der.secret_sec1_der())
        }
        _ => return Err("not an ECDSA key".to_owned()),
    };
    key_pair.map_err(|error| format!("invalid ECDSA key: {error}"))
}
