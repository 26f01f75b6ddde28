//! Signatures of bundles: the file `.signatures.json` with one signed token that lists the files with their digests.

mod hash;
#[cfg(feature = "crypto")]
mod sign;
mod verify;

#[cfg(feature = "crypto")]
pub use sign::{SigningKey, sign};
pub use verify::{Verification, VerificationKey};

use super::error::{BundleError, BundleErrorKind};
use super::go_json::{GoFields, read_first};

/// OPA's message about more than one token.
pub(super) const MULTIPLE_TOKENS: &str =
    ".signatures.json: multiple JWTs not supported (expected exactly one)";

/// The contents of `.signatures.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signatures {
    /// Compact tokens. OPA accepts exactly one.
    pub tokens: Vec<String>,
    /// The implementation that signed; OPA's own is `_default` or empty.
    pub plugin: String,
}

impl Signatures {
    /// Parses the text of the file. Returns `None` for `null` and for an object without known members, which count as no file.
    /// Bytes after the first JSON value are ignored, as OPA ignores them. Signatures are not verified.
    ///
    /// # Errors
    /// The text is not valid JSON, or a field has another type: the message of Go's decoder.
    pub fn read(text: &[u8]) -> Result<Option<Self>, BundleError> {
        Self::parse(text).map_err(|message| BundleError::new(BundleErrorKind::Signatures, message))
    }

    fn parse(text: &[u8]) -> Result<Option<Self>, String> {
        let value = read_first(text)?;
        let Some(fields) = GoFields::of_object(&value, "bundle.SignaturesConfig")? else {
            return Ok(None);
        };
        let fields = fields.named("SignaturesConfig");
        let tokens = fields.strings("signatures")?;
        let plugin = fields.string("plugin")?;
        let is_empty = tokens.is_none() && plugin.as_ref().is_none_or(String::is_empty);
        Ok((!is_empty).then(|| Self {
            tokens: tokens.unwrap_or_default(),
            plugin: plugin.unwrap_or_default(),
        }))
    }
}
