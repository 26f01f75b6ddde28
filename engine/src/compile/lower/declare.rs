//! Placement of rules in the tree of documents, and numbering of rule sets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::sync::Arc;

use solon_syntax::ast::{self, Module, Term, TermKind};
use solon_syntax::print::write_key;

use super::lowering_record::EarlierProgram;
use crate::bug::bug;
use crate::compile::rule_tree::{
    RuleTree, RuleTreeNodeId as DocNodeId, TreeRuleId, ground_prefix, is_spelled_alike,
};
use crate::index::Indexed as _;
use crate::program::{NodeId, Program, RuleId, RuleKind, RuleSet, TreeNode, VirtualDocuments};
use crate::value::{Kind, RefRepr, Value, ValueRef};

/// The rules of a set before lowering.
pub struct Pending<'m> {
    /// All rules except the default.
    pub rules: Vec<KeyedRule<'m>>,
    pub default: Option<&'m ast::Rule>,
    /// Addresses of all rules, in order.
    pub addresses: Box<[usize]>,
}

impl<'m> Pending<'m> {
    /// Separates the default from the other rules of a set.
    fn new(mut members: Vec<KeyedRule<'m>>) -> Self {
        let is_default = |member: &KeyedRule<'_>| member.rule.default && member.tail.is_empty();
        let default = members.iter().find(|member| is_default(member));
        let default = default.map(|member| member.rule);
        let addresses = members.iter().map(|member| address(member.rule)).collect();
        members.retain(|member| !is_default(member));
        Self {
            rules: members,
            default,
            addresses,
        }
    }

    /// Returns the set without plans.
    fn declared(&self, path: Box<[Value]>, name: Arc<str>) -> RuleSet {
        let rules = self.rules.iter();
        let depths = rules.map(|one| one.tail.len() + usize::from(one.makes_member()));
        RuleSet {
            name,
            path,
            kind: kind(&self.rules, self.default),
            depth: depths.max().unwrap_or(0),
            memoised: true,
            ..RuleSet::default()
        }
    }

    /// Returns `true` if the set contains rules of nodes below its own.
    pub fn spreads(&self) -> bool {
        self.rules.iter().any(|member| !member.tail.is_empty())
    }
}

/// Returns the address of a rule, which identifies it as long as its module is compiled.
fn address(rule: &ast::Rule) -> usize {
    std::ptr::from_ref(rule).addr()
}

/// A rule and the terms of its head after the set's path.
#[derive(Clone)]
pub struct KeyedRule<'m> {
    pub rule: &'m ast::Rule,
    /// Terms of the head after the set's path.
    pub tail: Vec<Term>,
}

impl KeyedRule<'_> {
    /// Returns `true` if the rule produces members of a set: its head has a key and no value.
    pub fn makes_member(&self) -> bool {
        self.rule.head.value.is_none() && self.rule.head.key.is_some()
    }
}

/// Rule sets of a program before lowering, by id.
#[derive(Default)]
pub struct DeclaredSets<'m> {
    /// Sets to lower.
    pub pending: BTreeMap<RuleId, Pending<'m>>,
    /// Sets that keep the plans of an earlier program.
    pub reused: Vec<RuleId>,
}

/// Inserts all rules into the tree and assigns an id and a kind to each rule set. Sets of an earlier program keep their
/// ids, and their plans if the rules are the same.
pub fn declare<'m>(
    modules: &'m [Arc<Module>],
    tree: &'m RuleTree,
    earlier: Option<EarlierProgram<'_>>,
    program: &mut Program,
) -> DeclaredSets<'m> {
    let numbers = earlier.map_or(0, |earlier| earlier.program.rules.len());
    program.rules = std::iter::repeat_n(Arc::default(), numbers).collect();
    let mut planting = Planting {
        placed: PlacedRules { modules, tree },
        tree,
        documents: VirtualDocuments::default(),
        program,
        earlier,
        path: Vec::new(),
        declared: DeclaredSets::default(),
    };
    planting.documents.reserve(tree.len());
    planting.plant(RuleTree::DATA, 0, earlier.map(|_| 0));
    planting.program.tree = Arc::new(planting.documents);
    planting.declared
}

/// Declares the rule sets of changed modules again; the tree of rules is that of the earlier program. Returns the sets to lower, by id.
/// The plans of all others are kept.
pub fn declare_changed<'m>(
    modules: &'m [Arc<Module>],
    tree: &'m RuleTree,
    earlier: EarlierProgram<'_>,
    program: &mut Program,
) -> BTreeMap<RuleId, Pending<'m>> {
    program.tree = earlier.program.tree.clone();
    program.rules.clone_from(&earlier.program.rules);
    let placed = PlacedRules { modules, tree };
    let mut pending = BTreeMap::new();
    let before = earlier.program.canonical.modules.iter();
    for ((module, before), position) in modules.iter().zip(before).zip(0..) {
        if Arc::ptr_eq(module, before) {
            continue;
        }
        for rule in 0..number(module.rules.len()) {
            let rule = TreeRuleId {
                module: position,
                rule,
            };
            let home = tree.home(rule).map(|home| tree.path(home));
            let Some(id) = home.and_then(|path| set_at(&program.tree, &path)) else {
                bug!("a rule of an unchanged tree without a rule set");
            };
            let Entry::Vacant(entry) = pending.entry(id) else {
                continue;
            };
            let set = program.rules.item_mut(id);
            let changed = placed.set_at(&set.path);
            let changed = changed.unwrap_or_else(|| bug!("a rule set without a node in the tree"));
            *set = Arc::new(changed.declared(set.path.clone(), set.name.clone()));
            entry.insert(changed);
        }
    }
    pending
}

/// Returns the rule set whose document contains the documents of the rules at a path.
fn set_at(documents: &VirtualDocuments, path: &[&Value]) -> Option<RuleId> {
    let mut last = 0;
    for key in path {
        match documents.child(last, key.borrow()) {
            Some(child) => last = child,
            None => break,
        }
    }
    documents.node(last)?.rule
}

/// Rules at their nodes in the tree of rules.
#[derive(Clone, Copy)]
pub struct PlacedRules<'m> {
    pub modules: &'m [Arc<Module>],
    pub tree: &'m RuleTree,
}

impl<'m> PlacedRules<'m> {
    /// Returns the rules of the set at a path below `data`, or `None` if no rule has such a path.
    pub fn set_at(self, path: &[Value]) -> Option<Pending<'m>> {
        let site = self.tree.node_at(path)?;
        Some(Pending::new(self.members_of_set(site)))
    }

    /// Returns the rules of the set at a node: those at the node and, if one of them has keys, all rules below it.
    fn members_of_set(self, site: DocNodeId) -> Vec<KeyedRule<'m>> {
        let mut members = self.members(site, &[]);
        if members.iter().any(|member| !member.tail.is_empty()) {
            self.absorb(site, &mut Vec::new(), &mut members);
        }
        members
    }

    /// Returns the rules of a node in file order, with the terms of their heads after `terms`.
    fn members(self, site: DocNodeId, terms: &[Term]) -> Vec<KeyedRule<'m>> {
        let members = self.rules(site).map(|rule| {
            let reference = &rule.head.reference;
            let tail = reference.get(ground_prefix(reference).len()..);
            KeyedRule {
                rule,
                tail: terms
                    .iter()
                    .chain(tail.unwrap_or_default())
                    .cloned()
                    .collect(),
            }
        });
        members.collect()
    }

    /// Returns the rules of a node in file order.
    fn rules(self, site: DocNodeId) -> impl Iterator<Item = &'m ast::Rule> {
        let mut ids = Cow::Borrowed(self.tree.node(site).rules.as_slice());
        if !ids.is_sorted() {
            ids.to_mut().sort_unstable();
        }
        let count = ids.len();
        let ids = (0..count).filter_map(move |index| ids.get(index).copied());
        ids.filter_map(move |id| id.rule_in(self.modules))
    }

    /// Adds the rules of all nodes below one, with the keys between prepended to their terms.
    fn absorb(self, from: DocNodeId, keys: &mut Vec<Term>, members: &mut Vec<KeyedRule<'m>>) {
        for site in &self.tree.node(from).children {
            keys.push(key_term(&self.tree.node(*site).key));
            members.extend(self.members(*site, keys));
            self.absorb(*site, keys, members);
            keys.pop();
        }
    }
}

/// The tree of documents during construction.
struct Planting<'p, 'm> {
    placed: PlacedRules<'m>,
    tree: &'m RuleTree,
    documents: VirtualDocuments,
    program: &'p mut Program,
    earlier: Option<EarlierProgram<'p>>,
    path: Vec<Value>,
    declared: DeclaredSets<'m>,
}

impl<'m> Planting<'_, 'm> {
    /// Inserts everything below a node of the rule tree; `before` is the node of `parent` in the earlier tree.
    fn plant(&mut self, from: DocNodeId, parent: NodeId, before: Option<NodeId>) {
        let mut children = Vec::with_capacity(self.tree.node(from).children.len());
        for site in &self.tree.node(from).children {
            let key = &self.tree.node(*site).key;
            let tree = self.earlier.map(|earlier| &earlier.program.tree);
            let before = before.and_then(|before| tree?.child(before, key.borrow()));
            let number = before.and_then(|before| tree?.node(before)?.rule);
            self.path.push(key.clone());
            let (rule, spreads) = match number.filter(|number| self.keep(*site, *number)) {
                Some(number) => (Some(number), false),
                None => self.enlist(self.placed.members_of_set(*site), number),
            };
            let node = TreeNode {
                key: key.clone(),
                rule,
                ..TreeNode::default()
            };
            let node = self.documents.add(parent, node);
            children.push((key.clone(), node));
            if !spreads {
                self.plant(*site, node, before);
            }
            self.path.pop();
        }
        let parent = self.documents.nodes.item_mut(parent);
        parent.children = children.into_iter().collect();
    }

    /// Keeps an earlier rule set if it consists of the rules of a node. Returns `false` if it may have others. Does not read the rules
    /// themselves.
    fn keep(&mut self, site: DocNodeId, id: RuleId) -> bool {
        let rules = self.placed.rules(site).map(address);
        let set = self
            .earlier
            .and_then(|earlier| earlier.same_of_node(id, rules))
            .filter(|set| self.has_path_of(set));
        if let Some(set) = set {
            *self.program.rules.item_mut(id) = set.clone();
            self.declared.reused.push(id);
        }
        set.is_some()
    }

    /// Returns `true` if the numbers in the path of an earlier set at the current node are spelled as now.
    fn has_path_of(&self, set: &RuleSet) -> bool {
        let mut keys = set.path.iter().zip(&self.path);
        keys.all(|(before, now)| is_spelled_alike(before, now))
    }

    /// Assigns an id to a rule set: its earlier one or the next. Returns it, unless the set has no rules, and `true` if the set contains
    /// rules of nodes below its own.
    fn enlist(
        &mut self,
        members: Vec<KeyedRule<'m>>,
        known: Option<RuleId>,
    ) -> (Option<RuleId>, bool) {
        if members.is_empty() {
            return (None, false);
        }
        let pending = Pending::new(members);
        let spreads = pending.spreads();
        let id = known.unwrap_or_else(|| {
            self.program.rules.push(Arc::default());
            number(self.program.rules.len() - 1)
        });
        let before = self.earlier.filter(|_| known.is_some());
        let named = before
            .and_then(|before| before.program.rules.get(id as usize))
            .filter(|set| self.has_path_of(set));
        let same = before
            .filter(|_| named.is_some())
            .and_then(|before| before.same(id, &pending.addresses));
        if let Some(same) = same {
            *self.program.rules.item_mut(id) = same.clone();
            self.declared.reused.push(id);
            return (Some(id), spreads);
        }
        let path: Box<[Value]> = self.path.as_slice().into();
        let name = named.map_or_else(|| name(&path), |set| set.name.clone());
        *self.program.rules.item_mut(id) = Arc::new(pending.declared(path, name));
        self.declared.pending.insert(id, pending);
        (Some(id), spreads)
    }
}

/// Converts a count to an id.
pub fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn kind(rules: &[KeyedRule<'_>], default: Option<&ast::Rule>) -> RuleKind {
    let args = rules.first().map_or_else(
        || default.map_or(0, |rule| rule.head.args.len()),
        |m| m.rule.head.args.len(),
    );
    if args > 0 {
        RuleKind::Function(number(args))
    } else if rules.iter().any(|member| !member.tail.is_empty()) {
        RuleKind::Object
    } else if rules.iter().any(KeyedRule::makes_member) {
        RuleKind::Set
    } else {
        RuleKind::Complete
    }
}

/// Formats a path as a reference.
fn name(path: &[Value]) -> Arc<str> {
    let mut name = "data".to_owned();
    for key in path {
        // writing to a string does not fail
        let _ = match key.as_str() {
            Some(text) => write_key(&mut name, text),
            None => write!(name, "[{}]", key.rego_text()),
        };
    }
    name.into()
}

fn key_term(key: &Value) -> Term {
    let kind = match key.borrow() {
        ValueRef(RefRepr::Null) => TermKind::Null,
        ValueRef(RefRepr::Bool(truth)) => TermKind::Boolean(truth),
        key if key.kind() == Kind::Number => TermKind::Number(key.rego_text().to_string().into()),
        key => TermKind::String(key.text_or_empty().to_str().into_owned().into()),
    };
    Term::new(kind, solon_syntax::source::Span::default())
}
