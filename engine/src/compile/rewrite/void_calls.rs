//! CheckVoidCalls: rejects functions without a result as values.

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Term, TermKind};
use solon_syntax::source::Code;

use crate::compile::facts::Facts;
use crate::compile::report::Report;
use crate::compile::{Compilation, Options, QueryCompilation};
use crate::types::Type;

/// Rejects calls of void functions inside terms, in all modules.
pub fn check(compilation: &mut Compilation<'_>) {
    for rule in compilation.modules.rules_with(Facts::INNER_CALL) {
        check_node(rule, compilation.options, &mut compilation.report);
    }
}

/// Rejects calls of void functions inside terms, in a query.
pub fn check_query(query: &mut QueryCompilation<'_>) {
    check_node(&query.body, query.options, &mut query.report);
}

fn check_node<N: Walk>(node: &N, options: &Options, report: &mut Report) {
    node.walk(&mut Terms(|term: &Term| {
        if let TermKind::Call(terms) = &term.kind
            && let Some(operator) = terms.first()
            && is_void(options.declaration_of(operator))
        {
            report.error(Code::Type, term.span, format!("{term} used as value"));
        }
        Descent::Into
    }));
}

fn is_void(declaration: Option<&Type>) -> bool {
    matches!(declaration, Some(Type::Function(function)) if function.result.is_none())
}
