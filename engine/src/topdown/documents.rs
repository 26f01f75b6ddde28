//! References into `data`: base documents, rules and replaced documents form one tree.

use smallvec::SmallVec;
use solon_syntax::ast::{Term, TermKind};

use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::partial_eval::PossibleKey;
use super::reference::PendingRef;
use super::term::{BuiltTerm, TermRef};
use crate::bug::{Within as _, bug};
use crate::program::canonical::{DocNode, DocNodeId, DocTree};
use crate::runtime::{
    Halt, Overlay, base_child, descend, document_keys, is_system, replaced_below,
};
use crate::trace::{Count, MeasuredOperation};
use crate::value::ValueRef;

/// Keys below `data`.
pub(super) type DataPath<'e> = SmallVec<[ValueRef<'e>; 8]>;

impl<'e> Topdown<'e> {
    pub(super) fn doc_tree(&self) -> &'e DocTree {
        self.program.canonical.doc_tree()
    }

    pub(super) fn doc_node(&self, id: Option<DocNodeId>) -> Option<&'e DocNode> {
        Some(self.doc_tree().get(id?))
    }

    /// Calls `next` for each document that a reference matches.
    pub(super) fn documents(
        &mut self,
        goal: Goal<'e>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        self.tree(
            goal,
            Some(DocTree::DATA),
            DataPath::new(),
            None,
            target,
            next,
        )
    }

    /// Descends from a node of the document tree. The first step may be known already.
    fn tree(
        &mut self,
        goal: Goal<'e>,
        mut node: Option<DocNodeId>,
        mut path: DataPath<'e>,
        mut first: Option<ValueRef<'e>>,
        mut target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        while let Some(step) = target.step() {
            let Some(key) = first.take().or_else(|| self.plug(step)) else {
                return self.each_document(goal, node, &path, target, next);
            };
            path.push(key);
            target = target.next();
            node = node
                .filter(|_| !self.is_replaced(&path))
                .and_then(|node| self.doc_tree().child(node, key));
            if let Some(group) = self.doc_node(node).and_then(|node| node.group.as_ref()) {
                return self.virtual_document(goal, group, &path, target, next);
            }
        }
        if self.open.is_some() {
            let whole = self.reference_at(&path, target);
            if self.depends(whole) {
                return self.save_equal(goal, whole, target.other, next);
            }
        }
        match self.extent(goal, node, &mut path)? {
            Some(value) => self.unify(goal, target.other, TermRef::Value(value), next),
            None => Ok(SearchFlow::More),
        }
    }

    /// Calls `next` for each document at a path, base documents first.
    fn each_document(
        &mut self,
        goal: Goal<'e>,
        node: Option<DocNodeId>,
        path: &DataPath<'e>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(step) = target.step() else {
            bug!("a step behind the last one");
        };
        if self.open.is_some() && self.is_hidden(&self.below_data(path), true) {
            let whole = self.reference_at(path, target);
            return self.save_equal(goal, whole, target.other, next);
        }
        let base = self.resolve(path);
        let keys = base.map_or_else(Vec::new, document_keys);
        let ruled = self
            .doc_node(node)
            .into_iter()
            .flat_map(|node| node.children.keys())
            .map(|key| key.borrow())
            .filter(|key| base.is_none_or(|base| base.lookup(*key).is_none()));
        let ruled: Vec<ValueRef<'e>> = ruled.collect();
        // a document that `with` replaces distinguishes numbers from strings as keys
        let numbers = self.open.is_some() && self.is_unknown_step(step) && !self.is_replaced(path);
        let stored = self.possible_keys(keys, numbers, node);
        let ruled = ruled.into_iter().map(PossibleKey::stored);
        self.alternatives(stored.into_iter().chain(ruled), |walk, possible| {
            walk.count_iteration()?;
            let key = possible.key;
            let mut found =
                |walk: &mut Self| walk.tree(goal, node, path.clone(), Some(key), target, next);
            match possible.text {
                Some(text) => walk.save_number_key(goal, step, text, &mut found),
                None => walk.unify(goal, TermRef::Value(key), step, &mut found),
            }
        })
    }

    /// Returns `true` if `with` replaces the document at a path or one of its ancestors. Replaced descendants do not count.
    fn is_replaced(&self, path: &[ValueRef<'e>]) -> bool {
        let mut overlay = self.scope().overlay.as_deref();
        for key in path {
            if let Some(Overlay::Value(_)) = overlay {
                return true;
            }
            overlay = overlay.and_then(|overlay| overlay.child(*key));
        }
        matches!(overlay, Some(Overlay::Value(_)))
    }

    /// Returns the base document at a path, with replacements by `with` applied.
    pub(super) fn resolve(&self, path: &[ValueRef<'e>]) -> Option<ValueRef<'e>> {
        let start = self.begin();
        let document = self.base_document(path);
        self.end(MeasuredOperation::Resolve, start);
        if document.is_some() {
            self.tally(Count::BaseCacheMiss);
        }
        document
    }

    fn base_document(&self, path: &[ValueRef<'e>]) -> Option<ValueRef<'e>> {
        let arena = self.call.arena;
        let mut overlay = self.scope().overlay.as_deref();
        let mut base = Some(self.data);
        for (depth, key) in path.iter().enumerate() {
            if let Some(Overlay::Value(value)) = overlay {
                return descend(Some(*value), path.within(depth..));
            }
            overlay = overlay.and_then(|overlay| overlay.child(*key));
            base = base.and_then(|base| base_child(base, *key));
        }
        let root = base.filter(|_| path.is_empty());
        let root = root.and_then(|value| value.as_object());
        if let Some(root) = root.filter(|root| root.get_str("system").is_some()) {
            let shown = root.iter().filter(|(key, _)| !is_system(*key));
            base = Some(arena.object_from(shown));
        }
        match overlay {
            Some(Overlay::Value(value)) => Some(*value),
            Some(overlay) => Some(replaced_below(arena, base, overlay)),
            None => base,
        }
    }

    /// Builds the whole document at a path that no single rule produces.
    fn extent(
        &mut self,
        goal: Goal<'e>,
        node: Option<DocNodeId>,
        path: &mut DataPath<'e>,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let base = self.resolve(path);
        let Some(node) = node else {
            return Ok(base);
        };
        let made = self.rule_documents(goal, node, path)?;
        Ok(Some(match base {
            Some(base) => self.merged(base, made, Some(node)),
            None => made,
        }))
    }

    /// Builds the object of all rule documents below a node.
    fn rule_documents(
        &mut self,
        goal: Goal<'e>,
        node: DocNodeId,
        path: &mut DataPath<'e>,
    ) -> Result<ValueRef<'e>, Halt> {
        self.count_iteration()?;
        let arena = self.call.arena;
        let mut pairs = Vec::new();
        let children = self.doc_node(Some(node)).map(|node| &node.children);
        for (key, child) in children.into_iter().flatten() {
            let key = key.borrow();
            if path.is_empty() && is_system(key) {
                continue;
            }
            path.push(key);
            let ruled = self
                .doc_node(Some(*child))
                .is_some_and(|node| node.group.is_some());
            if ruled {
                pairs.extend(self.rule_document(goal, path)?.map(|value| (key, value)));
            } else {
                pairs.push((key, self.rule_documents(goal, *child, path)?));
            }
            path.pop();
        }
        Ok(arena.object_from(pairs))
    }

    /// Returns the document of the rule at a path, or `None` if it is undefined.
    fn rule_document(
        &mut self,
        goal: Goal<'e>,
        path: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let bump = self.call.arena.bump();
        let terms = std::iter::once(TermRef::Term(&DATA, goal.frame))
            .chain(path.iter().map(|key| TermRef::Value(*key)));
        let terms: Vec<TermRef<'e>> = terms.collect();
        let reference = TermRef::Built(bump.alloc(BuiltTerm::Ref(bump.alloc_slice_copy(&terms))));
        let leaf = TermRef::Built(self.variable("$_leaf", goal.frame));
        let mut found = None;
        self.unify(goal, reference, leaf, &mut |walk| {
            found = walk.plug(leaf);
            Ok(SearchFlow::More)
        })?;
        Ok(found)
    }

    /// Merges base documents with the documents of rules. Where a base document and a rule have the same path, the base
    /// document wins.
    fn merged(
        &self,
        base: ValueRef<'e>,
        made: ValueRef<'e>,
        node: Option<DocNodeId>,
    ) -> ValueRef<'e> {
        let ruled = self.doc_node(node).is_some_and(|node| node.group.is_some());
        if ruled && self.scope().overlay.is_none() {
            return base;
        }
        let (Some(old), Some(new)) = (base.as_object(), made.as_object()) else {
            return base;
        };
        let pairs = old.iter().map(|(key, value)| {
            let below = node.and_then(|node| self.doc_tree().child(node, key));
            let value = match new.get(key) {
                Some(made) => self.merged(value, made, below),
                None => value,
            };
            (key, value)
        });
        let added = new.iter().filter(|(key, _)| old.get(*key).is_none());
        self.call.arena.object_from(pairs.chain(added))
    }
}

/// The term `data`, shared by all references that are built.
pub(super) static DATA: std::sync::LazyLock<Term> = std::sync::LazyLock::new(|| Term {
    kind: TermKind::Var("data".into()),
    span: solon_syntax::source::Span::default(),
});
