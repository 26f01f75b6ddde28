//! Bundles: reading, verification, activation.

use std::ffi::{c_char, c_int};

use ::engine::bundle::{BundleReader, Verification, VerificationKey as EngineKey};
use ::engine::{ActiveBundle, Value as EngineValue};
use solon_host::SystemFiles;

use crate::argument::{self, Extensible, arguments};
use crate::bytes::{Bytes, Text};
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::guard;
use crate::value::Value;

/// A bundle that was read. Several threads may use it at once.
pub struct Bundle(::engine::bundle::Bundle);

/// A key that verifies bundles.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VerificationKey {
    /// Id that signatures refer to.
    pub id: Text,
    /// The only algorithm that signatures may use, such as `RS256`.
    pub algorithm: Text,
    /// A secret, or a public key or certificate in PEM.
    pub key: Text,
    /// Scope that signatures must have unless the options set one; empty for none.
    pub scope: Text,
}

/// Options for reading a bundle. Zero fields have their defaults: unsigned bundles are accepted, signed ones rejected.
/// `solon_bundle_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BundleOptions {
    /// `sizeof(solon_bundle_options)`
    pub size: usize,
    /// Verification keys. If there are any, a bundle must be signed by one of them.
    pub keys: *const VerificationKey,
    /// Number of keys.
    pub key_count: usize,
    /// Id of the only key that may have signed the bundle; NULL accepts the key that the signature names.
    pub key_id: *const c_char,
    /// Length in bytes.
    pub key_id_length: usize,
    /// Scope that a signature must have; NULL is the scope of the key.
    pub scope: *const c_char,
    /// Length in bytes.
    pub scope_length: usize,
    /// Glob patterns of files that need no signature, a JSON array of strings; NULL is none.
    pub exclude_json: *const c_char,
    /// Length in bytes.
    pub exclude_json_length: usize,
    /// Accept unsigned bundles even if there are keys. An attacker who can change a bundle can then remove its signature.
    pub accept_unsigned: c_int,
    /// Accept delta bundles, which cannot be signed, even if there are keys.
    pub accept_unsigned_deltas: c_int,
    /// Accept all bundles without verifying signatures. `keys` must be empty.
    pub skip_verification: c_int,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for BundleOptions {}

impl BundleOptions {
    /// # Safety
    /// Each pointer is NULL or valid for what the fields describe.
    unsafe fn verification(&self) -> Result<Verification, Error> {
        // SAFETY: by this function's contract
        let (keys, key_id, scope, exclude) = unsafe {
            (
                argument::list(self.keys, self.key_count, "keys")?,
                argument::optional_text(self.key_id, self.key_id_length, "key_id")?,
                argument::optional_text(self.scope, self.scope_length, "scope")?,
                argument::strings(self.exclude_json, self.exclude_json_length, "exclude_json")?,
            )
        };
        if self.skip_verification != 0 {
            if !keys.is_empty() {
                return Err(argument::argument_error(
                    "`skip_verification` is set, but there are keys",
                ));
            }
            return Ok(Verification::skip());
        }
        if keys.is_empty() {
            return Ok(Verification::default());
        }
        let mut known_keys = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            let part = |name: &str| format!("keys[{index}].{name}");
            // SAFETY: by this function's contract
            let (id, algorithm, secret, scope) = unsafe {
                (
                    argument::text(key.id.data, key.id.length, &part("id"))?,
                    argument::text(key.algorithm.data, key.algorithm.length, &part("algorithm"))?,
                    argument::bytes(key.key.data, key.key.length, &part("key"))?,
                    argument::text(key.scope.data, key.scope.length, &part("scope"))?,
                )
            };
            let secret = secret.unwrap_or_default();
            if secret.is_empty() {
                return Err(argument::argument_error(format!(
                    "`{}` is empty",
                    part("key")
                )));
            }
            known_keys.push((
                id.to_owned(),
                EngineKey::new(algorithm, secret).scope(scope),
            ));
        }
        let mut verification = Verification::by_keys(known_keys)
            .key_id(key_id.unwrap_or_default())
            .scope(scope.unwrap_or_default())
            .exclude(exclude.unwrap_or_default());
        if self.accept_unsigned != 0 {
            verification = verification.optional();
        }
        if self.accept_unsigned_deltas != 0 {
            verification = verification.allow_unsigned_deltas();
        }
        Ok(verification)
    }
}

/// # Safety
/// Same contract as the exported C functions.
unsafe fn reader(
    engine: &Engine,
    name: &str,
    options: *const BundleOptions,
) -> Result<BundleReader, Error> {
    // SAFETY: by this function's contract
    let verification = unsafe {
        let options = argument::extensible(options, "options")?;
        options.verification()?
    };
    Ok(engine.0.bundle_reader(name)?.verification(verification))
}

/// Reads and verifies the bundle in an archive, a gzip-compressed tar file. The length of an archive is never `SIZE_MAX`. Policies
/// are parsed with the settings of the engine; the engine does not change. `name` appears in messages. `options` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_bundle_read(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    archive: *const c_char,
    archive_length: usize,
    options: *const BundleOptions,
    out: *mut *mut Bundle,
) -> *mut Error {
    guard(|| {
        let (engine, name, archive, out) = arguments!(
            handle(engine),
            text(name, name_length),
            binary(archive, archive_length),
            output(out),
        );
        let archive = archive.ok_or_else(|| argument::null("archive"))?;
        // SAFETY: the caller upholds the contract of the header
        let reader = unsafe { reader(engine, name, options) }?;
        let bundle = reader.read_archive(archive);
        out.give(Bundle(bundle.map_err(::engine::Error::from)?));
        Ok(())
    })
}

/// Reads the bundle at a path, a folder or an archive, like `solon_bundle_read`. Signatures refer to the files of a folder with
/// the prefix `name`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_bundle_load(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    path: *const c_char,
    path_length: usize,
    options: *const BundleOptions,
    out: *mut *mut Bundle,
) -> *mut Error {
    guard(|| {
        let (engine, name, path, out) = arguments!(
            handle(engine),
            text(name, name_length),
            text(path, path_length),
            output(out),
        );
        // SAFETY: the caller upholds the contract of the header
        let reader = unsafe { reader(engine, name, options) }?;
        let bundle = reader.read_path(&SystemFiles, path);
        out.give(Bundle(bundle.map_err(::engine::Error::from)?));
        Ok(())
    })
}

/// Returns the manifest of a bundle as JSON. Absent fields are left out, except `revision` and `roots`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_bundle_manifest_json(
    bundle: *const Bundle,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (bundle, out) = arguments!(handle(bundle), output(out));
        let text = bundle.0.manifest.text();
        out.write(Bytes::new(Some(text.trim_ascii_end().to_vec())));
        Ok(())
    })
}

/// Frees a bundle; does nothing for NULL. Engines in which it is active keep what they need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_bundle_free(bundle: *mut Bundle) {
    // SAFETY: it was created from a `Box`, and the caller frees it once
    unsafe { argument::free(bundle) };
}

/// Activates bundles under names in one change. Their policies and documents replace everything below their roots, and below the
/// roots of the bundles that had the names. A delta bundle changes documents of the active bundle of its name.
///
/// Fails with `SOLON_ERROR_LOAD` if two bundles own the same documents.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_activate_bundles(
    engine: *mut Engine,
    names: *const Text,
    bundles: *const *const Bundle,
    bundle_count: usize,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (engine, names, bundles) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::list(names, bundle_count, "names")?,
                argument::handles(bundles, bundle_count, "bundles")?,
            )
        };
        let mut all = Vec::with_capacity(bundles.len());
        for (index, (name, bundle)) in names.iter().zip(bundles).enumerate() {
            let part = format!("names[{index}]");
            // SAFETY: the caller upholds the contract of the header
            let name = unsafe { argument::text(name.data, name.length, &part) }?;
            all.push((name, &bundle.0));
        }
        Ok(engine.0.activate_bundles(&all)?)
    })
}

/// Removes the policies and documents of an active bundle. Does nothing if no bundle has the name.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_deactivate_bundle(
    engine: *mut Engine,
    name: *const c_char,
    name_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, name) = arguments!(handle(engine), text(name, name_length));
        Ok(engine.0.deactivate_bundle(name)?)
    })
}

/// Returns the active bundles, sorted by name: an array of objects with `name`, `revision` and `roots`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_bundles(
    engine: *const Engine,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (engine, out) = arguments!(handle(engine), output(out));
        let bundles = engine
            .0
            .snapshot()
            .bundles()
            .into_iter()
            .map(description_of);
        out.give(Value(EngineValue::array(bundles.collect())));
        Ok(())
    })
}

fn description_of(bundle: ActiveBundle) -> EngineValue {
    let roots = bundle.roots.into_iter().map(EngineValue::from);
    EngineValue::object(vec![
        ("name".into(), bundle.name.into()),
        ("revision".into(), bundle.revision.into()),
        ("roots".into(), EngineValue::array(roots.collect())),
    ])
}
