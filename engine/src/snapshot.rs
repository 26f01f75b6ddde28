//! Snapshots of an engine: a policy and the base documents of one revision.
//!
//! Each change creates a new snapshot and publishes it atomically. A decision reads one snapshot from start to end, so
//! it sees all of a change or nothing of it.

mod bundles;
mod current;
mod metadata;
mod policy;

use std::sync::Arc;
use std::time::Duration;

use solon_syntax::ast::Module;

use crate::error::Error;
use crate::store::{DataSnapshot, ModuleOrigins, Origin};
use crate::value::Value;

pub(crate) use bundles::active;
pub use bundles::{ActiveBundle, ScopeError};
pub use current::release_thread_snapshot;
pub(crate) use current::{CurrentSnapshot, next_trial_version_id, next_version_id};
pub(crate) use policy::Policy;

/// The policy and the base documents of an engine at one point in time.
///
/// Cheap to clone. It keeps both in memory as long as it exists. A request with
/// [`Request::snapshot`](crate::Request::snapshot) is evaluated with it instead of the current snapshot, so that
/// several decisions use the same policy and documents.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow := true")?;
/// let allow = engine.prepare_document("data.p.allow")?;
/// let before = engine.snapshot();
/// engine.set_module("p.rego", "package p\nallow := false")?;
/// let request = Request::new();
/// assert_eq!(allow.evaluate(&request.snapshot(&before))?, Some(true.into()));
/// assert_eq!(allow.evaluate(&request)?, Some(false.into()));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot(Arc<SnapshotState>);

pub(crate) struct SnapshotState {
    /// Unique number of the snapshot among all engines of the process.
    pub version_id: u64,
    /// Number of changes of the engine before this snapshot.
    pub generation: u64,
    pub policy: Arc<Policy>,
    pub documents: Arc<DataSnapshot>,
    /// Origins of the modules, if the engine records them: if it has a store, or has loaded files.
    pub module_origins: Option<Arc<ModuleOrigins>>,
}

impl Snapshot {
    pub(crate) fn new(state: Arc<SnapshotState>) -> Self {
        Self(state)
    }

    pub(crate) fn state(&self) -> &SnapshotState {
        &self.0
    }

    pub(crate) fn into_state(self) -> Arc<SnapshotState> {
        self.0
    }

    /// Returns the number of changes of the engine so far, of policy or of documents.
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    /// Returns the base documents of this snapshot.
    pub fn documents(&self) -> &DataSnapshot {
        &self.0.documents
    }

    /// Returns a base document by its name, such as `data.users.alice` or `users/alice` ([`Path`]).
    ///
    /// # Errors
    /// [`Error::Store`] if there is none, [`Error::Options`] if the text does not name a document.
    ///
    /// [`Path`]: crate::Path
    pub fn read(&self, document: &str) -> Result<&Value, Error> {
        Ok(self.0.documents.read(&document.parse()?)?)
    }

    /// Returns the duration of each stage of the last compilation, by OPA's name of the stage
    /// (`compile_stage_resolve_refs`).
    pub fn compile_stages(&self) -> impl Iterator<Item = (&str, Duration)> {
        let stages = self.0.policy.stages.iter();
        stages.map(|(name, took)| (name.as_str(), *took))
    }

    /// Returns all modules as they were parsed, in order of their names.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &Arc<Module>)> {
        let modules = self.0.policy.modules.iter();
        modules.map(|(name, module)| (name.as_str(), module))
    }

    /// Returns a module as it was parsed, or `None` if there is none.
    pub fn module(&self, name: &str) -> Option<&Arc<Module>> {
        self.0.policy.modules.get(name)
    }

    /// Returns the origin of a module in effect. It is [`Origin::Client`] unless the engine has a store or has loaded
    /// files by [`Engine::load_files`](crate::Engine::load_files).
    pub fn module_origin(&self, name: &str) -> Origin {
        self.0.module_origin(name)
    }
}

impl SnapshotState {
    /// Returns the origin of a module in effect. Without a record, it is a client.
    pub fn module_origin(&self, name: &str) -> Origin {
        match &self.module_origins {
            Some(origins) => origins.get(name).copied().unwrap_or_default(),
            None => Origin::Client,
        }
    }
}
