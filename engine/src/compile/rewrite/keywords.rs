//! CheckKeywordOverrides: `input` and `data` keep their meaning.

use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Expr, Module, Term};
use solon_syntax::source::Code;

use crate::compile::Compilation;
use crate::compile::facts::Facts;
use crate::compile::report::Report;

/// Rejects rules, arguments and variables named like a root document, in v1 modules and in strict mode.
pub fn check(compilation: &mut Compilation<'_>) {
    for (module, facts) in compilation.modules.open_with_facts() {
        if compilation.options.strict || module.version.is_v1() {
            check_heads(module, &mut compilation.report);
            for (rule, facts) in module.rules.iter().zip(facts) {
                if facts.has(Facts::SHADOW) {
                    check_assignments(rule, &mut compilation.report);
                }
            }
        }
    }
}

fn check_heads(module: &Module, report: &mut Report) {
    for rule in &module.rules {
        if let Some(name) = rule.head.reference.first().filter(|name| is_root(name)) {
            report.recoverable(
                Code::Compile,
                rule.span,
                format!("rules must not shadow {name} (use a different rule name)"),
            );
        }
        for arg in rule.head.args.iter().filter(|arg| is_root_document(arg)) {
            report.recoverable(
                Code::Compile,
                arg.span,
                format!("args must not shadow {arg} (use a different variable name)"),
            );
        }
    }
}

fn check_assignments<N: Walk + ?Sized>(node: &N, report: &mut Report) {
    node.walk(&mut Exprs(|expr: &Expr| {
        let target = expr.operands_of("assign").and_then(<[Term]>::first);
        if let Some(target) = target.filter(|target| is_root(target) || is_root_document(target)) {
            report.recoverable(
                Code::Compile,
                expr.span,
                format!("variables must not shadow {target} (use a different variable name)"),
            );
        }
        Descent::Into
    }));
}

/// Returns `true` if a term is the variable of a root document.
pub(crate) fn is_root(term: &Term) -> bool {
    matches!(term.as_var().map(|name| &**name), Some("input" | "data"))
}

/// Returns `true` if a term is `input` or `data`, which are references even without steps.
pub(crate) fn is_root_document(term: &Term) -> bool {
    matches!(term.as_ref().map(Vec::as_slice), Some([head]) if is_root(head))
}
