//! Rotation: encrypts all secrets with the current key.

use super::service_keys::{SETTING, seal, unseal};
use super::{KeyError, Keyring};
use crate::db::{Database, Mode};
use crate::error::ApiError;

/// Encrypts each secret and the service's own keys with the current key, in one transaction. Returns how many were
/// encrypted with another key.
///
/// # Errors
/// The database cannot be reached, or a key that encrypted a secret is missing.
pub async fn rotate(database: &Database, keyring: &Keyring) -> Result<usize, ApiError> {
    let internal_error = |error: KeyError| ApiError::internal(error.0);
    let mut transaction = database.begin(Mode::Write).await?;
    let mut changed = 0;
    for (id, name, key_id, sealed) in transaction.secret_values().await? {
        if key_id == keyring.current() {
            continue;
        }
        let context = secret_context(&name);
        let text = keyring
            .unseal(&context, &key_id, &sealed)
            .map_err(internal_error)?;
        let (key_id, sealed) = keyring.seal(&context, &text).map_err(internal_error)?;
        transaction.put_secret_value(id, key_id, &sealed).await?;
        changed += 1;
    }
    if let Some(kept) = transaction.setting(SETTING).await? {
        let root = unseal(keyring, &kept).map_err(internal_error)?;
        let kept = seal(keyring, &root).map_err(internal_error)?;
        transaction.put_setting(SETTING, &kept).await?;
    }
    transaction.commit().await?;
    Ok(changed)
}

/// Returns the encryption context of a secret.
pub(crate) fn secret_context(name: &str) -> String {
    format!("secrets/{name}")
}
