//! Bundles, sources, stacks and secrets.

use std::collections::BTreeSet;

use super::{Cell, DbError, Row, Transaction, now};
use crate::model::Kind;

/// An item without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemHead {
    /// The id, in the order of creation.
    pub id: i64,
    /// The name, unique within the kind.
    pub name: String,
    /// The number of writes so far.
    pub version: i64,
    /// The id of the token that created the item.
    pub owner: Option<i64>,
    /// The configuration file that describes the item, if any.
    pub file: Option<String>,
}

/// An item with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The item without its body.
    pub head: ItemHead,
    /// The item as JSON, or only the type if it is a secret.
    pub body: String,
}

/// An item to store, new or changed.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'i> {
    /// The kind, which never changes.
    pub kind: Kind,
    /// The name, unique within the kind.
    pub name: &'i str,
    /// The id of the owner's token. Used only if the item is new.
    pub owner: Option<i64>,
    /// The configuration file that describes the item.
    pub file: Option<&'i str>,
    /// The item as JSON, or only the type if it is a secret.
    pub body: &'i str,
}

/// The rows that a principal may see.
#[derive(Clone, Copy, Debug)]
pub struct VisibleRows<'s> {
    /// The id of the principal's token.
    pub token: i64,
    /// The permission whose grants are joined.
    pub permission: &'s str,
    /// A condition of the policy on `items` and on `grants`. At most one row of `grants` is joined: the one of
    /// `permission`.
    pub condition: &'s str,
    /// The rows that can satisfy the condition.
    pub scope: VisibilityScope,
}

/// The rows that can satisfy a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibilityScope {
    /// All items of the kind.
    All,
    /// Only items that the principal owns or has grants on.
    Own,
}

fn kind_and_head(mut row: Row) -> Result<(Kind, ItemHead), DbError> {
    let kind = row.text()?;
    let kind = Kind::of_plural(&kind)
        .ok_or_else(|| DbError::Other(format!("an item is of kind {kind:?}")))?;
    Ok((kind, head(&mut row)?))
}

fn head(row: &mut Row) -> Result<ItemHead, DbError> {
    Ok(ItemHead {
        id: row.int()?,
        name: row.text()?,
        version: row.int()?,
        owner: row.maybe_int()?,
        file: row.maybe_text()?,
    })
}

pub(super) fn item(mut row: Row) -> Result<Item, DbError> {
    Ok(Item {
        head: head(&mut row)?,
        body: row.text()?,
    })
}

impl Transaction {
    /// Returns an item without its body.
    pub async fn head(&mut self, kind: Kind, name: &str) -> Result<Option<ItemHead>, DbError> {
        let row = self
            .first(
                "SELECT id, name, version, owner_id, file FROM items WHERE kind = ? AND name = ?",
                vec![kind.plural().into(), name.into()],
            )
            .await?;
        row.map(|mut row| head(&mut row)).transpose()
    }

    /// Returns an item, or `None` if no item of this kind has the name.
    pub async fn item(&mut self, kind: Kind, name: &str) -> Result<Option<Item>, DbError> {
        let row = self
            .first(
                "SELECT id, name, version, owner_id, file, body FROM items WHERE kind = ? AND name = ?",
                vec![kind.plural().into(), name.into()],
            )
            .await?;
        row.map(item).transpose()
    }

    /// Returns the items of a kind with larger ids, in order.
    pub async fn items_after(
        &mut self,
        kind: Kind,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Item>, DbError> {
        let rows = self
            .query(
                "SELECT id, name, version, owner_id, file, body FROM items WHERE kind = ? AND id > ? ORDER BY id LIMIT ?",
                vec![kind.plural().into(), after.into(), limit.into()],
            )
            .await?;
        rows.into_iter().map(item).collect()
    }

    /// Returns the items of a kind with larger ids that satisfy a condition, in order.
    pub async fn items_under(
        &mut self,
        kind: Kind,
        visible_rows: VisibleRows<'_>,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Item>, DbError> {
        let VisibleRows {
            token,
            permission,
            condition,
            scope: scope_of_rows,
        } = visible_rows;
        let mut values: Vec<Cell> = Vec::new();
        let (from, join) = match scope_of_rows {
            VisibilityScope::All => ("items", ""),
            // rows of other owners are not read, so that the response time reveals nothing about them
            VisibilityScope::Own => {
                values.extend([
                    token.into(),
                    kind.plural().into(),
                    after.into(),
                    token.into(),
                    permission.into(),
                    after.into(),
                ]);
                (
                    "(SELECT id FROM items WHERE owner_id = ? AND kind = ? AND id > ? UNION SELECT item_id FROM grants WHERE token_id = ? AND permission = ? AND item_id > ?) AS own CROSS JOIN items",
                    " AND items.id = own.id",
                )
            }
        };
        let sql = format!(
            "SELECT items.id, items.name, items.version, items.owner_id, items.file, items.body FROM {from} LEFT JOIN grants ON grants.item_id = items.id AND grants.token_id = ? AND grants.permission = ? WHERE items.kind = ? AND items.id > ?{join} AND ({condition}) ORDER BY items.id LIMIT ?"
        );
        values.extend([
            token.into(),
            permission.into(),
            kind.plural().into(),
            after.into(),
            limit.into(),
        ]);
        let rows = self.select(sql, values).await?;
        rows.into_iter().map(item).collect()
    }

    /// Creates or replaces an item with its references to other items. An existing item keeps its owner, unless a
    /// configuration file now describes it: then it belongs to the operator of the service.
    pub async fn put_item(
        &mut self,
        before: Option<&ItemHead>,
        item: NewItem<'_>,
        used_ids: &[i64],
    ) -> Result<ItemHead, DbError> {
        let file = Cell::from(item.file);
        let head = match before {
            Some(before) => {
                let owner = before.owner.filter(|_| item.file.is_none());
                self.execute(
                    "UPDATE items SET version = ?, owner_id = ?, file = ?, body = ?, updated_at = ? WHERE id = ?",
                    vec![
                        (before.version + 1).into(),
                        owner.into(),
                        file,
                        item.body.into(),
                        now().into(),
                        before.id.into(),
                    ],
                )
                .await?;
                self.execute(
                    "DELETE FROM item_references WHERE user_id = ?",
                    vec![before.id.into()],
                )
                .await?;
                ItemHead {
                    version: before.version + 1,
                    owner,
                    file: item.file.map(str::to_owned),
                    ..before.clone()
                }
            }
            None => {
                self.execute(
                    "INSERT INTO items (kind, name, version, owner_id, file, body, created_at, updated_at) VALUES (?, ?, 1, ?, ?, ?, ?, ?)",
                    vec![
                        item.kind.plural().into(),
                        item.name.into(),
                        item.owner.into(),
                        file,
                        item.body.into(),
                        now().into(),
                        now().into(),
                    ],
                )
                .await?;
                let head_written = self.head(item.kind, item.name).await?;
                head_written.ok_or_else(|| {
                    DbError::Other("an item that was made is not there".to_owned())
                })?
            }
        };
        let mut distinct_ids = used_ids.to_vec();
        distinct_ids.sort_unstable();
        distinct_ids.dedup();
        for id in distinct_ids {
            self.execute(
                "INSERT INTO item_references (user_id, used_id) VALUES (?, ?)",
                vec![head.id.into(), id.into()],
            )
            .await?;
        }
        self.count_change(head.id).await?;
        Ok(head)
    }

    /// Records that another file describes an item with the same content. The version does not change.
    pub async fn move_item(&mut self, id: i64, file: &str) -> Result<(), DbError> {
        let sql = "UPDATE items SET file = ? WHERE id = ?";
        let result = self.execute(sql, vec![file.into(), id.into()]).await;
        result.map(drop)
    }

    /// Detaches an item from its configuration file, so that the API manages it.
    pub async fn release_item(&mut self, id: i64) -> Result<(), DbError> {
        let sql = "UPDATE items SET file = NULL, version = version + 1 WHERE id = ?";
        self.execute(sql, vec![id.into()]).await.map(drop)
    }

    /// Deletes an item with all rows that belong to it.
    pub async fn remove_item(&mut self, id: i64) -> Result<(), DbError> {
        // only a stack changes bundles by its end: other items are not in use any more
        self.count_change(id).await?;
        self.execute("DELETE FROM items WHERE id = ?", vec![id.into()])
            .await
            .map(drop)
    }

    /// Returns the kinds and names of the items that reference an item, in the order of creation.
    pub async fn users(&mut self, id: i64) -> Result<Vec<(Kind, ItemHead)>, DbError> {
        let rows = self
            .query(
                "SELECT items.kind, items.id, items.name, items.version, items.owner_id, items.file FROM item_references JOIN items ON items.id = item_references.user_id WHERE item_references.used_id = ? ORDER BY items.id",
                vec![id.into()],
            )
            .await?;
        rows.into_iter().map(kind_and_head).collect()
    }

    /// Returns the source and the sources that require it directly or transitively.
    pub async fn requirers(&mut self, id: i64) -> Result<BTreeSet<i64>, DbError> {
        let rows = self
            .query(
                "WITH RECURSIVE requirers (id) AS (SELECT id FROM items WHERE id = ? UNION SELECT users.id FROM requirers JOIN item_references ON item_references.used_id = requirers.id JOIN items AS users ON users.id = item_references.user_id WHERE users.kind = 'sources') SELECT id FROM requirers",
                vec![id.into()],
            )
            .await?;
        rows.into_iter().map(|mut row| row.int()).collect()
    }

    /// Returns the names of sources and of the sources that they require.
    pub async fn source_edges(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let rows = self
            .query(
                "SELECT users.name, used.name FROM item_references JOIN items AS users ON users.id = item_references.user_id JOIN items AS used ON used.id = item_references.used_id WHERE users.kind = 'sources' AND used.kind = 'sources'",
                vec![],
            )
            .await?;
        rows.into_iter()
            .map(|mut row| Ok((row.text()?, row.text()?)))
            .collect()
    }

    /// Returns the items that configuration files describe.
    pub async fn items_of_files(&mut self) -> Result<Vec<(Kind, ItemHead)>, DbError> {
        let rows = self
            .query(
                "SELECT kind, id, name, version, owner_id, file FROM items WHERE file IS NOT NULL ORDER BY id DESC",
                vec![],
            )
            .await?;
        rows.into_iter().map(kind_and_head).collect()
    }

    /// Returns the number of items of a kind, of all owners.
    pub async fn count_items(&mut self, kind: Kind) -> Result<i64, DbError> {
        let row = self
            .first(
                "SELECT COUNT(*) FROM items WHERE kind = ?",
                vec![kind.plural().into()],
            )
            .await?;
        row.map_or(Ok(0), |mut row| row.int())
    }

    /// Stores the encrypted value of a secret.
    pub async fn put_secret_value(
        &mut self,
        id: i64,
        key_id: &str,
        sealed: &[u8],
    ) -> Result<(), DbError> {
        self.execute(
            "DELETE FROM secret_values WHERE item_id = ?",
            vec![id.into()],
        )
        .await?;
        self.execute(
            "INSERT INTO secret_values (item_id, key_id, sealed) VALUES (?, ?, ?)",
            vec![id.into(), key_id.into(), sealed.into()],
        )
        .await
        .map(drop)
    }

    /// Returns the encrypted value of a secret with the id of its encryption key.
    pub async fn secret_value(&mut self, id: i64) -> Result<Option<(String, Vec<u8>)>, DbError> {
        let row = self
            .first(
                "SELECT key_id, sealed FROM secret_values WHERE item_id = ?",
                vec![id.into()],
            )
            .await?;
        row.map(|mut row| Ok((row.text()?, row.blob()?)))
            .transpose()
    }

    /// Returns the id, name, key and value of every secret that has a value.
    pub async fn secret_values(&mut self) -> Result<Vec<(i64, String, String, Vec<u8>)>, DbError> {
        let rows = self
            .query(
                "SELECT items.id, items.name, secret_values.key_id, secret_values.sealed FROM secret_values JOIN items ON items.id = secret_values.item_id ORDER BY items.id",
                vec![],
            )
            .await?;
        rows.into_iter()
            .map(|mut row| Ok((row.int()?, row.text()?, row.text()?, row.blob()?)))
            .collect()
    }
}
