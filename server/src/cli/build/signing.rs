//! Flags for signatures, both of the bundles that are read and of the one that is written.

use solon::bundle::{SigningKey, Verification, VerificationKey};
use solon::{Value, json};

use crate::cli::fmt::message;
use crate::cli::forms::given;

/// Flags for signatures.
#[derive(clap::Args)]
pub struct SigningArgs {
    /// Secret (HMAC), or file with a private key in PEM, that signs the bundle
    #[arg(long, value_name = "KEY")]
    signing_key: Option<String>,
    /// Algorithm of signatures
    #[arg(long, default_value = "RS256", value_name = "NAME")]
    signing_alg: String,
    /// JSON file with more claims of the signature
    #[arg(long, value_name = "FILE")]
    claims_file: Option<String>,
    /// Name of a plugin that signs. There are none
    #[arg(long, hide = true, value_name = "NAME")]
    signing_plugin: Option<String>,
    /// Secret (HMAC), or file with a public key in PEM, that verifies the bundles of the paths
    #[arg(long, value_name = "KEY")]
    verification_key: Option<String>,
    /// Name of the verification key
    #[arg(long, default_value = "default", value_name = "ID")]
    verification_key_id: String,
    /// Scope that signatures must have
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Names of files that need not be signed
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
        if let Some(plugin) = given(self.signing_plugin.as_deref()) {
            return Err(format!("no signer exists under id {plugin}"));
        }
        let key = SigningKey::new(&*self.signing_alg, secret(key)).id(&*self.verification_key_id);
        let Some(file) = given(self.claims_file.as_deref()) else {
            return Ok(Some(key));
        };
        let text = std::fs::read(file).map_err(|error| message("open", file, &error))?;
        match json::read(&text) {
            Ok(Value::Object(claims)) => Ok(Some(key.claims(claims))),
            Ok(_) => Err(format!("{file}: claims must be an object")),
            Err(_) => Err(json::error_message(&text)),
        }
    }

    /// Returns how the bundles of the paths are verified. Without a key, signed bundles are rejected.
    pub fn verification(&self) -> Verification {
        let scope = self.scope.clone().unwrap_or_default();
        let Some(key) = given(self.verification_key.as_deref()) else {
            return Verification::default();
        };
        let key = VerificationKey::new(&*self.signing_alg, secret(key)).scope(&*scope);
        Verification::by_key(&*self.verification_key_id, key)
            .scope(scope)
            .exclude(self.exclude_files_verify.clone())
    }
}

/// Returns the contents of the file that a flag names, or the flag's value if the file does not exist.
fn secret(value: &str) -> Vec<u8> {
    std::fs::read(value).unwrap_or_else(|_| value.into())
}
