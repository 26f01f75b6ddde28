//! Generations of the configuration: a process with an older configuration does not undo a newer one.
//!
//! The database records a generation, which grows with each configuration of other content, and a keyed digest of the
//! content. Paths of files are not part of it. A process applies its files when it starts, because its operator deployed
//! them. A running process applies changed files only if it has applied the latest generation. Otherwise, another process
//! may have been started later with newer files. `metadata.generation` of the files orders them explicitly, at starts as
//! well.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::root::Config;
use crate::changes::secret_body;
use crate::db::Transaction;
use crate::error::ApiError;
use crate::secrets::ServiceKeys;

/// The setting that stores the generation.
const SETTING: &str = "configuration";

/// The configuration that is in force, as the database records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    /// Number of the configuration, from 1.
    pub generation: i64,
    /// Keyed digest of the content, in hexadecimal digits.
    digest: String,
    /// `metadata.generation` of the files.
    #[serde(default)]
    declared: Option<i64>,
}

impl Recorded {
    /// Loads the configuration in force. `None` for a database of an earlier version, which has no record. Fails if the
    /// record is malformed.
    pub async fn load(transaction: &mut Transaction) -> Result<Option<Self>, ApiError> {
        let Some(text) = transaction.setting(SETTING).await? else {
            return Ok(None);
        };
        let recorded = serde_json::from_slice(&text).map_err(|error| {
            ApiError::internal(format!(
                "the record of the configuration is broken: {error}"
            ))
        })?;
        Ok(Some(recorded))
    }

    /// Returns the record of a configuration that follows the one in force.
    pub fn successor(before: Option<&Self>, config: &Config, keys: &ServiceKeys) -> Self {
        let digest = digest(config, keys);
        let generation = match before {
            Some(before) if before.digest == digest => before.generation,
            before => before.map_or(0, |before| before.generation) + 1,
        };
        Self {
            generation,
            digest,
            declared: config.generation,
        }
    }

    /// Returns `true` if this configuration must not replace the one in force. `known_generation` is the generation that the process has
    /// applied before, or `None` if it starts.
    pub fn is_superseded(&self, in_force: &Self, known_generation: Option<i64>) -> bool {
        if self.digest == in_force.digest {
            return false;
        }
        match (self.declared, in_force.declared) {
            (Some(own_generation), Some(other)) if own_generation != other => {
                own_generation < other
            }
            _ => known_generation
                .is_some_and(|known_generation| known_generation < in_force.generation),
        }
    }

    /// Stores this record as the configuration in force.
    pub async fn save(&self, transaction: &mut Transaction) -> Result<(), ApiError> {
        let text =
            serde_json::to_vec(self).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(transaction.put_setting(SETTING, &text).await?)
    }
}

/// Returns a digest of the configuration. It is keyed because the configuration contains secrets, which an unkeyed digest
/// would allow to guess.
fn digest(config: &Config, keys: &ServiceKeys) -> String {
    let mut text = Zeroizing::new(String::new());
    let mut add = |parts: [&str; 4]| {
        for part in parts {
            text.push_str(&part.len().to_string());
            text.push(':');
            text.push_str(part);
        }
    };
    for secret in &config.secrets {
        let value = secret.value.to_json();
        let value = std::str::from_utf8(&value).unwrap_or_default();
        let body = secret_body(&secret.value, &secret.allowed_hosts);
        add(["secrets", &secret.name, &body, value]);
    }
    for item in &config.items {
        add([item.kind.plural(), &item.name, &item.body, ""]);
    }
    for token in &config.tokens {
        add(["tokens", &token.name, token.role.as_str(), &token.key]);
    }
    hex::encode(keys.digest(&text))
}
