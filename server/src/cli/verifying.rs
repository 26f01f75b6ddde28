//! Flags for signatures of bundles.

use std::io::ErrorKind;
use std::path::Path;

use solon::bundle::{Files as _, Verification, VerificationKey};
use solon_host::SystemFiles;

use super::forms::given;

/// Default algorithm of signatures.
pub const DEFAULT_ALGORITHM: &str = "RS256";

/// How bundles are verified.
#[derive(Clone, clap::Args)]
pub struct VerifyArgs {
    /// Verify bundles by this secret (HMAC), or by the public key or certificate in this PEM file (RSA and ECDSA).
    #[arg(long, value_name = "KEY|FILE")]
    verification_key: Option<String>,
    /// Id of the verification key.
    #[arg(long, value_name = "ID", default_value = "default")]
    verification_key_id: String,
    /// Algorithm of the verification key.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ALGORITHM)]
    signing_alg: String,
    /// Scope that signatures must have.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Files that need not be signed, by glob patterns of their paths.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    exclude_files_verify: Vec<String>,
    /// Load bundles without verifying them.
    #[arg(long)]
    skip_verify: bool,
}

impl VerifyArgs {
    /// Returns `true` if there is a key, which is allowed only with bundles.
    pub fn has_key(&self) -> bool {
        given(self.verification_key.as_deref()).is_some()
    }

    /// Returns how bundles are verified. Without a key this is `without_key`.
    ///
    /// # Errors
    /// Fails if the file of the key cannot be read.
    pub fn verification(&self, without_key: Verification) -> Result<Verification, String> {
        if self.skip_verify {
            return Ok(Verification::skip());
        }
        let Some(key) = given(self.verification_key.as_deref()) else {
            return Ok(without_key);
        };
        let key = verification_key(key, &self.signing_alg)?;
        let verification = Verification::by_key(&*self.verification_key_id, key)
            .scope(self.scope.clone().unwrap_or_default())
            .exclude(self.exclude_files_verify.clone());
        Ok(verification)
    }
}

/// Returns the verification key of flags.
///
/// # Errors
/// Fails if the file of the key cannot be read.
pub fn verification_key(key: &str, algorithm: &str) -> Result<VerificationKey, String> {
    let algorithm = given(Some(algorithm)).unwrap_or(DEFAULT_ALGORITHM);
    Ok(VerificationKey::new(algorithm, key_bytes(key)?))
}

/// Returns the bytes of a key: the contents of the file with that name or, if there is none, the text itself.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn key_bytes(key: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(key);
    if key.starts_with("-----BEGIN") || !path.exists() {
        return Ok(key.as_bytes().to_vec());
    }
    let bytes = SystemFiles.read(path);
    bytes.map_err(|error| {
        let call = match error.kind() {
            ErrorKind::IsADirectory => "read",
            _ => "open",
        };
        format!("{call} {key}: {error}")
    })
}
