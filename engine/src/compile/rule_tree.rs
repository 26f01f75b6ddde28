//! Tree of packages and rules, by the ground prefix of their references.

mod builder;

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use solon_syntax::ast::{Module, Rule, Term, TermKind};

use crate::index::IndexType;
use crate::program::Steps;
use crate::value::number::NumberText;
use crate::value::order::same_key;
use crate::value::text::ArenaText;
use crate::value::{RefRepr, Repr, Short, Value, ValueRef};
use builder::RuleTreeBuilder;

/// Index of a node of a [`RuleTree`]. It means nothing in another tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleTreeNodeId(u32);

/// Position of a rule with its chain of `else` branches. Ordered by file, then by position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeRuleId {
    /// Position of the module among all modules.
    pub module: u32,
    /// Position of the rule in its module.
    pub rule: u32,
}

impl IndexType for RuleTreeNodeId {
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

impl TreeRuleId {
    /// Returns the rule in the modules that the tree was built from; in others it may be another rule, or `None`.
    pub fn rule_in(self, modules: &[Arc<Module>]) -> Option<&Rule> {
        modules
            .get(self.module as usize)?
            .rules
            .get(self.rule as usize)
    }
}

/// A path of documents: a package, a rule, or a prefix of one.
#[derive(Clone, Debug, Default)]
pub struct RuleTreeNode {
    /// Last step of the path; null for `data` itself.
    pub key: Value,
    /// Parent node; `None` for `data` itself.
    pub parent: Option<RuleTreeNodeId>,
    /// Children, ordered by key.
    pub children: Vec<RuleTreeNodeId>,
    /// Rules with this ground prefix, in order.
    pub rules: SmallVec<[TreeRuleId; 1]>,
    /// Number of arguments of the first rule.
    pub arity: usize,
    /// Indices of the modules with this package, in order.
    pub packages: Vec<u32>,
}

/// The tree below `data`. Each rule belongs to the longest prefix of its reference without variables.
#[derive(Clone, Debug)]
pub struct RuleTree {
    nodes: Vec<RuleTreeNode>,
    steps: Steps,
    /// Node of each rule of each module, by position.
    homes: Vec<Vec<RuleTreeNodeId>>,
    /// Number of nodes without a document, which nothing refers to.
    unused: usize,
    /// For rules whose references have constants after a variable: the steps after the node, with `None` for those that
    /// are not constants.
    tails: HashMap<TreeRuleId, Box<[Option<Value>]>>,
}

impl Default for RuleTree {
    fn default() -> Self {
        Self {
            nodes: vec![RuleTreeNode::default()],
            steps: Steps::default(),
            homes: Vec::new(),
            unused: 0,
            tails: HashMap::new(),
        }
    }
}

impl RuleTree {
    /// The root: `data`.
    pub const DATA: RuleTreeNodeId = RuleTreeNodeId(0);

    /// Collects the packages and rules of modules whose heads contain only scalars and variables.
    pub fn new(modules: &[Arc<Module>]) -> Self {
        RuleTreeBuilder::new(modules).finish()
    }

    /// Returns the tree after the modules at some positions have changed from `before` to `now`. All other modules are the same, at the
    /// same positions. `None` if too many nodes would be unused, since each removed document leaves one, or if a rule that changed has
    /// a number in its reference: the first of all rules determines how the number is spelled. O(nodes), without a lookup for each rule.
    pub fn with_changed(
        &self,
        before: &[Arc<Module>],
        now: &[Arc<Module>],
        positions: &[u32],
    ) -> Option<Self> {
        let has_number = |modules: &[Arc<Module>], position: u32| {
            let module = modules.get(position as usize);
            module.is_none_or(|module| module.rules.iter().any(has_number_step))
        };
        let mut all = positions.iter().copied();
        if all.any(|position| has_number(before, position) || has_number(now, position)) {
            return None;
        }
        let mut builder = RuleTreeBuilder::on_from(self.clone());
        builder.remove(before, positions);
        builder.add(now, positions);
        builder.settle(now);
        let is_worthwhile = 2 * builder.tree.unused <= builder.tree.nodes.len();
        is_worthwhile.then(|| builder.finish())
    }

    /// Returns `true` if the tree stays the same when this module is now at a position. False for other packages, rules or numbers of
    /// arguments than before. O(rules of the module).
    pub fn has_rules_of(&self, module: &Module, position: u32) -> bool {
        let homes = self.homes.get(position as usize).map(Vec::as_slice);
        let package = self.descend(Self::DATA, module.package.path.get(1..).unwrap_or_default());
        let (Some(homes), Some(package)) = (homes, package) else {
            return false;
        };
        let has_rule = |(rule, position_in_module): (&Rule, u32)| {
            let reference = &rule.head.reference;
            let prefix = ground_prefix(reference);
            let Some(node) = self.descend(package, prefix) else {
                return false;
            };
            let id = TreeRuleId {
                module: position,
                rule: position_in_module,
            };
            self.home(id) == Some(node)
                && self.node(node).arity == rule.head.args.len()
                && self.tail(id) == tail(reference, prefix)
        };
        homes.len() == module.rules.len()
            && self.node(package).packages.contains(&position)
            && module.rules.iter().zip(0..).all(has_rule)
    }

    /// Returns the node under the keys of the terms of a head, or `None`, also if the tree spells a number among them in another way.
    fn descend(&self, from: RuleTreeNodeId, steps: &[Term]) -> Option<RuleTreeNodeId> {
        let mut steps = steps.iter();
        steps.try_fold(from, |node, step| {
            let key = head_key(step);
            let child = self.child_by(node, key.borrow())?;
            is_spelled_alike(&self.node(child).key, &key).then_some(child)
        })
    }

    /// Returns a node. The id must be of this tree.
    #[expect(
        clippy::indexing_slicing,
        reason = "only this tree gives out the numbers of its nodes"
    )]
    pub fn node(&self, id: RuleTreeNodeId) -> &RuleTreeNode {
        &self.nodes[id.0 as usize]
    }

    /// Returns the number of nodes, including unused ones: O(1). At least 1, since the root is a node.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if there are neither packages nor rules.
    pub fn is_empty(&self) -> bool {
        self.node(Self::DATA).children.is_empty()
    }

    /// Returns the node of a rule, or `None` if the tree has no such rule. O(1).
    pub fn home(&self, rule: TreeRuleId) -> Option<RuleTreeNodeId> {
        let homes = self.homes.get(rule.module as usize)?;
        homes.get(rule.rule as usize).copied()
    }

    /// Returns the steps of the reference of a rule below its node in the tree, with `None` for those that are not
    /// constants. Empty if none is a constant.
    pub fn tail(&self, rule: TreeRuleId) -> &[Option<Value>] {
        self.tails.get(&rule).map_or(&[], |tail| tail)
    }

    /// Returns the child of a node under a scalar term, or `None`. One hash lookup.
    pub fn child(&self, id: RuleTreeNodeId, step: &Term) -> Option<RuleTreeNodeId> {
        let arena;
        match &step.kind {
            TermKind::Null => self.child_by(id, ValueRef(RefRepr::Null)),
            TermKind::Boolean(b) => self.child_by(id, ValueRef(RefRepr::Bool(*b))),
            TermKind::Number(text) => self.child_by(id, number(text).borrow()),
            TermKind::String(text) => {
                let key = if let Some(short) = Short::new(text.as_bytes()) {
                    ValueRef(RefRepr::Short(short))
                } else {
                    arena = ArenaText::Utf8(text);
                    ValueRef(RefRepr::ArenaText(&arena))
                };
                self.child_by(id, key)
            }
            _ => None,
        }
    }

    /// Returns the child of a node under a value, or `None`. One hash lookup.
    pub fn child_by(&self, id: RuleTreeNodeId, key: ValueRef<'_>) -> Option<RuleTreeNodeId> {
        let has_key = |child| same_key(self.node(RuleTreeNodeId(child)).key.borrow(), key);
        self.steps.find(id.0, key, has_key).map(RuleTreeNodeId)
    }

    /// Returns the node at a path below `data`, or `None`. One hash lookup for each step.
    pub fn node_at(&self, path: &[Value]) -> Option<RuleTreeNodeId> {
        let mut steps = path.iter();
        steps.try_fold(Self::DATA, |node, key| self.child_by(node, key.borrow()))
    }

    /// Returns the node of a whole reference that starts with `data`; `None` if there is none or the reference has
    /// steps other than scalars.
    pub fn find(&self, reference: &[Term]) -> Option<RuleTreeNodeId> {
        let (id, depth) = self.longest_prefix(reference)?;
        (depth == reference.len()).then_some(id)
    }

    /// Returns the positions of the modules with a package, in order. One hash lookup for each step.
    pub fn modules_of_package(&self, package: &[Term]) -> &[u32] {
        let node = self.find(package);
        node.map_or(&[], |node| &self.node(node).packages)
    }

    /// Returns the deepest node on the path of a reference that starts with `data`, and the number of terms that lead
    /// there; `None` for other references.
    pub fn longest_prefix(&self, reference: &[Term]) -> Option<(RuleTreeNodeId, usize)> {
        let (head, steps) = reference.split_first()?;
        if head.as_var().is_none_or(|name| &**name != "data") {
            return None;
        }
        let mut id = Self::DATA;
        let mut depth = 1;
        for step in steps.iter().take_while(|step| step.is_scalar()) {
            let Some(next) = self.child(id, step) else {
                break;
            };
            id = next;
            depth += 1;
        }
        Some((id, depth))
    }

    /// Iterates over a node and everything below it, parents first, ordered by key.
    pub fn subtree(&self, id: RuleTreeNodeId) -> impl Iterator<Item = RuleTreeNodeId> {
        let mut open = vec![id];
        std::iter::from_fn(move || {
            let id = open.pop()?;
            open.extend(self.node(id).children.iter().rev());
            Some(id)
        })
    }

    /// Iterates over a node and the nodes around it, up to `data`.
    pub fn ancestors(&self, id: RuleTreeNodeId) -> impl Iterator<Item = RuleTreeNodeId> {
        std::iter::successors(Some(id), |id| self.node(*id).parent)
    }

    /// Iterates over the rules at a node and below it, depth first.
    pub fn rules_below(&self, id: RuleTreeNodeId) -> impl Iterator<Item = TreeRuleId> {
        self.subtree(id)
            .flat_map(|id| self.node(id).rules.iter().copied())
    }

    /// Returns `true` if one of `rules` produces the document at a path below `data`, one around it or one within it.
    pub fn is_produced_by(&self, path: &[Value], rules: &HashSet<TreeRuleId>) -> bool {
        if rules.is_empty() {
            return false;
        }
        let mut node = Self::DATA;
        for step in path {
            if self
                .node(node)
                .rules
                .iter()
                .any(|rule| rules.contains(rule))
            {
                return true;
            }
            match self.child_by(node, step.borrow()) {
                Some(child) => node = child,
                None => return false,
            }
        }
        self.rules_below(node).any(|rule| rules.contains(&rule))
    }

    /// Returns the path of a node without `data`.
    pub fn path(&self, id: RuleTreeNodeId) -> Vec<&Value> {
        let parent = |node: &&RuleTreeNode| node.parent.map(|parent| self.node(parent));
        let nodes = std::iter::successors(Some(self.node(id)), parent);
        let mut path: Vec<_> = nodes
            .filter(|node| node.parent.is_some())
            .map(|node| &node.key)
            .collect();
        path.reverse();
        path
    }
}

/// Returns `true` if equal keys have the same text, which equal numbers need not have.
pub fn is_spelled_alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value(Repr::Number(left)), Value(Repr::Number(right))) => left.0 == right.0,
        (Value(Repr::Number(_)), _) | (_, Value(Repr::Number(_))) => false,
        _ => true,
    }
}

/// Returns `true` if the ground prefix of a rule's reference has a number.
fn has_number_step(rule: &Rule) -> bool {
    let mut prefix = ground_prefix(&rule.head.reference).iter();
    prefix.any(|step| matches!(step.kind, TermKind::Number(_)))
}

/// Returns the path of a module's package below `data`.
pub fn package_path(module: &Module) -> Vec<Value> {
    let steps = module.package.path.iter().skip(1);
    steps.map(|step| key(step).unwrap_or_default()).collect()
}

/// Returns the path of a rule below `data`.
pub fn rule_path(module: &Module, rule: &Rule) -> Vec<Value> {
    let mut path = package_path(module);
    path.extend(ground_prefix(&rule.head.reference).iter().map(head_key));
    path
}

/// Returns the key of a term of a head. The first term is syntactically a variable, semantically a key.
fn head_key(step: &Term) -> Value {
    match step.as_var() {
        Some(name) => Value::string(name),
        None => key(step).unwrap_or_default(),
    }
}

/// Returns the terms of a reference before the first one that is not a scalar; its head is always included.
pub fn ground_prefix(reference: &[Term]) -> &[Term] {
    let end = reference
        .iter()
        .skip(1)
        .position(|term| !term.is_scalar())
        .map_or(reference.len(), |position| position + 1);
    reference.get(..end).unwrap_or(reference)
}

/// Returns the steps of a reference after its ground prefix, with `None` for those that are not constants. Empty if none is a constant.
fn tail(reference: &[Term], prefix: &[Term]) -> Vec<Option<Value>> {
    let tail = reference.get(prefix.len()..).unwrap_or_default();
    if tail.iter().any(Term::is_scalar) {
        tail.iter().map(key).collect()
    } else {
        Vec::new()
    }
}

/// Returns `true` if a reference has only scalars after its head.
pub fn is_ground(reference: &[Term]) -> bool {
    ground_prefix(reference).len() == reference.len()
}

/// Returns the key of a step of a reference; `None` for steps that are not scalars.
pub fn key(step: &Term) -> Option<Value> {
    Some(match &step.kind {
        TermKind::Null => Value(Repr::Null),
        TermKind::Boolean(b) => Value(Repr::Bool(*b)),
        TermKind::Number(text) => number(text),
        TermKind::String(text) => Value::string(text),
        _ => return None,
    })
}

fn number(text: &Arc<str>) -> Value {
    match text.parse() {
        // `-0` keeps its sign
        Ok(integer) if integer != 0 || !text.starts_with('-') => Value(Repr::Int(integer)),
        _ => Value(Repr::Number(Arc::new(NumberText((**text).into())))),
    }
}
