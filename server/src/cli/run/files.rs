//! Loading of policies and documents from files into the engine.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use solon::bundle::Loaded;
use solon::store::Path as DocumentPath;
use solon::store::SqliteStore;
use solon::{Change, Engine, EngineBuilder, Error, FileLoad, LoadReport, Value};
use tracing::{info, warn};

use super::origins::{self, ClientContents};
use crate::api::{BUILD_COMMIT, BUILD_HOST, BUILD_TIMESTAMP, VERSION, policy_id};
use crate::cli::report::Report;
use crate::config::BundleSettings;

/// Creates an engine with the files of the first load. With a store they replace the results of earlier loads before anything is
/// compiled. Without a store and without `is_watched`, no later load replaces them, and their origins are not recorded.
pub fn start(
    builder: EngineBuilder,
    store: Option<SqliteStore>,
    loaded: &Loaded,
    is_watched: bool,
) -> Result<(Engine, LoadReport), Report> {
    if let Some(store) = store {
        let store = Arc::new(store);
        let engine_and_report = builder.open_with_files(store.clone(), load_of(loaded));
        return engine_and_report
            .map_err(|error| origins::report(&error, loaded, &ClientContents::by(&*store)));
    }
    let engine = builder.build();
    let report = load(&engine, loaded, is_watched);
    let report =
        report.map_err(|error| origins::report(&error, loaded, &ClientContents::default()))?;
    Ok((engine, report))
}

fn load(engine: &Engine, loaded: &Loaded, is_watched: bool) -> Result<LoadReport, Error> {
    if is_watched {
        return engine.load_files(load_of(loaded));
    }
    let mut change = Change::default();
    change.load(loaded);
    change.put(version_path(), version_document());
    for (path, facts) in bundle_facts(loaded) {
        change.put(path, facts);
    }
    engine.apply(change)?;
    Ok(LoadReport::default())
}

/// Returns a load that includes the server's own document.
fn load_of(loaded: &Loaded) -> FileLoad<'_> {
    let load = FileLoad::new(loaded)
        .identified(policy_id)
        .located(location);
    let load = load.document(version_path(), version_document());
    let facts = bundle_facts(loaded).into_iter();
    facts.fold(load, |load, (path, facts)| load.document(path, facts))
}

/// Returns the facts of each bundle with their path. Downloaded bundles have facts next to them.
fn bundle_facts(loaded: &Loaded) -> Vec<(DocumentPath, Value)> {
    let facts = loaded.bundle_facts();
    let facts = facts.as_ref().and_then(Value::as_object);
    let facts = facts.into_iter().flat_map(|facts| facts.iter());
    let named_facts = facts.filter_map(|(name, facts)| Some((name.as_str()?, facts.clone())));
    named_facts
        .map(|(name, facts)| (DocumentPath::new(["system", "bundles", name]), facts))
        .collect()
}

/// Returns the names of active bundles that neither files nor the configuration name: an earlier process has activated and stored them.
pub fn former_bundles(
    engine: &Engine,
    loaded: &Loaded,
    configured: &BTreeMap<String, BundleSettings>,
) -> Vec<String> {
    let of_bundles = loaded.bundle_facts();
    let of_documents = bundles_path().find(&loaded.documents);
    let is_of_files = |name: &str| {
        let mut facts = of_bundles.iter().chain(of_documents);
        facts.any(|facts| facts.get(name).is_some())
    };
    let bundles = engine.snapshot().bundles();
    let names = bundles.into_iter().map(|bundle| bundle.name);
    names
        .filter(|name| !configured.contains_key(name) && !is_of_files(name))
        .collect()
}

/// Deactivates bundles that are not configured any more. Otherwise what they allow would stay allowed after a restart.
pub fn deactivate(engine: &Engine, names: &[String]) -> Result<(), Error> {
    for name in names {
        engine.deactivate_bundle(name)?;
        info!(name, "Bundle deactivated: it is not configured any more.");
    }
    Ok(())
}

/// Returns the path of the document about active bundles.
fn bundles_path() -> DocumentPath {
    DocumentPath::new(["system", "bundles"])
}

/// Returns the absolute path of a file without `.` and `..`. Symbolic links are not resolved, because their targets change when a
/// mounted volume is updated.
fn location(path: &str) -> Option<String> {
    let mut clean = PathBuf::new();
    for component in std::path::absolute(Path::new(path)).ok()?.components() {
        if component == Component::ParentDir {
            clean.pop();
        } else {
            clean.push(component);
        }
    }
    clean.to_str().map(str::to_owned)
}

/// Reloads files. If they cannot be loaded, nothing changes. `last` is the report of the previous load.
pub fn reload(engine: &Engine, loaded: &Loaded, last: &mut LoadReport) -> Result<(), Report> {
    let report = engine.load_files(load_of(loaded));
    let report = report
        .map_err(|error| origins::report(&error, loaded, &ClientContents::in_force(engine)))?;
    info!("Processed file watch event.");
    if report != *last {
        log(&report);
        *last = report;
    }
    Ok(())
}

/// Logs each policy and document of a file that is not active, and each active one that may have come from a file.
pub fn log(report: &LoadReport) {
    for path in &report.overridden_documents {
        let path = path.to_string();
        warn!(
            path,
            "A document of a file is not in force: a client has written or removed it."
        );
    }
    for path in &report.overridden_fixed {
        let path = path.to_string();
        warn!(
            path,
            "A document of the server itself is not in force: a client has written a document around it."
        );
    }
    for id in &report.overridden_modules {
        warn!(
            id,
            "A policy of a file is not in force: a client has written or removed it."
        );
    }
    for path in &report.unknown_documents {
        let path = path.to_string();
        warn!(
            path,
            "A document that no file gives stays in force: an earlier version stored it without its origin."
        );
    }
    for id in &report.unknown_modules {
        warn!(
            id,
            "A policy that no file gives stays in force: an earlier version stored it without its origin."
        );
    }
}

fn version_path() -> DocumentPath {
    DocumentPath::new(["system", "version"])
}

/// Returns the document at `data.system.version`.
fn version_document() -> Value {
    let fields = [
        ("version", VERSION),
        ("build_commit", BUILD_COMMIT),
        ("build_timestamp", BUILD_TIMESTAMP),
        ("build_hostname", BUILD_HOST),
    ];
    Value::object(fields.map(|(name, fact)| (name.into(), fact.into())).into())
}
