//! Guards: equalities with constants that a rule cannot succeed without.
//!
//! OPA's rule index excludes a rule whose guard fails before anything in its body runs, so errors and prints in
//! front of the guard are not seen. Testing guards first gives the same; the index then only saves the test.

use std::collections::HashMap;

use solon_syntax::ast::{Expr, Name, Term, TermKind};

use super::constants::constant;
use super::rules::prints;
use crate::program::{Guard, GuardKey};
use crate::value::Value;

/// The expressions of a body with its guards in front, and the guards.
pub fn first<'b>(body: &'b [Expr], args: &[Term]) -> (Vec<&'b Expr>, Vec<Guard>) {
    if prints(body) {
        return (body.iter().collect(), Vec::new());
    }
    let mut guards: Vec<Guard> = Vec::new();
    for (at, arg) in (0_u32..).zip(args) {
        if let Some(value) = constant(arg) {
            guards.push(Guard {
                key: GuardKey::Argument(at),
                value,
            });
        }
    }
    let aliases = aliases(body);
    let mut early: Vec<usize> = Vec::new();
    for (at, expr) in body.iter().enumerate() {
        let Some((place, value)) = test(expr) else {
            continue;
        };
        let key = match &place.kind {
            TermKind::Ref(terms) => input_path(terms).map(GuardKey::Input),
            TermKind::Var(name) => match (argument(args, name), aliases.get(name)) {
                (Some(at), _) => Some(GuardKey::Argument(at)),
                (None, Some((definition, path))) => {
                    early.push(*definition);
                    Some(GuardKey::Input(path.clone()))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(key) = key {
            guards.push(Guard { key, value });
            early.push(at);
        }
    }
    early.sort_unstable();
    early.dedup();
    let chosen = early.iter().filter_map(|at| body.get(*at));
    let others = body
        .iter()
        .enumerate()
        .filter(|(at, _)| early.binary_search(at).is_err())
        .map(|(_, expr)| expr);
    (chosen.chain(others).collect(), guards)
}

fn argument(args: &[Term], name: &Name) -> Option<u32> {
    let at = args.iter().position(|arg| arg.as_var() == Some(name))?;
    u32::try_from(at).ok()
}

/// The operands of a plain equality.
fn equality(expr: &Expr) -> Option<(&Term, &Term)> {
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    match expr
        .operands_of("eq")
        .or_else(|| expr.operands_of("equal"))?
    {
        [left, right] => Some((left, right)),
        _ => None,
    }
}

/// A place and the constant that must be there.
fn test(expr: &Expr) -> Option<(&Term, Value)> {
    let (left, right) = equality(expr)?;
    match (left.is_scalar(), right.is_scalar()) {
        (false, true) => Some((left, constant(right)?)),
        (true, false) => Some((right, constant(left)?)),
        _ => None,
    }
}

/// Variables that stand for a place in the input, with the expression that says so.
fn aliases(body: &[Expr]) -> HashMap<&Name, (usize, Vec<Value>)> {
    let mut found = HashMap::new();
    for (at, expr) in body.iter().enumerate() {
        let Some((left, right)) = equality(expr) else {
            continue;
        };
        for (name, place) in [(left, right), (right, left)] {
            if let (Some(name), Some(path)) = (
                name.as_var(),
                place.as_ref().and_then(|terms| input_path(terms)),
            ) {
                found.entry(name).or_insert((at, path));
            }
        }
    }
    found
}

fn input_path(terms: &[Term]) -> Option<Vec<Value>> {
    let (head, keys) = terms.split_first()?;
    (&**head.as_var()? == "input").then_some(())?;
    keys.iter().map(constant).collect()
}
