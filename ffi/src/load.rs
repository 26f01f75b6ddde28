//! Modules and data from files.

use std::ffi::{c_char, c_int};

use ::engine::Change as EngineChange;
use ::engine::bundle::Loaded;
use solon_host::SystemFiles;

use crate::argument;
use crate::bytes::Text;
use crate::change::Change;
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::guard;

/// Reads the files of paths.
///
/// # Safety
/// Same contract as the exported C functions.
unsafe fn load(
    engine: &Engine,
    paths: *const Text,
    path_count: usize,
    ignore: &[String],
    bundles: c_int,
) -> Result<Loaded, Error> {
    // SAFETY: by this function's contract
    let texts = unsafe { argument::list(paths, path_count, "paths") }?;
    let paths = texts.iter().enumerate().map(|(index, path)| {
        // SAFETY: by this function's contract
        unsafe { argument::text(path.data, path.length, &format!("paths[{index}]")) }
    });
    let paths = paths.collect::<Result<Vec<&str>, Error>>()?;
    let loader = engine.0.loader(&SystemFiles)?.ignore(ignore);
    let loaded = if bundles == 0 {
        loader.load(&paths)
    } else {
        loader.load_bundles(&paths)
    };
    Ok(loaded.map_err(::engine::Error::from)?)
}

/// Loads files and folders by OPA's rules. Modules are added or replaced, and documents are merged into the data, all of it or
/// nothing.
///
/// From a folder it loads `.rego`, `.json`, `.yaml` and `.yml` files at any depth, and puts documents at the path of their
/// folder. `a.b:path` puts them below `data.a.b`. With `bundles`, each path is a folder with a manifest.
///
/// Fails with `SOLON_ERROR_LOAD`, which lists everything that cannot be loaded.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_load(
    engine: *mut Engine,
    paths: *const Text,
    path_count: usize,
    bundles: c_int,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, loaded) = unsafe {
            let engine = argument::handle(engine, "engine")?;
            (engine, load(engine, paths, path_count, &[], bundles)?)
        };
        let mut change = EngineChange::default();
        change.load(&loaded);
        Ok(engine.0.apply(change)?)
    })
}

/// Loads files and folders into a change, like `solon_engine_load`. Modules are parsed with the settings of the engine.
/// `ignore_json` is a JSON array of patterns of file names to skip; NULL is none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_change_load(
    change: *mut Change,
    engine: *const Engine,
    paths: *const Text,
    path_count: usize,
    ignore_json: *const c_char,
    ignore_json_length: usize,
    bundles: c_int,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (change, loaded) = unsafe {
            let change = argument::handle_mut(change, "change")?;
            let engine = argument::handle(engine, "engine")?;
            let ignore = argument::strings(ignore_json, ignore_json_length, "ignore_json")?;
            let ignore = ignore.unwrap_or_default();
            (change, load(engine, paths, path_count, &ignore, bundles)?)
        };
        change.0.load(&loaded);
        Ok(())
    })
}
