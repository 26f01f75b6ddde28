//! Guards: equalities with constants that a rule cannot succeed without.
//!
//! OPA's rule index excludes a rule whose guard fails before anything in its body runs, so errors and prints in
//! front of the guard are not seen. Testing guards first gives the same; what the index proves is not tested again.

use std::cell::OnceCell;

use hashbrown::HashMap;
use smallvec::SmallVec;

use solon_syntax::ast::{Expr, Name, Term, TermKind};

use super::constants::constant;
use crate::builtins::opa_index_test;
use crate::program::Path;

/// Places among which counting beats a table.
const FEW: usize = 8;

/// A place that OPA's rule index asks for.
#[derive(PartialEq, Eq, Hash)]
enum GuardOperand {
    /// A path in the input.
    Input(Path),
    /// An argument of the function.
    Argument(u32),
}

/// The equality of a place with a constant.
struct Guard {
    place: GuardOperand,
    /// The expression that says which place a variable stands for, which comes before it.
    definition: Option<usize>,
    at: usize,
}

/// The expressions of a body that does not print, with its guards in front.
pub fn first<'b>(body: &'b [Expr], args: &[Term]) -> Vec<&'b Expr> {
    // most rules test for no constant
    if !body.iter().any(|expr| scalar_test(expr).is_some()) {
        return body.iter().collect();
    }
    let constants = (0_u32..)
        .zip(args)
        .filter(|(_, arg)| constant(arg).is_some());
    let known_aliases = OnceCell::new();
    let alias = |name: &Name| known_aliases.get_or_init(|| aliases(body)).get(name);
    let key = |place: &Term| match &place.kind {
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
            Some(place) => {
                if let Some((place, definition)) = key(place) {
                    found.push(Guard {
                        place,
                        definition,
                        at,
                    });
                }
            }
            None => others.extend(tested(expr).filter_map(|place| Some(key(place)?.0))),
        }
    }
    // of several values at one place the index asks for any, so none of them comes first
    let keys = || found.iter().map(|guard| &guard.place).chain(&others);
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
    let alone = found.iter().filter(|guard| is_alone(&guard.place));
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
        _ => opa_index_test(expr).unwrap_or_default(),
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
fn aliases(body: &[Expr]) -> HashMap<&Name, (usize, Path)> {
    let mut found = HashMap::new();
    for (at, expr) in body.iter().enumerate() {
        let Some((left, right)) = equality(expr) else {
            continue;
        };
        for (name, place) in [(left, right), (right, left)] {
            if let Some(name) = name.as_var()
                && let Some(path) = place.as_ref().and_then(|terms| input_path(terms))
            {
                found.entry(name).or_insert((at, path));
            }
        }
    }
    found
}

fn input_path(terms: &[Term]) -> Option<Path> {
    let (head, keys) = terms.split_first()?;
    (&**head.as_var()? == "input").then_some(())?;
    keys.iter().map(constant).collect()
}
