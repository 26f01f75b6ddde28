//! Prechecks: conditions that are tested before a body, because the body would test them too late.
//!
//! OPA's rule index does not enter a rule whose conditions fail, so prints and errors before them do not occur. If
//! nothing observable precedes a condition, the test in the body suffices.

use std::cell::OnceCell;

use smallvec::SmallVec;
use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{self, Expr, ExprKind, Term, TermKind};

use super::body::Lowering;
use super::constants::constant;
use super::declare::KeyedRule;
use crate::builtins::{self, is_silent, opa_index_test};
use crate::program::canonical::{
    ConditionOperand, Conditions, Constraint, Shared, Test, chain, may_constrain,
};
use crate::program::{Operand, Precheck, Step, VirtualDocuments, document_path};

impl Lowering<'_> {
    /// Emits a precheck before a body. In an unconditional precheck, access paths in the input and comparisons become
    /// steps, whose lookups the body shares.
    pub(super) fn precheck(&mut self, mut precheck: Precheck) {
        if precheck.always
            && let [constraints] = precheck.conditions.alternatives.as_mut_slice()
        {
            constraints.retain(|constraint| !self.constrain(constraint));
            if constraints.is_empty() && precheck.conditions.memberships.is_empty() {
                return;
            }
        }
        self.push(Step::Precheck(Box::new(precheck)));
    }

    /// Lowers a constraint to steps; returns `false` if that is not possible.
    fn constrain(&mut self, constraint: &Constraint) -> bool {
        let value = match constraint.tests.as_slice() {
            [] => None,
            [Test::Equal(value)] => Some(value),
            _ => return false,
        };
        let found = match &constraint.place {
            ConditionOperand::Input(keys) => {
                let key = |key| Operand::Const(self.constants.of_value(key));
                let keys = keys.iter().map(key).collect();
                let out = self.slot();
                self.push(Step::Input { keys, out });
                Operand::Slot(out)
            }
            ConditionOperand::Data(_) | ConditionOperand::Argument(_) => return false,
        };
        if let Some(value) = value {
            let value = Operand::Const(self.constants.of_value(value));
            self.push(Step::Equal(found, value));
        }
        true
    }
}

/// Context of a rule: the other rules of its set.
pub struct Around<'a> {
    /// Rules that share its index.
    pub rules: &'a [KeyedRule<'a>],
    pub tree: &'a VirtualDocuments,
    /// `true` if the first solution of any of the rules is the result.
    pub exits: bool,
    /// Common part of their conditions, computed on demand.
    pub shared: &'a OnceCell<Shared>,
}

impl Around<'_> {
    /// Returns the conditions of a rule as in OPA's index.
    fn conditions(&self, rule: &ast::Rule) -> Conditions {
        let is_virtual = |steps: &[Term]| is_virtual(steps, self.tree);
        let mut conditions = Conditions::of_rule(rule, &is_virtual);
        if Shared::may_loosen(&conditions) {
            let shared = self.shared.get_or_init(|| {
                let rules = self.rules.iter().flat_map(|member| chain(member.rule));
                let all = rules.map(|rule| Conditions::of_rule(rule, &is_virtual));
                Shared::new(&all.collect::<Vec<_>>())
            });
            shared.loosen(&mut conditions);
        }
        if self.exits {
            conditions.memberships.clear();
        }
        conditions
    }
}

/// Returns the conditions of a rule whose body is evaluated in `order`, unless the body tests them in time.
pub fn conditions(
    rule: &ast::Rule,
    order: &[&Expr],
    effects: &mut EffectAnalysis<'_>,
    around: &Around<'_>,
) -> Option<Precheck> {
    // after the last possible condition, nothing is too late
    let last = order.iter().rposition(|expr| may_constrain(expr))?;
    let (mut strict, mut loud) = (None, None);
    for (at, expr) in order.iter().enumerate().take(last + 1) {
        match effects.of_expr(at, expr) {
            Effect::Pure => {}
            Effect::Strict => strict = strict.or(Some(at)),
            Effect::Observable => {
                loud = Some(at);
                break;
            }
        }
    }
    let late = |at: Option<usize>| late_conditions(rule, order, at?, around);
    if let Some(conditions) = late(loud) {
        let always = true;
        return Some(Precheck { conditions, always });
    }
    let conditions = late(strict.or(loud))?;
    let always = false;
    Some(Precheck { conditions, always })
}

/// Observable effects of the expressions of one body, computed once each.
pub struct EffectAnalysis<'t> {
    tree: &'t VirtualDocuments,
    effects: SmallVec<[Option<Effect>; 8]>,
}

impl<'t> EffectAnalysis<'t> {
    pub fn new(tree: &'t VirtualDocuments) -> Self {
        Self {
            tree,
            effects: SmallVec::new(),
        }
    }

    /// Returns the effect of the expression at an index, computed once.
    pub fn of_expr(&mut self, at: usize, expr: &Expr) -> Effect {
        if self.effects.len() <= at {
            self.effects.resize(at + 1, None);
        }
        let tree = self.tree;
        match self.effects.get_mut(at) {
            Some(known) => *known.get_or_insert_with(|| effect(expr, tree)),
            None => effect(expr, tree),
        }
    }
}

/// Returns the conditions that the expressions up to `last` do not ensure.
fn late_conditions(
    rule: &ast::Rule,
    order: &[&Expr],
    at: usize,
    around: &Around<'_>,
) -> Option<Conditions> {
    // a test that fails on its operand is not evaluated if the index tests the same
    let tests_itself = order.get(at).is_some_and(|expr| is_test(expr));
    let (quiet, rest) = order.split_at_checked(at + usize::from(!tests_itself))?;
    if rest.is_empty() {
        return None;
    }
    let is_virtual = |steps: &[Term]| is_virtual(steps, around.tree);
    let Conditions {
        mut alternatives,
        mut memberships,
    } = around.conditions(rule);
    let met = Conditions::among(&rule.head.args, quiet.iter().copied(), &is_virtual);
    if let [met] = met.alternatives.as_slice() {
        for constraints in &mut alternatives {
            constraints.retain(|constraint| !met.contains(constraint));
        }
    }
    memberships.retain(|membership| !met.memberships.contains(membership));
    let decides = alternatives
        .iter()
        .all(|constraints| !constraints.is_empty());
    (decides || !memberships.is_empty()).then_some(Conditions {
        alternatives,
        memberships,
    })
}

/// Returns `true` if an expression is a call that conditions are derived from.
fn is_test(expr: &Expr) -> bool {
    !expr.negated && opa_index_test(expr).is_some()
}

/// Returns `true` if rules exist on the path of steps below `data`, or below it.
pub fn is_virtual(steps: &[Term], tree: &VirtualDocuments) -> bool {
    let mut node = 0;
    for step in steps {
        let Some(next) = constant(step).and_then(|key| tree.child(node, key.borrow())) else {
            return false;
        };
        if tree.node(next).is_some_and(|node| node.rule.is_some()) {
            return true;
        }
        node = next;
    }
    true
}

/// Returns `true` if the number of evaluations of a body is observable.
pub fn is_observable(body: &[Expr], tree: &VirtualDocuments) -> bool {
    body.iter().any(|expr| effect(expr, tree) > Effect::Pure)
}

/// Observability of an expression's evaluation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Pure,
    /// Observable by errors of built-ins, if they end the evaluation.
    Strict,
    /// Observable by prints and conflicts.
    Observable,
}

fn effect(expr: &Expr, tree: &VirtualDocuments) -> Effect {
    // most expressions compare an access path with a constant, which their syntax shows
    if is_comparison(expr) {
        return Effect::Pure;
    }
    let mut listener = Listener {
        tree,
        effect: Effect::Pure,
    };
    expr.walk(&mut listener);
    listener.effect
}

/// Returns `true` if an expression compares constants, variables and values below these.
fn is_comparison(expr: &Expr) -> bool {
    let is_simple = |term: &Term| match &term.kind {
        TermKind::Var(_) => true,
        TermKind::Ref(terms) => {
            let mut terms = terms.iter();
            let head = terms.next().and_then(Term::as_var);
            head.is_some_and(|name| &**name != "data")
                && terms.all(|key| key.is_scalar() || key.as_var().is_some())
        }
        _ => term.is_scalar(),
    };
    match &expr.kind {
        ExprKind::Call(terms) if expr.with.is_empty() => match terms.split_first() {
            Some((operator, operands)) => operands.iter().all(is_simple) && is_silent(operator),
            None => false,
        },
        _ => false,
    }
}

struct Listener<'t> {
    tree: &'t VirtualDocuments,
    effect: Effect,
}

impl Listener<'_> {
    fn add(&mut self, effect: Effect) {
        self.effect = self.effect.max(effect);
    }

    fn call(&mut self, operator: &Term) {
        let is_document = operator
            .as_ref()
            .and_then(|terms| terms.first()?.as_var())
            .is_some_and(|name| &**name == "data");
        if is_document || builtins::is_observable(operator) {
            self.add(Effect::Observable);
        } else if !is_silent(operator) {
            self.add(Effect::Strict);
        }
    }

    /// Returns `true` if a reference to documents may evaluate rules.
    fn needs_rules(&self, steps: &[Term]) -> bool {
        let known = steps
            .iter()
            .take_while(|step| constant(step).is_some())
            .count();
        let (known, open) = steps.split_at_checked(known).unwrap_or((steps, &[]));
        is_virtual(known, self.tree) || (known.is_empty() && !open.is_empty())
    }
}

impl Visitor<'_> for Listener<'_> {
    fn expr(&mut self, expr: &Expr) -> Descent {
        if expr
            .with
            .iter()
            .any(|with| document_path(&with.target).is_none())
        {
            self.add(Effect::Observable);
        }
        if let ExprKind::Call(terms) = &expr.kind
            && let Some((operator, operands)) = terms.split_first()
        {
            self.call(operator);
            operands.walk(self);
            expr.with.walk(self);
            return Descent::Over;
        }
        Descent::Into
    }

    fn term(&mut self, term: &Term) -> Descent {
        match &term.kind {
            TermKind::Ref(terms) => {
                if let Some((head, steps)) = terms.split_first()
                    && head.as_var().is_some_and(|name| &**name == "data")
                    && self.needs_rules(steps)
                {
                    self.add(Effect::Observable);
                }
            }
            TermKind::Call(terms) => {
                if let Some(operator) = terms.first() {
                    self.call(operator);
                }
            }
            // keys may conflict
            TermKind::ObjectComprehension(_) => self.add(Effect::Observable),
            _ => {}
        }
        Descent::Into
    }
}
