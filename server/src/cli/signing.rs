//! The key that signs bundles, of `sign` and `build`.

use solon::bundle::SigningKey;
use solon::{Kind, Object, json};

use super::forms::given;
use super::read;
use super::verifying::{DEFAULT_ALGORITHM, key_bytes};

pub struct KeyFlags<'a> {
    /// The secret, or the PEM file of the private key.
    pub key: &'a str,
    pub algorithm: &'a str,
    /// JSON file of further claims.
    pub claims_file: Option<&'a str>,
    /// Name of a plugin that signs. There is only the default one.
    pub plugin: Option<&'a str>,
}

impl KeyFlags<'_> {
    /// Returns the key with its claims.
    ///
    /// # Errors
    /// Fails if a file cannot be read or has no claims, or names a plugin.
    pub fn signing_key(&self) -> Result<SigningKey, String> {
        if let Some(plugin) = given(self.plugin)
            && plugin != "_default"
        {
            return Err(format!("no signer exists under id {plugin}"));
        }
        let algorithm = given(Some(self.algorithm)).unwrap_or(DEFAULT_ALGORITHM);
        let mut signing = SigningKey::new(algorithm, key_bytes(self.key)?);
        if let Some(file) = given(self.claims_file) {
            let text = read(file).map_err(|error| error.to_string())?;
            signing = signing.claims(claims(&text)?);
        }
        Ok(signing)
    }
}

/// Parses additional claims. The messages are those of Go's JSON decoder, as OPA prints them.
fn claims(text: &[u8]) -> Result<Object, String> {
    let value = json::read(text).map_err(|_| json::error_message(text))?;
    let kind = match value.kind() {
        Kind::Object => return Ok(value.into_object().unwrap_or_default()),
        Kind::Null => return Ok(Object::default()),
        Kind::Array => "array",
        Kind::Boolean => "bool",
        Kind::String => "string",
        Kind::Number | Kind::Set => "number",
    };
    Err(format!(
        "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    ))
}
