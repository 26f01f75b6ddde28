//! One moment of an engine: a policy and the base documents that belong to it.
//!
//! Changes make a new moment and publish it in one step. A decision runs within one moment from its beginning to its
//! end, so it sees all of a change or nothing of it.

mod bundles;
mod current;
mod metadata;
mod policy;

use std::sync::Arc;
use std::time::Duration;

use solon_syntax::ast::Module;

use crate::error::Error;
use crate::store::{DataSnapshot, ModuleOrigins, Origin, Path};
use crate::value::Value;

pub use bundles::ActiveBundle;
pub(crate) use bundles::active;
pub use current::release_thread_snapshot;
pub(crate) use current::{CurrentSnapshot, next_trial_version_id, next_version_id};
pub(crate) use policy::Policy;

/// The policy and the base documents of an engine, as they were when it was taken.
///
/// Cheap to clone. It pins both: as long as it lives, so do they. [`Request::snapshot`](crate::Request::snapshot) asks it
/// instead of what is current, so that several decisions rest on the same.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow := true")?;
/// let allow = engine.prepare_document("p/allow")?;
/// let before = engine.snapshot();
/// engine.set_module("p.rego", "package p\nallow := false")?;
/// let request = Request::new();
/// assert_eq!(allow.evaluate(&request.snapshot(&before))?, Some(true.into()));
/// assert_eq!(allow.evaluate(&request)?, Some(false.into()));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot(Arc<SnapshotState>);

/// What a moment consists of.
pub(crate) struct SnapshotState {
    /// Tells it from all other moments of all engines.
    pub version_id: u64,
    /// How many changes its engine had seen.
    pub generation: u64,
    pub policy: Arc<Policy>,
    pub documents: Arc<DataSnapshot>,
    /// Origins of the modules, if the engine records them: it has a store, or replaces files by loads.
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

    /// How many changes the engine had seen: it grows with each, of policy or of documents.
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    /// The base documents.
    pub fn documents(&self) -> &DataSnapshot {
        &self.0.documents
    }

    /// A base document, at a path with slashes.
    ///
    /// # Errors
    /// [`Error::Store`] when there is none.
    pub fn read(&self, path: &str) -> Result<&Value, Error> {
        Ok(self.0.documents.read(&Path::from_slashes(path))?)
    }

    /// How long each stage of compiling the modules took when they last changed, by its published name
    /// (`compile_stage_resolve_refs`).
    pub fn compile_stages(&self) -> impl Iterator<Item = (&str, Duration)> {
        let stages = self.0.policy.stages.iter();
        stages.map(|(name, took)| (name.as_str(), *took))
    }

    /// All modules as they were parsed, by name, in order.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &Arc<Module>)> {
        let modules = self.0.policy.modules.iter();
        modules.map(|(name, module)| (name.as_str(), module))
    }

    /// A module as it was parsed.
    pub fn module(&self, name: &str) -> Option<&Arc<Module>> {
        self.0.policy.modules.get(name)
    }

    /// Returns the origin of a module in force: [`Origin::Client`], unless the engine has a store or has loaded files by
    /// [`Engine::load_files`](crate::Engine::load_files).
    pub fn module_origin(&self, name: &str) -> Origin {
        self.0.module_origin(name)
    }
}

impl SnapshotState {
    /// The origin of a module in force.
    pub fn module_origin(&self, name: &str) -> Origin {
        match &self.module_origins {
            Some(origins) => origins.get(name).copied().unwrap_or_default(),
            None => Origin::Client,
        }
    }
}
