//! A bundle with everything that it depends on, as one snapshot of the database.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::ParsedItems;
use crate::db::{Database, ItemHead, Mode, StoredSource, Transaction};
use crate::error::ApiError;
use crate::list_digest::ListDigest;
use crate::model::{Bundle, Kind, Requirement, Resource as _, Role, Secret, Source, Stack};
use crate::secrets::{Keyring, open_secret};
use crate::tree::{Content, Tree};

/// A bundle with everything that it depends on.
pub struct Desired {
    /// The bundle, parsed.
    pub bundle: Arc<Bundle>,
    /// Every stack, also those that do not select the bundle.
    pub stacks: Vec<Arc<Stack>>,
    /// The sources that the bundle and the stacks require directly or transitively, by name.
    pub sources: BTreeMap<String, Arc<DesiredSource>>,
    /// The secrets of the storage, by name.
    pub secrets: BTreeMap<String, Secret>,
    /// Digest of the storage and its secrets. If it changes, the bundle is published again.
    pub storage_digest: String,
}

/// A source with what the database contains for it.
pub struct DesiredSource {
    /// The source, parsed.
    pub source: Arc<Source>,
    /// The secrets that it uses, decrypted, by name.
    pub secrets: BTreeMap<String, Secret>,
    /// The pushed documents as files.
    pub pushed: Tree,
    /// Digest of all of these and of the triggers. A new digest causes a fetch.
    pub digest: String,
}

impl Desired {
    /// Loads a bundle. Returns `None` if it does not exist. Items that are `parsed` already are not parsed again.
    ///
    /// # Errors
    /// The database cannot be reached, a secret cannot be decrypted, or an item is invalid.
    pub async fn load(
        database: &Database,
        keyring: &Keyring,
        parsed: &ParsedItems,
        bundle: &str,
    ) -> Result<Option<Self>, ApiError> {
        let mut transaction = database.begin(Mode::Read).await?;
        let loaded = Loading {
            transaction: &mut transaction,
            keyring,
            parsed,
        };
        let loaded = loaded.desired(bundle).await;
        transaction.roll_back().await;
        loaded
    }
}

struct Loading<'l> {
    transaction: &'l mut Transaction,
    keyring: &'l Keyring,
    parsed: &'l ParsedItems,
}

impl Loading<'_> {
    async fn desired(mut self, name: &str) -> Result<Option<Desired>, ApiError> {
        let Some(item) = self.transaction.item(Kind::Bundle, name).await? else {
            return Ok(None);
        };
        let bundle = self.parsed.bundles.parse(&item)?;
        let stacks = self.stacks().await?;
        let mut sources = BTreeMap::new();
        // the plan decides which stacks select the bundle.
        let stacked = stacks.iter().flat_map(|stack| &stack.requirements);
        let mut open = names(bundle.requirements.iter().chain(stacked));
        // The sources of one level are loaded together. The number of statements does not depend on their number.
        while !open.is_empty() {
            let wanted: Vec<String> = open.into_iter().collect();
            open = BTreeSet::new();
            // a missing source is reported by the plan.
            for stored in self.transaction.sources_named(&wanted).await? {
                let name = stored.item.head.name.clone();
                let source = self.source(stored).await?;
                open.extend(names(source.source.requirements.iter()));
                sources.insert(name, Arc::new(source));
            }
            open.retain(|name| !sources.contains_key(name));
        }
        let mut digest = ListDigest::new();
        digest.add(&serde_json::to_vec(&bundle.object_storage).unwrap_or_default());
        let references = bundle.references();
        let secrets = self.secrets(&item.head, &references, &mut digest).await?;
        Ok(Some(Desired {
            bundle,
            stacks,
            sources,
            secrets,
            storage_digest: digest.finish(),
        }))
    }

    async fn stacks(&mut self) -> Result<Vec<Arc<Stack>>, ApiError> {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = self
                .transaction
                .items_after(Kind::Stack, after, 1000)
                .await?;
            let Some(last) = page.last() else {
                return Ok(found);
            };
            after = last.head.id;
            for item in &page {
                found.push(self.parsed.stacks.parse(item)?);
            }
        }
    }

    async fn source(&mut self, stored: StoredSource) -> Result<DesiredSource, ApiError> {
        let item = &stored.item;
        let source = self.parsed.sources.parse(item)?;
        let mut digest = ListDigest::new();
        digest.add(item.body.as_bytes());
        // a trigger makes another version of the source, which is fetched once for all bundles
        digest.add(&stored.triggers.to_be_bytes());
        let references = source.references();
        let secrets = self.secrets(&item.head, &references, &mut digest).await?;
        let mut pushed = Tree::default();
        for document in stored.documents {
            digest.add(document.path.as_bytes());
            digest.add(document.body.as_bytes());
            pushed.insert(document.path, Content::Inline(Bytes::from(document.body)));
        }
        Ok(DesiredSource {
            source,
            secrets,
            pushed,
            digest: digest.finish(),
        })
    }

    /// Returns the secrets that an item refers to, decrypted, and adds them to `digest`. Missing secrets are omitted.
    ///
    /// # Errors
    /// A secret cannot be decrypted.
    async fn secrets(
        &mut self,
        user: &ItemHead,
        references: &[crate::model::Reference],
        digest: &mut ListDigest,
    ) -> Result<BTreeMap<String, Secret>, ApiError> {
        let secrets = references
            .iter()
            .filter(|reference| reference.kind == Kind::Secret);
        let wanted: BTreeSet<&str> = secrets.map(|reference| reference.name.as_str()).collect();
        let mut found = BTreeMap::new();
        for name in wanted {
            let opened = open_secret(self.transaction, self.keyring, name).await?;
            let Some(mut opened) = opened else {
                continue;
            };
            opened.secret.is_foreign = self.is_foreign(user, &opened.item.head).await?;
            digest.add(name.as_bytes());
            digest.add(opened.item.body.as_bytes());
            digest.add(&opened.text);
            if opened.secret.is_foreign {
                digest.add(b"foreign");
            }
            found.insert(name.to_owned(), opened.secret);
        }
        Ok(found)
    }

    /// Returns `true` if an item has another owner than a secret. Administrators and files may use each secret.
    async fn is_foreign(&mut self, user: &ItemHead, secret: &ItemHead) -> Result<bool, ApiError> {
        if user.owner == secret.owner || user.file.is_some() {
            return Ok(false);
        }
        let Some(owner) = user.owner else {
            return Ok(true);
        };
        let owner = self.transaction.token_by_id(owner).await?;
        Ok(owner.is_none_or(|owner| owner.role != Role::Administrator))
    }
}

fn names<'r>(requirements: impl Iterator<Item = &'r Requirement>) -> BTreeSet<String> {
    requirements
        .filter_map(|requirement| requirement.source.clone())
        .collect()
}
