//! Documents of `data`: base data, rules and replaced documents as one tree.

use std::rc::Rc;

use smallvec::SmallVec;
use solon_syntax::stack;

use crate::bug::bug;
use crate::program::{BasePath, ConstId, NodeId, Program, RuleId, RuleKind, Slot, Step, TreeNode};
use crate::runtime::{
    EvalError, Halt, Overlay, base_child, descend, document_keys, is_system, merged_keys, replaced,
    stored_base_child, united,
};
use crate::value::{Value, ValueRef};

use super::frame::OperandSource;
use super::machine::{Flow, Machine};
use super::rules::NO_RULE;

/// Source of the document at a path of `data`, computed once for paths that are evaluated often.
#[derive(Clone, Copy, Debug)]
pub enum EntryPoint<'p> {
    /// A rule, and keys below its document.
    Rule(RuleId, &'p [Value]),
    /// Base documents, or base documents and rules together.
    Path(&'p [Value]),
}

impl<'p> EntryPoint<'p> {
    /// Returns the entry point of a path below `data`: the first rule on it, or the path itself.
    pub fn new(program: &Program, path: &'p [Value]) -> Self {
        let mut node = 0;
        for (depth, key) in path.iter().enumerate() {
            let Some(child) = program.tree.child(node, key.borrow()) else {
                break;
            };
            node = child;
            if let Some(rule) = program.tree.node(node).and_then(|node| node.rule) {
                return Self::Rule(rule, path.get(depth + 1..).unwrap_or(&[]));
            }
        }
        Self::Path(path)
    }
}

/// Replacement of a base document by `with`.
pub(super) enum Replacement<'e> {
    /// The document is not replaced.
    Nothing,
    /// The document, or one around it, is replaced by this one.
    Whole(Option<ValueRef<'e>>),
    /// Some documents below the path are replaced.
    Part,
}

impl<'e> Machine<'e> {
    /// Returns the document of an entry point; `None` if it is undefined.
    #[inline]
    pub fn entry(&mut self, entry: EntryPoint<'e>) -> Result<Option<ValueRef<'e>>, Box<EvalError>> {
        let found = match entry {
            EntryPoint::Rule(rule, []) => self.outermost(rule),
            EntryPoint::Rule(rule, keys) => {
                let keys: Vec<ValueRef<'e>> = keys.iter().map(Value::borrow).collect();
                self.rule_below(rule, &keys)
            }
            EntryPoint::Path(path) => {
                let path: Vec<ValueRef<'e>> = path.iter().map(Value::borrow).collect();
                self.document(&path)
            }
        };
        found.map_err(Halt::into_error)
    }

    /// Fills a slot with a base document without rules below it. Returns `false` if there is none.
    pub(super) fn base_document(&mut self, path: &[ConstId], out: Slot) -> Result<bool, Halt> {
        if self.overlaid {
            let found = match self.replacement(path.iter().map(|id| self.constant(*id))) {
                Replacement::Whole(found) if !path.is_empty() => Ok(found),
                Replacement::Nothing => return Ok(self.stored_base(path, out)),
                _ => self.merged_base(path),
            };
            return self.found(found, out);
        }
        Ok(self.stored_base(path, out))
    }

    /// Returns a base document that is partly replaced, or all of `data`.
    fn merged_base(&mut self, path: &[ConstId]) -> Result<Option<ValueRef<'e>>, Halt> {
        let path: SmallVec<[ValueRef<'e>; 8]> = path.iter().map(|id| self.constant(*id)).collect();
        // the root has rules, but none of them is below this path
        let node = path.is_empty().then_some(0);
        let overlays = self.scope_ref().overlay.clone();
        let place = self.root(node, overlays.as_deref());
        self.document_from(place, &path)
    }

    /// Fills a slot with a base document that is not replaced. Returns `false` if there is none.
    fn stored_base(&mut self, path: &[ConstId], out: Slot) -> bool {
        let mut value = self.data;
        for id in path {
            let found = self
                .stored_constant(*id)
                .and_then(|key| stored_base_child(value, key));
            match found {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        self.set_stored(out, value);
        true
    }

    /// Returns the replacement of the base document at a path.
    #[inline]
    pub(super) fn replacement(
        &self,
        mut path: impl Iterator<Item = ValueRef<'e>>,
    ) -> Replacement<'e> {
        let Some(mut overlay) = self.scope_ref().overlay.as_deref() else {
            return Replacement::Nothing;
        };
        loop {
            match overlay {
                Overlay::Value(value) => {
                    return Replacement::Whole(path.try_fold(*value, ValueRef::lookup));
                }
                Overlay::Node(children) => {
                    let Some(key) = path.next() else {
                        return Replacement::Part;
                    };
                    match children.get(&key) {
                        Some(child) => overlay = child,
                        None => return Replacement::Nothing,
                    }
                }
            }
        }
    }

    /// Returns the document of a rule under keys, if documents are replaced.
    pub(super) fn overlaid_rule(
        &mut self,
        rule: RuleId,
        keys: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let Some(set) = self.rule_set(rule) else {
            bug!(NO_RULE);
        };
        if !self.is_replaced(&set.path) {
            return self.rule_below(rule, keys);
        }
        let path: Vec<ValueRef<'e>> = set
            .path
            .iter()
            .map(Value::borrow)
            .chain(keys.iter().copied())
            .collect();
        self.document(&path)
    }

    /// Returns `true` if a document at a path, around or below it is replaced.
    fn is_replaced(&self, path: &[Value]) -> bool {
        let mut overlay = self.scope_ref().overlay.as_deref();
        for key in path {
            match overlay {
                None => return false,
                Some(Overlay::Value(_)) => return true,
                Some(node) => overlay = node.child(key.borrow()),
            }
        }
        overlay.is_some()
    }

    /// Returns the document at a path below `data`, or `None` if it is undefined. Rules on the path are evaluated.
    pub(super) fn document(&mut self, path: &[ValueRef<'e>]) -> Result<Option<ValueRef<'e>>, Halt> {
        let overlays = self.scope_ref().overlay.clone();
        let place = self.root(Some(0), overlays.as_deref());
        self.document_from(place, path)
    }

    /// Returns the data node of `data` with the rules below a tree node.
    fn root<'o>(&self, node: Option<NodeId>, overlay: Option<&'o Overlay<'e>>) -> DataNode<'o, 'e> {
        DataNode {
            node,
            base: Some(self.data.borrow()),
            overlay,
        }
    }

    /// Returns a child of a data node, in each of the layers that has one.
    fn child_node<'o>(&self, place: DataNode<'o, 'e>, key: ValueRef<'e>) -> DataNode<'o, 'e> {
        DataNode {
            node: place
                .node
                .and_then(|node| self.program.tree.child(node, key)),
            base: place.base.and_then(|base| base_child(base, key)),
            overlay: place.overlay.and_then(|overlay| overlay.child(key)),
        }
    }

    /// Returns the document at a path below a data node, or `None` if it is undefined.
    fn document_from(
        &mut self,
        mut place: DataNode<'_, 'e>,
        path: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        if let Some(Overlay::Value(data)) = place.overlay {
            let found = descend(Some(*data), path);
            let whole = found.filter(|_| path.is_empty());
            return Ok(whole.map(|data| self.with_packages(data, 0)).or(found));
        }
        for (depth, key) in path.iter().enumerate() {
            let rest = path.get(depth + 1..).unwrap_or(&[]);
            place = self.child_node(place, *key);
            if let Some(Overlay::Value(value)) = place.overlay {
                return Ok(descend(Some(*value), rest));
            }
            let Some(at) = place.node else {
                if place.overlay.is_none() {
                    return Ok(below_base(place.base, rest));
                }
                continue;
            };
            if let Some(rule) = self.program.tree.node(at).and_then(|node| node.rule) {
                if place.overlay.is_some() && !rest.is_empty() {
                    // documents below the rule are replaced: builds the whole document, then descends again
                    let whole = self.extent_at(place)?;
                    return Ok(descend(whole, rest));
                }
                if place.overlay.is_none() {
                    return self.rule_below(rule, rest);
                }
            }
        }
        self.extent_at(place)
    }

    /// Returns the value below the document of a rule, or `None` if it is undefined. Functions have no document.
    fn rule_below(
        &mut self,
        rule: RuleId,
        keys: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let Some(set) = self.rule_set(rule) else {
            bug!(NO_RULE);
        };
        let depth = match set.kind {
            RuleKind::Function(_) => return Ok(None),
            RuleKind::Complete => 0,
            RuleKind::Set | RuleKind::Object => set.depth,
        };
        let (known, rest) = keys
            .split_at_checked(depth.min(keys.len()))
            .unwrap_or((keys, &[]));
        let value = if known.is_empty() {
            self.rule(rule)?
        } else {
            self.keyed(rule, known)?
        };
        Ok(descend(value, rest))
    }

    /// Returns the whole document of a data node: base documents, rules and replacements merged.
    fn extent_at(&mut self, place: DataNode<'_, 'e>) -> Result<Option<ValueRef<'e>>, Halt> {
        let DataNode {
            node,
            base,
            overlay,
        } = place;
        if let Some(Overlay::Value(value)) = overlay {
            let value = united(self.call.arena, base, *value);
            return Ok(Some(
                node.map_or(value, |node| self.with_packages(value, node)),
            ));
        }
        let tree_node = node.and_then(|node| self.program.tree.node(node));
        if let Some(rule) = tree_node.and_then(|node| node.rule) {
            let value = self.rule_below(rule, &[])?;
            let arena = self.call.arena;
            return Ok(match (value, overlay) {
                // base documents at the path of a rule are rejected when written; when read, they have precedence
                (value, None) => base.or(value),
                (value, Some(overlay)) => Some(replaced(arena, value, overlay)),
            });
        }
        let replaced = match overlay {
            Some(Overlay::Node(children)) => Some(children),
            _ => None,
        };
        // packages add nothing below a value that is not an object
        let is_whole = overlay.is_none() && base.is_some_and(|base| base.as_object().is_none());
        if is_whole || tree_node.is_none() && replaced.is_none() {
            return Ok(base);
        }
        self.count_iteration()?;
        let arena = self.call.arena;
        let mut pairs = Vec::new();
        let is_root = node == Some(0);
        for key in merged_keys(is_root, rule_keys(tree_node), base, overlay) {
            let overlay = overlay.and_then(|overlay| overlay.child(key));
            // of the system's documents, only replaced ones are visible from here
            let is_shown = !(is_root && is_system(key));
            if !is_shown && overlay.is_none() {
                continue;
            }
            let node = node.filter(|_| is_shown);
            let base = base.filter(|_| is_shown);
            let inner = DataNode {
                node: node.and_then(|node| self.program.tree.child(node, key)),
                base: base
                    .and_then(|value| value.as_object())
                    .and_then(|base| base.get(key)),
                overlay,
            };
            // references of rules have hundreds of parts, and stacks may be small
            if let Some(value) = stack::level(|| self.extent_at(inner))? {
                pairs.push((key, value));
            }
        }
        Ok(Some(arena.object_from(pairs)))
    }

    /// Returns a replaced document as seen from above: packages that it hides are empty objects.
    fn with_packages(&self, value: ValueRef<'e>, at: NodeId) -> ValueRef<'e> {
        let arena = self.call.arena;
        let is_package = |node: &&TreeNode| node.rule.is_none() && !node.children.is_empty();
        let (Some(object), Some(node)) = (
            value.as_object(),
            self.program.tree.node(at).filter(is_package),
        ) else {
            return value;
        };
        let hidden = node.children.iter().filter_map(|(key, child)| {
            let key = key.borrow();
            if at == 0 && is_system(key) {
                return None;
            }
            let is_hidden = self
                .program
                .tree
                .node(*child)
                .as_ref()
                .is_some_and(is_package);
            is_hidden.then(|| {
                let inner = object.get(key).unwrap_or_else(|| arena.object_from([]));
                (key, self.with_packages(inner, *child))
            })
        });
        arena.object_from(object.iter().chain(hidden))
    }

    /// Runs the rest of a block for each element of a collection, whose path below `data` is `base` if it is a base
    /// document. A replacement of an object is merged with it in the enclosing document, but an element read by its own
    /// path is the new value alone.
    #[inline]
    pub(super) fn each_below(
        &mut self,
        from: ValueRef<'e>,
        base: Option<&'e BasePath>,
        key: Option<Slot>,
        out: Slot,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        match self.replaced_base(base) {
            Some(path) => self.each_key(&path, key, Some(out), rest),
            None => self.each(from, key, out, rest),
        }
    }

    /// Returns the path of a base document if documents below it are replaced. A document that is replaced as a whole,
    /// or is below such a one, has the new elements alone.
    pub(super) fn replaced_base(
        &self,
        base: Option<&'e BasePath>,
    ) -> Option<SmallVec<[ValueRef<'e>; 8]>> {
        let base = base.filter(|_| self.overlaid)?;
        let path: SmallVec<[ValueRef<'e>; 8]> =
            base.0.iter().map(|operand| self.get(*operand)).collect();
        let root = self.scope_ref().overlay.as_deref()?;
        let overlay = path.iter().try_fold(root, |node, key| node.child(*key))?;
        matches!(overlay, Overlay::Node(_)).then_some(path)
    }

    /// Runs the rest of a block for each key of the document at a path below `data`.
    pub(super) fn each_key(
        &mut self,
        path: &[ValueRef<'e>],
        key: Option<Slot>,
        value: Option<Slot>,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        let overlays: Option<Rc<Overlay<'e>>> = self.scope_ref().overlay.clone();
        let (keys, from) = self.keys(overlays.as_deref(), path)?;
        for name in keys {
            self.count_iteration()?;
            if let Some(key) = key {
                self.set(key, name);
            }
            if let Some(out) = value {
                let inner = match from {
                    DocumentSource::Node(place) => self.document_from(place, &[name])?,
                    DocumentSource::Whole(whole) => whole.and_then(|whole| whole.lookup(name)),
                };
                match inner {
                    Some(inner) => self.set(out, inner),
                    None => continue,
                }
            }
            if self.run(rest)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::More)
    }

    /// Returns the keys of the document at a path below `data`, base documents first, and the source of their
    /// documents.
    fn keys<'o>(
        &mut self,
        overlay: Option<&'o Overlay<'e>>,
        path: &[ValueRef<'e>],
    ) -> Result<(Vec<ValueRef<'e>>, DocumentSource<'o, 'e>), Halt> {
        let made = |whole: Option<ValueRef<'e>>| {
            let keys = whole.map_or_else(Vec::new, document_keys);
            (keys, DocumentSource::Whole(whole))
        };
        let mut place = self.root(Some(0), overlay);
        if let Some(Overlay::Value(data)) = overlay {
            return Ok(made(descend(Some(*data), path)));
        }
        for key in path {
            place = self.child_node(place, *key);
            let ruled = place
                .node
                .and_then(|node| self.program.tree.node(node))
                .is_some_and(|node| node.rule.is_some());
            if ruled
                || matches!(place.overlay, Some(Overlay::Value(_)))
                || (place.node.is_none() && place.overlay.is_none())
            {
                return self.document(path).map(made);
            }
        }
        let tree_node = place.node.and_then(|node| self.program.tree.node(node));
        let rules = rule_keys(tree_node);
        let keys = merged_keys(path.is_empty(), rules, place.base, place.overlay);
        Ok((keys, DocumentSource::Node(place)))
    }
}

/// A node of the document tree: its rules, its base document, and its replacement by `with`.
#[derive(Clone, Copy)]
struct DataNode<'o, 'e> {
    node: Option<NodeId>,
    base: Option<ValueRef<'e>>,
    overlay: Option<&'o Overlay<'e>>,
}

/// Source of the documents under keys.
#[derive(Clone, Copy)]
enum DocumentSource<'o, 'e> {
    Node(DataNode<'o, 'e>),
    /// In a document that was built as a whole, since a rule may not find a part of it by its key.
    Whole(Option<ValueRef<'e>>),
}

/// Returns the value of a base document under `keys`.
fn below_base<'e>(base: Option<ValueRef<'e>>, keys: &[ValueRef<'e>]) -> Option<ValueRef<'e>> {
    keys.iter()
        .try_fold(base?, |base, key| base_child(base, *key))
}

/// Iterates over the keys under which rules produce documents.
fn rule_keys(node: Option<&TreeNode>) -> impl Iterator<Item = ValueRef<'_>> {
    node.into_iter()
        .flat_map(|node| node.children.keys())
        .map(Value::borrow)
}
