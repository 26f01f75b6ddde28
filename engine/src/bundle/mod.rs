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
//! let allow = engine.prepare_document("authz/allow")?;
//! let request = Request::new().input_json(br#"{"user": "alice"}"#);
//! assert_eq!(allow.evaluate(&request)?, Some(true.into()));
//! # Ok::<(), solon::Error>(())
//! ```
//!
//! Where files come from is the host's affair ([`Files`]); `solon_host::SystemFiles` reads those of the system.

mod directory;
mod error;
mod files;

pub use directory::{Loaded, Loader, Schemas, Wanted};
pub use error::{LoadError, LoadErrors};
pub use files::{FileError, FileKind, Files, Links, MemoryFiles};

pub use crate::uri::file_path;
