//! The plans of rules.

use solon_syntax::ast::{self, Body, Expr, ExprKind, Term, TermKind};

use super::body::Lowering;
use super::called::operator_name;
use super::constants::{Constants, constant};
use super::declare::{Member, Pending, number};
use super::{guards, index, screen};
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::program::{
    ConstId, Guard, Index, Operand, Plan, Program, Rule, RuleId, RuleKind, RuleSet, Screen, Slot,
    Step,
};
use crate::value::Value;

/// Lowers the rules of one set.
pub fn lower(
    id: RuleId,
    pending: &Pending<'_>,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> RuleSet {
    let declared = program.rules.get(id as usize).cloned().unwrap_or_default();
    let kind = declared.kind;
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
    let index = if optimisations.make(Optimisation::IndexRules) {
        index::build(&guards)
    } else {
        Index::All
    };
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
    let args = if matches!(kind, RuleKind::Function(_)) {
        member.rule.head.args.as_slice()
    } else {
        &[]
    };
    let (order, guards) = guards::first(&member.rule.body, args);
    let screen = screen::screen(member.rule, &order, &program.tree);
    let body = Ordered { order, screen };
    let plan = plan(kind, member, &body, 0, program, constants, optimisations);
    let makes_member = member.makes_member();
    let depth = if matches!(kind, RuleKind::Set | RuleKind::Object) {
        member.tail.len() + usize::from(makes_member)
    } else {
        0
    };
    let keyed = (1..=depth)
        .map(|known| {
            self::plan(
                kind,
                member,
                &body,
                known,
                program,
                constants,
                optimisations,
            )
        })
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

/// The expressions of a body in the order they are evaluated, and what is looked at before.
struct Ordered<'b> {
    order: Vec<&'b Expr>,
    screen: Option<Screen>,
}

/// The plan of a body of which the first `known` head terms are known.
fn plan(
    kind: RuleKind,
    member: &Member<'_>,
    body: &Ordered<'_>,
    known: usize,
    program: &Program,
    constants: &mut Constants,
    optimisations: Optimisations,
) -> Plan {
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
    if let Some(screen) = &body.screen {
        lowering.push(Step::Screen(Box::new(screen.clone())));
    }
    for expr in &body.order {
        lowering.expr(expr);
    }
    leaf(kind, member, known, &mut lowering);
    lowering.finish()
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
