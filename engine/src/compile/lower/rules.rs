//! Plans of rules and functions, their defaults and `else` chains.

use std::cell::OnceCell;

use solon_syntax::ast::{self, Body, Expr, ExprKind, Name, Term, TermKind};
use solon_syntax::stack;

use super::body::Lowering;
use super::called::operator_name;
use super::constants::{Constants, constant};
use super::declare::{KeyedRule, Pending, number};
use super::guards;
use super::index::{self, Built, IndexCondition, Proof, Proofs};
use super::precheck::{self, Around};
use crate::bug::bug;
use crate::builtins::is_observable;
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::canonical::{Shared, chain};
use crate::program::{
    Chain, ConditionCoverage, ConstId, Index, Operand, Plan, Precheck, Program, Rule, RuleId,
    RuleKind, RuleSet, Slot, Step,
};
use crate::value::{Repr, Value};

/// Lowers the rules of one set. Invariant: the set is declared in `program`.
pub fn lower(
    id: RuleId,
    pending: &Pending<'_>,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> RuleSet {
    let declared = program.rules.get(id as usize).cloned();
    let declared = declared.unwrap_or_else(|| bug!("a rule that was not declared is lowered"));
    let kind = declared.kind;
    let lowering = RuleLowering {
        kind,
        members: &pending.rules,
        exits: exits(kind, &pending.rules),
        shared: OnceCell::new(),
        program,
        optimisations,
    };
    let (rules, index) = lowering.all(constants);
    let default = pending
        .default
        .map(|rule| default_plan(rule, program, constants, optimisations));
    let early_exit = early_exit(&rules, constants);
    let memoised = !optimisations.make(Optimisation::RepeatCheapCalls)
        || pending.rules.iter().any(|member| {
            let args = &member.rule.head.args;
            let mut chain = chain(member.rule).enumerate();
            chain.any(|(at, rule)| at > ELSES || is_costly(&rule.body, args))
        });
    RuleSet {
        path: declared.path.clone(),
        name: declared.name.clone(),
        kind,
        depth: declared.depth,
        rules,
        default,
        index,
        memoised: !matches!(kind, RuleKind::Function(_)) || memoised,
        early_exit: early_exit && matches!(kind, RuleKind::Complete | RuleKind::Function(_)),
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
        None => Operand::Const(lowering.constants.add(Value(Repr::Bool(true)))),
    };
    lowering.push(Step::Value(value));
    lowering.finish()
}

/// Returns `true` if all rules and all members of their `else` chains have the same constant value.
fn early_exit(rules: &[Rule], constants: &Constants) -> bool {
    let value = |id: ConstId| constants.get(Operand::Const(id));
    let mut members = rules.iter().flat_map(Rule::members);
    let Some(first) = members.next().and_then(|rule| rule.constant) else {
        return false;
    };
    let first = value(first);
    members.all(|member| member.constant.is_some_and(|id| value(id) == first))
}

/// Returns the early exit of rules before they are lowered.
fn exits(kind: RuleKind, rules: &[KeyedRule<'_>]) -> bool {
    if !matches!(kind, RuleKind::Complete | RuleKind::Function(_)) {
        return false;
    }
    let value = |rule: &ast::Rule| rule.head.value.as_ref().and_then(constant);
    let mut all = rules.iter().flat_map(|member| chain(member.rule));
    let first = all.next().and_then(value);
    first.is_some() && all.all(|rule| value(rule) == first)
}

/// Maximum number of `else` branches of a function whose result is not memoised.
const ELSES: usize = 4;

/// Returns `true` if computing a function's result again costs more than its lookup, or is observable.
fn is_costly(body: &Body, args: &[Term]) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.iter().enumerate().any(|(at, term)| match at {
            0 => {
                is_observable(term)
                    || operator_name(term).is_some_and(|name| name.starts_with("data."))
            }
            _ => is_costly_term(term, args),
        }),
        ExprKind::Term(term) => is_costly_term(term, args),
        _ => true,
    })
}

/// Returns `true` if a reference may be a loop. A step that is an argument is a lookup; any other variable may
/// enumerate.
fn is_costly_term(term: &Term, args: &[Term]) -> bool {
    let is_argument = |name: &Name| args.iter().any(|arg| arg.as_var() == Some(name));
    match &term.kind {
        TermKind::Ref(terms) => {
            terms
                .first()
                .and_then(Term::as_var)
                .is_some_and(|name| &**name == "data")
                || terms
                    .iter()
                    .skip(1)
                    .any(|term| term.as_var().is_some_and(|name| !is_argument(name)))
        }
        TermKind::ArrayComprehension(_)
        | TermKind::SetComprehension(_)
        | TermKind::ObjectComprehension(_) => true,
        _ => false,
    }
}

struct RuleLowering<'p> {
    kind: RuleKind,
    members: &'p [KeyedRule<'p>],
    /// `true` if the first solution of any rule is the result.
    exits: bool,
    shared: OnceCell<Shared>,
    program: &'p Program,
    optimisations: Optimisations,
}

impl RuleLowering<'_> {
    /// Lowers the rules of a group that is evaluated together, and builds their index.
    fn all(&self, constants: &mut Constants) -> (Vec<Rule>, Index) {
        let members = self.members;
        let are_many = self.may_index(members.len());
        let mut bodies: Vec<RuleBodies<'_>> = members
            .iter()
            .map(|member| self.bodies(member.rule, are_many))
            .collect();
        let conditions: Vec<Vec<IndexCondition>> =
            bodies.iter_mut().map(RuleBodies::conditions).collect();
        let Built { index, proven } = self.index(&conditions);
        let mut rules = Vec::with_capacity(members.len());
        for ((member, bodies), proven) in members.iter().zip(bodies).zip(proven) {
            rules.push(self.with_elses(member, bodies, proven, constants));
        }
        (rules, index)
    }

    /// Orders the bodies of a rule and of its `else` chain.
    fn bodies<'b>(&self, rule: &'b ast::Rule, are_many: bool) -> RuleBodies<'b> {
        let next = |rule: &&'b ast::Rule| rule.else_rule.as_deref();
        let elses: Vec<&'b ast::Rule> = std::iter::successors(next(&rule), next).collect();
        let is_asked = are_many || self.may_index(1 + elses.len());
        RuleBodies {
            first: self.ordered(rule, is_asked),
            elses: elses
                .into_iter()
                .map(|rule| self.ordered(rule, is_asked))
                .collect(),
        }
    }

    fn ordered<'b>(&self, rule: &'b ast::Rule, is_asked: bool) -> Ordered<'b> {
        let args = if matches!(self.kind, RuleKind::Function(_)) {
            rule.head.args.as_slice()
        } else {
            &[]
        };
        let prints = prints(&rule.body);
        let order = if prints {
            rule.body.iter().collect()
        } else {
            guards::first(&rule.body, args)
        };
        let tree = &self.program.tree;
        let mut effects = precheck::EffectAnalysis::new(tree);
        let (conditions, known) = if is_asked {
            index::conditions(rule, prints, &order, args, tree, &mut effects)
        } else {
            Default::default()
        };
        let around = Around {
            rules: self.members,
            tree,
            exits: self.exits,
            shared: &self.shared,
        };
        Ordered {
            precheck: precheck::conditions(rule, &order, &mut effects, &around),
            conditions,
            coverage: known,
            proven: Proofs::new(),
            rule,
            order,
        }
    }

    /// Returns `true` if an index of this many rules may be worthwhile.
    fn may_index(&self, rules: usize) -> bool {
        rules >= index::WORTHWHILE && self.optimisations.make(Optimisation::IndexRules)
    }

    fn index(&self, rules: &[Vec<IndexCondition>]) -> Built {
        if self.may_index(rules.len()) {
            return index::build(rules);
        }
        Built {
            index: Index::All,
            proven: vec![Proofs::new(); rules.len()],
        }
    }

    /// Lowers a rule with its `else` chain; `proven` are the checks implied by the index.
    fn with_elses(
        &self,
        member: &KeyedRule<'_>,
        mut bodies: RuleBodies<'_>,
        proven: Proofs,
        constants: &mut Constants,
    ) -> Rule {
        if bodies.elses.is_empty() {
            bodies.first.proven = proven;
            let mut rule = self.rule(member, &bodies.first, constants);
            rule.settled = rule.constant;
            return rule;
        }
        let conditions: Vec<Vec<IndexCondition>> = bodies
            .members()
            .map(|body| body.conditions.clone())
            .collect();
        let Built { index, proven } = self.index(&conditions);
        for (body, proven) in bodies.members_mut().zip(proven) {
            body.proven = proven;
        }
        let mut lower = |body: &Ordered<'_>| {
            let member = KeyedRule {
                rule: body.rule,
                tail: member.tail.clone(),
            };
            self.rule(&member, body, constants)
        };
        let mut rule = lower(&bodies.first);
        let elses: Box<[Rule]> = bodies.elses.iter().map(lower).collect();
        let value = |rule: &Rule| {
            rule.constant
                .and_then(|id| constants.get(Operand::Const(id)))
        };
        let is_settled = elses.iter().all(|other| value(other) == value(&rule));
        rule.settled = rule.constant.filter(|_| is_settled);
        rule.otherwise = Some(Box::new(Chain { elses, index }));
        rule
    }

    fn rule(&self, member: &KeyedRule<'_>, body: &Ordered<'_>, constants: &mut Constants) -> Rule {
        let plan = self.plan(member, body, 0, constants);
        let makes_member = member.makes_member();
        let depth = if matches!(self.kind, RuleKind::Set | RuleKind::Object) {
            member.tail.len() + usize::from(makes_member)
        } else {
            0
        };
        let keyed = (1..=depth)
            .map(|known| self.plan(member, body, known, constants))
            .collect();
        let value = member.rule.head.value.as_ref();
        let constant_tail = member
            .tail
            .iter()
            .map(|term| constant(term).map(|key| constants.add(key)))
            .collect();
        let constant_value = value.and_then(constant).map(|value| constants.add(value));
        Rule {
            plan,
            keyed,
            tail: number(member.tail.len()),
            constant_tail,
            member: makes_member,
            fallback: member.rule.default,
            constant: constant_value,
            settled: None,
            otherwise: None,
            conditions: body.coverage,
            span: member.rule.span,
        }
    }

    /// Lowers the plan of a body with the first `known` head terms known.
    fn plan(
        &self,
        member: &KeyedRule<'_>,
        body: &Ordered<'_>,
        known: usize,
        constants: &mut Constants,
    ) -> Plan {
        let head = &member.rule.head;
        let mut lowering = Lowering::new(self.program, constants, self.optimisations);
        let key = if member.makes_member() {
            head.key.as_ref()
        } else {
            None
        };
        let is_function = matches!(self.kind, RuleKind::Function(_));
        let entries: Vec<&Term> = if is_function {
            head.args.iter().collect()
        } else {
            member.tail.iter().chain(key).take(known).collect()
        };
        let slots: Vec<Slot> = entries.iter().map(|_| lowering.slot()).collect();
        for ((at, term), slot) in (0..).zip(&entries).zip(slots) {
            if !(is_function && body.proven.contains(&Proof::Argument(at))) {
                lowering.matches(Operand::Slot(slot), term);
            }
        }
        if let Some(precheck) = &body.precheck {
            lowering.precheck(precheck.clone());
        }
        for (at, expr) in (0..).zip(&body.order) {
            if !body.proven.contains(&Proof::Expr(at)) {
                lowering.expr(expr);
            }
        }
        emit_terminator(self.kind, member, known, &mut lowering);
        lowering.finish()
    }
}

/// The body of a rule or an `else` branch before lowering.
struct Ordered<'b> {
    rule: &'b ast::Rule,
    order: Vec<&'b Expr>,
    /// Conditions that are tested before the body.
    precheck: Option<Precheck>,
    conditions: Vec<IndexCondition>,
    coverage: ConditionCoverage,
    /// Checks implied by the index.
    proven: Proofs,
}

/// The bodies of a rule and of its `else` chain.
struct RuleBodies<'b> {
    first: Ordered<'b>,
    elses: Vec<Ordered<'b>>,
}

impl<'b> RuleBodies<'b> {
    fn members(&self) -> impl Iterator<Item = &Ordered<'b>> {
        std::iter::once(&self.first).chain(&self.elses)
    }

    fn members_mut(&mut self) -> impl Iterator<Item = &mut Ordered<'b>> {
        std::iter::once(&mut self.first).chain(&mut self.elses)
    }

    /// Returns the conditions of which at least one body must meet its own; moved out for a rule without `else`.
    fn conditions(&mut self) -> Vec<IndexCondition> {
        if self.elses.is_empty() {
            return std::mem::take(&mut self.first.conditions);
        }
        let mut conditions = self.first.conditions.clone();
        for body in &self.elses {
            conditions.retain_mut(|condition| {
                let mut others = body.conditions.iter();
                let same = others.find(|other| other.question == condition.question);
                if let Some(other) = same {
                    condition.answers.extend(other.answers.iter().cloned());
                    condition.lenient |= other.lenient;
                    condition.proves = None;
                }
                same.is_some()
            });
        }
        conditions
    }
}

fn emit_terminator(
    kind: RuleKind,
    member: &KeyedRule<'_>,
    known: usize,
    lowering: &mut Lowering<'_>,
) {
    let head = &member.rule.head;
    let rest: Vec<&Term> = member.tail.iter().skip(known).collect();
    let element = if member.makes_member() {
        head.key.as_ref()
    } else {
        head.value.as_ref()
    };
    if member.makes_member() && known > member.tail.len() {
        return lowering.push(Step::MemberFound);
    }
    let value = match element {
        Some(term) => lowering.term(term),
        None => Operand::Const(lowering.constants.add(Value(Repr::Bool(true)))),
    };
    let step = match kind {
        RuleKind::Complete | RuleKind::Function(_) => Step::Value(value),
        RuleKind::Set => Step::SetAdd(value),
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

/// Returns `true` if a body prints. It must then always run.
fn prints(body: &[Expr]) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.first().is_some_and(is_observable),
        ExprKind::Every(every) => prints(&every.body),
        ExprKind::Not(not) => prints(&not.body),
        ExprKind::And(pair) | ExprKind::Or(pair) => {
            stack::level(|| prints(&pair.lhs)) || prints(&pair.rhs)
        }
        _ => false,
    })
}
