//! Where rules stand in the tree of documents, and which numbers they have.

use std::collections::BTreeMap;
use std::sync::Arc;

use solon_syntax::ast::{self, Module, Term, TermKind};

use super::constants::constant;
use super::ledger::Earlier;
use crate::program::{NodeId, Program, RuleId, RuleKind, RuleSet, TreeNode};
use crate::value::{Kind, V, Value};

/// The rules of a set before they are lowered.
pub struct Pending<'m> {
    /// The rules, but for the default.
    pub rules: Vec<Member<'m>>,
    /// The default.
    pub default: Option<&'m ast::Rule>,
    /// Whether its plans are there already.
    pub stays: bool,
}

impl Pending<'_> {
    /// Where its rules are in memory, the default last.
    pub fn places(&self) -> Vec<usize> {
        let rules = self.rules.iter().map(|member| member.rule);
        let rules = rules.chain(self.default);
        rules.map(|rule| std::ptr::from_ref(rule).addr()).collect()
    }
}

/// A rule and the terms of its head behind the set's path.
#[derive(Clone)]
pub struct Member<'m> {
    /// The rule.
    pub rule: &'m ast::Rule,
    /// The terms.
    pub tail: Vec<Term>,
}

impl Member<'_> {
    /// Whether it makes members of a set.
    pub fn makes_member(&self) -> bool {
        self.rule.head.value.is_none() && self.rule.head.key.is_some()
    }
}

/// Rules by tree node while the tree grows.
#[derive(Default)]
struct Site<'m> {
    rules: Vec<Member<'m>>,
    children: BTreeMap<Value, Site<'m>>,
}

impl Site<'_> {
    fn at(&mut self, path: impl IntoIterator<Item = Value>) -> &mut Self {
        path.into_iter()
            .fold(self, |site, key| site.children.entry(key).or_default())
    }

    /// Moves the rules of all nodes below into this one, their heads longer by the keys between.
    fn absorb(&mut self) {
        for (key, mut child) in std::mem::take(&mut self.children) {
            child.absorb();
            for mut member in child.rules {
                member.tail.insert(0, key_term(&key));
                self.rules.push(member);
            }
        }
    }
}

fn key_term(key: &Value) -> Term {
    let kind = match key.borrow() {
        V::Null => TermKind::Null,
        V::Bool(truth) => TermKind::Boolean(truth),
        key if key.kind() == Kind::Number => TermKind::Number(key.to_string().into()),
        key => TermKind::String(key.text_or_empty().to_str().into_owned().into()),
    };
    Term::new(kind, solon_syntax::source::Span::default())
}

/// Puts all rules into the tree and gives each set of rules its number and kind; sets that an earlier program has keep
/// their numbers, and their plans if they have the same rules.
pub fn declare<'m>(
    modules: &'m [Arc<Module>],
    earlier: Option<Earlier<'_>>,
    program: &mut Program,
) -> BTreeMap<RuleId, Pending<'m>> {
    let mut root = Site::default();
    for module in modules {
        let package: Vec<Value> = module
            .package
            .path
            .iter()
            .skip(1)
            .filter_map(constant)
            .collect();
        root.at(package.iter().cloned());
        for rule in &module.rules {
            let (path, tail) = split_head(rule);
            root.at(package.iter().cloned().chain(path))
                .rules
                .push(Member { rule, tail });
        }
    }
    let numbers = earlier.map_or(0, |earlier| earlier.program.rules.len());
    program.rules = vec![Arc::new(RuleSet::default()); numbers];
    let mut planting = Planting {
        program,
        earlier,
        path: Vec::new(),
        pending: BTreeMap::new(),
    };
    let children = std::mem::take(&mut root.children);
    planting.plant(children, 0, earlier.map(|_| 0));
    planting.pending
}

/// The constant part of a rule's head, and the rest from the first other term on.
fn split_head(rule: &ast::Rule) -> (Vec<Value>, Vec<Term>) {
    let reference = &rule.head.reference;
    let name = reference
        .first()
        .and_then(|term| term.as_var().or_else(|| term.as_string()));
    let mut path: Vec<Value> = name.map(|name| Value::string(name)).into_iter().collect();
    let mut rest = reference.iter().skip(1);
    let mut tail = Vec::new();
    for term in rest.by_ref() {
        match constant(term).filter(|_| term.is_scalar()) {
            Some(key) => path.push(key),
            None => {
                tail.push(term.clone());
                break;
            }
        }
    }
    tail.extend(rest.cloned());
    (path, tail)
}

/// The tree of documents while it grows.
struct Planting<'p, 'm> {
    program: &'p mut Program,
    earlier: Option<Earlier<'p>>,
    path: Vec<Value>,
    pending: BTreeMap<RuleId, Pending<'m>>,
}

impl<'m> Planting<'_, 'm> {
    /// `before` is the node at which `parent` was in the earlier tree.
    fn plant(
        &mut self,
        children: BTreeMap<Value, Site<'m>>,
        parent: NodeId,
        before: Option<NodeId>,
    ) {
        for (key, mut site) in children {
            if site.rules.iter().any(|member| !member.tail.is_empty()) {
                site.absorb();
            }
            let tree = self.earlier.map(|earlier| &earlier.program.tree);
            let before = before.and_then(|before| tree?.child(before, &key));
            self.path.push(key.clone());
            let rules = std::mem::take(&mut site.rules);
            let rule = (!rules.is_empty()).then(|| {
                let number = before.and_then(|before| tree?.node(before)?.rule);
                self.enlist(rules, number)
            });
            let node = self.push_node(parent, key, rule);
            self.plant(site.children, node, before);
            self.path.pop();
        }
    }

    fn push_node(&mut self, parent: NodeId, key: Value, rule: Option<RuleId>) -> NodeId {
        let nodes = &mut self.program.tree.nodes;
        let id = number(nodes.len());
        nodes.push(TreeNode {
            rule,
            ..TreeNode::default()
        });
        if let Some(parent) = nodes.get_mut(parent as usize) {
            parent.children.insert(key, id);
        }
        id
    }

    /// Gives a set of rules its number, the one that it had or the next.
    fn enlist(&mut self, members: Vec<Member<'m>>, known: Option<RuleId>) -> RuleId {
        let (defaults, rules): (Vec<_>, Vec<_>) = members
            .into_iter()
            .partition(|member| member.rule.default && member.tail.is_empty());
        let mut pending = Pending {
            rules,
            default: defaults.first().map(|member| member.rule),
            stays: false,
        };
        let id = known.unwrap_or_else(|| {
            self.program.rules.push(Arc::default());
            number(self.program.rules.len() - 1)
        });
        let before = self.earlier.filter(|_| known.is_some());
        let same = before.and_then(|before| before.same(id, &pending.places()));
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
        if let Some(place) = self.program.rules.get_mut(id as usize) {
            *place = set;
        }
        self.pending.insert(id, pending);
        id
    }
}

/// A count as a number of something.
pub fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn kind(rules: &[Member<'_>], default: Option<&ast::Rule>) -> RuleKind {
    let args = rules.first().map_or_else(
        || default.map_or(0, |rule| rule.head.args.len()),
        |m| m.rule.head.args.len(),
    );
    if args > 0 {
        RuleKind::Function(number(args))
    } else if rules.iter().any(|member| !member.tail.is_empty()) {
        RuleKind::Object
    } else if rules.iter().any(Member::makes_member) {
        RuleKind::Set
    } else {
        RuleKind::Complete
    }
}

/// The path as a reference prints.
fn name(path: &[Value]) -> Arc<str> {
    let terms = path.iter().map(key_term);
    let root = Term::var("data", solon_syntax::source::Span::default());
    let reference = Term::new(
        TermKind::Ref(std::iter::once(root).chain(terms).collect()),
        solon_syntax::source::Span::default(),
    );
    reference.to_string().into()
}
