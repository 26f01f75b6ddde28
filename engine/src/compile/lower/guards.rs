//! Guards: equalities with constants that a rule cannot succeed without.
//!
//! OPA's rule index excludes a rule whose guard fails before anything in its body runs, so errors and prints in
//! front of the guard are not seen. Testing guards first gives the same; what the index proves is not tested again.

use std::cell::OnceCell;

use hashbrown::HashMap;

use solon_syntax::ast::{Expr, Name, Term, TermKind};

use super::constants::constant;
use super::rules::prints;
use crate::program::canonical::TESTS;
use crate::value::Value;

/// Places among which counting beats a table.
const FEW: usize = 8;

/// A place that OPA's rule index asks for.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// A path in the input.
    Input(Vec<Value>),
    /// An argument of the function.
    Argument(u32),
}

/// The expressions of a body with its guards in front.
pub fn first<'b>(body: &'b [Expr], args: &[Term]) -> Vec<&'b Expr> {
    let as_it_is = || body.iter().collect();
    if prints(body) {
        return as_it_is();
    }
    let constants = (0_u32..)
        .zip(args)
        .filter(|(_, arg)| constant(arg).is_some());
    let guarded: Vec<Key> = constants.map(|(at, _)| Key::Argument(at)).collect();
    // most rules test for no constant
    if !body.iter().any(|expr| scalar_test(expr).is_some()) {
        return as_it_is();
    }
    let known_aliases = OnceCell::new();
    let alias = |name: &Name| known_aliases.get_or_init(|| aliases(body)).get(name);
    let key = |place: &Term| match &place.kind {
        TermKind::Ref(terms) => Some((input_path(terms).map(Key::Input)?, None)),
        TermKind::Var(name) => {
            if let Some(argument) = argument(args, name) {
                return Some((Key::Argument(argument), None));
            }
            let (definition, path) = alias(name)?;
            Some((Key::Input(path.clone()), Some(*definition)))
        }
        _ => None,
    };
    let mut found: Vec<(Key, Vec<usize>)> = Vec::new();
    let mut others: Vec<Key> = Vec::new();
    for (at, expr) in body.iter().enumerate() {
        match test(expr) {
            Some(place) => {
                if let Some((key, definition)) = key(place) {
                    found.push((key, definition.into_iter().chain([at]).collect()));
                }
            }
            None => others.extend(tested(expr).filter_map(|place| Some(key(place)?.0))),
        }
    }
    // of several values at one place the index asks for any, so none of them comes first
    let alone: Vec<bool> = {
        let guarded = guarded.iter().chain(found.iter().map(|(key, _)| key));
        let keys: Vec<&Key> = guarded.chain(&others).collect();
        let mut places: HashMap<&Key, usize> = HashMap::new();
        if keys.len() > FEW {
            for key in &keys {
                *places.entry(*key).or_default() += 1;
            }
        }
        let is_alone = |key: &Key| match keys.len() {
            ..=FEW => keys.iter().filter(|other| **other == key).count() == 1,
            _ => places.get(key) == Some(&1),
        };
        found.iter().map(|(key, _)| is_alone(key)).collect()
    };
    let mut early: Vec<usize> = Vec::new();
    for ((_, taken), alone) in found.into_iter().zip(alone) {
        if alone {
            early.extend(taken);
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
    chosen.chain(others).collect()
}

fn argument(args: &[Term], name: &Name) -> Option<u32> {
    let at = args.iter().position(|arg| arg.as_var() == Some(name))?;
    u32::try_from(at).ok()
}

/// The operands of a plain equality.
fn equality(expr: &Expr) -> Option<(&Term, &Term)> {
    match operands_of_equality(expr)? {
        [left, right] => Some((left, right)),
        _ => None,
    }
}

fn operands_of_equality(expr: &Expr) -> Option<&[Term]> {
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    expr.operands_of("eq").or_else(|| expr.operands_of("equal"))
}

/// What the index looks at in an expression that asks for a value in another way than by a scalar.
fn tested(expr: &Expr) -> impl Iterator<Item = &Term> {
    let is_array = |term: &Term| matches!(term.kind, TermKind::Array(_));
    let operands = match operands_of_equality(expr) {
        Some([left, right]) if is_array(left) || is_array(right) => {
            operands_of_equality(expr).unwrap_or_default()
        }
        Some([_, _]) => &[],
        _ if expr.negated || !expr.with.is_empty() => &[],
        _ => {
            let mut tests = TESTS.iter();
            tests
                .find_map(|name| expr.operands_of(name))
                .unwrap_or_default()
        }
    };
    operands.iter()
}

/// The place at which a constant must be.
fn test(expr: &Expr) -> Option<&Term> {
    let (place, scalar) = scalar_test(expr)?;
    constant(scalar).map(|_| place)
}

/// The sides of an equality with a scalar, that last.
fn scalar_test(expr: &Expr) -> Option<(&Term, &Term)> {
    let (left, right) = equality(expr)?;
    match (left.is_scalar(), right.is_scalar()) {
        (false, true) => Some((left, right)),
        (true, false) => Some((right, left)),
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
