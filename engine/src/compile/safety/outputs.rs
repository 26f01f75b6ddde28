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

/// The variables of an expression without those of `not`, `and` and `or` in it.
pub const DIRECT: VarScan = VarScan {
    skip_implicit_bodies: true,
    ..OWN
};

/// What inputs and outputs of calls are made of.
pub const OPERANDS: VarScan = VarScan {
    skip_ref_heads: true,
    skip_call_heads: false,
    skip_object_keys: true,
    skip_sets: true,
    ..OWN
};

/// How much an expression is said to need and to bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As evaluation has it: sets and keys of objects are compared, never taken apart, and closures keep their
    /// variables, so neither bind any.
    Strict,
    /// As published messages have it, where some unsafe variables hide others.
    Loose,
}

impl Reading {
    /// The variables that a pattern gives values to.
    pub fn gives(self) -> VarScan {
        VarScan {
            skip_sets: self == Self::Strict,
            ..OPERANDS
        }
    }

    /// The variables without which a pattern is no value. Of references only what stands behind the heads.
    pub fn needs(self) -> VarScan {
        VarScan {
            skip_object_keys: self == Self::Loose,
            skip_sets: false,
            ..OPERANDS
        }
    }

    /// The variables that steps of references give values to.
    fn steps(self) -> VarScan {
        let strict = self == Self::Strict;
        VarScan {
            skip_object_keys: strict,
            skip_sets: strict,
            skip_closures: strict,
            ..OPERANDS
        }
    }
}

/// The variables that an expression binds, given those that are safe before, as messages have it. Safe ones may be
/// among them.
pub fn outputs(vars: &mut Vars, functions: Functions<'_>, expr: &Expr, safe: &VarSet) -> VarSet {
    outputs_as(vars, functions, expr, safe, Reading::Loose)
}

/// The same in a given reading.
pub fn outputs_as(
    vars: &mut Vars,
    functions: Functions<'_>,
    expr: &Expr,
    safe: &VarSet,
    reading: Reading,
) -> VarSet {
    if expr.negated || !vars.scan(OWN, &expr.with).is_subset(safe) {
        return VarSet::default();
    }
    match &expr.kind {
        ExprKind::Term(term) => references(vars, term, safe, reading),
        ExprKind::Every(every) => references(vars, &every.domain, safe, reading),
        ExprKind::Call(terms) => {
            if let Some((left, right)) = equation(expr) {
                if !expr.assigned {
                    return equation_outputs(vars, left, right, safe, reading);
                }
                // what is assigned must have its value already, never get it from the variable
                let others = safe.without(&vars.scan(VarScan::default(), left));
                let mut bound = equation_outputs(vars, left, right, &others, reading);
                bound.subtract(safe);
                return bound;
            }
            let Some((operator, operands)) = terms.split_first() else {
                return VarSet::default();
            };
            match functions.arity(operator) {
                // an equation has no result, whatever stands behind its sides
                Some(_) if operator.is_operator("eq") => VarSet::default(),
                Some(arity) => call_outputs(vars, operands, arity, safe, reading),
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

fn equation_outputs(
    vars: &mut Vars,
    left: &Term,
    right: &Term,
    safe: &VarSet,
    reading: Reading,
) -> VarSet {
    let mut known = references(vars, left, safe, reading);
    known.add(&references(vars, right, safe, reading));
    known.add(safe);
    let mut bound = unify(vars, &known, left, right, reading);
    bound.add(&known);
    bound.subtract(safe);
    bound
}

fn call_outputs(
    vars: &mut Vars,
    operands: &[Term],
    arity: usize,
    safe: &VarSet,
    reading: Reading,
) -> VarSet {
    let mut bound = references(vars, operands, safe, reading);
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
fn references<N: Walk + ?Sized>(
    vars: &mut Vars,
    node: &N,
    safe: &VarSet,
    reading: Reading,
) -> VarSet {
    let mut bound = VarSet::default();
    node.walk(&mut Terms(|term: &Term| match &term.kind {
        TermKind::ArrayComprehension(_)
        | TermKind::SetComprehension(_)
        | TermKind::ObjectComprehension(_)
        | TermKind::Template(_) => Flow::Over,
        TermKind::Ref(_) if !has_value(vars, term, safe) => Flow::Over,
        TermKind::Ref(reference) => {
            vars.scan_into(reading.steps(), steps(reference), &mut bound);
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
