//! Policies and documents from files.
//!
//! ```
//! use solon::bundle::MemoryFiles;
//! use solon::{Engine, Request};
//!
//! let files = MemoryFiles::from([
//!     ("policies/authz.rego", "package authz\nallow if input.user in data.users.admins"),
//!     ("policies/users/data.json", r#"{"admins": ["alice"]}"#),
//! ]);
//! let engine = Engine::new();
//! engine.load(&files, &["policies"])?;
//!
//! let allow = engine.prepare_document("data.authz.allow")?;
//! let request = Request::new().input_json(br#"{"user": "alice"}"#);
//! assert_eq!(allow.evaluate(&request)?, Some(true.into()));
//! # Ok::<(), solon::Error>(())
//! ```
//!
//! [`BundleReader`] reads bundles: archives, or folders with a manifest.
//!
//! The host provides files ([`Files`]); `solon_host::SystemFiles` reads those of the system.

mod archive;
mod archive_path;
mod contents;
mod delta;
mod directory;
mod error;
mod files;
mod folder;
mod go_json;
mod manifest;
mod merge;
mod reader;
mod roots;
mod signatures;
mod writer;

pub use contents::{Bundle, BundleFile, BundleKind, BundleModule};
pub use delta::PatchOperation;
pub use directory::{FileSelection, Loaded, Loader, Schemas};
pub use error::{BundleError, BundleErrorKind, LoadError, LoadErrorKind, LoadErrors};
pub use files::{FileError, FileKind, Files, Links, MemoryFiles};
pub use manifest::{Manifest, WasmResolver};
pub use reader::{BundleReader, ReadTimes};
#[cfg(feature = "crypto")]
pub use signatures::SigningKey;
pub use signatures::{Signatures, Verification, VerificationKey};

pub(crate) use delta::PatchError;
pub(crate) use error::syntax_errors;
pub(crate) use merge::number;
pub(crate) use roots::check_roots;

pub use crate::limits::BundleLimits;
pub use crate::uri::{FileUrlError, file_path};

impl Bundle {
    /// Writes files as an archive. The same files in the same order make the same bytes on each machine.
    ///
    /// # Errors
    /// An archive cannot contain a file: its path is too long, or its length does not fit a header.
    pub fn write_archive(files: &[BundleFile]) -> Result<Vec<u8>, BundleError> {
        let archive = archive::write(files);
        archive.map_err(|message| BundleError::new(BundleErrorKind::Archive, message))
    }
}

#[cfg(feature = "crypto")]
impl Bundle {
    /// Returns the text of `.signatures.json` for files, in the order given.
    ///
    /// # Errors
    /// A structured file that cannot be read, or a key that does not sign by its algorithm.
    pub fn sign(files: &[BundleFile], key: &SigningKey) -> Result<Vec<u8>, BundleError> {
        let text = signatures::sign(files, key, false);
        text.map_err(|message| BundleError::new(BundleErrorKind::Signing, message))
    }

    /// Signs the bundle as `opa build` does: policies, documents, WebAssembly, plans and the manifest are listed in this order, and the
    /// signatures name the plugin `_default`.
    ///
    /// # Errors
    /// A key that does not sign by its algorithm.
    pub fn sign_contents(&mut self, key: &SigningKey) -> Result<(), BundleError> {
        self.signatures = None;
        let mut files = self.to_files();
        // OPA lists policies before the documents
        let policies = self.modules.len();
        if files.len() > policies {
            files
                .get_mut(..=policies)
                .unwrap_or_default()
                .rotate_left(1);
        }
        let text = signatures::sign(&files, key, true)
            .map_err(|message| BundleError::new(BundleErrorKind::Signing, message))?;
        self.signatures = Signatures::read(&text)?;
        Ok(())
    }
}
