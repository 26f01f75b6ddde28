//! Bundles that are loaded at startup.

use std::path::{Path, PathBuf};

use solon::bundle::{Loaded, Loader, Verification};

use crate::cli::forms::path;
use crate::cli::report::Report;
use crate::cli::verifying::VerifyArgs;

/// File in a bundle that contains its signatures.
const SIGNATURES: &str = ".signatures.json";

#[derive(Clone, clap::Args)]
pub struct BundleArgs {
    /// The paths are bundles: archives, or folders with a manifest.
    #[arg(short, long)]
    bundle: bool,
    #[command(flatten)]
    verify: VerifyArgs,
}

impl BundleArgs {
    /// Checks that a verification key is used only with bundles.
    ///
    /// # Errors
    /// Fails for a key without bundles.
    pub fn check(&self) -> Result<(), String> {
        if self.verify.has_key() && !self.bundle {
            let text = "enable bundle mode (ie. --bundle) to verify bundle files or directories";
            return Err(text.to_owned());
        }
        Ok(())
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

    /// Loads the contents of the paths: bundles, or files and folders.
    ///
    /// # Errors
    /// Fails if a path cannot be loaded, or a signature cannot be verified.
    pub fn load(&self, loader: &Loader<'_>, paths: &[String]) -> Result<Loaded, Report> {
        if !self.bundle {
            return loader.load(paths).map_err(Report::of_files);
        }
        let verification = self.verify.verification(Verification::default());
        let loader = loader
            .clone()
            .verification(verification.map_err(Report::message)?);
        let loaded = loader.load_bundles(paths);
        loaded.map_err(|error| Report::message(error.to_string()))
    }
}
