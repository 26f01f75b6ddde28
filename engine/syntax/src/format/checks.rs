//! Errors of v1 that the grammar does not report: imports that shadow each other, definitions of `input` and `data`,
//! and calls of deprecated built-ins.

use crate::ast::visit::{Descent, Visitor, Walk};
use crate::ast::{Expr, ExprKind, Module, Term, TermKind};
use crate::source::{Code, Diagnostic, Diagnostics, Span};

/// The deprecated built-ins.
const DEPRECATED: [&str; 11] = [
    "all",
    "any",
    "cast_array",
    "cast_boolean",
    "cast_null",
    "cast_object",
    "cast_set",
    "cast_string",
    "net.cidr_overlap",
    "re_match",
    "set_diff",
];

/// Returns the errors of a module that is to be written as v1.
pub(super) fn check(module: &Module) -> Result<(), Diagnostics> {
    let mut report = CheckReport {
        module,
        errors: Vec::new(),
    };
    report.imports();
    report.definitions();
    let mut variables = Assignments(&mut report);
    module.walk(&mut variables);
    let mut calls = Calls {
        report: &mut report,
    };
    module.walk(&mut calls);
    if report.errors.is_empty() {
        return Ok(());
    }
    Err(Diagnostics(report.errors))
}

struct CheckReport<'m> {
    module: &'m Module,
    errors: Vec<Diagnostic>,
}

impl CheckReport<'_> {
    fn add(&mut self, code: Code, span: Span, message: String) {
        self.errors.push(Diagnostic::at_span(
            code,
            &self.module.source,
            span,
            message,
        ));
    }

    fn imports(&mut self) {
        let imports = &self.module.imports;
        for (index, import) in imports.iter().enumerate() {
            let mut earlier = imports.iter().take(index);
            let name = import.name();
            if let Some(earlier) = earlier.find(|earlier| name.is_some() && earlier.name() == name)
            {
                let message = format!("import must not shadow {earlier}");
                self.add(Code::Compile, import.span, message);
            }
        }
    }

    fn definitions(&mut self) {
        for rule in &self.module.rules {
            if let Some(name) = rule.head.reference.first().filter(|name| is_root(name)) {
                let message = format!("rules must not shadow {name} (use a different rule name)");
                self.add(Code::Compile, rule.span, message);
            }
            for arg in rule.head.args.iter().filter(|arg| is_root(arg)) {
                let message = format!("args must not shadow {arg} (use a different variable name)");
                self.add(Code::Compile, arg.span, message);
            }
        }
    }
}

/// Returns `true` for `input` and `data`, as variables or as references of one term.
fn is_root(term: &Term) -> bool {
    let name = match term.as_ref().map(Vec::as_slice) {
        Some([head]) => head.as_var(),
        _ => term.as_var(),
    };
    matches!(name.map(|name| &**name), Some("input" | "data"))
}

/// Rejects assignments to root documents.
struct Assignments<'r, 'm>(&'r mut CheckReport<'m>);

impl<'a> Visitor<'a> for Assignments<'_, '_> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        let target = expr.operands_of("assign").and_then(<[Term]>::first);
        if let Some(target) = target.filter(|target| is_root(target)) {
            let message =
                format!("variables must not shadow {target} (use a different variable name)");
            self.0.add(Code::Compile, expr.span, message);
        }
        Descent::Into
    }
}

/// Rejects calls of deprecated built-ins.
struct Calls<'r, 'm> {
    report: &'r mut CheckReport<'m>,
}

impl Calls<'_, '_> {
    fn call(&mut self, terms: &[Term], span: Span) {
        let name = terms.first().and_then(|operator| {
            DEPRECATED
                .into_iter()
                .find(|name| operator.is_operator(name))
        });
        if let Some(name) = name {
            let message = format!("deprecated built-in function calls in expression: {name}");
            self.report.add(Code::Type, span, message);
        }
    }
}

impl<'a> Visitor<'a> for Calls<'_, '_> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        if let ExprKind::Call(terms) = &expr.kind {
            self.call(terms, expr.span);
        }
        Descent::Into
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        if let TermKind::Call(terms) = &term.kind {
            self.call(terms, term.span);
        }
        Descent::Into
    }
}
