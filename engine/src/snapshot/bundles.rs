//! Active bundles of a snapshot, as the documents below `data.system.bundles` describe them.

use std::fmt;

use super::Snapshot;
use crate::store::Path;
use crate::value::{Repr, Value};

/// A bundle that is active in a snapshot, with its revision and roots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActiveBundle {
    /// Name of the bundle, unique in the engine.
    pub name: String,
    /// The revision of its manifest. Empty if it has none.
    pub revision: String,
    /// Slash-separated paths below `data` that it owns.
    pub roots: Vec<String>,
}

/// The reason why clients must not change a document. The text is OPA's message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopeError {
    /// The path is `data`, and a bundle is active.
    Root,
    /// A bundle owns all documents.
    AllPaths {
        /// Name of the bundle, whose roots contain every path.
        bundle: String,
    },
    /// A bundle owns the document, part of it, or what it is part of.
    Path {
        /// Path of the document that the write would change.
        path: Path,
        /// Name of the bundle that owns the path.
        bundle: String,
    },
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("can't write to document root with bundle roots configured"),
            Self::AllPaths { bundle } => write!(f, "all paths owned by bundle {bundle:?}"),
            Self::Path { path, bundle } => {
                let path = path.segments().join("/");
                write!(f, "path {path} is owned by bundle {bundle:?}")
            }
        }
    }
}

impl std::error::Error for ScopeError {}

impl ActiveBundle {
    /// Returns the bundles that are active in documents, in order of their names.
    pub fn list(documents: &Value) -> Vec<Self> {
        active(documents)
    }

    /// Checks that none of the bundles owns a document, part of it, or what it is part of. Servers reject changes of clients by it.
    ///
    /// # Errors
    /// The first bundle in the list that owns such a document.
    pub fn check_scope(bundles: &[Self], path: &Path) -> Result<(), ScopeError> {
        if path.is_root() && !bundles.is_empty() {
            return Err(ScopeError::Root);
        }
        for bundle in bundles {
            let roots = bundle.roots.iter();
            let roots: Vec<Path> = roots.map(|root| Path::from_slashes(root)).collect();
            if roots.iter().any(Path::is_root) {
                let bundle = bundle.name.clone();
                return Err(ScopeError::AllPaths { bundle });
            }
            if roots.iter().any(|root| root.overlaps(path)) {
                return Err(ScopeError::Path {
                    path: path.clone(),
                    bundle: bundle.name.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Returns the active bundles in order of their names.
pub(crate) fn active(documents: &Value) -> Vec<ActiveBundle> {
    let bundles = Path::new(["system", "bundles"]);
    let Some(Value(Repr::Object(bundles))) = bundles.find(documents) else {
        return Vec::new();
    };
    let bundle = |(name, facts): (&Value, &Value)| {
        let manifest = facts.get("manifest")?;
        let revision = manifest.get("revision").and_then(text).unwrap_or_default();
        let roots = match manifest.get("roots") {
            Some(Value(Repr::Array(roots))) => roots.iter().filter_map(text).collect(),
            _ => vec![String::new()],
        };
        Some(ActiveBundle {
            name: text(name)?,
            revision,
            roots,
        })
    };
    bundles.iter().filter_map(bundle).collect()
}

fn text(value: &Value) -> Option<String> {
    let text = value.borrow().as_text()?;
    Some(text.to_str().into_owned())
}

impl Snapshot {
    /// Returns the active bundles in order of their names.
    pub fn bundles(&self) -> Vec<ActiveBundle> {
        active(self.documents().root())
    }

    /// Checks a path by [`ActiveBundle::check_scope`].
    ///
    /// # Errors
    /// A bundle owns the path, part of it, or what it is part of.
    pub fn check_bundle_scope(&self, path: &Path) -> Result<(), ScopeError> {
        ActiveBundle::check_scope(&self.bundles(), path)
    }
}
