//! Variables that an expression binds.

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Expr, ExprKind, Ref, Term, TermKind, VarScan};

use super::unify::unify;
use super::vars::{VarSet, Vars};
use crate::compile::functions::CallableFunctions;

/// Variables of an expression itself, without closures.
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

/// Variables of an expression without those of `not`, `and` and `or` in it.
pub const DIRECT: VarScan = VarScan {
    skip_implicit_bodies: true,
    ..OWN
};

/// Variables of inputs and outputs of calls.
pub const OPERANDS: VarScan = VarScan {
    skip_ref_heads: true,
    skip_call_heads: false,
    skip_object_keys: true,
    skip_sets: true,
    ..OWN
};

/// Interpretation of the needs and outputs of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As in evaluation: sets and keys of objects are compared, not destructured, and closures keep their variables, so
    /// neither binds any.
    Strict,
    /// As in OPA's messages, in which some unsafe variables hide others.
    Loose,
}

impl Reading {
    /// Variables that a pattern binds.
    pub fn gives(self) -> VarScan {
        VarScan {
            skip_sets: self == Self::Strict,
            ..OPERANDS
        }
    }

    /// Variables that a pattern needs to be a value. Of references, only those after the heads.
    pub fn needs(self) -> VarScan {
        VarScan {
            skip_object_keys: self == Self::Loose,
            skip_sets: false,
            ..OPERANDS
        }
    }

    /// Variables that steps of references bind.
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

/// Returns the variables that an expression binds, given the safe variables, in the loose reading. The result may
/// include safe ones.
pub fn outputs(
    vars: &mut Vars,
    functions: CallableFunctions<'_>,
    expr: &Expr,
    safe: &VarSet,
) -> VarSet {
    outputs_as(vars, functions, expr, safe, Reading::Loose)
}

/// Returns the variables that an expression binds in a given reading.
pub fn outputs_as(
    vars: &mut Vars,
    functions: CallableFunctions<'_>,
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
                // The value of an assignment must be safe already and is never bound by the variable.
                let safe_without_var = safe.without(&vars.scan(VarScan::default(), left));
                let mut bound = equation_outputs(vars, left, right, &safe_without_var, reading);
                bound.subtract(safe);
                return bound;
            }
            let Some((operator, operands)) = terms.split_first() else {
                return VarSet::default();
            };
            match functions.arity(operator) {
                // An equation has no result, so operands after its sides bind nothing.
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

/// Returns the sides of `a = b`, or of what was `a := b`; `None` for other expressions.
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
    let mut safe_vars = references(vars, left, safe, reading);
    safe_vars.add(&references(vars, right, safe, reading));
    safe_vars.add(safe);
    let mut bound = unify(vars, &safe_vars, left, right, reading);
    bound.add(&safe_vars);
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

/// Returns the variables that the references of a node bind: those after safe heads.
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
        | TermKind::Template(_) => Descent::Over,
        TermKind::Ref(_) if !has_value(vars, term, safe) => Descent::Over,
        TermKind::Ref(reference) => {
            vars.scan_into(reading.steps(), steps(reference), &mut bound);
            Descent::Into
        }
        _ => Descent::Into,
    }));
    bound
}

fn steps(reference: &Ref) -> &[Term] {
    reference.get(1..).unwrap_or_default()
}

/// Returns `true` if a term that is not a pattern has a value: a reference if its head is safe, a call if all its
/// operands are, any other term always.
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
