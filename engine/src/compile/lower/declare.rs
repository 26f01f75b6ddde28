//! Placement of rules in the tree of documents, and numbering of rule sets.

use std::borrow::Cow;
use std::sync::Arc;

use solon_syntax::ast::{self, Module, Term, TermKind};

use super::lowering_record::EarlierProgram;
use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId as DocNodeId, ground_prefix};
use crate::index::Indexed as _;
use crate::program::{NodeId, Program, RuleId, RuleKind, RuleSet, TreeNode};
use crate::value::{Kind, RefRepr, Value, ValueRef};

/// The rules of a set before lowering.
pub struct Pending<'m> {
    /// All rules except the default.
    pub rules: Vec<KeyedRule<'m>>,
    /// The default.
    pub default: Option<&'m ast::Rule>,
    /// `true` if the plans of an earlier program are reused.
    pub stays: bool,
}

impl Pending<'_> {
    /// Addresses of the rules, the default last.
    pub fn addresses(&self) -> impl Iterator<Item = usize> {
        let rules = self.rules.iter().map(|member| member.rule);
        let rules = rules.chain(self.default);
        rules.map(|rule| std::ptr::from_ref(rule).addr())
    }
}

/// A rule and the terms of its head after the set's path.
#[derive(Clone)]
pub struct KeyedRule<'m> {
    /// Rule of a module.
    pub rule: &'m ast::Rule,
    /// Terms of the head after the set's path.
    pub tail: Vec<Term>,
}

impl KeyedRule<'_> {
    /// Returns `true` if the rule produces members of a set.
    pub fn makes_member(&self) -> bool {
        self.rule.head.value.is_none() && self.rule.head.key.is_some()
    }
}

/// Inserts all rules into the tree and assigns an id and a kind to each rule set. Sets of an earlier program keep their
/// ids, and their plans if the rules are the same. Returns the sets to lower, by id.
pub fn declare<'m>(
    modules: &'m [Arc<Module>],
    tree: &'m RuleTree,
    earlier: Option<EarlierProgram<'_>>,
    program: &mut Program,
) -> Vec<Option<Pending<'m>>> {
    let numbers = earlier.map_or(0, |earlier| earlier.program.rules.len());
    program.rules = std::iter::repeat_n(Arc::default(), numbers).collect();
    let mut planting = Planting {
        modules,
        tree,
        program,
        earlier,
        path: Vec::new(),
        pending: (0..numbers).map(|_| None).collect(),
    };
    planting.program.tree.reserve(tree.len());
    planting.plant(RuleTree::DATA, 0, earlier.map(|_| 0));
    planting.pending
}

/// The tree of documents during construction.
struct Planting<'p, 'm> {
    modules: &'m [Arc<Module>],
    /// Tree of the rules.
    tree: &'m RuleTree,
    program: &'p mut Program,
    earlier: Option<EarlierProgram<'p>>,
    path: Vec<Value>,
    pending: Vec<Option<Pending<'m>>>,
}

impl<'m> Planting<'_, 'm> {
    /// Inserts everything below a node of the rule tree; `before` is the node of `parent` in the earlier tree.
    fn plant(&mut self, from: DocNodeId, parent: NodeId, before: Option<NodeId>) {
        let mut children = Vec::with_capacity(self.tree.node(from).children.len());
        for site in &self.tree.node(from).children {
            let key = &self.tree.node(*site).key;
            let mut members = self.members(*site, &[]);
            let spreads = members.iter().any(|member| !member.tail.is_empty());
            if spreads {
                self.absorb(*site, &mut Vec::new(), &mut members);
            }
            let tree = self.earlier.map(|earlier| &earlier.program.tree);
            let before = before.and_then(|before| tree?.child(before, key.borrow()));
            self.path.push(key.clone());
            let rule = (!members.is_empty()).then(|| {
                let number = before.and_then(|before| tree?.node(before)?.rule);
                self.enlist(members, number)
            });
            let node = TreeNode {
                key: key.clone(),
                rule,
                ..TreeNode::default()
            };
            let node = self.program.tree.add(parent, node);
            children.push((key.clone(), node));
            if !spreads {
                self.plant(*site, node, before);
            }
            self.path.pop();
        }
        let parent = self.program.tree.nodes.item_mut(parent);
        parent.children = children.into_iter().collect();
    }

    /// Returns the rules of a node in file order, with the terms of their heads after `terms`.
    fn members(&self, site: DocNodeId, terms: &[Term]) -> Vec<KeyedRule<'m>> {
        let mut ids = Cow::Borrowed(self.tree.node(site).rules.as_slice());
        if !ids.is_sorted() {
            ids.to_mut().sort_unstable();
        }
        let rules = ids.iter().filter_map(|id| id.rule_in(self.modules));
        let members = rules.map(|rule| {
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

    /// Adds the rules of all nodes below one, with the keys between prepended to their terms.
    fn absorb(&self, from: DocNodeId, keys: &mut Vec<Term>, members: &mut Vec<KeyedRule<'m>>) {
        for site in &self.tree.node(from).children {
            keys.push(key_term(&self.tree.node(*site).key));
            members.extend(self.members(*site, keys));
            self.absorb(*site, keys, members);
            keys.pop();
        }
    }

    /// Assigns an id to a rule set: its earlier one or the next.
    fn enlist(&mut self, mut members: Vec<KeyedRule<'m>>, known: Option<RuleId>) -> RuleId {
        let is_default = |member: &KeyedRule<'_>| member.rule.default && member.tail.is_empty();
        let default = members.iter().find(|member| is_default(member));
        let default = default.map(|member| member.rule);
        members.retain(|member| !is_default(member));
        let mut pending = Pending {
            rules: members,
            default,
            stays: false,
        };
        let id = known.unwrap_or_else(|| {
            self.program.rules.push(Arc::default());
            self.pending.push(None);
            number(self.program.rules.len() - 1)
        });
        let before = self.earlier.filter(|_| known.is_some());
        let same = before.and_then(|before| before.same(id, pending.addresses()));
        pending.stays = same.is_some();
        let set = same.cloned().unwrap_or_else(|| {
            let named = before.and_then(|before| before.program.rules.get(id as usize));
            let path: Box<[Value]> = self.path.as_slice().into();
            let rules = pending.rules.iter();
            let depths = rules.map(|one| one.tail.len() + usize::from(one.makes_member()));
            Arc::new(RuleSet {
                name: named.map_or_else(|| name(&path), |set| set.name.clone()),
                path,
                kind: kind(&pending.rules, pending.default),
                depth: depths.max().unwrap_or(0),
                memoised: true,
                ..RuleSet::default()
            })
        });
        *self.program.rules.item_mut(id) = set;
        *self.pending.item_mut(id) = Some(pending);
        id
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
    let terms = path.iter().map(key_term);
    let root = Term::var("data", solon_syntax::source::Span::default());
    let reference = Term::new(
        TermKind::Ref(std::iter::once(root).chain(terms).collect()),
        solon_syntax::source::Span::default(),
    );
    reference.to_string().into()
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
