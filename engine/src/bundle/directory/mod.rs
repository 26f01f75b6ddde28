//! Policies and documents from files and folders, by OPA's rules: a folder gives its `.rego`, `.json`, `.yaml` and
//! `.yml` files at any depth; a document's place is its folder's path below the named one; a file that is named
//! directly sits at the root; `a.b:path` puts everything below `data.a.b`.

mod documents;
mod ignore;
mod loader;
mod schemas;
mod walk;

pub use loader::{Loaded, Loader};
pub use schemas::Schemas;
pub use walk::FileSelection;

pub(super) use documents::MergedDocuments;
pub(super) use ignore::Ignore;
pub(super) use walk::NamedFileKind;

use documents::{document_of, read_document};
use walk::{FileToLoad, Walk};
