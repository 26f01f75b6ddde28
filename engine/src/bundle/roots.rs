//! Roots of bundles. Two active bundles must not own the same documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::Path;

#[derive(Default)]
pub struct BundleRoots<'p>(Vec<(&'p str, Vec<Path>)>);

impl<'p> BundleRoots<'p> {
    pub fn add(&mut self, name: &'p str, roots: Vec<Path>) {
        self.0.push((name, roots));
    }

    /// Returns OPA's message that names all bundles that own the same documents, or `None` if there are none. Compares all pairs of
    /// roots.
    pub fn overlap(&self) -> Option<String> {
        let mut bundles = BTreeSet::new();
        let mut unbounded = BTreeSet::new();
        let mut conflicts = BTreeSet::new();
        for (index, (name, roots)) in self.0.iter().enumerate() {
            for (other, other_roots) in self.0.iter().skip(index + 1) {
                let pairs = roots
                    .iter()
                    .flat_map(|root| other_roots.iter().map(move |other| (root, other)));
                for (root, other_root) in pairs {
                    if !root.overlaps(other_root) {
                        continue;
                    }
                    bundles.extend([*name, *other]);
                    unbounded.extend(root.is_root().then_some(*name));
                    unbounded.extend(other_root.is_root().then_some(*other));
                    conflicts.insert(conflict(root, other_root));
                }
            }
        }
        if bundles.is_empty() {
            return None;
        }
        let list = |names: BTreeSet<&str>| Vec::from_iter(names).join(", ");
        let names = list(bundles);
        Some(if unbounded.is_empty() {
            let conflicts = Vec::from_iter(conflicts).join(", ");
            format!(
                "detected overlapping roots in manifests for these bundles: [{names}] ({conflicts})"
            )
        } else {
            let unbounded = list(unbounded);
            format!(
                "bundles [{names}] have overlapping roots and cannot be activated simultaneously because bundle(s) \
                 [{unbounded}] specify empty root paths ('') which overlap with any other bundle root"
            )
        })
    }
}

/// Checks that no two bundles own the same documents.
///
/// # Errors
/// OPA's message, which names all bundles that do.
pub(crate) fn check_roots(bundles: BTreeMap<&str, Vec<Path>>) -> Result<(), String> {
    let roots = BundleRoots(bundles.into_iter().collect());
    roots.overlap().map_or(Ok(()), Err)
}

fn conflict(root: &Path, other: &Path) -> String {
    let (root, other) = (root.segments().join("/"), other.segments().join("/"));
    if root == other {
        return format!("root {root} is in multiple bundles");
    }
    let (first, second) = (root.as_str().min(&other), root.as_str().max(&other));
    format!("{first} overlaps {second}")
}
