//! Guards: equalities with constants that must hold for a rule to succeed.
//!
//! OPA's rule index excludes a rule with a failing guard before its body runs, so errors and prints before the guard
//! are not observable. Testing guards first has the same effect. Tests implied by the index are omitted.

use std::cell::OnceCell;

use hashbrown::HashMap;
use smallvec::SmallVec;

use solon_syntax::ast::{Expr, Name, Term, TermKind};

use super::constants::constant;
use crate::builtins::opa_index_test;
use crate::program::KeyPath;

/// Number of guards up to which counting by scan is faster than a hash table.
const FEW: usize = 8;

/// Operand of OPA's rule index.
#[derive(PartialEq, Eq, Hash)]
enum GuardOperand {
    Input(KeyPath),
    Argument(u32),
}

/// An equality of an operand with a constant.
struct Guard {
    operand: GuardOperand,
    /// Index of the preceding expression that binds a variable to the operand.
    definition: Option<usize>,
    at: usize,
}

/// Returns the expressions of a body that does not print, guards first.
pub fn first<'b>(body: &'b [Expr], args: &[Term]) -> Vec<&'b Expr> {
    // most rules have no test for a constant
    if !body.iter().any(|expr| scalar_test(expr).is_some()) {
        return body.iter().collect();
    }
    let constants = (0_u32..)
        .zip(args)
        .filter(|(_, arg)| constant(arg).is_some());
    let known_aliases = OnceCell::new();
    let alias = |name: &Name| known_aliases.get_or_init(|| aliases(body)).get(name);
    let key = |operand: &Term| match &operand.kind {
        TermKind::Ref(terms) => Some((input_path(terms).map(GuardOperand::Input)?, None)),
        TermKind::Var(name) => {
            if let Some(argument) = argument(args, name) {
                return Some((GuardOperand::Argument(argument), None));
            }
            let (definition, path) = alias(name)?;
            Some((GuardOperand::Input(path.clone()), Some(*definition)))
        }
        _ => None,
    };
    let mut found: SmallVec<[Guard; 4]> = SmallVec::new();
    let mut others: SmallVec<[GuardOperand; 4]> = constants
        .map(|(at, _)| GuardOperand::Argument(at))
        .collect();
    for (at, expr) in body.iter().enumerate() {
        match test(expr) {
            Some(operand) => {
                if let Some((operand, definition)) = key(operand) {
                    found.push(Guard {
                        operand,
                        definition,
                        at,
                    });
                }
            }
            None => others.extend(tested(expr).filter_map(|operand| Some(key(operand)?.0))),
        }
    }
    // if an operand has several possible values, the index tests for any of them, so none of these guards moves
    let keys = || found.iter().map(|guard| &guard.operand).chain(&others);
    let mut places: HashMap<&GuardOperand, usize> = HashMap::new();
    if found.len() + others.len() > FEW {
        for key in keys() {
            *places.entry(key).or_default() += 1;
        }
    }
    let is_alone = |key: &GuardOperand| {
        if places.is_empty() {
            keys().filter(|other| *other == key).count() == 1
        } else {
            places.get(key) == Some(&1)
        }
    };
    let alone = found.iter().filter(|guard| is_alone(&guard.operand));
    let mut early: SmallVec<[usize; 8]> = alone
        .flat_map(|guard| guard.definition.into_iter().chain([guard.at]))
        .collect();
    early.sort_unstable();
    early.dedup();
    let mut order = Vec::with_capacity(body.len());
    order.extend(early.iter().filter_map(|at| body.get(*at)));
    let others = body.iter().enumerate();
    order.extend(
        others
            .filter(|(at, _)| early.binary_search(at).is_err())
            .map(|(_, expr)| expr),
    );
    order
}

fn argument(args: &[Term], name: &Name) -> Option<u32> {
    let at = args.iter().position(|arg| arg.as_var() == Some(name))?;
    u32::try_from(at).ok()
}

/// Returns the operands of a plain equality.
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

/// Returns the operands that the index reads in an expression other than an equality with a scalar.
fn tested(expr: &Expr) -> impl Iterator<Item = &Term> {
    let is_array = |term: &Term| matches!(term.kind, TermKind::Array(_));
    let operands = match operands_of_equality(expr) {
        Some([left, right]) if is_array(left) || is_array(right) => {
            operands_of_equality(expr).unwrap_or_default()
        }
        Some([_, _]) => &[],
        _ if expr.negated || !expr.with.is_empty() => &[],
        _ => opa_index_test(expr).unwrap_or_default(),
    };
    operands.iter()
}

/// Returns the operand that is compared with a constant.
fn test(expr: &Expr) -> Option<&Term> {
    let (operand, scalar) = scalar_test(expr)?;
    constant(scalar).map(|_| operand)
}

/// Returns the sides of an equality with a scalar, the scalar last.
fn scalar_test(expr: &Expr) -> Option<(&Term, &Term)> {
    let (left, right) = equality(expr)?;
    match (left.is_scalar(), right.is_scalar()) {
        (false, true) => Some((left, right)),
        (true, false) => Some((right, left)),
        _ => None,
    }
}

/// Returns the variables that are bound to a path in the input, with the index of the binding expression.
fn aliases(body: &[Expr]) -> HashMap<&Name, (usize, KeyPath)> {
    let mut found = HashMap::new();
    for (at, expr) in body.iter().enumerate() {
        let Some((left, right)) = equality(expr) else {
            continue;
        };
        for (name, operand) in [(left, right), (right, left)] {
            if let Some(name) = name.as_var()
                && let Some(path) = operand.as_ref().and_then(|terms| input_path(terms))
            {
                found.entry(name).or_insert((at, path));
            }
        }
    }
    found
}

fn input_path(terms: &[Term]) -> Option<KeyPath> {
    let (head, keys) = terms.split_first()?;
    (&**head.as_var()? == "input").then_some(())?;
    keys.iter().map(constant).collect()
}
