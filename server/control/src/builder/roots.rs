//! Roots: the paths below `data` that sources own.

use super::reference::dotted;

/// Adds a root unless another one contains it, and removes those that it contains. The order is that of discovery.
pub fn add(roots: &mut Vec<Vec<String>>, root: Vec<String>) {
    if roots.iter().any(|existing| root.starts_with(existing)) {
        return;
    }
    // the wider root takes the position of the first root that it contains
    match roots
        .iter()
        .position(|existing| existing.starts_with(&root))
    {
        None => roots.push(root),
        Some(first) => {
            let mut position = 0;
            roots.retain(|existing| {
                position += 1;
                position <= first + 1 || !existing.starts_with(&root)
            });
            if let Some(slot) = roots.get_mut(first) {
                *slot = root;
            }
        }
    }
}

/// The roots of all visits, each with the source that owns it.
#[derive(Default)]
pub struct OwnedRoots<'p> {
    owners: Vec<(Vec<String>, &'p str)>,
}

impl<'p> OwnedRoots<'p> {
    /// Adds the roots of a visit.
    ///
    /// # Errors
    /// OCP's message if another visit owns the same documents.
    pub fn add(&mut self, source: &'p str, roots: Vec<Vec<String>>) -> Result<(), String> {
        for root in &roots {
            let overlaps = |other: &[String]| root.starts_with(other) || other.starts_with(root);
            let overlapping = self.owners.iter().filter(|(other, _)| overlaps(other));
            let lines: Vec<String> = overlapping
                .map(|(other, owner)| format!("- package {} from {owner:?}", dotted(other)))
                .collect();
            if !lines.is_empty() {
                return Err(format!(
                    "requirement {source:?} contains conflicting package {}\n{}",
                    dotted(root),
                    lines.join("\n")
                ));
            }
        }
        self.owners
            .extend(roots.into_iter().map(|root| (root, source)));
        Ok(())
    }

    /// Returns the roots in the order in which they were added.
    pub fn into_roots(self) -> Vec<Vec<String>> {
        self.owners.into_iter().map(|(root, _)| root).collect()
    }
}

/// Returns the text of a root in a manifest, with `/` between the steps.
pub fn slashed(root: &[String]) -> String {
    root.join("/")
}

#[cfg(test)]
mod tests {
    use super::{add, slashed};

    #[test]
    fn no_root_is_lost() {
        let mut roots = Vec::new();
        for text in ["a/x", "b", "a/y", "a/x/z", "c", "a", "b", "d/e"] {
            add(&mut roots, text.split('/').map(str::to_owned).collect());
        }
        let texts: Vec<String> = roots.iter().map(|root| slashed(root)).collect();
        assert_eq!(texts, ["a", "b", "c", "d/e"]);
    }
}
