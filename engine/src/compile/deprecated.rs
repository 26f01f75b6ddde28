//! CheckUnsafeBuiltins and CheckDeprecatedBuiltins.

use std::borrow::Cow;

use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Expr, ExprKind};
use solon_syntax::source::Code;

use super::compilation::{Compilation, Options};
use super::facts::Facts;
use super::functions::dotted;
use super::query::QueryCompilation;
use super::report::Report;
use crate::builtins;

/// Rejects calls of the built-ins that the options declare unsafe.
pub fn check_unsafe_builtins(compilation: &mut Compilation<'_>) {
    let options = compilation.options;
    for module in compilation.modules.open() {
        check_unsafe(module, options, &mut compilation.report);
    }
}

/// Rejects calls of the built-ins that the options declare unsafe, in a query.
pub fn check_unsafe_builtins_of_query(compilation: &mut QueryCompilation<'_>) {
    let options = compilation.options;
    check_unsafe(&compilation.body, options, &mut compilation.report);
}

/// Rejects deprecated built-ins in v1 modules, and in all modules in strict mode.
pub fn check_deprecated_builtins(compilation: &mut Compilation<'_>) {
    let strict = compilation.options.strict;
    for (module, facts) in compilation.modules.open_with_facts() {
        if !strict && !module.version.is_v1() {
            continue;
        }
        for (rule, facts) in module.rules.iter().zip(facts) {
            if facts.has(Facts::DEPRECATED) {
                check_deprecated(rule, &mut compilation.report);
            }
        }
    }
}

fn check_unsafe<N: Walk + ?Sized>(node: &N, options: &Options, report: &mut Report) {
    if options.unsafe_builtins.is_empty() {
        return;
    }
    let is_unsafe = |name: &str| {
        options
            .unsafe_builtins
            .iter()
            .any(|unsafe_name| unsafe_name == name)
    };
    node.walk(&mut Exprs(|expr: &Expr| {
        reject(expr, "unsafe", is_unsafe, report);
        Descent::Into
    }));
}

fn check_deprecated<N: Walk + ?Sized>(node: &N, report: &mut Report) {
    let is_deprecated =
        |name: &str| builtins::lookup(name).is_some_and(|entry| entry.builtin.deprecated);
    node.walk(&mut Exprs(|expr: &Expr| {
        reject(expr, "deprecated", is_deprecated, report);
        match expr.kind {
            // OPA does not check bodies within expressions
            ExprKind::Every(_) | ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {
                Descent::Over
            }
            _ => Descent::Into,
        }
    }));
}

fn reject(expr: &Expr, adjective: &str, is_refused: impl Fn(&str) -> bool, report: &mut Report) {
    if let Some(name) = callee(expr).filter(|name| is_refused(name)) {
        let message = format!("{adjective} built-in function calls in expression: {name}");
        report.recoverable(Code::Type, expr.span, message);
    }
}

/// Returns the dotted name of the function that an expression calls.
fn callee(expr: &Expr) -> Option<Cow<'_, str>> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    match terms.first()?.as_ref()?.as_slice() {
        [name] => name.as_var().map(|name| Cow::Borrowed(&**name)),
        // a rule
        [head, ..] if head.as_var().is_some_and(|name| &**name == "data") => None,
        reference => dotted(reference),
    }
}
