//! RewritePrintCalls: makes `print` total.
//!
//! `print(x.y)` becomes `internal.print([{z | z = x.y}])`, so that an undefined operand is an empty set. If prints are
//! disabled, `print` is erased.

use std::mem;

use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{
    Body, Comprehension, Expr, ExprKind, Name, Rule, Term, TermKind, VarScan, With,
};
use solon_syntax::source::Code;

use super::{each_branch_with, nested_bodies, number, truth};
use crate::builtins::PRINT_EACH;
use crate::compile::facts::Facts;
use crate::compile::functions::CallableFunctions;
use crate::compile::locals::Locals;
use crate::compile::report::Report;
use crate::compile::safety::{OWN, VarSet, Vars, outputs};
use crate::compile::{Compilation, QueryCompilation};

/// Rewrites `print` in all modules, so that undefined operands are printed, too; erases it unless the option `print` is set. Errors
/// are added to the report.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    if !compilation.options.print {
        each_branch_with(&mut compilation.modules, Facts::PRINT, |rule| {
            nested_bodies(&mut rule.head, erase);
            erase(&mut rule.body);
        });
        return;
    }
    let functions = CallableFunctions::new(compilation.options, &compilation.rule_tree);
    each_branch_with(&mut compilation.modules, Facts::PRINT, |rule| {
        if prints(&rule.head) || prints(&rule.body) {
            let mut rewriter = PrintRewriter {
                functions,
                vars: Vars::default(),
                locals: &mut compilation.locals,
                report: &mut compilation.report,
            };
            rewriter.rule(rule);
        }
    });
}

/// Rewrites `print` in a query, or erases it unless printing is enabled.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    if !prints(&query.body) {
        return;
    }
    if !query.options.print {
        erase(&mut query.body);
        return;
    }
    let mut rewriter = PrintRewriter {
        functions: CallableFunctions::new(query.options, &query.compiled.rule_tree),
        vars: Vars::default(),
        locals: query.locals.restart(&query.body),
        report: &mut query.report,
    };
    let documents = rewriter.documents();
    let _reported = rewriter.body(&mut query.body, &documents);
}

/// Returns `true` if a node contains a call of `print`.
fn prints<N: Walk>(node: &N) -> bool {
    let mut occurs = false;
    node.walk(&mut Exprs(|expr: &Expr| {
        occurs = occurs || is_print(expr);
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

fn is_print(expr: &Expr) -> bool {
    expr.operands_of("print").is_some()
}

/// Removes `print` from a body and the bodies inside it.
fn erase(body: &mut Body) {
    let span = body.first().map(|expr| expr.span).unwrap_or_default();
    body.retain(|expr| !is_print(expr));
    if body.is_empty() {
        body.push(truth(span));
    }
    number(body);
    nested_bodies(body, erase);
}

struct PrintRewriter<'c> {
    functions: CallableFunctions<'c>,
    vars: Vars,
    locals: &'c mut Locals,
    report: &'c mut Report,
}

/// Error for operands that were already reported. It ends the rewriting of the enclosing bodies.
struct Rejected;

impl PrintRewriter<'_> {
    fn documents(&mut self) -> VarSet {
        ["input", "data"]
            .map(|name| self.vars.var(&Name::from(name)))
            .into_iter()
            .collect()
    }

    fn rule(&mut self, rule: &mut Rule) {
        let mut globals = self.documents();
        self.vars
            .scan_into(VarScan::default(), &rule.head.args, &mut globals);
        nested_bodies(&mut rule.head, |body| {
            let _reported = self.body(body, &globals);
        });
        let _reported = self.body(&mut rule.body, &globals);
    }

    /// Rewrites a body; the variables `globals` have values.
    fn body(&mut self, body: &mut Body, globals: &VarSet) -> Result<(), Rejected> {
        self.closures(body, globals)?;
        let mut safe = globals.clone();
        // generated locals have values once the expressions are ordered
        let mut generated = VarSet::default();
        for expr in body {
            if is_print(expr) {
                let mut safe_with_generated = safe.clone();
                safe_with_generated.add(&generated);
                self.print(expr, &safe_with_generated)?;
            }
            let bound = outputs(&mut self.vars, self.functions, expr, &safe);
            safe.add(&bound);
            VarScan::default().each(expr, |_, name| {
                if Locals::is_generated(name) {
                    generated.insert(self.vars.var(name));
                }
            });
        }
        Ok(())
    }

    /// Rewrites the bodies inside a body, each with the variables that have values before it.
    fn closures(&mut self, body: &mut Body, globals: &VarSet) -> Result<(), Rejected> {
        let mut safe = globals.clone();
        for expr in body {
            let mut inner = safe.clone();
            if let ExprKind::Every(every) = &expr.kind {
                self.vars
                    .scan_into(VarScan::default(), &every.key, &mut inner);
                self.vars
                    .scan_into(VarScan::default(), &every.value, &mut inner);
            }
            let mut outcome = Ok(());
            nested_bodies(expr, |body| {
                let result = self.body(body, &inner);
                outcome = mem::replace(&mut outcome, Ok(())).and(result);
            });
            outcome?;
            let bound = outputs(&mut self.vars, self.functions, expr, &safe);
            safe.add(&bound);
        }
        Ok(())
    }

    fn print(&mut self, expr: &mut Expr, safe: &VarSet) -> Result<(), Rejected> {
        let ExprKind::Call(terms) = &mut expr.kind else {
            return Ok(());
        };
        let operands = terms.split_off(1);
        if self.reject_undeclared(&operands, safe) {
            return Err(Rejected);
        }
        let sets = operands
            .into_iter()
            .map(|operand| capture(self.locals, operand, Vec::new()));
        let sets = Term::new(TermKind::Array(sets.collect()), expr.span);
        *expr = Expr {
            index: expr.index,
            ..Expr::new(
                ExprKind::Call(vec![Term::operator(PRINT_EACH, expr.span), sets]),
                expr.span,
            )
        };
        Ok(())
    }

    fn reject_undeclared(&mut self, operands: &[Term], safe: &VarSet) -> bool {
        let mut is_rejected = false;
        for operand in operands {
            for name in undeclared(&mut self.vars, operand, safe) {
                let name = self.locals.user_name(&name);
                let message = format!("var {name} is undeclared");
                self.report.error(Code::Compile, operand.span, message);
                is_rejected = true;
            }
        }
        is_rejected
    }
}

/// Returns the names of the variables of a term without values.
pub(super) fn undeclared(vars: &mut Vars, term: &Term, safe: &VarSet) -> Vec<Name> {
    let scan = VarScan {
        skip_templates: true,
        ..OWN
    };
    let missing = vars.scan(scan, term).without(safe);
    let mut names: Vec<Name> = missing
        .iter()
        .filter_map(|var| vars.name(var).cloned())
        .collect();
    names.sort();
    names
}

/// Returns `{x | x = term}`: the set of the term's values, empty if it is undefined.
pub(super) fn capture(locals: &mut Locals, term: Term, with: Vec<With>) -> Term {
    let span = term.span;
    let local = Term::var(locals.fresh(), span);
    let binding = Expr {
        with,
        ..Expr::new(
            ExprKind::Call(vec![Term::operator("eq", span), local.clone(), term]),
            span,
        )
    };
    let inner = Comprehension {
        key: None,
        head: local,
        body: vec![binding],
    };
    Term::new(TermKind::SetComprehension(Box::new(inner)), span)
}
