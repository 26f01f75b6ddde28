//! Creates, replaces and deletes items, resolves their references and rejects cycles.

use std::collections::BTreeMap;

use super::documents::check_files;
use super::{Actor, Changing};
use crate::access::AccessRequest;
use crate::db::{DbError, Item, ItemHead, NewItem};
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::credentials;
use crate::model::{FileDocument, Kind, Reference, SecretValue, allowed_hosts, cycle};
use crate::secrets::{Keyring, secret_context};

pub struct ItemWrite<'w> {
    pub kind: Kind,
    pub name: &'w str,
    pub body: String,
    pub references: Vec<Reference>,
}

/// Returns the body of a secret, which contains only the type of its value.
pub fn secret_body(value: &SecretValue, allowed_hosts: &[String]) -> String {
    let mut body = serde_json::json!({ "type": value.kind() });
    if !allowed_hosts.is_empty()
        && let Some(members) = body.as_object_mut()
    {
        members.insert("allowed_hosts".to_owned(), allowed_hosts.into());
    }
    body.to_string()
}

/// Returns the error for an item that the database rejected. A conflict names the item.
fn about(error: DbError, kind: Kind, name: &str) -> ApiError {
    ApiError::from(error).about(format!("{} {name:?}", kind.singular()), "the body")
}

impl Changing<'_> {
    /// Creates or replaces an item.
    pub async fn put(
        &mut self,
        before: Option<&Item>,
        item_write: ItemWrite<'_>,
    ) -> Result<ItemHead, ApiError> {
        let head = before.map(|before| &before.head);
        let used_ids = self.resolve(head, &item_write.references).await?;
        // no other source requires a new source, and it has no pushed documents
        if let (Kind::Source, Some(before)) = (item_write.kind, before) {
            self.reject_cycle(&before.head, &item_write.references, &used_ids)
                .await?;
            let files = FileDocument::of_source(&item_write.body)?;
            check_files(self.transaction, before.head.id, &files).await?;
        }
        let (owner, file) = match self.actor {
            Actor::Principal(principal, _) => (Some(principal.holder.id), None),
            Actor::File(file) => (None, Some(file)),
            Actor::Operator => (None, None),
        };
        if let (Actor::File(file), Kind::Source) = (self.actor, item_write.kind) {
            for field in credentials::in_source(&item_write.body) {
                let source = item_write.name;
                tracing::warn!(
                    file,
                    source,
                    place = field,
                    "a credential is stored in plain text; put it into a secret and name that by `credentials`"
                );
            }
        }
        let item = NewItem {
            kind: item_write.kind,
            name: item_write.name,
            owner,
            file,
            body: &item_write.body,
        };
        let put = self.transaction.put_item(head, item, &used_ids).await;
        let head = put.map_err(|error| about(error, item_write.kind, item_write.name))?;
        let action = if before.is_some() { "update" } else { "create" };
        let before = before.map(|before| before.body.as_str());
        self.note(
            action,
            item_write.kind,
            item_write.name,
            before,
            Some(&item_write.body),
        )
        .await
        .map_err(|error| {
            error.about(
                format!("{} {:?}", item_write.kind.singular(), item_write.name),
                "the body",
            )
        })?;
        Ok(head)
    }

    /// Creates or replaces a secret.
    pub async fn put_secret(
        &mut self,
        before: Option<&Item>,
        name: &str,
        value: &SecretValue,
        allowed_hosts: &[String],
        keyring: &Keyring,
    ) -> Result<ItemHead, ApiError> {
        let item_write = ItemWrite {
            kind: Kind::Secret,
            name,
            body: secret_body(value, allowed_hosts),
            references: Vec::new(),
        };
        let head = self.put(before, item_write).await?;
        let (key_id, sealed) = keyring
            .seal(&secret_context(name), &value.to_json())
            .map_err(|error| ApiError::internal(error.0))?;
        self.transaction
            .put_secret_value(head.id, key_id, &sealed)
            .await
            .map_err(|error| ApiError::from(error).about(format!("secret {name:?}"), "value"))?;
        Ok(head)
    }

    /// Deletes an item. Fails if another item references it.
    pub async fn remove(&mut self, kind: Kind, item: &Item) -> Result<(), ApiError> {
        let users = self.transaction.users(item.head.id).await?;
        if !users.is_empty() {
            return Err(self.in_use(kind, &item.head.name, &users)?);
        }
        let removed = self.transaction.remove_item(item.head.id).await;
        removed.map_err(|error| about(error, kind, &item.head.name))?;
        self.note("delete", kind, &item.head.name, Some(&item.body), None)
            .await
    }

    /// Detaches an item from its configuration file, so that the API manages it.
    pub async fn release(&mut self, kind: Kind, head: &ItemHead) -> Result<(), ApiError> {
        self.transaction.release_item(head.id).await?;
        self.note("release", kind, &head.name, None, None).await
    }

    /// Returns the error for an item in use. It names only the users that the principal may see.
    fn in_use(
        &self,
        kind: Kind,
        name: &str,
        users: &[(Kind, ItemHead)],
    ) -> Result<ApiError, ApiError> {
        let mut visible_users = Vec::new();
        let (mut unnamed, mut is_hidden) = (0, false);
        for (kind, user) in users {
            let is_seen = match self.actor {
                Actor::Principal(principal, access) => {
                    access.allows(principal, AccessRequest::View(*kind), Some(user))?
                }
                Actor::File(_) | Actor::Operator => true,
            };
            if !is_seen {
                is_hidden = true;
            } else if visible_users.len() < limits::USERS {
                visible_users.push(format!("{} {:?}", kind.singular(), user.name));
            } else {
                unnamed += 1;
            }
        }
        if unnamed > 0 {
            visible_users.push(format!("{unnamed} more"));
        }
        if is_hidden {
            visible_users.push("what you may not see".to_owned());
        }
        let message = format!(
            "{} {name:?} is in use by {}",
            kind.singular(),
            visible_users.join(", ")
        );
        Ok(ApiError::new(ApiErrorKind::Conflict, message))
    }

    /// Returns the ids of the referenced items. An item is looked up once, a secret for each reference to it.
    ///
    /// # Errors
    /// An item does not exist, or the author may not use it.
    async fn resolve(
        &mut self,
        user: Option<&ItemHead>,
        references: &[Reference],
    ) -> Result<Vec<i64>, ApiError> {
        let mut ids: BTreeMap<(Kind, &str), i64> = BTreeMap::new();
        for reference in references {
            let key = (reference.kind, reference.name.as_str());
            // a secret may be sent to several hosts
            if ids.contains_key(&key) && reference.kind != Kind::Secret {
                continue;
            }
            let head = self
                .transaction
                .head(reference.kind, &reference.name)
                .await?;
            let may = match self.actor {
                Actor::File(_) | Actor::Operator => true,
                Actor::Principal(principal, access) => {
                    access.allows(principal, AccessRequest::Use(reference.kind), head.as_ref())?
                }
            };
            let (kind, field) = (reference.kind.singular(), &reference.field);
            let name = &reference.name;
            match head {
                Some(head) if may => {
                    self.check_receiver(user, &head, reference).await?;
                    ids.insert(key, head.id);
                }
                None if may => {
                    let message = format!("{field} names {kind} {name:?}, which does not exist");
                    return Err(ApiError::new(ApiErrorKind::Reference, message));
                }
                // the message must not reveal whether the item exists
                _ => {
                    let message = format!(
                        "{field} names {kind} {name:?}, which does not exist or may not be used"
                    );
                    return Err(ApiError::new(ApiErrorKind::Reference, message));
                }
            }
        }
        Ok(ids.into_values().collect())
    }

    /// Rejects a reference that would send a secret to a host without the consent of the secret's owner. Items of other
    /// owners need a grant, and may send the secret only to its `allowed_hosts`.
    async fn check_receiver(
        &mut self,
        user: Option<&ItemHead>,
        secret: &ItemHead,
        reference: &Reference,
    ) -> Result<(), ApiError> {
        let Actor::Principal(principal, access) = self.actor else {
            return Ok(());
        };
        if reference.kind != Kind::Secret
            || access.allows(principal, AccessRequest::ManageGrants, None)?
        {
            return Ok(());
        }
        let owner = user.map_or(Some(principal.holder.id), |user| user.owner);
        let id = principal.holder.id;
        if secret.owner == Some(id) && owner == Some(id) {
            return Ok(());
        }
        let item = self.transaction.item(Kind::Secret, &secret.name).await?;
        let hosts = item.map_or_else(Vec::new, |item| allowed_hosts(&item.body));
        let (field, name) = (&reference.field, &reference.name);
        let message = match &reference.address {
            Some(address) if address.is_in(&hosts) => return Ok(()),
            _ if hosts.is_empty() => format!(
                "{field} names secret {name:?}, which has no `allowed_hosts`: only items of its owner may use it"
            ),
            Some(address) => format!(
                "{field} names secret {name:?}, whose `allowed_hosts` do not include {:?} with this port",
                address.host
            ),
            None => format!(
                "{field} names secret {name:?}, and it is not certain which host would receive it"
            ),
        };
        Err(ApiError::new(ApiErrorKind::Reference, message))
    }

    /// Rejects a source that would require itself.
    async fn reject_cycle(
        &mut self,
        head: &ItemHead,
        references: &[Reference],
        used_ids: &[i64],
    ) -> Result<(), ApiError> {
        let requirers = self.transaction.requirers(head.id).await?;
        if !used_ids.iter().any(|used_id| requirers.contains(used_id)) {
            return Ok(());
        }
        let name = head.name.as_str();
        let mut requires: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let sources = references
            .iter()
            .filter(|reference| reference.kind == Kind::Source);
        let own_sources: Vec<String> = sources.map(|reference| reference.name.clone()).collect();
        for (user, used_source) in self.transaction.source_edges().await? {
            requires.entry(user).or_default().push(used_source);
        }
        requires.insert(name.to_owned(), own_sources);
        match cycle(name, &requires) {
            // every source on the path requires the next, but only the two ends are known to be visible to the caller
            Some(cycle) => Err(ApiError::invalid(match self.actor {
                Actor::File(_) | Actor::Operator => {
                    format!("requirements form a cycle: {}", cycle.join(" → "))
                }
                Actor::Principal(..) => {
                    let first = cycle.get(1).map_or("", String::as_str);
                    format!("requirements form a cycle: source {first:?} requires source {name:?}")
                }
            })),
            None => Err(ApiError::internal("a cycle has no way around")),
        }
    }
}
