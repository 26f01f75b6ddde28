//! Flags of bundles that are loaded at the start, and of their signatures.

use std::path::{Path, PathBuf};

use solon::bundle::{Loaded, Loader};

use crate::cli::forms::{given, path};
use crate::cli::report::Report;

/// The file in a bundle that holds its signatures.
const SIGNATURES: &str = ".signatures.json";

#[derive(Clone, clap::Args)]
pub struct BundleArgs {
    /// The paths are bundles: policies and documents of a folder with a manifest
    #[arg(short, long)]
    bundle: bool,
    /// Load bundles that have signatures without verifying them
    #[arg(long)]
    skip_verify: bool,
    /// Rejected with `--bundle` unless signatures are skipped: bundles are not verified yet
    #[arg(long, hide = true, value_name = "KEY")]
    verification_key: Option<String>,
    /// Accepted and without effect: only `--verification-key` uses it
    #[arg(long, hide = true, value_name = "ID")]
    verification_key_id: Option<String>,
    /// Accepted and without effect: only `--verification-key` uses it
    #[arg(long, hide = true, value_name = "NAME")]
    signing_alg: Option<String>,
    /// Accepted and without effect: only `--verification-key` uses it
    #[arg(long, hide = true, value_name = "SCOPE")]
    scope: Option<String>,
    /// Accepted and without effect: only `--verification-key` uses it
    #[arg(long, hide = true, value_name = "FILE")]
    exclude_files_verify: Vec<String>,
}

impl BundleArgs {
    /// Checks that nothing needs a verification, which would not take place.
    ///
    /// # Errors
    /// What cannot be done.
    pub fn check(&self) -> Result<(), String> {
        if given(self.verification_key.as_deref()).is_none() {
            return Ok(());
        }
        if !self.bundle {
            let text = "enable bundle mode (ie. --bundle) to verify bundle files or directories";
            return Err(text.to_owned());
        }
        if self.skip_verify {
            return Ok(());
        }
        Err("--verification-key: verifying bundles is not supported yet".to_owned())
    }

    /// Returns the files that [`Self::load`] reads or whose presence it checks.
    pub fn files(&self, loader: &Loader<'_>, paths: &[String]) -> Vec<PathBuf> {
        if !self.bundle {
            return loader.files(paths);
        }
        let mut files = loader.bundle_files(paths);
        let folders = paths.iter().filter_map(|name| path(name).ok());
        files.extend(folders.map(|folder| Path::new(&*folder).join(SIGNATURES)));
        files
    }

    /// Loads what the paths name: bundles, or files and folders.
    ///
    /// # Errors
    /// What cannot be loaded, or a bundle that has signatures, unless they are skipped.
    pub fn load(&self, loader: &Loader<'_>, paths: &[String]) -> Result<Loaded, Report> {
        if !self.bundle {
            return loader.load(paths).map_err(Report::of_files);
        }
        let message = |text: &dyn std::fmt::Display| Report::message(text.to_string());
        let loaded = loader
            .load_bundles(paths)
            .map_err(|error| message(&error))?;
        for name in paths.iter().filter(|_| !self.skip_verify) {
            let folder = path(name).map_err(|error| message(&error))?;
            // a file that cannot be looked at counts as one that is there
            if !matches!(Path::new(&*folder).join(SIGNATURES).try_exists(), Ok(false)) {
                return Err(message(&format_args!(
                    "bundle {name}: verification key not provided"
                )));
            }
        }
        Ok(loaded)
    }
}
