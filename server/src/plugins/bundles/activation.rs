//! Parsing, verification and activation of downloaded bundles. All functions block their thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use solon::bundle::{
    Bundle, BundleKind, BundleLimits, BundleReader, LoadErrorKind, LoadErrors, ReadTimes,
};
use solon::{Engine, Error};
use solon_host::SystemFiles;

use super::status::BundleFailure;
use crate::config::BundleSettings;
use crate::wire::ErrorItem;

/// A bundle before it is parsed.
#[derive(Clone, Debug)]
pub enum BundleSource {
    Archive(Vec<u8>),
    /// A path of the file system: an archive, or a folder.
    Path(PathBuf),
}

/// A parsed bundle that is not active yet.
pub struct Read {
    pub bundle: Bundle,
    /// Times in nanoseconds by their public names.
    pub metrics: BTreeMap<String, u64>,
}

/// Names of the times.
pub const REQUEST: &str = "timer_bundle_request_ns";
const LOAD: &str = "timer_rego_load_bundles_ns";
const PARSE: &str = "timer_rego_module_parse_ns";
const COMPILE: &str = "timer_rego_module_compile_ns";

/// A delta changes the bundle that is persisted, so a restart without the service would serve an older state.
const NOT_PERSISTED: &str =
    "'persist' property is true in config. persisting delta bundle to disk is not supported";

pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads a bundle and verifies its signature.
///
/// # Errors
/// Returns what is wrong with the bundle, in OPA's words.
pub fn read(
    engine: &Engine,
    name: &str,
    settings: &BundleSettings,
    source: &BundleSource,
) -> Result<Read, BundleFailure> {
    let start = Instant::now();
    let mut times = ReadTimes::default();
    let result = parse(engine, name, settings, source, &mut times);
    let loaded = (LOAD.to_owned(), nanoseconds(start.elapsed()));
    let parsed = times.modules;
    let parsed = parsed.map(|took| (PARSE.to_owned(), nanoseconds(took)));
    let metrics = [loaded].into_iter().chain(parsed).collect();
    match result {
        Ok(bundle) => Ok(Read { bundle, metrics }),
        Err(failure) => Err(BundleFailure { metrics, ..failure }),
    }
}

fn parse(
    engine: &Engine,
    name: &str,
    settings: &BundleSettings,
    source: &BundleSource,
    times: &mut ReadTimes,
) -> Result<Bundle, BundleFailure> {
    let reader = reader(engine, name, settings).map_err(|error| failure(&error))?;
    let result = match source {
        BundleSource::Archive(bytes) => reader.read_archive_timed(bytes, times),
        BundleSource::Path(path) => {
            let path = path.to_str().ok_or_else(|| {
                BundleFailure::new(format!("{}: not valid UTF-8", path.display()))
            })?;
            reader.read_path_timed(&SystemFiles, path, times)
        }
    };
    let bundle = result.map_err(|errors| without_name(name, &errors))?;
    if bundle.kind() == BundleKind::Delta && settings.is_persisted {
        return Err(BundleFailure::new(NOT_PERSISTED.to_owned()));
    }
    Ok(bundle)
}

fn reader(engine: &Engine, name: &str, settings: &BundleSettings) -> Result<BundleReader, Error> {
    let mut limits = BundleLimits::default();
    limits.file_bytes = settings.file_limit;
    let reader = engine.bundle_reader(name)?;
    Ok(reader
        .limits(limits)
        .verification(settings.signing.verification()))
}

/// Activates bundles as one change.
///
/// # Errors
/// Returns why they cannot be activated. Nothing has changed then.
pub fn activate(engine: &Engine, bundles: &mut [(&str, &mut Read)]) -> Result<(), BundleFailure> {
    let start = Instant::now();
    let all: Vec<_> = bundles
        .iter()
        .map(|(name, bundle_read)| (*name, &bundle_read.bundle))
        .collect();
    let activated = engine.activate_bundles(&all);
    let took = nanoseconds(start.elapsed());
    activated.map_err(|error| {
        let mut failure = failure(&error);
        if matches!(error, Error::Compile(_)) {
            failure.metrics.insert(COMPILE.to_owned(), took);
        }
        failure
    })?;
    for (_, bundle_read) in bundles {
        bundle_read.metrics.insert(COMPILE.to_owned(), took);
    }
    Ok(())
}

/// Returns the message of a parse error without the name of the bundle, which the status already contains.
fn without_name(name: &str, errors: &LoadErrors) -> BundleFailure {
    let text = errors.to_string();
    let text = text
        .strip_prefix(&format!("bundle {name}: "))
        .unwrap_or(&text);
    match errors.0.as_slice() {
        [error] if error.kind() == LoadErrorKind::BundleSyntax => BundleFailure {
            log: text.to_owned(),
            ..compile_failure(
                error
                    .diagnostics()
                    .iter()
                    .map(|diagnostic| json!(ErrorItem::from_diagnostic(diagnostic))),
            )
        },
        _ => {
            // OPA reports the path without the context of the system call
            let text = match text.split_once(": stat ") {
                Some((context, rest)) if context.starts_with("error reading") => {
                    format!("stat {rest}")
                }
                _ => text.to_owned(),
            };
            BundleFailure::new(text)
        }
    }
}

fn failure(error: &Error) -> BundleFailure {
    match error {
        Error::Compile(diagnostics) => BundleFailure {
            log: error.to_string(),
            ..compile_failure(
                diagnostics
                    .0
                    .iter()
                    .map(|diagnostic| json!(ErrorItem::from_diagnostic(diagnostic))),
            )
        },
        error => BundleFailure::new(error.to_string()),
    }
}

fn compile_failure(errors: impl Iterator<Item = Value>) -> BundleFailure {
    BundleFailure {
        errors: errors.collect(),
        ..BundleFailure::new("error(s) occurred while compiling module(s)".to_owned())
    }
}
