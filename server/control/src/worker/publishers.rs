//! Bundles that one instance publishes for as long as it lives, because their storage does not reject late writes of others.

use std::collections::BTreeSet;

use crate::db::{Database, DbError, Dialect, Mode, Transaction};
use crate::model::Kind;

/// Number of bundles that are read at once.
const PAGE: i64 = 1000;

/// Logs the bundles that permit one publisher only. Instances that share a database of SQLite share a machine, and lock files while
/// they replace them.
pub async fn report_publishers(database: &Database) {
    if database.dialect() == Dialect::Sqlite {
        return;
    }
    let bundles = match one_publisher_bundles(database).await {
        Ok(bundles) => bundles,
        Err(error) => {
            tracing::warn!(%error, "the bundles that permit one publisher only are unknown");
            return;
        }
    };
    if !bundles.is_empty() {
        let bundles = Vec::from_iter(bundles).join(", ");
        tracing::warn!(
            bundles,
            "one publisher only: bundles in files, and in stores without conditional writes, are published by one instance for as long as it lives"
        );
    }
}

/// Ends the leases that an instance keeps, so that another one can publish at once.
pub async fn release_idle(database: &Database, instance: &str) {
    let released = async {
        let mut transaction = database.begin(Mode::Write).await?;
        let released = transaction.release_idle(instance).await;
        transaction.settle(released).await
    };
    if let Err(error) = released.await {
        tracing::warn!(%error, "kept leases were not released; they end by themselves");
    }
}

/// Returns the names of the bundles in files, and of those whose lease an instance keeps.
async fn one_publisher_bundles(database: &Database) -> Result<BTreeSet<String>, DbError> {
    let mut transaction = database.begin(Mode::Read).await?;
    let found = find(&mut transaction).await;
    transaction.roll_back().await;
    found
}

async fn find(transaction: &mut Transaction) -> Result<BTreeSet<String>, DbError> {
    let states = transaction.build_states().await?.into_iter();
    let kept = states.filter(|state| state.publisher.is_some());
    let mut found: BTreeSet<String> = kept.map(|state| state.name).collect();
    let mut after = 0;
    loop {
        let page = transaction.items_after(Kind::Bundle, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(found);
        };
        after = last.head.id;
        for item in page {
            // a body that cannot be read fails when the bundle is built
            let body: serde_json::Value = serde_json::from_str(&item.body).unwrap_or_default();
            if body.pointer("/object_storage/filesystem").is_some() {
                found.insert(item.head.name);
            }
        }
    }
}
