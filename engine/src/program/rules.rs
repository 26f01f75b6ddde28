//! Rules by document path.

use std::sync::Arc;

use solon_syntax::source::Span;

use super::Steps;
use super::index::Index;
use super::plan::{ConstId, Plan};
use crate::bug::bug;
use crate::value::{Value, ValueRef};

/// Number of a rule set.
pub type RuleId = u32;

/// Number of a tree node.
pub type NodeId = u32;

/// What the rules of a path make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleKind {
    /// One value.
    #[default]
    Complete,
    /// A function of that many arguments.
    Function(u32),
    /// A set.
    Set,
    /// An object whose keys the rules produce, possibly in several levels.
    Object,
}

/// All rules of one document path.
#[derive(Default)]
pub struct RuleSet {
    /// The path below `data`.
    pub path: Box<[Value]>,
    /// The path as messages print it, `data.a.p`.
    pub name: Arc<str>,
    /// What they make.
    pub kind: RuleKind,
    /// How many terms a caller may know of the heads, if they are partial.
    pub depth: usize,
    /// The rules in source order, default rules apart.
    pub rules: Vec<Rule>,
    /// The default, whose leaf is a value.
    pub default: Option<Plan>,
    /// Finds the rules that can match.
    pub index: Index,
    /// Whether results are kept by argument: the body costs more than finding them again, or prints.
    pub memoised: bool,
    /// Whether all rules have one constant value, so that the first solution ends the search.
    pub early_exit: bool,
}

/// One rule, or one member of an else chain.
pub struct Rule {
    /// Finds all solutions. The frame starts with the arguments of a function.
    pub plan: Plan,
    /// For partial rules: plans whose frame starts with 1, 2, … known head terms.
    pub keyed: Vec<Plan>,
    /// Number of terms of the head behind the path of the set.
    pub tail: u32,
    /// The constant keys of the head behind the path of the set, as far as they are constant.
    pub constant_tail: Box<[Option<ConstId>]>,
    /// Whether the rule makes members of a set.
    pub member: bool,
    /// Whether it is a default, which yields to whatever another rule makes at its place.
    pub fallback: bool,
    /// The value, if it is constant.
    pub constant: Option<ConstId>,
    /// The one value of the rule and all its `else`s, if it is constant.
    pub settled: Option<ConstId>,
    /// `else …`
    pub otherwise: Option<Box<Chain>>,
    /// What there is for an index to ask.
    pub conditions: ConditionCoverage,
    /// Place of the head.
    pub span: Span,
}

impl Rule {
    /// The rule, then the members of its else chain.
    pub fn members(&self) -> impl Iterator<Item = &Self> {
        let elses = self.otherwise.iter().flat_map(|chain| &chain.elses);
        std::iter::once(self).chain(elses)
    }

    /// The plans of each member, and those for known head terms, to change them.
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

    /// A member of its else chain; the rule itself is the first.
    #[inline]
    pub fn member(&self, at: u32) -> Option<&Self> {
        match at.checked_sub(1) {
            None => Some(self),
            Some(at) => self.otherwise.as_ref()?.elses.get(at as usize),
        }
    }
}

/// What an index knows of the conditions of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConditionCoverage {
    /// It did not look: there are too few rules to tell apart.
    #[default]
    Unasked,
    /// There are some.
    Some,
    /// None asks for a constant at a place of the input or of an argument.
    None,
    /// The rule prints, so it is entered whatever its conditions are.
    Prints,
    /// Some come behind what may print or fail, which is seen where they fail.
    Late,
}

/// What is tried after a rule, for as long as nothing was found.
#[derive(Default)]
pub struct Chain {
    /// The members behind the first, in source order.
    pub elses: Box<[Rule]>,
    /// Finds the members that can match; the first is 0.
    pub index: Index,
}

/// The virtual documents.
pub struct Tree {
    /// The nodes; 0 is `data`.
    pub nodes: Vec<TreeNode>,
    /// The steps between them.
    steps: Steps,
}

impl Default for Tree {
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
    /// The key under which it is.
    pub key: Value,
    /// The nodes below, by key.
    pub children: std::collections::BTreeMap<Value, NodeId>,
    /// The rules here.
    pub rule: Option<RuleId>,
}

impl Tree {
    /// A node.
    pub fn node(&self, id: NodeId) -> Option<&TreeNode> {
        let node = self.nodes.get(id as usize);
        if node.is_none() {
            bug!("a node of the tree of rules that is not there");
        }
        node
    }

    /// The node below another.
    pub fn child(&self, id: NodeId, key: ValueRef<'_>) -> Option<NodeId> {
        let is_there = |child| {
            self.node(child)
                .is_some_and(|node| node.key.borrow() == key)
        };
        self.steps.find(id, key, is_there)
    }

    /// Makes room for so many further nodes.
    pub fn reserve(&mut self, count: usize) {
        self.steps.reserve(count);
        self.nodes.reserve(count);
    }

    /// Adds a node below another.
    pub fn add(&mut self, parent: NodeId, node: TreeNode) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.steps.add(parent, node.key.borrow(), id);
        self.nodes.push(node);
        id
    }

    /// The path of a rule that base documents stand in the way of.
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

    /// Path of a rule at a node or below it.
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
