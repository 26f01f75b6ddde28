//! Applies the items and tokens of configuration files to the database in one transaction.

use std::collections::BTreeSet;

use super::generation::Recorded;
use super::root::Config;
use crate::changes::{Actor, Changing, ItemWrite, secret_body};
use crate::db::{Database, ItemHead, Mode, NewToken, Transaction};
use crate::error::ApiError;
use crate::model::Kind;
use crate::secrets::{Keyring, ServiceKeys, secret_context};

/// The result of applying configuration files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The number of items that were created or changed.
    pub written: usize,
    /// The number of items that were deleted because no file describes them any more.
    pub removed: usize,
    /// The items that were left to the API because items of the API use them: `source "lib"`.
    pub left: Vec<String>,
    /// `true` if nothing was applied because a newer configuration of another process is in force.
    pub is_superseded: bool,
    /// The generation that this process has applied. It grows with each change of the files.
    pub generation: i64,
}

/// Applies the items and tokens of files to a database.
///
/// `applied` is the generation that this process has applied before, or `None` if it starts.
///
/// # Errors
/// A reference to a missing item, or the database cannot be reached. The transaction is rolled back.
pub async fn apply(
    config: &Config,
    applied: Option<i64>,
    database: &Database,
    keyring: &Keyring,
    keys: &ServiceKeys,
) -> Result<Applied, ApiError> {
    let mut transaction = database.begin(Mode::Write).await?;
    let applied = apply_newer(config, applied, &mut transaction, keyring, keys).await;
    transaction.settle(applied).await
}

/// Applies a configuration unless a newer one is in force.
async fn apply_newer(
    config: &Config,
    applied: Option<i64>,
    transaction: &mut Transaction,
    keyring: &Keyring,
    keys: &ServiceKeys,
) -> Result<Applied, ApiError> {
    let in_force = Recorded::load(transaction).await?;
    let own_record = Recorded::successor(in_force.as_ref(), config, keys);
    if let Some(in_force) = &in_force
        && own_record.is_superseded(in_force, applied)
    {
        return Ok(Applied {
            is_superseded: true,
            generation: applied.unwrap_or_default(),
            ..Applied::default()
        });
    }
    let mut applied = apply_all(config, transaction, keyring, keys).await?;
    if in_force.as_ref() != Some(&own_record) {
        own_record.save(transaction).await?;
    }
    applied.generation = own_record.generation;
    Ok(applied)
}

/// Applies a configuration in a transaction: stores described items, and deletes items that no file describes any more.
///
/// # Errors
/// An item conflicts with one that is stored. The caller rolls back.
pub(super) async fn apply_all(
    config: &Config,
    transaction: &mut Transaction,
    keyring: &Keyring,
    keys: &ServiceKeys,
) -> Result<Applied, ApiError> {
    let mut applied = Applied::default();
    let mut described_items: BTreeSet<(Kind, &str)> = BTreeSet::new();
    for secret in &config.secrets {
        described_items.insert((Kind::Secret, &secret.name));
        let before = transaction.item(Kind::Secret, &secret.name).await?;
        if let Some(before) = &before
            && let Some(file) = &before.head.file
            && before.body == secret_body(&secret.value, &secret.allowed_hosts)
            && let Some((key_id, sealed)) = transaction.secret_value(before.head.id).await?
            && key_id == keyring.current()
        {
            let context = secret_context(&secret.name);
            let stored_value = keyring.unseal(&context, &key_id, &sealed);
            if stored_value.is_ok_and(|stored_value| *stored_value == *secret.value.to_json()) {
                if *file != secret.file {
                    transaction.move_item(before.head.id, &secret.file).await?;
                }
                continue;
            }
        }
        let mut changing = changing(transaction, &secret.file);
        let (value, hosts) = (&secret.value, &secret.allowed_hosts);
        let put = changing.put_secret(before.as_ref(), &secret.name, value, hosts, keyring);
        put.await
            .map_err(|error| item_error(Kind::Secret, &secret.name, &error))?;
        applied.written += 1;
    }
    for item in &config.items {
        described_items.insert((item.kind, &item.name));
        let before = transaction.item(item.kind, &item.name).await?;
        // another path with the same content is not a change
        if let Some(before) = &before
            && before.body == item.body
            && let Some(file) = &before.head.file
        {
            if *file != item.file {
                transaction.move_item(before.head.id, &item.file).await?;
            }
            continue;
        }
        let item_write = ItemWrite {
            kind: item.kind,
            name: &item.name,
            body: item.body.clone(),
            references: item.references.clone(),
        };
        let put = changing(transaction, &item.file)
            .put(before.as_ref(), item_write)
            .await;
        put.map_err(|error| item_error(item.kind, &item.name, &error))?;
        applied.written += 1;
    }
    apply_tokens(config, transaction, keys, &mut applied).await?;
    remove_others(transaction, &described_items, &mut applied).await?;
    Ok(applied)
}

fn changing<'c>(transaction: &'c mut Transaction, file: &'c str) -> Changing<'c> {
    Changing {
        transaction,
        actor: Actor::File(file),
        request: "",
    }
}

fn item_error(kind: Kind, name: &str, error: &ApiError) -> ApiError {
    let message = format!("load config failed: {} {name:?}: {error}", kind.singular());
    ApiError::new(error.kind, message)
}

async fn apply_tokens(
    config: &Config,
    transaction: &mut Transaction,
    keys: &ServiceKeys,
    applied: &mut Applied,
) -> Result<(), ApiError> {
    // a key may move from one token to another
    remove_other_tokens(config, transaction, applied).await?;
    free_keys(config, transaction, keys).await?;
    for token in &config.tokens {
        let key_hash = keys.digest(&token.key);
        let before = transaction.token(&token.name).await?;
        let of_key = transaction.holder(&key_hash).await?;
        if let Some(other) = of_key.as_ref().filter(|other| other.name != token.name) {
            let message = format!("has the key of token {:?}", other.name);
            return Err(item_error(
                Kind::Token,
                &token.name,
                &ApiError::invalid(message),
            ));
        }
        if let Some(before) = &before
            && before.role == token.role
            && of_key.is_some()
            && let Some(file) = &before.file
        {
            if *file != token.file {
                transaction.move_token(before.id, &token.file).await?;
            }
            continue;
        }
        let new_token = NewToken {
            name: &token.name,
            role: token.role,
            key_hash: &key_hash,
            file: Some(&token.file),
            expires_at: None,
        };
        changing(transaction, &token.file)
            .describe_token(before.as_ref(), new_token)
            .await?;
        applied.written += 1;
    }
    Ok(())
}

/// Clears the keys of tokens that get new ones, because another token may get one of these keys.
async fn free_keys(
    config: &Config,
    transaction: &mut Transaction,
    keys: &ServiceKeys,
) -> Result<(), ApiError> {
    for token in &config.tokens {
        let Some(holder) = transaction.holder(&keys.digest(&token.key)).await? else {
            continue;
        };
        let mut other_tokens = config.tokens.iter();
        let gets_other =
            other_tokens.any(|other| other.name == holder.name && other.key != token.key);
        if gets_other && holder.file.is_some() {
            transaction.free_key(holder.id).await?;
        }
    }
    Ok(())
}

/// Revokes the tokens that files no longer describe.
async fn remove_other_tokens(
    config: &Config,
    transaction: &mut Transaction,
    applied: &mut Applied,
) -> Result<(), ApiError> {
    let mut after = 0;
    loop {
        let page = transaction.tokens_after(after, 1000).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        for token in &page {
            let is_described = config.tokens.iter().any(|other| other.name == token.name);
            if let Some(file) = &token.file
                && !is_described
            {
                changing(transaction, file).drop_token(token).await?;
                applied.removed += 1;
            }
        }
    }
}

/// Deletes the items that files no longer describe. Items that an item of the API uses are left to the API.
async fn remove_others(
    transaction: &mut Transaction,
    described_items: &BTreeSet<(Kind, &str)>,
    applied: &mut Applied,
) -> Result<(), ApiError> {
    let all = transaction.items_of_files().await?;
    let is_gone =
        |(kind, head): &(Kind, ItemHead)| !described_items.contains(&(*kind, head.name.as_str()));
    let mut removed: Vec<(Kind, ItemHead)> = all.into_iter().filter(is_gone).collect();
    // items are deleted before the items that they reference
    loop {
        let mut in_use = Vec::new();
        let count = removed.len();
        for (kind, head) in removed {
            if !transaction.users(head.id).await?.is_empty() {
                in_use.push((kind, head));
                continue;
            }
            if let Some(item) = transaction.item(kind, &head.name).await? {
                let file = head.file.as_deref().unwrap_or_default();
                changing(transaction, file).remove(kind, &item).await?;
                applied.removed += 1;
            }
        }
        removed = in_use;
        if removed.len() == count || removed.is_empty() {
            break;
        }
    }
    for (kind, head) in &removed {
        let users = transaction.users(head.id).await?;
        let is_described = |(user_kind, user): &&(Kind, ItemHead)| {
            described_items.contains(&(*user_kind, user.name.as_str()))
        };
        if let Some((user_kind, user)) = users.iter().find(is_described) {
            let message = format!(
                "no file describes it any more, and {} {:?} uses it",
                user_kind.singular(),
                user.name
            );
            return Err(item_error(*kind, &head.name, &ApiError::invalid(message)));
        }
    }
    for (kind, head) in removed {
        let file = head.file.as_deref().unwrap_or_default();
        changing(transaction, file).release(kind, &head).await?;
        let item_text = format!("{} {:?}", kind.singular(), head.name);
        tracing::warn!(
            item = item_text,
            "no file describes what is in use; it is left to the API"
        );
        applied.left.push(item_text);
    }
    Ok(())
}
