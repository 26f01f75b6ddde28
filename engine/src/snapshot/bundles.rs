//! Active bundles of a snapshot, as the documents below `data.system.bundles` describe them.

use super::Snapshot;
use crate::store::Path;
use crate::value::{Repr, Value};

/// A bundle that is active in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActiveBundle {
    /// Name of the bundle.
    pub name: String,
    /// The revision of its manifest.
    pub revision: String,
    /// Slash-separated paths below `data` that it owns.
    pub roots: Vec<String>,
}

impl ActiveBundle {
    /// Returns the bundles that are active in documents, in order of their names.
    pub fn list(documents: &Value) -> Vec<Self> {
        active(documents)
    }

    /// Checks that none of the bundles owns a document, part of it, or what it is part of. Servers reject changes of clients by it.
    ///
    /// # Errors
    /// OPA's message.
    pub fn check_scope(bundles: &[Self], path: &Path) -> Result<(), String> {
        if path.is_root() && !bundles.is_empty() {
            return Err("can't write to document root with bundle roots configured".to_owned());
        }
        for bundle in bundles {
            let roots = bundle.roots.iter();
            let roots: Vec<Path> = roots.map(|root| Path::from_slashes(root)).collect();
            if roots.iter().any(Path::is_root) {
                return Err(format!("all paths owned by bundle {:?}", bundle.name));
            }
            if roots.iter().any(|root| root.overlaps(path)) {
                return Err(format!(
                    "path {} is owned by bundle {:?}",
                    path.segments().join("/"),
                    bundle.name
                ));
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
    /// OPA's message if a bundle owns it.
    pub fn check_bundle_scope(&self, path: &Path) -> Result<(), String> {
        ActiveBundle::check_scope(&self.bundles(), path)
    }
}
