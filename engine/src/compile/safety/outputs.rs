//! Which variables an expression binds when it is evaluated.

use solon_syntax::ast::visit::{Flow, Terms, Walk};
use solon_syntax::ast::{Expr, ExprKind, Ref, Term, TermKind, VarScan};

use super::unify::unify;
use super::vars::{VarSet, Vars};
use crate::compile::functions::Functions;

/// The variables of an expression itself; closures bring their own.
pub const OWN: VarScan = VarScan {
    skip_ref_heads: false,
    skip_call_heads: true,
    skip_object_keys: false,
    skip_sets: false,
    skip_closures: true,
    skip_implicit_bodies: false,
    skip_with_targets: false,
    skip_templates: false,
};

/// What operands of calls and steps of references need or bind. Sets and keys of objects are compared, never
/// taken apart, so what they hold cannot be bound.
pub const OPERANDS: VarScan = VarScan {
    skip_ref_heads: true,
    skip_call_heads: false,
    skip_object_keys: true,
    skip_sets: true,
    ..OWN
};

/// The variables that an expression binds, given those that are safe before. Safe ones may be among them.
pub fn outputs(vars: &mut Vars, functions: Functions<'_>, expr: &Expr, safe: &VarSet) -> VarSet {
    if expr.negated || !vars.scan(OWN, &expr.with).is_subset(safe) {
        return VarSet::default();
    }
    match &expr.kind {
        ExprKind::Term(term) => references(vars, term, safe),
        ExprKind::Every(every) => references(vars, &every.domain, safe),
        ExprKind::Call(terms) => {
            if let Some((left, right)) = equation(expr) {
                if !expr.assigned {
                    return equation_outputs(vars, left, right, safe);
                }
                // what is assigned must have its value already, never get it from the variable
                let others = safe.without(&vars.scan(VarScan::default(), left));
                let mut bound = equation_outputs(vars, left, right, &others);
                bound.subtract(safe);
                return bound;
            }
            let Some((operator, operands)) = terms.split_first() else {
                return VarSet::default();
            };
            match functions.arity(operator) {
                Some(arity) => call_outputs(vars, operands, arity, safe),
                None => VarSet::default(),
            }
        }
        ExprKind::Some(_) | ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {
            VarSet::default()
        }
    }
}

/// The sides of `a = b`, or of what was `a := b`.
pub fn equation(expr: &Expr) -> Option<(&Term, &Term)> {
    match expr.operands_of("eq")? {
        [left, right] => Some((left, right)),
        _ => None,
    }
}

fn equation_outputs(vars: &mut Vars, left: &Term, right: &Term, safe: &VarSet) -> VarSet {
    let mut known = references(vars, left, safe);
    known.add(&references(vars, right, safe));
    known.add(safe);
    let mut bound = unify(vars, &known, left, right);
    bound.add(&known);
    bound.subtract(safe);
    bound
}

fn call_outputs(vars: &mut Vars, operands: &[Term], arity: usize, safe: &VarSet) -> VarSet {
    let mut bound = references(vars, operands, safe);
    let Some((inputs, output)) = operands.split_at_checked(arity) else {
        return bound;
    };
    if output.is_empty() {
        return bound;
    }
    let mut missing = vars.scan(OPERANDS, inputs);
    missing.subtract(&bound);
    if !missing.is_subset(safe) {
        return VarSet::default();
    }
    vars.scan_into(OPERANDS, output, &mut bound);
    bound
}

/// The variables that the references of a node bind: those behind heads that have values.
fn references<N: Walk + ?Sized>(vars: &mut Vars, node: &N, safe: &VarSet) -> VarSet {
    let mut bound = VarSet::default();
    node.walk(&mut Terms(|term: &Term| match &term.kind {
        TermKind::ArrayComprehension(_)
        | TermKind::SetComprehension(_)
        | TermKind::ObjectComprehension(_)
        | TermKind::Template(_) => Flow::Over,
        TermKind::Ref(_) if !has_value(vars, term, safe) => Flow::Over,
        TermKind::Ref(reference) => {
            vars.scan_into(OPERANDS, steps(reference), &mut bound);
            Flow::Into
        }
        _ => Flow::Into,
    }));
    bound
}

fn steps(reference: &Ref) -> &[Term] {
    reference.get(1..).unwrap_or_default()
}

/// Whether a term that is no pattern has a value by now: a reference has it with its head, a call with all its
/// operands, anything else always.
pub fn has_value(vars: &mut Vars, term: &Term, safe: &VarSet) -> bool {
    match &term.kind {
        TermKind::Ref(reference) => match reference.first() {
            Some(head) if matches!(head.kind, TermKind::Ref(_)) => has_value(vars, head, safe),
            Some(head) => vars.scan(OWN, head).is_subset(safe),
            None => true,
        },
        TermKind::Call(_) => vars.scan(OWN, term).is_subset(safe),
        _ => true,
    }
}
