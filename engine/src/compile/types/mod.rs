//! CheckTypes: infers the types of rules, and rejects expressions that can never succeed.
//!
//! Rules are checked in the order of their dependencies, so that the type of each document is known before it is used.
//! The expressions of a body are checked in order: first an expression's closures, then its references, then its call.
//! An error that only follows from an earlier one is omitted. A rule with an error has type `any`, so that its users
//! are not reported.
//!
//! As in OPA, the bodies of `every`, `not`, `and` and `or` are searched for references and closures only; their
//! expressions are not checked.

mod calls;
mod constant;
mod dependents;
mod environment;
mod explain;
mod originals;
mod references;
mod replaced;
mod reused_types;
mod rules;
mod schemas;
mod tree;
mod unchanged_types;
mod unify;

use std::cell::Cell;

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Body, Comprehension, Expr, ExprKind, Ref, Rule, Term, TermKind};

pub use dependents::Dependents;
pub use environment::TypeEnvironment;
pub use explain::Details;
pub use rules::check_types;
pub use tree::TypeTree;

use explain::{TypeProblem, operand_details};
use originals::Originals;
use references::ReferenceChecker;

use super::compilation::{Compiled, Options};
use super::locals::Locals;
use super::query::QueryCompilation;
use super::rule_tree::RuleTree;
use crate::types::Type;

/// Checks the types of a query. Errors are in its report.
pub fn check_query_types(compilation: &mut QueryCompilation<'_>) {
    let locals = &compilation.locals;
    let mut checker = TypeChecker::new(compilation.options, &compilation.compiled.types, locals);
    checker.whole = WholeBody::Query(&compilation.body);
    let compiled = compilation.compiled;
    checker.replaceable = Some((&compiled.rule_tree, &compiled.dependents));
    checker.body(&compilation.body);
    for problem in checker.problems {
        let diagnostic = problem.diagnostic(&compilation.report);
        compilation.report.push_recoverable(diagnostic);
    }
}

/// Returns `false` if types rule out that a body of residuals holds.
pub fn allow(options: &Options, compiled: &Compiled, body: &Body) -> bool {
    let locals = Locals::default();
    let mut checker = TypeChecker::new(options, &compiled.types, &locals);
    checker.whole = WholeBody::Query(body);
    checker.replaceable = Some((&compiled.rule_tree, &compiled.dependents));
    checker.env.partial = true;
    checker.body(body);
    checker.problems.is_empty()
}

/// Returns the types of a call's operands and of the function's parameters; `None` if it is not known to be a function.
pub fn arity_details(
    options: &Options,
    documents: &TypeTree,
    locals: &Locals,
    operator: &Term,
    operands: &[Term],
) -> Option<Details> {
    let mut checker = TypeChecker::new(options, documents, locals);
    let callee = checker.env.of_operator(operator);
    operands.walk(&mut ClosureChecker(&mut checker));
    let have: Vec<_> = operands
        .iter()
        .map(|operand| checker.env.type_of(operand))
        .collect();
    Some(operand_details(&have, &callee.as_function()?.args))
}

/// Checks bodies in an environment.
struct TypeChecker<'c> {
    env: TypeEnvironment<'c>,
    locals: &'c Locals,
    problems: Vec<TypeProblem>,
    /// Root of the current check, in which the originals of generated locals are searched.
    whole: WholeBody<'c>,
    /// The rules and their reverse dependencies, if `with` may replace some.
    replaceable: Option<(&'c RuleTree, &'c Dependents)>,
    /// `true` if the reverse dependencies were used.
    has_dependents: Cell<bool>,
    /// `true` if there may be comprehensions.
    has_closures: bool,
}

#[derive(Clone, Copy)]
enum WholeBody<'c> {
    Rule(&'c Rule),
    Query(&'c Body),
}

impl<'c> TypeChecker<'c> {
    fn new(options: &'c Options, documents: &'c TypeTree, locals: &'c Locals) -> Self {
        Self {
            env: TypeEnvironment::new(options, documents),
            locals,
            problems: Vec::new(),
            whole: WholeBody::Query(const { &Vec::new() }),
            replaceable: None,
            has_dependents: Cell::new(false),
            has_closures: true,
        }
    }

    /// Checks the expressions of a body in order.
    fn body(&mut self, body: &'c Body) {
        for expr in body {
            self.expression(expr);
        }
    }

    fn expression(&mut self, expr: &'c Expr) {
        if self.env.partial && may_succeed_without(expr) {
            return;
        }
        let covers = self.replaced(expr);
        let count = covers.len();
        for tree in covers {
            self.env.cover(tree);
        }
        let before = self.problems.len();
        if self.has_closures {
            expr.walk(&mut ClosureChecker(self));
        }
        ReferenceChecker(self).expr(expr);
        let explained = self.problems.len() > before;
        if let Some(problem) = self.call(expr)
            && !(explained && problem.unknown)
        {
            self.problems.push(problem);
        }
        for _ in 0..count {
            self.env.uncover();
        }
    }

    /// Checks a comprehension and stores its type, which stays unknown if it contains an error.
    fn closure(&mut self, term: &'c Term, closure: &'c Comprehension) {
        let checkpoint = self.env.checkpoint();
        let before = self.problems.len();
        self.body(&closure.body);
        let ty = if self.problems.len() > before {
            if self.env.partial {
                // an empty result is valid
                self.problems.truncate(before);
            }
            Type::Unknown
        } else {
            let head = self.env.type_of(&closure.head);
            match (&term.kind, &closure.key) {
                (TermKind::ObjectComprehension(_), Some(key)) => {
                    Type::object_of(self.env.type_of(key), head)
                }
                (TermKind::SetComprehension(_), _) => Type::set(head),
                _ => Type::array_of(head),
            }
        };
        self.env.leave(checkpoint);
        self.env.keep(closure, ty);
    }

    /// Returns a reference with the user's names.
    fn restore(&self, reference: &[Term]) -> Ref {
        let originals = match self.whole {
            WholeBody::Rule(rule) => Originals::of_node(rule, self.locals),
            WholeBody::Query(body) => Originals::of_node(body, self.locals),
        };
        originals.restore(reference)
    }
}

/// Returns `true` if an expression may succeed although a part of it cannot.
fn may_succeed_without(expr: &Expr) -> bool {
    expr.negated
        || matches!(
            expr.kind,
            ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_)
        )
}

/// Visitor that checks the outermost closures of an expression.
struct ClosureChecker<'k, 'c>(&'k mut TypeChecker<'c>);

impl<'c> Visitor<'c> for ClosureChecker<'_, 'c> {
    fn expr(&mut self, expr: &'c Expr) -> Descent {
        expr.kind.walk(self);
        Descent::Over
    }

    fn term(&mut self, term: &'c Term) -> Descent {
        match &term.kind {
            TermKind::ArrayComprehension(closure)
            | TermKind::SetComprehension(closure)
            | TermKind::ObjectComprehension(closure) => {
                self.0.closure(term, closure);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}
