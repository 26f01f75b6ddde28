//! Bundles, sources, stacks and secrets.

use std::collections::BTreeSet;

use super::{Cell, DbError, Row, Transaction, now};
use crate::model::Kind;

/// What is known of an item without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemHead {
    /// Its number, in the order of creation.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// How often it was written.
    pub version: i64,
    /// The number of the token that made it.
    pub owner: Option<i64>,
    /// The file that describes it, where one does.
    pub file: Option<String>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What is known of it without its body.
    pub head: ItemHead,
    /// It as JSON; of a secret only its type.
    pub body: String,
}

/// An item as it is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'i> {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: &'i str,
    /// Who owns it, if it is new.
    pub owner: Option<i64>,
    /// The file that describes it.
    pub file: Option<&'i str>,
    /// It as JSON.
    pub body: &'i str,
}

/// Which items somebody sees.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'s> {
    /// The number of their token.
    pub token: i64,
    /// The permission that they may have been granted on an item.
    pub permission: &'s str,
    /// A condition of the policy on `items` and on what was granted on them (`grants`): the one permission, or nothing.
    pub condition: &'s str,
    /// Where it may hold.
    pub reach: Reach,
}

/// Where a condition may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On all items.
    All,
    /// On those alone that somebody owns, or on which they were granted something.
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

fn item(mut row: Row) -> Result<Item, DbError> {
    Ok(Item {
        head: head(&mut row)?,
        body: row.text()?,
    })
}

impl Transaction {
    /// What is known of an item without its body.
    pub async fn head(&mut self, kind: Kind, name: &str) -> Result<Option<ItemHead>, DbError> {
        let row = self
            .first(
                "SELECT id, name, version, owner_id, file FROM items WHERE kind = ? AND name = ?",
                vec![kind.plural().into(), name.into()],
            )
            .await?;
        row.map(|mut row| head(&mut row)).transpose()
    }

    /// An item.
    pub async fn item(&mut self, kind: Kind, name: &str) -> Result<Option<Item>, DbError> {
        let row = self
            .first(
                "SELECT id, name, version, owner_id, file, body FROM items WHERE kind = ? AND name = ?",
                vec![kind.plural().into(), name.into()],
            )
            .await?;
        row.map(item).transpose()
    }

    /// Items of a kind with larger numbers, in order.
    pub async fn items_after(
        &mut self,
        kind: Kind,
        after: i64,
        most: i64,
    ) -> Result<Vec<Item>, DbError> {
        let rows = self
            .query(
                "SELECT id, name, version, owner_id, file, body FROM items WHERE kind = ? AND id > ? ORDER BY id LIMIT ?",
                vec![kind.plural().into(), after.into(), most.into()],
            )
            .await?;
        rows.into_iter().map(item).collect()
    }

    /// Items of a kind with larger numbers under a condition, in order.
    pub async fn items_under(
        &mut self,
        kind: Kind,
        seen: Seen<'_>,
        after: i64,
        most: i64,
    ) -> Result<Vec<Item>, DbError> {
        let Seen {
            token,
            permission,
            condition,
            reach,
        } = seen;
        let mut values: Vec<Cell> = Vec::new();
        let (from, joined) = match reach {
            Reach::All => ("items", ""),
            // the items of others are not even looked at, so that no time tells of them
            Reach::Own => {
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
            "SELECT items.id, items.name, items.version, items.owner_id, items.file, items.body FROM {from} LEFT JOIN grants ON grants.item_id = items.id AND grants.token_id = ? AND grants.permission = ? WHERE items.kind = ? AND items.id > ?{joined} AND ({condition}) ORDER BY items.id LIMIT ?"
        );
        values.extend([
            token.into(),
            permission.into(),
            kind.plural().into(),
            after.into(),
            most.into(),
        ]);
        let rows = self.select(sql, values).await?;
        rows.into_iter().map(item).collect()
    }

    /// Makes an item or replaces it, with what it names of others. The owner of one that is there stays, unless a file describes
    /// it now: then it is of whoever runs the service.
    pub async fn put_item(
        &mut self,
        before: Option<&ItemHead>,
        item: NewItem<'_>,
        used: &[i64],
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
                let made = self.head(item.kind, item.name).await?;
                made.ok_or_else(|| DbError::Other("an item that was made is not there".to_owned()))?
            }
        };
        let mut used = used.to_vec();
        used.sort_unstable();
        used.dedup();
        for id in used {
            self.execute(
                "INSERT INTO item_references (user_id, used_id) VALUES (?, ?)",
                vec![head.id.into(), id.into()],
            )
            .await?;
        }
        Ok(head)
    }

    /// Notes that another file describes an item with the same content: its version stays.
    pub async fn move_item(&mut self, id: i64, file: &str) -> Result<(), DbError> {
        let sql = "UPDATE items SET file = ? WHERE id = ?";
        let moved = self.execute(sql, vec![file.into(), id.into()]).await;
        moved.map(drop)
    }

    /// Leaves an item to the API that was described by a file.
    pub async fn release_item(&mut self, id: i64) -> Result<(), DbError> {
        let sql = "UPDATE items SET file = NULL, version = version + 1 WHERE id = ?";
        self.execute(sql, vec![id.into()]).await.map(drop)
    }

    /// Removes an item with all that belongs to it.
    pub async fn remove_item(&mut self, id: i64) -> Result<(), DbError> {
        self.execute("DELETE FROM items WHERE id = ?", vec![id.into()])
            .await
            .map(drop)
    }

    /// Who names an item: kinds and names, in the order of creation.
    pub async fn users(&mut self, id: i64) -> Result<Vec<(Kind, ItemHead)>, DbError> {
        let rows = self
            .query(
                "SELECT items.kind, items.id, items.name, items.version, items.owner_id, items.file FROM item_references JOIN items ON items.id = item_references.user_id WHERE item_references.used_id = ? ORDER BY items.id",
                vec![id.into()],
            )
            .await?;
        rows.into_iter().map(kind_and_head).collect()
    }

    /// The sources that require a source, themselves or by others between, and itself.
    pub async fn requirers(&mut self, id: i64) -> Result<BTreeSet<i64>, DbError> {
        let rows = self
            .query(
                "WITH RECURSIVE requirers (id) AS (SELECT id FROM items WHERE id = ? UNION SELECT users.id FROM requirers JOIN item_references ON item_references.used_id = requirers.id JOIN items AS users ON users.id = item_references.user_id WHERE users.kind = 'sources') SELECT id FROM requirers",
                vec![id.into()],
            )
            .await?;
        rows.into_iter().map(|mut row| row.int()).collect()
    }

    /// Which sources require which: their names.
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

    /// The items that files describe.
    pub async fn items_of_files(&mut self) -> Result<Vec<(Kind, ItemHead)>, DbError> {
        let rows = self
            .query(
                "SELECT kind, id, name, version, owner_id, file FROM items WHERE file IS NOT NULL ORDER BY id DESC",
                vec![],
            )
            .await?;
        rows.into_iter().map(kind_and_head).collect()
    }

    /// How many items of a kind there are.
    pub async fn count_items(&mut self, kind: Kind) -> Result<i64, DbError> {
        let row = self
            .first(
                "SELECT COUNT(*) FROM items WHERE kind = ?",
                vec![kind.plural().into()],
            )
            .await?;
        row.map_or(Ok(0), |mut row| row.int())
    }

    /// Keeps the value of a secret, encrypted.
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

    /// The value of a secret: the key that it is encrypted with, and itself.
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

    /// Every secret that has a value: number, name, key, value.
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
