//! Rules by document path.

use std::sync::Arc;

use solon_syntax::source::Span;

use super::Steps;
use super::index::Index;
use super::plan::{ConstId, Plan};
use crate::bug::bug;
use crate::value::{Value, ValueRef};

/// Index of a rule set in its program.
pub type RuleId = u32;

/// Index of a node of the tree of virtual documents.
pub type NodeId = u32;

/// Kind of document that the rules of a path produce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleKind {
    /// One value: a complete rule.
    #[default]
    Complete,
    /// A function of that many arguments.
    Function(u32),
    /// A set of members: a partial rule.
    Set,
    /// An object whose keys the rules produce, possibly in several levels.
    Object,
}

/// All rules of one document path.
#[derive(Default)]
pub struct RuleSet {
    /// The path below `data`.
    pub path: Box<[Value]>,
    /// Path in the notation of messages, `data.a.p`.
    pub name: Arc<str>,
    /// Kind of document that the rules produce.
    pub kind: RuleKind,
    /// Maximum number of head terms that a caller may know, for partial rules.
    pub depth: usize,
    /// The rules in source order, without default rules.
    pub rules: Vec<Rule>,
    /// The default, whose terminator is a value.
    pub default: Option<Plan>,
    /// Selects the rules that can match.
    pub index: Index,
    /// `true` if results are memoised by argument: the body costs more than the lookup, or prints.
    pub memoised: bool,
    /// `true` if all rules have one constant value, so that the first solution ends the search.
    pub early_exit: bool,
}

/// One rule, or one member of an else chain.
pub struct Rule {
    /// Finds all solutions. The frame starts with the arguments of a function.
    pub plan: Plan,
    /// For partial rules: plans whose frame starts with 1, 2, … known head terms.
    pub keyed: Vec<Plan>,
    /// Number of terms of the head after the path of the set.
    pub tail: u32,
    /// Constant keys of the head after the path of the set.
    pub constant_tail: Box<[Option<ConstId>]>,
    /// `true` if the rule produces members of a set, not a value.
    pub member: bool,
    /// `true` for a default, which other rules override at its path.
    pub fallback: bool,
    /// The value, if it is a constant of the program.
    pub constant: Option<ConstId>,
    /// The value of the rule and all its `else` branches, if it is one constant.
    pub settled: Option<ConstId>,
    /// The `else` chain, tried if the rule has no value.
    pub otherwise: Option<Box<Chain>>,
    /// Coverage of the rule's conditions by an index: covered ones need no test.
    pub conditions: ConditionCoverage,
    /// Source location of the head.
    pub span: Span,
}

impl Rule {
    /// Iterates over the rule and the members of its `else` chain.
    pub fn members(&self) -> impl Iterator<Item = &Self> {
        let elses = self.otherwise.iter().flat_map(|chain| &chain.elses);
        std::iter::once(self).chain(elses)
    }

    /// Iterates over the plans of each member mutably, including those for known head terms.
    pub fn plans_mut(&mut self) -> impl Iterator<Item = (&mut Plan, &mut Vec<Plan>)> {
        let Self {
            plan,
            keyed,
            otherwise,
            ..
        } = self;
        let elses = otherwise.iter_mut().flat_map(|chain| &mut chain.elses);
        let elses = elses.map(|rule| (&mut rule.plan, &mut rule.keyed));
        std::iter::once((plan, keyed)).chain(elses)
    }

    /// Returns a member of its `else` chain, or `None` after the last. The rule itself is the first.
    #[inline]
    pub fn member(&self, at: u32) -> Option<&Self> {
        match at.checked_sub(1) {
            None => Some(self),
            Some(at) => self.otherwise.as_ref()?.elses.get(at as usize),
        }
    }
}

/// Coverage of a rule's conditions by an index: covered ones need no test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConditionCoverage {
    /// Not analysed: there are too few rules.
    #[default]
    Unasked,
    /// Some conditions are covered, so that the rest must be tested.
    Some,
    /// No condition tests a constant of the input or an argument.
    None,
    /// The rule prints, so it is always entered.
    Prints,
    /// Some conditions follow prints or possible errors, which are observable.
    Late,
}

/// The `else` branches, tried until one has a result.
#[derive(Default)]
pub struct Chain {
    /// The members after the first, in source order.
    pub elses: Box<[Rule]>,
    /// Selects the members that can match; the first is 0.
    pub index: Index,
}

/// The tree of virtual documents, looked up by path.
pub struct VirtualDocuments {
    /// The nodes; 0 is `data`.
    pub nodes: Vec<TreeNode>,
    steps: Steps,
}

impl Default for VirtualDocuments {
    fn default() -> Self {
        Self {
            nodes: vec![TreeNode::default()],
            steps: Steps::default(),
        }
    }
}

/// A package, a rule, or a step between them.
#[derive(Default)]
pub struct TreeNode {
    /// Key of the step from the parent to this node.
    pub key: Value,
    /// Child nodes by key, sorted.
    pub children: std::collections::BTreeMap<Value, NodeId>,
    /// Rule set whose document is here. `None` if there are only rules below.
    pub rule: Option<RuleId>,
}

impl VirtualDocuments {
    /// Returns a node. Invariant: ids come from this tree, so it is never `None`.
    pub fn node(&self, id: NodeId) -> Option<&TreeNode> {
        let node = self.nodes.get(id as usize);
        if node.is_none() {
            bug!("a node of the tree of rules that is not there");
        }
        node
    }

    /// Returns the child of a node, or `None` if no rule lies below the key. One lookup in a hash table.
    pub fn child(&self, id: NodeId, key: ValueRef<'_>) -> Option<NodeId> {
        let is_there = |child| {
            self.node(child)
                .is_some_and(|node| node.key.borrow() == key)
        };
        self.steps.find(id, key, is_there)
    }

    /// Reserves capacity for `count` additional nodes.
    pub fn reserve(&mut self, count: usize) {
        self.steps.reserve(count);
        self.nodes.reserve(count);
    }

    /// Adds a node below another and returns its id.
    pub fn add(&mut self, parent: NodeId, node: TreeNode) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.steps.add(parent, node.key.borrow(), id);
        self.nodes.push(node);
        id
    }

    /// Returns the path of a rule that conflicts with base documents, or `None`. Visits only documents that have rules.
    pub fn conflict(&self, base: &Value) -> Option<Vec<String>> {
        let mut open = vec![(0, base, Vec::new())];
        while let Some((id, base, path)) = open.pop() {
            let node = self.node(id)?;
            if node.rule.is_some() {
                return Some(path);
            }
            let Some(object) = base.as_object() else {
                // it hides the rules below
                match self.first_rule(id, &path) {
                    Some(rule) => return Some(rule),
                    None => continue,
                }
            };
            for (key, child) in &node.children {
                if let Some(inner) = object.get(key.borrow()) {
                    let mut path = path.clone();
                    path.push(key.borrow().text_or_empty().to_str().into_owned());
                    open.push((*child, inner, path));
                }
            }
        }
        None
    }

    /// Path of a rule at a node or below it, or `None`.
    fn first_rule(&self, id: NodeId, path: &[String]) -> Option<Vec<String>> {
        let mut open = vec![(id, path.to_vec())];
        while let Some((id, path)) = open.pop() {
            let node = self.node(id)?;
            if node.rule.is_some() {
                return Some(path);
            }
            for (key, child) in &node.children {
                let mut path = path.clone();
                path.push(key.borrow().text_or_empty().to_str().into_owned());
                open.push((*child, path));
            }
        }
        None
    }
}
