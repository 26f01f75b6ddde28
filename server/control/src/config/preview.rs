//! Preview of configuration files, and the export of stored items as a configuration file.

use serde_json::{Map, Value, json};

use super::apply::apply_all;
use super::root::Config;
use crate::db::{Database, Mode, Transaction};
use crate::error::ApiError;
use crate::model::{Kind, credentials};
use crate::secrets::{Keyring, ServiceKeys};

/// Number of rows per page.
const PAGE: i64 = 100;

/// Returns what applying a configuration would change, a line for each write: `update source "lib"`. The configuration is
/// applied in a transaction that is rolled back, so that the result is exact.
///
/// # Errors
/// The configuration cannot be applied, or the database cannot be reached.
pub async fn preview(
    config: &Config,
    database: &Database,
    keyring: &Keyring,
    keys: &ServiceKeys,
) -> Result<Vec<String>, ApiError> {
    let mut transaction = database.begin(Mode::Write).await?;
    let changes = changes(config, &mut transaction, keyring, keys).await;
    transaction.roll_back().await;
    changes
}

async fn changes(
    config: &Config,
    transaction: &mut Transaction,
    keyring: &Keyring,
    keys: &ServiceKeys,
) -> Result<Vec<String>, ApiError> {
    let mut after = transaction.last_audit().await?;
    apply_all(config, transaction, keyring, keys).await?;
    let mut changes = Vec::new();
    loop {
        let page = transaction.audit_after(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(changes);
        };
        after = last.id;
        for entry in &page {
            let kind = Kind::of_plural(&entry.kind);
            let kind = kind.map_or(entry.kind.as_str(), |kind| kind.singular());
            changes.push(format!("{} {kind} {:?}", entry.action, entry.name));
        }
    }
}

/// Returns all bundles, sources, stacks and secrets as a configuration file in YAML. Secrets have their types and
/// `allowed_hosts`, but no values. Tokens and pushed data are not included.
///
/// # Errors
/// The database cannot be reached.
pub async fn export(database: &Database) -> Result<String, ApiError> {
    let mut transaction = database.begin(Mode::Read).await?;
    let items = items(&mut transaction).await;
    transaction.roll_back().await;
    serde_yaml::to_string(&Value::Object(items?))
        .map_err(|error| ApiError::internal(error.to_string()))
}

async fn items(transaction: &mut Transaction) -> Result<Map<String, Value>, ApiError> {
    let mut sections = Map::new();
    for kind in [Kind::Bundle, Kind::Source, Kind::Stack, Kind::Secret] {
        let (mut section, mut after) = (Map::new(), 0);
        loop {
            let page = transaction.items_after(kind, after, PAGE).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.head.id;
            for item in page {
                let body = match kind {
                    Kind::Source => credentials::redacted_source(&item.body),
                    _ => item.body.into(),
                };
                let mut body: Value = serde_json::from_str(&body)
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                if let Some(members) = body.as_object_mut() {
                    // the key of the section is the name
                    members.remove("name");
                }
                section.insert(item.head.name, body);
            }
        }
        if !section.is_empty() {
            sections.insert(kind.plural().to_owned(), json!(section));
        }
    }
    Ok(sections)
}
