//! Sources as builds read them: with the number of their triggers and their pushed documents.

use std::collections::HashMap;

use super::items::item;
use super::{Cell, DbError, Document, Item, Transaction};
use crate::model::Kind;

/// Maximum number of values in a list of a statement. All databases permit more.
const LIST: usize = 500;

/// A source with everything that the database contains for it, except for its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSource {
    /// The source as an item.
    pub item: Item,
    /// The number of fetches that webhooks have triggered.
    pub triggers: i64,
    /// The pushed documents, in the order of their paths.
    pub documents: Vec<Document>,
}

impl Transaction {
    /// Returns the sources with the given names, in the order of the names. Names without a source are left out. It takes two
    /// statements for up to 500 names.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn sources_named(&mut self, names: &[String]) -> Result<Vec<StoredSource>, DbError> {
        let mut found = HashMap::new();
        for names in names.chunks(LIST) {
            let sql = format!(
                "SELECT COALESCE(source_triggers.triggers, 0), items.id, items.name, items.version, items.owner_id, items.file, items.body FROM items LEFT JOIN source_triggers ON source_triggers.source_id = items.id WHERE items.kind = ? AND items.name IN ({})",
                placeholders(names.len())
            );
            let mut values: Vec<Cell> = vec![Kind::Source.plural().into()];
            values.extend(names.iter().map(|name| Cell::from(name.as_str())));
            for mut row in self.select(sql, values).await? {
                let triggers = row.int()?;
                let source = StoredSource {
                    item: item(row)?,
                    triggers,
                    documents: Vec::new(),
                };
                found.insert(source.item.head.name.clone(), source);
            }
        }
        let mut found: Vec<StoredSource> =
            names.iter().filter_map(|name| found.remove(name)).collect();
        for sources in found.chunks_mut(LIST) {
            self.add_documents(sources).await?;
        }
        Ok(found)
    }

    async fn add_documents(&mut self, sources: &mut [StoredSource]) -> Result<(), DbError> {
        let sql = format!(
            "SELECT source_id, path, body FROM source_data WHERE source_id IN ({}) ORDER BY source_id, path",
            placeholders(sources.len())
        );
        let ids = sources.iter().map(|source| source.item.head.id.into());
        let mut documents: HashMap<i64, Vec<Document>> = HashMap::new();
        for mut row in self.select(sql, ids.collect()).await? {
            let of_source = documents.entry(row.int()?).or_default();
            of_source.push(Document {
                path: row.text()?,
                body: row.text()?,
            });
        }
        for source in sources {
            source.documents = documents.remove(&source.item.head.id).unwrap_or_default();
        }
        Ok(())
    }
}

/// Returns the text between the parentheses of a list of `count` values.
pub(super) fn placeholders(count: usize) -> String {
    let mut text = "?, ".repeat(count);
    text.truncate(text.len().saturating_sub(2));
    text
}
