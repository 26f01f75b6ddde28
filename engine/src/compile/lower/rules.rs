//! Rules: where they stand in the tree of documents, and their plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use solon_syntax::ast::{self, Body, Expr, ExprKind, Module, Term, TermKind};

use super::body::{Lowering, operator_name};
use super::constants::{Constants, constant};
use super::{guards, index, screen};
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::{
    ConstId, Guard, Index, NodeId, Operand, Plan, Program, Rule, RuleId, RuleKind, RuleSet, Slot,
    Step, TreeNode,
};
use crate::value::{Kind, V, Value};

/// The rules of a set before they are lowered.
pub struct Pending<'m> {
    rules: Vec<Member<'m>>,
    default: Option<&'m ast::Rule>,
}

/// A rule and the terms of its head behind the set's path.
#[derive(Clone)]
struct Member<'m> {
    rule: &'m ast::Rule,
    tail: Vec<Term>,
}

impl Member<'_> {
    fn makes_member(&self) -> bool {
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

/// Puts all rules into the tree and gives each set of rules its number and kind.
pub fn declare<'m>(modules: &'m [Arc<Module>], program: &mut Program) -> Vec<Pending<'m>> {
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
    let mut pending = Vec::new();
    let mut path = Vec::new();
    let children = std::mem::take(&mut root.children);
    plant(children, 0, &mut path, program, &mut pending);
    pending
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

fn plant<'m>(
    children: BTreeMap<Value, Site<'m>>,
    parent: NodeId,
    path: &mut Vec<Value>,
    program: &mut Program,
    pending: &mut Vec<Pending<'m>>,
) {
    for (key, mut site) in children {
        if site.rules.iter().any(|member| !member.tail.is_empty()) {
            site.absorb();
        }
        path.push(key.clone());
        let rule = (!site.rules.is_empty())
            .then(|| enlist(std::mem::take(&mut site.rules), path, program, pending));
        let node = push_node(program, parent, key, rule);
        plant(site.children, node, path, program, pending);
        path.pop();
    }
}

fn push_node(program: &mut Program, parent: NodeId, key: Value, rule: Option<RuleId>) -> NodeId {
    let id = number(program.tree.nodes.len());
    program.tree.nodes.push(TreeNode {
        rule,
        ..TreeNode::default()
    });
    if let Some(parent) = program.tree.nodes.get_mut(parent as usize) {
        parent.children.insert(key, id);
    }
    id
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn enlist<'m>(
    members: Vec<Member<'m>>,
    path: &[Value],
    program: &mut Program,
    pending: &mut Vec<Pending<'m>>,
) -> RuleId {
    let id = number(program.rules.len());
    let (defaults, rules): (Vec<_>, Vec<_>) = members
        .into_iter()
        .partition(|member| member.rule.default && member.tail.is_empty());
    let default = defaults.first().map(|member| member.rule);
    let kind = kind(&rules, default);
    let depth = rules
        .iter()
        .map(|member| member.tail.len() + usize::from(member.makes_member()))
        .max();
    program.depths.push(depth.unwrap_or(0));
    program.rules.push(RuleSet {
        path: path.into(),
        name: name(path),
        kind,
        rules: Vec::new(),
        default: None,
        index: Index::All,
        memoised: true,
        early_exit: false,
    });
    pending.push(Pending { rules, default });
    id
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

/// Lowers the rules of one set.
pub fn lower(
    id: usize,
    pending: &Pending<'_>,
    program: &mut Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) {
    let Some(kind) = program.rules.get(id).map(|set| set.kind) else {
        return;
    };
    let mut guards = Vec::with_capacity(pending.rules.len());
    let mut rules = Vec::with_capacity(pending.rules.len());
    for member in &pending.rules {
        let (rule, found) = lower_member(kind, member, program, constants, optimisations);
        guards.push(found);
        rules.push(rule);
    }
    let default = pending
        .default
        .map(|rule| default_plan(rule, program, constants, optimisations));
    let early_exit = early_exit(&rules, constants);
    let memoised = !optimisations.make(Optimisation::RepeatCheapCalls)
        || pending
            .rules
            .iter()
            .any(|member| is_costly(&member.rule.body) || member.rule.else_rule.is_some());
    if let Some(set) = program.rules.get_mut(id) {
        if optimisations.make(Optimisation::IndexRules) {
            set.index = index::build(&guards);
        }
        set.rules = rules;
        set.default = default;
        set.early_exit = early_exit && matches!(kind, RuleKind::Complete | RuleKind::Function(_));
        set.memoised = !matches!(kind, RuleKind::Function(_)) || memoised;
    }
}

fn default_plan(
    rule: &ast::Rule,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> Plan {
    let mut lowering = Lowering::new(program, constants, optimisations);
    for _ in &rule.head.args {
        lowering.slot();
    }
    lowering.body(&rule.body);
    let value = match &rule.head.value {
        Some(value) => lowering.term(value),
        None => Operand::Const(lowering.constants.add(Value::Bool(true))),
    };
    lowering.push(Step::Value(value));
    lowering.finish()
}

/// Whether all rules, and all members of their else chains, have one and the same constant value.
fn early_exit(rules: &[Rule], constants: &Constants) -> bool {
    let value = |id: ConstId| constants.get(Operand::Const(id));
    let mut members = rules.iter().flat_map(Rule::members);
    let Some(first) = members.next().and_then(|rule| rule.constant) else {
        return false;
    };
    let first = value(first);
    members.all(|member| member.constant.is_some_and(|id| value(id) == first))
}

/// Whether finding a function's result again costs more than looking it up, or is seen.
fn is_costly(body: &Body) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.iter().enumerate().any(|(at, term)| match at {
            0 => operator_name(term)
                .is_some_and(|name| name.starts_with("data.") || name == "internal.print"),
            _ => is_costly_term(term),
        }),
        ExprKind::Term(term) => is_costly_term(term),
        _ => true,
    })
}

fn is_costly_term(term: &Term) -> bool {
    match &term.kind {
        TermKind::Ref(terms) => {
            terms
                .first()
                .and_then(Term::as_var)
                .is_some_and(|name| &**name == "data")
                || terms.iter().skip(1).any(|term| term.as_var().is_some())
        }
        TermKind::ArrayComprehension(_)
        | TermKind::SetComprehension(_)
        | TermKind::ObjectComprehension(_) => true,
        _ => false,
    }
}

/// Lowers one rule with its else chain; returns the tests that the first body cannot succeed without.
fn lower_member(
    kind: RuleKind,
    member: &Member<'_>,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> (Rule, Vec<Guard>) {
    let (plan, guards) = plan(kind, member, 0, program, constants, optimisations);
    let makes_member = member.makes_member();
    let depth = if matches!(kind, RuleKind::Set | RuleKind::Object) {
        member.tail.len() + usize::from(makes_member)
    } else {
        0
    };
    let keyed = (1..=depth)
        .map(|known| self::plan(kind, member, known, program, constants, optimisations).0)
        .collect();
    let otherwise = member.rule.else_rule.as_deref().map(|rule| {
        let member = Member {
            rule,
            tail: member.tail.clone(),
        };
        Box::new(lower_member(kind, &member, program, constants, optimisations).0)
    });
    let value = member.rule.head.value.as_ref();
    let constant_tail = member
        .tail
        .iter()
        .map(|term| constant(term).map(|key| constants.add(key)))
        .collect();
    let constant_value = value.and_then(constant).map(|value| constants.add(value));
    let guards = if otherwise.is_some() {
        Vec::new()
    } else {
        guards
    };
    let rule = Rule {
        plan,
        keyed,
        tail: number(member.tail.len()),
        constant_tail,
        member: makes_member,
        fallback: member.rule.default,
        constant: constant_value,
        otherwise,
        span: member.rule.span,
    };
    (rule, guards)
}

/// The plan of a body of which the first `known` head terms are known.
fn plan(
    kind: RuleKind,
    member: &Member<'_>,
    known: usize,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> (Plan, Vec<Guard>) {
    let head = &member.rule.head;
    let mut lowering = Lowering::new(program, constants, optimisations);
    let key = if member.makes_member() {
        head.key.as_ref()
    } else {
        None
    };
    let entries: Vec<&Term> = if matches!(kind, RuleKind::Function(_)) {
        head.args.iter().collect()
    } else {
        member.tail.iter().chain(key).take(known).collect()
    };
    let slots: Vec<Slot> = entries.iter().map(|_| lowering.slot()).collect();
    for (term, slot) in entries.iter().zip(slots) {
        lowering.matches(Operand::Slot(slot), term);
    }
    let args = if matches!(kind, RuleKind::Function(_)) {
        head.args.as_slice()
    } else {
        &[]
    };
    let (order, guards) = guards::first(&member.rule.body, args);
    if let Some(screen) = screen::screen(member.rule, &order, &program.tree) {
        lowering.push(Step::Screen(Box::new(screen)));
    }
    for expr in order {
        lowering.expr(expr);
    }
    leaf(kind, member, known, &mut lowering);
    (lowering.finish(), guards)
}

fn leaf(kind: RuleKind, member: &Member<'_>, known: usize, lowering: &mut Lowering<'_>) {
    let head = &member.rule.head;
    let rest: Vec<&Term> = member.tail.iter().skip(known).collect();
    let element = if member.makes_member() {
        head.key.as_ref()
    } else {
        head.value.as_ref()
    };
    if member.makes_member() && known > member.tail.len() {
        return lowering.push(Step::Asked);
    }
    let value = match element {
        Some(term) => lowering.term(term),
        None => Operand::Const(lowering.constants.add(Value::Bool(true))),
    };
    let step = match kind {
        RuleKind::Complete | RuleKind::Function(_) => Step::Value(value),
        RuleKind::Set => Step::Insert(value),
        RuleKind::Object => {
            let path = rest.into_iter().map(|term| lowering.term(term)).collect();
            Step::Produce {
                path,
                value,
                member: member.makes_member(),
            }
        }
    };
    lowering.push(step);
}

/// Whether a body prints, in which case nothing may keep it from running.
pub(super) fn prints(body: &[Expr]) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.first().is_some_and(|name| {
            name.is_operator("internal.print") || name.is_operator("internal.test_case")
        }),
        ExprKind::Every(every) => prints(&every.body),
        ExprKind::Not(not) => prints(&not.body),
        ExprKind::And(pair) | ExprKind::Or(pair) => prints(&pair.lhs) || prints(&pair.rhs),
        _ => false,
    })
}
