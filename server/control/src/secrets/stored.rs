//! Stored secrets, decrypted and parsed.

use serde_json::Value;

use super::{Keyring, ZeroizingValue, secret_context};
use crate::db::{Item, Transaction};
use crate::error::ApiError;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, Secret, allowed_hosts};

/// A decrypted secret with the texts that a digest of it covers.
pub struct OpenedSecret {
    /// The secret, decrypted.
    pub secret: Secret,
    /// The stored item, which has the type and the allowed hosts.
    pub item: Item,
    /// The decrypted value as JSON.
    pub text: zeroize::Zeroizing<Vec<u8>>,
}

/// Returns a secret, or `None` if it does not exist or has no value.
///
/// # Errors
/// The database cannot be reached, or the secret cannot be decrypted. Messages contain no values.
pub async fn open_secret(
    transaction: &mut Transaction,
    keyring: &Keyring,
    name: &str,
) -> Result<Option<OpenedSecret>, ApiError> {
    let Some(item) = transaction.item(Kind::Secret, name).await? else {
        return Ok(None);
    };
    let Some((key, sealed)) = transaction.secret_value(item.head.id).await? else {
        return Ok(None);
    };
    let text = keyring
        .unseal(&secret_context(name), &key, &sealed)
        .map_err(|error| ApiError::internal(format!("secret {name:?}: {}", error.0)))?;
    let invalid = || ApiError::internal(format!("secret {name:?} is not valid any more"));
    let value: Value = serde_json::from_slice(&text).map_err(|_| invalid())?;
    let value = ZeroizingValue(value);
    let mut reader = Reader::new(Compat::Ocp, Origin::File);
    let mut secret = Secret::read(&mut reader, &FieldPath::Root, &value.0);
    name.clone_into(&mut secret.name);
    secret.allowed_hosts = allowed_hosts(&item.body);
    let secret = reader.finish(secret).map_err(|_| invalid())?;
    Ok(Some(OpenedSecret { secret, item, text }))
}
