//! Digests of files: over the bytes, or over the value of a structured file so that its layout does not matter.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use crate::bundle::contents::file_name;
use crate::value::{json, yaml};

/// The algorithm of signatures that are made here.
#[cfg(feature = "crypto")]
pub const DEFAULT: &str = "SHA-256";

/// Returns the digest of a file.
///
/// # Errors
/// An unknown algorithm, or a structured file that cannot be read.
pub fn digest(algorithm: &str, path: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let hash = match algorithm {
        "MD5" => digest_of::<Md5>,
        "SHA-1" => digest_of::<Sha1>,
        "SHA-224" => digest_of::<Sha224>,
        "SHA-256" => digest_of::<Sha256>,
        "SHA-384" => digest_of::<Sha384>,
        "SHA-512" => digest_of::<Sha512>,
        "SHA-512-224" => digest_of::<Sha512_224>,
        "SHA-512-256" => digest_of::<Sha512_256>,
        other => return Err(format!("unsupported hashing algorithm: {other}")),
    };
    let value = match file_name(path) {
        "data.json" | ".manifest" | ".signatures.json" => {
            json::read(bytes).map_err(|_| json::error_message(bytes))?
        }
        "data.yaml" | "data.yml" => yaml::read(bytes).map_err(|error| error.to_string())?,
        _ => return Ok(hash(bytes)),
    };
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    Ok(hash(&text))
}

fn digest_of<D: Digest>(bytes: &[u8]) -> Vec<u8> {
    D::digest(bytes).to_vec()
}
