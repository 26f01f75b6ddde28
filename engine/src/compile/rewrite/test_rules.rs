//! Compilation of rules named `test_…` for the test runner. Only on request
//! ([`Options::tests`](crate::compile::Options)).
//!
//! Rules of one name become separate tests: `test_x`, `test_x#01`, `test_x#02`, in the order of files and of source.
//! The body of `test_x[key]` gets a call `internal.test_case([key])` as soon as the key is bound, so that cases whose
//! body fails later are reported, too.

use std::collections::HashMap;

use solon_syntax::ast::visit::{Descent, Terms, Walk as _};
use solon_syntax::ast::{Body, Expr, ExprKind, Head, Name, Rule, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use super::number as number_exprs;
use crate::builtins::TEST_CASE;
use crate::compile::Compilation;
use crate::compile::locals::Locals;
use crate::program::canonical::add_test_case;

/// Prefix of the names of tests.
pub const PREFIX: &str = "test_";

/// Prefix of the names of skipped tests.
pub const SKIPPED_PREFIX: &str = "todo_test_";

/// Returns the name of a test and the number of terms of the head's reference that lead to it: the first part of the
/// reference with a prefix of tests, or the last part of its ground prefix.
pub fn test_name(head: &Head) -> (&str, usize) {
    let mut name_and_depth = ("", 0);
    for (position, part) in head.reference.iter().enumerate() {
        if position > 0 && !is_ground(part) {
            break;
        }
        let name = part.as_var().or_else(|| part.as_string());
        name_and_depth = (name.map_or("", |name| &**name), position + 1);
        if name_and_depth.0.starts_with(PREFIX) || name_and_depth.0.starts_with(SKIPPED_PREFIX) {
            break;
        }
    }
    name_and_depth
}

fn is_ground(term: &Term) -> bool {
    !VarScan::default().any(term, |_| true)
}

/// Renames the second and every later rule of one name.
pub fn number(compilation: &mut Compilation<'_>) {
    if !compilation.options.tests {
        return;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for module in compilation.modules.open_mut() {
        let package = Term::new(TermKind::Ref(module.package.path.clone()), Span::default());
        for rule in &mut module.rules {
            let (name, length) = test_name(&rule.head);
            if !name.starts_with(PREFIX) {
                continue;
            }
            let name = name.to_owned();
            let path = rule.head.reference.iter().take(length);
            let path: Vec<String> = path.map(Term::to_string).collect();
            let count = counts.entry(format!("{package} {path:?}")).or_default();
            if *count > 0 {
                rename(rule, length, &format!("{name}#{count:02}"));
            }
            *count += 1;
        }
    }
}

/// Renames the last part of the test's name in a head's reference.
fn rename(rule: &mut Rule, length: usize, name: &str) {
    let Some(part) = length
        .checked_sub(1)
        .and_then(|last| rule.head.reference.get_mut(last))
    else {
        return;
    };
    match &mut part.kind {
        TermKind::Var(old) => *old = Name::from(name),
        _ => *part = Term::string(name.to_owned(), part.span),
    }
}

/// Adds the call that reports a case to the body of each test with keys.
pub fn report_cases(compilation: &mut Compilation<'_>) {
    if !compilation.options.tests {
        return;
    }
    for rule in compilation
        .modules
        .open_mut()
        .flat_map(|module| &mut module.rules)
    {
        let (name, length) = test_name(&rule.head);
        let keys: Vec<Term> = rule.head.reference.iter().skip(length).cloned().collect();
        if name.starts_with(PREFIX) && !keys.is_empty() && !reports_cases(&rule.body) {
            report_case(&mut rule.body, keys);
        }
    }
}

/// Returns `true` if a body reports its cases itself.
fn reports_cases(body: &Body) -> bool {
    let mut occurs = false;
    body.walk(&mut Terms(|term: &Term| {
        occurs = occurs || term.is_operator(TEST_CASE);
        Descent::Into
    }));
    occurs
}

fn report_case(body: &mut Body, keys: Vec<Term>) {
    for key in &keys {
        bind_early(body, key);
    }
    // after the latest of the keys' first occurrences
    let first = |key: &Term| {
        let name = key.as_var()?;
        body.iter().position(|expr| mentions(expr, name))
    };
    let depth = keys.iter().filter_map(first).max();
    let span = keys.first().map(|key| key.span).unwrap_or_default();
    let keys = Term::new(TermKind::Array(keys.into()), Span::default());
    let call = add_test_case(keys, span);
    body.insert(depth.map_or(0, |position| position + 1), call);
    number_exprs(body);
}

/// Moves generated expressions that bind a key up to the position where their variables are known. Expressions of the
/// user stay in place.
fn bind_early(body: &mut Body, key: &Term) {
    let mut position_of_key = body.len();
    // each expression moves at most once
    let mut moves_left = body.len();
    while let Some(position) = position_of_key.checked_sub(1) {
        let to = body
            .get(position)
            .filter(|expr| expr.generated && binds(expr, key))
            .map(|expr| earliest(body, position, expr));
        match to {
            // the expression that takes its position is next
            Some(to) if to < position && moves_left > 0 => {
                moves_left -= 1;
                let expr = body.remove(position);
                body.insert(to, expr);
            }
            _ => position_of_key = position,
        }
    }
}

fn binds(expr: &Expr, key: &Term) -> bool {
    let operands = expr
        .operands_of("eq")
        .or_else(|| expr.operands_of("assign"));
    operands.is_some_and(|operands| operands.first() == Some(key))
}

/// Returns the first position at which all generated variables of an expression's right side are known.
fn earliest(body: &Body, position: usize, expr: &Expr) -> usize {
    let ExprKind::Call(terms) = &expr.kind else {
        return position;
    };
    let mut names: Vec<Name> = Vec::new();
    if let Some(value) = terms.get(2) {
        VarScan::default().each(value, |_, name| {
            if name.starts_with(Locals::MODULES) {
                names.push(name.clone());
            }
        });
    }
    if names.is_empty() {
        return 0;
    }
    let before = body.get(..position).unwrap_or_default();
    let first = |name| before.iter().position(|expr| mentions(expr, name));
    let last = names.iter().filter_map(first).max().unwrap_or(0);
    // moving it by one position would change nothing
    if last < position { last + 1 } else { position }
}

fn mentions(expr: &Expr, name: &Name) -> bool {
    VarScan::default().any(expr, |other| other == name)
}
