//! Packages and rules by path, as in OPA's rule tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use solon_syntax::ast::{Head, Module, Rule, Term};

use super::RuleAt;
use super::index::{Conditions, Shared};
use crate::bug::bug;
use crate::index::{IndexType, Indexed as _};
use crate::program::constant;
use crate::value::{Value, ValueRef};

/// Number of children up to which a linear scan is faster than creating a key.
const FEW: usize = 8;

/// Index of a document node in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DocNodeId(u32);

impl IndexType for DocNodeId {
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

/// A document node: a package, a rule, or a step between them.
#[derive(Default)]
pub struct DocNode {
    /// Child nodes by the next key of the path.
    pub children: BTreeMap<Value, DocNodeId>,
    /// Rules whose longest constant prefix is this node.
    rules: Vec<RuleAt>,
    /// Rules that are evaluated at this node, if there are any.
    pub group: Option<Group>,
}

/// Kind of document that the rules of a path produce together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// One value, or the value of a function.
    Single,
    /// A set.
    Multiple,
}

/// The rules that are evaluated together at a node: its own, and those below it once a head has a variable.
pub struct Group {
    /// Kind of the first rule.
    pub kind: GroupKind,
    /// `true` if all heads are constant, so that there is one document instead of an object of documents.
    pub ground: bool,
    /// The rules in order, without defaults.
    pub members: Vec<GroupRule>,
    /// The rule `default …` of the path.
    pub default: Option<RuleAt>,
    /// Number of arguments; 0 for rules that are not functions.
    pub arity: usize,
    /// Length of the longest head, including `data` and the package.
    pub longest: usize,
    /// `true` if the first solution of any of the rules is the result. The index then does not test keys of
    /// collections.
    pub exits: bool,
}

/// A rule of a group. Conditions and values have one element for the rule and for each of its `else` branches, in order.
pub struct GroupRule {
    /// The rule, without its `else` chain.
    pub rule: RuleAt,
    /// Number of terms of its package's path, without `data`.
    pub package: usize,
    /// Conditions of the rule and of each member of its `else` chain.
    pub conditions: Vec<Conditions>,
    /// Their values, `None` if they are not constant.
    pub values: Vec<Option<Value>>,
}

/// The tree of document nodes: the paths of all rules.
pub struct DocTree {
    nodes: Vec<DocNode>,
}

impl DocTree {
    /// The node of `data`.
    pub const DATA: DocNodeId = DocNodeId(0);

    /// Sorts rules into the tree.
    pub fn new(modules: &[Arc<Module>]) -> Self {
        let mut tree = Self {
            nodes: vec![DocNode::default()],
        };
        // rules of outer packages come first at a shared node
        let mut ordered: Vec<(u32, &Arc<Module>)> = (0_u32..).zip(modules).collect();
        ordered.sort_by_key(|(_, module)| module.package.path.len());
        for (at, module) in ordered {
            let package = module.package.path.iter().skip(1).filter_map(constant);
            let package = tree.descend(Self::DATA, package);
            for (rule, ast) in (0_u32..).zip(&module.rules) {
                let node = tree.descend(package, ground_prefix(&ast.head));
                let node = tree.nodes.item_mut(node);
                node.rules.push(RuleAt { module: at, rule });
            }
        }
        tree.group(Self::DATA, modules);
        tree
    }

    /// Returns a node. Invariant: the id is of this tree.
    pub fn get(&self, id: DocNodeId) -> &DocNode {
        self.nodes.item(id)
    }

    /// Returns the child of a node, or `None`. A few children are compared, more are hashed.
    pub fn child(&self, id: DocNodeId, key: ValueRef<'_>) -> Option<DocNodeId> {
        let node = self.get(id);
        if node.children.len() <= FEW {
            let mut children = node.children.iter();
            let found = children.find(|(step, _)| step.borrow() == key);
            return found.map(|(_, child)| *child);
        }
        node.children.get(&key.to_value()).copied()
    }

    /// Number of nodes, with that of `data`.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of a whole reference after `data`, if its terms are constants.
    pub fn find(&self, steps: &[Term]) -> Option<DocNodeId> {
        steps.iter().try_fold(Self::DATA, |node, step| {
            self.child(node, constant(step)?.borrow())
        })
    }

    /// Returns `true` if rules exist on the path of a reference, or below it.
    pub fn is_virtual(&self, steps: &[Term]) -> bool {
        let mut node = Self::DATA;
        for step in steps {
            let Some(next) = constant(step).and_then(|key| self.child(node, key.borrow())) else {
                return false;
            };
            if !self.get(next).rules.is_empty() {
                return true;
            }
            node = next;
        }
        true
    }

    fn descend(&mut self, from: DocNodeId, keys: impl IntoIterator<Item = Value>) -> DocNodeId {
        keys.into_iter().fold(from, |node, key| {
            let new = DocNodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
            let parent = self.nodes.item_mut(node);
            let id = *parent.children.entry(key).or_insert(new);
            if id == new {
                self.nodes.push(DocNode::default());
            }
            id
        })
    }

    /// Creates the groups at a node and below it.
    fn group(&mut self, from: DocNodeId, modules: &[Arc<Module>]) {
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            let node = self.get(id);
            let mut rules = node.rules.clone();
            let last = rules.last().and_then(|at| find(modules, *at));
            let spread = last.is_some_and(|(_, rule)| !is_ground(&rule.head));
            if spread {
                self.rules_below(id, &mut rules);
            } else {
                open.extend(node.children.values().rev());
            }
            let group = Group::new(&rules, modules, self);
            self.nodes.item_mut(id).group = group;
        }
    }

    fn rules_below(&self, id: DocNodeId, rules: &mut Vec<RuleAt>) {
        let mut open: Vec<DocNodeId> = Vec::new();
        let push = |open: &mut Vec<DocNodeId>, id| {
            open.extend(self.get(id).children.values().rev());
        };
        push(&mut open, id);
        while let Some(id) = open.pop() {
            rules.extend(&self.get(id).rules);
            push(&mut open, id);
        }
    }
}

impl Group {
    /// Returns `true` if all rules have the same constant value and there is no default.
    pub fn is_constant(&self) -> bool {
        let mut values = self.members.iter().flat_map(|member| &member.values);
        let first = values.next().filter(|value| value.is_some());
        first.is_some_and(|first| values.all(|value| value == first)) && self.default.is_none()
    }

    fn new(rules: &[RuleAt], modules: &[Arc<Module>], tree: &DocTree) -> Option<Self> {
        let all = || {
            rules
                .iter()
                .filter_map(|at| Some((*at, find(modules, *at)?)))
        };
        let (_, (_, first)) = all().next()?;
        let package = |module: &Module| module.package.path.len().saturating_sub(1);
        let kind = if first.head.value.is_none() && first.head.key.is_some() {
            GroupKind::Multiple
        } else {
            GroupKind::Single
        };
        let ground = all().all(|(_, (_, rule))| is_ground(&rule.head));
        let mut members: Vec<GroupRule> = all()
            .filter(|(_, (_, rule))| !rule.default)
            .map(|(at, (module, rule))| GroupRule {
                rule: at,
                package: package(module),
                conditions: chain(rule)
                    .map(|member| Conditions::of_rule(member, &|steps| tree.is_virtual(steps)))
                    .collect(),
                // a rule written as one pair of an object has more than this value
                values: chain(rule)
                    .map(|member| {
                        member
                            .head
                            .value
                            .as_ref()
                            .filter(|_| member.head.key.is_none())
                    })
                    .map(|value| value.and_then(constant))
                    .collect(),
            })
            .collect();
        let conditions = || members.iter().flat_map(|member| &member.conditions);
        if conditions().any(Shared::may_loosen) {
            let shared = Shared::new(conditions());
            for member in &mut members {
                for conditions in &mut member.conditions {
                    shared.loosen(conditions);
                }
            }
        }
        let mut values = members.iter().flat_map(|member| &member.values);
        let value = values.next().and_then(Option::as_ref);
        let agree = value.is_some() && values.all(|other| other.as_ref() == value);
        let lengths = all().map(|(_, (module, rule))| {
            let key = usize::from(rule.head.value.is_none() && rule.head.key.is_some());
            package(module) + 1 + rule.head.reference.len() + key
        });
        let mut default = all()
            .filter(|(_, (_, rule))| rule.default)
            .map(|(at, _)| at);
        Some(Self {
            kind,
            ground,
            exits: kind == GroupKind::Single && ground && agree,
            default: default.next_back(),
            arity: first.head.args.len(),
            longest: lengths.max().unwrap_or(0),
            members,
        })
    }
}

/// A rule and the members of its else chain.
pub fn chain(rule: &Rule) -> impl Iterator<Item = &Rule> {
    std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref())
}

/// A rule and its module; there is one at each position that was given out.
pub(super) fn find(modules: &[Arc<Module>], at: RuleAt) -> Option<(&Module, &Rule)> {
    let found = modules.get(at.module as usize).and_then(|module| {
        let rule = module.rules.get(at.rule as usize)?;
        Some((&**module, rule))
    });
    if found.is_none() {
        bug!("a rule that is not there is asked for");
    }
    found
}

/// Returns the keys before a head's first variable; its name comes first.
fn ground_prefix(head: &Head) -> impl Iterator<Item = Value> {
    let name = head.reference.first().and_then(name);
    let keys = head.reference.iter().skip(1).map_while(|term| {
        if term.is_scalar() {
            constant(term)
        } else {
            None
        }
    });
    name.into_iter().chain(keys)
}

fn name(term: &Term) -> Option<Value> {
    let text = term.as_var().or_else(|| term.as_string())?;
    Some(Value::string(text))
}

/// Returns `true` if a head has no variables, so that its path is known.
pub fn is_ground(head: &Head) -> bool {
    head.reference.iter().skip(1).all(Term::is_scalar)
}
