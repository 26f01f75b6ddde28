//! Origins of policies and documents: a load of files, or a client.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{ClaimChange, Claims, Write};
use crate::value::Value;

/// Origin of a policy: who set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A version that did not record origins.
    #[default]
    Unknown,
    /// The last load of files.
    Files,
    /// A client: a change that no load of files made.
    Client,
}

/// A policy of a file that is not in effect because a client replaced or removed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HiddenModule {
    /// Its name at the last load that contained it.
    pub name: String,
    /// Absolute path of its file, if the host of the engine has set it.
    pub location: Option<String>,
    /// SHA-256 of its text at that load.
    pub digest: [u8; 32],
}

impl HiddenModule {
    /// Creates the record of a policy of a file.
    pub fn new(name: impl Into<String>, location: Option<String>, digest: [u8; 32]) -> Self {
        Self {
            name: name.into(),
            location,
            digest,
        }
    }
}

/// Returns the SHA-256 of a policy's text.
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Origins of documents, and policies of files that clients override. The origin of a policy that is in effect is in
/// its [`StoredModule`](super::StoredModule).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredOrigins {
    /// Documents that did not come from the last load of files.
    pub claims: Claims,
    /// Policies of files that are not in effect.
    pub hidden: Vec<HiddenModule>,
}

impl StoredOrigins {
    /// Creates recorded origins.
    pub fn new(claims: Claims, hidden_modules: Vec<HiddenModule>) -> Self {
        Self {
            claims,
            hidden: hidden_modules,
        }
    }

    /// Returns the origins of policies and documents for which none was recorded.
    pub fn unknown() -> Self {
        Self::new(Claims::unknown(), Vec::new())
    }

    /// Applies a change. Hidden policies are replaced as a whole.
    pub fn change(&mut self, changes: &OriginChanges) {
        match &changes.claims {
            ClaimChanges::Some(changes) => {
                for change in changes {
                    self.claims.change(change);
                }
            }
            ClaimChanges::All(claims) => self.claims = claims.clone(),
        }
        if let Some(hidden_modules) = &changes.hidden {
            self.hidden.clone_from(hidden_modules);
        }
    }
}

/// Changes of claims: single ones, or all.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClaimChanges {
    /// Changes in order.
    Some(Vec<ClaimChange>),
    /// These replace all claims.
    All(Claims),
}

impl Default for ClaimChanges {
    fn default() -> Self {
        Self::Some(Vec::new())
    }
}

/// Changes of [`StoredOrigins`], which are stored with those of documents.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OriginChanges {
    /// Changes of claims on documents.
    pub claims: ClaimChanges,
    /// All hidden policies, if they change.
    pub hidden: Option<Vec<HiddenModule>>,
}

impl OriginChanges {
    /// Returns `true` if nothing changes. Replacing all claims counts as a change.
    pub(crate) fn is_empty(&self) -> bool {
        let claims = matches!(&self.claims, ClaimChanges::Some(changes) if changes.is_empty());
        claims && self.hidden.is_none()
    }
}

/// Origins of modules in effect, by name. A missing one is unknown.
pub(crate) type ModuleOrigins = BTreeMap<String, Origin>;

/// Origins of an engine's documents and overridden policies. Those of modules in effect belong to its snapshots.
#[derive(Default)]
pub(crate) struct OriginRecord {
    pub origins: StoredOrigins,
    /// Documents of the last load, if there was one since the engine was created.
    pub loaded: Option<Value>,
    /// Absolute paths of policies' files, by the names of the last load.
    pub locations: BTreeMap<String, String>,
}

impl OriginRecord {
    /// Creates a record from the contents of a store.
    pub fn stored(mut origins: StoredOrigins) -> Self {
        sort_hidden(&mut origins.hidden);
        Self {
            origins,
            ..Self::default()
        }
    }

    /// Returns the effect of a client's change on origins. `origins` are those of the modules before it, and `text_before` returns
    /// the text of one of them.
    pub fn of_client<'m>(
        &self,
        origins: &ModuleOrigins,
        writes: &[Write],
        (before, after): (&Value, &Value),
        modules: impl Iterator<Item = &'m str>,
        text_before: &dyn Fn(&str) -> Option<String>,
    ) -> OriginChanges {
        let loaded = self.loaded.as_ref();
        let claims = self.origins.claims.of_writes(writes, before, after, loaded);
        let mut newly_hidden = Vec::new();
        for name in modules {
            let is_first = newly_hidden
                .iter()
                .all(|module: &HiddenModule| module.name != name);
            if origins.get(name) == Some(&Origin::Files)
                && is_first
                && let Some(text) = text_before(name)
            {
                let location = self.locations.get(name).cloned();
                newly_hidden.push(HiddenModule::new(name, location, digest(&text)));
            }
        }
        let all = (!newly_hidden.is_empty()).then(|| {
            let other_modules = self.origins.hidden.iter().cloned();
            let is_other =
                |module: &HiddenModule| newly_hidden.iter().all(|new| new.name != module.name);
            let mut all: Vec<_> = other_modules.filter(is_other).collect();
            all.append(&mut newly_hidden);
            sort_hidden(&mut all);
            all
        });
        OriginChanges {
            claims: ClaimChanges::Some(claims),
            hidden: all,
        }
    }
}

/// Sorts hidden policies in the order in which stores return them, so that equal lists compare as equal.
pub(crate) fn sort_hidden(modules: &mut [HiddenModule]) {
    modules.sort_by(|a, b| a.name.cmp(&b.name));
}
