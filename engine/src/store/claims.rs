//! Claims of clients on documents. All other documents came from files.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::{Path, Write};
use crate::value::{Repr, Value};

/// Origin of a document that did not come from the last load of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimKind {
    /// A client wrote or removed the document. Everything below it belongs to the claim.
    Whole,
    /// A client's write made the object. Its members have origins of their own.
    Object,
    /// A version that did not record origins wrote the document and everything below it.
    Unknown,
}

/// A claim on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The origin.
    pub kind: ClaimKind,
    /// Length of the shortest path around the document whose object the client's write created. The length of the
    /// document's own path if all objects around it existed.
    pub created_depth: usize,
}

impl Claim {
    /// Creates a claim whose write created the objects at paths of `created_depth` and more keys.
    pub fn new(kind: ClaimKind, created_depth: usize) -> Self {
        Self {
            kind,
            created_depth,
        }
    }
}

/// A change of the claims at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimChange {
    /// The path of the document.
    pub path: Path,
    /// The claim on it. Claims at and below `path` are removed, except that [`ClaimKind::Object`] leaves them in place and does
    /// not replace a claim at `path`.
    pub claim: Option<Claim>,
}

impl ClaimChange {
    fn new(path: &[String], claim: Option<Claim>) -> Self {
        let path = Path::new(path);
        Self { path, claim }
    }
}

/// Claims by path. Invariant: no claim lies below one of kind [`ClaimKind::Whole`].
///
/// The map is flat because paths may have 10,000 keys: dropping a tree of that depth overflows small stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(BTreeMap<Vec<String>, Claim>);

impl Claims {
    /// Returns claims for documents whose origin was not recorded.
    pub fn unknown() -> Self {
        let root = Claim::new(ClaimKind::Unknown, 0);
        Self(BTreeMap::from([(Vec::new(), root)]))
    }

    /// Returns all claims in order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], Claim)> {
        self.0.iter().map(|(path, claim)| (&**path, *claim))
    }

    /// Returns the claim on exactly one document, or `None` if it has none.
    pub fn get(&self, path: &[String]) -> Option<Claim> {
        self.0.get(path).copied()
    }

    /// Returns the claims at and below a path. Takes logarithmic time to find the first one.
    pub fn iter_below(&self, path: &[String]) -> impl Iterator<Item = (&[String], Claim)> {
        let from: (Bound<&[String]>, Bound<&[String]>) = (Bound::Included(path), Bound::Unbounded);
        let claims = self.0.range::<[String], _>(from);
        let claims = claims.map(|(path, claim)| (&**path, *claim));
        claims.take_while(move |(claim_path, _)| claim_path.starts_with(path))
    }

    /// Adds a claim, for example one that a store has read.
    pub fn insert(&mut self, path: Vec<String>, claim: Claim) {
        self.0.insert(path, claim);
    }

    /// Applies a change. A claim on an object keeps an existing claim; any other replaces the claims below it.
    pub fn change(&mut self, change: &ClaimChange) {
        let path = change.path.segments();
        match change.claim {
            Some(claim) if claim.kind == ClaimKind::Object => {
                self.0.entry(path.to_vec()).or_insert(claim);
            }
            claim => {
                self.remove(path);
                if let Some(claim) = claim {
                    self.insert(path.to_vec(), claim);
                }
            }
        }
    }

    /// Removes all claims at and below a path. Scans only those.
    pub fn remove(&mut self, path: &[String]) {
        let removed: Vec<_> = self
            .iter_below(path)
            .map(|(path, _)| path.to_vec())
            .collect();
        for path in removed {
            self.0.remove(&path);
        }
    }

    /// Keeps the claims for which `keep` returns `true`. Visits all.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&[String], Claim) -> bool) {
        self.0.retain(|path, claim| keep(path, *claim));
    }

    /// Returns `true` if a claim on a document around this one includes it.
    fn covers(&self, path: &[String]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        // Nothing lies below a `Whole` claim, so only the predecessor of the path can be around it.
        let before: (Bound<&[String]>, Bound<&[String]>) =
            (Bound::Unbounded, Bound::Excluded(path));
        let predecessor = self.0.range::<[String], _>(before).next_back();
        predecessor.is_some_and(|(claim_path, claim)| {
            claim.kind == ClaimKind::Whole && path.starts_with(claim_path)
        })
    }

    /// Returns the claims of a client's transaction. `loaded` contains the documents of the last load of files, if they
    /// are known: a removed document needs a claim only if a file contains it.
    pub(super) fn of_writes(
        &self,
        writes: &[Write],
        before: &Value,
        after: &Value,
        loaded: Option<&Value>,
    ) -> Vec<ClaimChange> {
        let mut fresh = Self::default();
        for write in writes {
            let (path, kind) = match write {
                Write::Put(path, _) | Write::Exactly(_, path, _) => {
                    (path.segments(), ClaimKind::Whole)
                }
                Write::MakeParents(path) => match path.segments().split_last() {
                    Some((_, parents)) => (parents, ClaimKind::Object),
                    None => continue,
                },
            };
            let extent = Extent::measure(path, before);
            let (path, kind) = match extent {
                Extent::Array(length) => (path.get(..length).unwrap_or_default(), ClaimKind::Whole),
                _ => (path, kind),
            };
            let mut created_depth = match extent {
                Extent::Absent(length) if !matches!(write, Write::Exactly(..)) => length,
                _ => path.len(),
            };
            let made_nothing = kind == ClaimKind::Object && !matches!(extent, Extent::Absent(_));
            if made_nothing || self.covers(path) || fresh.covers(path) {
                continue;
            }
            if kind == ClaimKind::Whole {
                let replaced = self.iter_below(path).chain(fresh.iter_below(path));
                created_depth = replaced.fold(created_depth, |depth, (_, claim)| {
                    depth.min(claim.created_depth)
                });
            }
            fresh.change(&ClaimChange::new(
                path,
                Some(Claim::new(kind, created_depth)),
            ));
        }
        let is_given = |path: &Path| loaded.is_none_or(|loaded| path.find(loaded).is_some());
        let mut changes = Vec::new();
        for (path, claim) in fresh.0 {
            let claim_path_of_change = Path::new(&*path);
            let is_needed = claim.kind == ClaimKind::Object
                || claim_path_of_change.find(after).is_some()
                || is_given(&claim_path_of_change);
            changes.push(ClaimChange::new(&path, is_needed.then_some(claim)));
            // The objects around a removed document still exist, although no file may contain them.
            if let (false, Some((_, parents)), Some(loaded)) =
                (is_needed, path.split_last(), loaded)
            {
                let length_of_loaded = match Extent::measure(&path, loaded) {
                    Extent::Exists => path.len(),
                    Extent::Absent(length) | Extent::Array(length) => length,
                };
                if length_of_loaded <= parents.len() {
                    let object = Claim::new(ClaimKind::Object, length_of_loaded);
                    changes.push(ClaimChange::new(parents, Some(object)));
                }
            }
        }
        // No change concerns a path below that of another one, so each is compared with the claims as they are.
        changes.retain(|change| self.is_changed_by(change));
        changes
    }

    /// Returns `true` if a change makes a difference.
    fn is_changed_by(&self, change: &ClaimChange) -> bool {
        let path = change.path.segments();
        match change.claim {
            Some(claim) if claim.kind == ClaimKind::Object => self.get(path).is_none(),
            claim => {
                let mut below = self.iter_below(path);
                let first = below.next();
                first != claim.map(|claim| (path, claim)) || below.next().is_some()
            }
        }
    }
}

/// The existing part of a path.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// The whole path exists.
    Exists,
    /// Documents at this length and longer do not exist.
    Absent(usize),
    /// The document at this length is not an object. Claims do not lead into arrays, whose elements have no lasting paths.
    Array(usize),
}

impl Extent {
    /// Returns `true` if the document exists and all documents around it are objects.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Exists)
    }

    /// Follows a path through objects to find its existing part.
    pub fn measure(path: &[String], root: &Value) -> Self {
        let mut node = root;
        for (length, key) in path.iter().enumerate() {
            let Value(Repr::Object(object)) = node else {
                return Self::Array(length);
            };
            match object.get_str(key) {
                Some(next) => node = next,
                None => return Self::Absent(length + 1),
            }
        }
        Self::Exists
    }
}
