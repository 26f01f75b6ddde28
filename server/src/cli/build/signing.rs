//! Flags for signatures, both of the bundles that are read and of the one that is written.

use solon::bundle::{SigningKey, Verification};

use crate::cli::forms::given;
use crate::cli::signing::KeyFlags;
use crate::cli::verifying::verification_key;

/// Flags for signatures.
#[derive(clap::Args)]
pub struct SigningArgs {
    /// Secret (HMAC), or file with a private key in PEM, that signs the bundle.
    #[arg(long, value_name = "KEY")]
    signing_key: Option<String>,
    /// Algorithm of signatures.
    #[arg(long, default_value = "RS256", value_name = "NAME")]
    signing_alg: String,
    /// JSON file with more claims of the signature.
    #[arg(long, value_name = "FILE")]
    claims_file: Option<String>,
    /// Name of a plugin that signs. There are none.
    #[arg(long, hide = true, value_name = "NAME")]
    signing_plugin: Option<String>,
    /// Secret (HMAC), or file with a public key in PEM, that verifies the bundles of the paths.
    #[arg(long, value_name = "KEY")]
    verification_key: Option<String>,
    /// Name of the verification key.
    #[arg(long, default_value = "default", value_name = "ID")]
    verification_key_id: String,
    /// Scope that signatures must have.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Names of files that need not be signed.
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    exclude_files_verify: Vec<String>,
}

impl SigningArgs {
    /// Checks that flags for signatures are used only with bundles.
    ///
    /// # Errors
    /// Returns OPA's message.
    pub fn check(&self, is_bundle: bool) -> Result<(), String> {
        let keys = [&self.signing_key, &self.verification_key];
        if !is_bundle && keys.iter().any(|key| given(key.as_deref()).is_some()) {
            let text =
                "enable bundle mode (ie. --bundle) to verify or sign bundle files or directories";
            return Err(text.to_owned());
        }
        Ok(())
    }

    /// Returns the signing key.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn key(&self) -> Result<Option<SigningKey>, String> {
        let Some(key) = given(self.signing_key.as_deref()) else {
            return Ok(None);
        };
        let flags = KeyFlags {
            key,
            algorithm: &self.signing_alg,
            claims_file: self.claims_file.as_deref(),
            plugin: self.signing_plugin.as_deref(),
        };
        Ok(Some(flags.signing_key()?.id(&*self.verification_key_id)))
    }

    /// Returns how the bundles of the paths are verified. Without a key, signed bundles are rejected.
    ///
    /// # Errors
    /// Fails if the file of the key cannot be read.
    pub fn verification(&self) -> Result<Verification, String> {
        let Some(key) = given(self.verification_key.as_deref()) else {
            return Ok(Verification::default());
        };
        let key = verification_key(key, &self.signing_alg)?;
        Ok(Verification::by_key(&*self.verification_key_id, key)
            .scope(self.scope.clone().unwrap_or_default())
            .exclude(self.exclude_files_verify.clone()))
    }
}
