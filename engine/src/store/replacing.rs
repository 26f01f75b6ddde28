//! Replacement of the documents of earlier loads of files by those of another load, without changing what clients
//! wrote.

use std::collections::BTreeSet;

use solon_syntax::stack;

use super::claims::Extent;
use super::write::{self, is_same};
use super::{Claim, ClaimKind, Claims, Operation, Path, StoreError, Transaction};
use crate::value::{Object, Repr, Value};

#[derive(Debug, Default)]
pub(crate) struct DocumentLoad {
    /// Documents of the files. Equal parts are shared with the documents in effect, so that they are in memory once.
    pub loaded: Option<Value>,
    /// All claims, if the load changed some of them.
    pub claims: Option<Claims>,
    /// Documents of files that are not in effect because of a client's write.
    pub overridden: Vec<Path>,
    /// Documents of unknown origin that no file contains.
    pub unknown: Vec<Path>,
}

/// Writes the documents of a load into a transaction. `loaded` is an object.
///
/// Invariant of the documents in effect, before and after: they are those of the last load, in which each claimed
/// document is replaced by what the client left there, and objects that clients created exist.
pub(crate) fn replace(
    transaction: &mut Transaction,
    claims: &Claims,
    loaded: &Value,
) -> Result<DocumentLoad, StoreError> {
    let root = transaction.root().clone();
    let has_unknown = claims
        .iter()
        .any(|(_, claim)| claim.kind == ClaimKind::Unknown);
    let next = has_unknown.then(|| {
        let mut known_claims = claims.clone();
        known_claims.retain(|_, claim| claim.kind != ClaimKind::Unknown);
        known_claims
    });
    let mut replacing = Replacing {
        transaction,
        claims,
        outcome: DocumentLoad {
            claims: next,
            ..DocumentLoad::default()
        },
    };
    let mut path = Vec::new();
    let shared = replacing.node(&mut path, Some(&root), Some(loaded), false)?;
    let mut outcome = replacing.outcome;
    outcome.loaded = shared;
    outcome.claims = outcome.claims.filter(|next| next != claims);
    Ok(outcome)
}

struct Replacing<'a> {
    transaction: &'a mut Transaction,
    claims: &'a Claims,
    outcome: DocumentLoad,
}

/// A document of a load. It is the one in effect if both are equal.
type SharedValue = Option<Value>;

impl Replacing<'_> {
    /// Replaces one document. `old` is in effect, `new` is that of the load. `unknown` if `old` has no known origin.
    fn node(
        &mut self,
        path: &mut Vec<String>,
        old: Option<&Value>,
        new: Option<&Value>,
        unknown: bool,
    ) -> Result<SharedValue, StoreError> {
        let claim = self.claims.get(path).map(|claim| claim.kind);
        if claim == Some(ClaimKind::Whole) {
            let is_equal = matches!((old, new), (Some(old), Some(new)) if is_same(old, new));
            if new.is_some() && !is_equal {
                self.outcome.overridden.push(Path::new(&*path));
            }
            return Ok(if is_equal { old.cloned() } else { new.cloned() });
        }
        let unknown = unknown || claim == Some(ClaimKind::Unknown);
        let is_claimed = self.claims.iter_below(path).next().is_some();
        if !is_claimed && !unknown {
            return self.plain(path, old, new);
        }
        match (old, new) {
            (Some(Value(Repr::Object(old))), Some(Value(Repr::Object(new))))
                if has_text_keys(new) =>
            {
                self.members(path, old, Some(new), unknown)
            }
            (Some(_), None) if unknown => {
                self.keep_unknown(path);
                Ok(None)
            }
            (Some(Value(Repr::Object(members))), _) if self.is_live(path, old, new.is_none()) => {
                if new.is_some() {
                    self.outcome.overridden.push(Path::new(&*path));
                }
                self.members(path, members, None, unknown)?;
                Ok(new.cloned())
            }
            (_, Some(new)) => {
                let visible = self.without_removed(path, new)?;
                if !old.is_some_and(|old| is_same(old, &visible)) {
                    self.set(path, visible)?;
                }
                Ok(Some(new.clone()))
            }
            (Some(_), None) => {
                self.remove(path)?;
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }

    /// Replaces each member of an object. `new` is `None` if no file contains an object there.
    fn members(
        &mut self,
        path: &mut Vec<String>,
        old: &Object,
        new: Option<&Object>,
        unknown: bool,
    ) -> Result<SharedValue, StoreError> {
        let news = new.into_iter().flat_map(Object::iter);
        let keys = old.iter().chain(news).filter_map(|(key, _)| key.as_str());
        let keys: BTreeSet<String> = keys.map(str::to_owned).collect();
        let mut members_of_load = Vec::new();
        for key in keys {
            let (before, after) = (old.get_str(&key), new.and_then(|new| new.get_str(&key)));
            let name = Value::string(&key);
            path.push(key);
            let shared = stack::level(|| self.node(path, before, after, unknown))?;
            path.pop();
            members_of_load.extend(shared.map(|shared| (name, shared)));
        }
        Ok(new.map(|_| Value(Repr::Object(Object::from_pairs(members_of_load)))))
    }

    /// Replaces a document without claims.
    fn plain(
        &mut self,
        path: &mut Vec<String>,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> Result<SharedValue, StoreError> {
        match (old, new) {
            (Some(old), Some(new)) if is_same(old, new) => return Ok(Some(old.clone())),
            (Some(Value(Repr::Object(old))), Some(Value(Repr::Object(new))))
                if !old.is_empty() && !new.is_empty() && has_text_keys(new) =>
            {
                return self.members(path, old, Some(new), false);
            }
            (_, Some(new)) => self.set(path, new.clone())?,
            (Some(_), None) => self.remove(path)?,
            (None, None) => {}
        }
        Ok(new.cloned())
    }

    /// Returns `true` if the object must stay because of what clients wrote below it, or, `with_unknown`, because of a
    /// member of unknown origin.
    fn is_live(&self, path: &[String], object: Option<&Value>, with_unknown: bool) -> bool {
        let mut claims = self.claims.iter_below(path);
        claims.any(|(claim_path, claim)| {
            let relative = claim_path.get(path.len()..).unwrap_or_default();
            let is_there =
                || object.is_some_and(|object| Path::new(relative).find(object).is_some());
            match claim.kind {
                ClaimKind::Object => true,
                ClaimKind::Whole => claim.created_depth <= path.len() || is_there(),
                ClaimKind::Unknown => with_unknown && is_there(),
            }
        })
    }

    fn keep_unknown(&mut self, path: &[String]) {
        self.outcome.unknown.push(Path::new(path));
        if let Some(claims) = &mut self.outcome.claims {
            let claim = Claim::new(ClaimKind::Unknown, path.len());
            // a client's claim on the object itself takes precedence
            if claims.get(path).is_none() {
                claims.insert(path.to_vec(), claim);
            }
        }
    }

    /// Returns a document of a file without what clients removed from it.
    fn without_removed(&mut self, path: &[String], new: &Value) -> Result<Value, StoreError> {
        let claims = self.claims.iter_below(path);
        let removed = claims.filter(|(claim_path, claim)| {
            claim_path.len() > path.len() && claim.kind == ClaimKind::Whole
        });
        let mut visible = new.clone();
        for (claim_path, _) in removed {
            let relative = claim_path.get(path.len()..).unwrap_or_default();
            if !Extent::measure(relative, &visible).is_whole() {
                continue;
            }
            let relative_path = Path::new(relative);
            write::write(
                &mut visible,
                Operation::Remove,
                &relative_path,
                Value(Repr::Null),
            )?;
            self.outcome.overridden.push(Path::new(claim_path));
        }
        Ok(visible)
    }

    fn set(&mut self, path: &[String], value: Value) -> Result<(), StoreError> {
        let path = Path::new(path);
        self.transaction.write(Operation::Add, &path, value)
    }

    fn remove(&mut self, path: &[String]) -> Result<(), StoreError> {
        let path = Path::new(path);
        self.transaction
            .write(Operation::Remove, &path, Value(Repr::Null))
    }
}

fn has_text_keys(object: &Object) -> bool {
    object.iter().all(|(key, _)| key.as_str().is_some())
}
