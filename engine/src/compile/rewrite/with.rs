//! RewriteWithValues: checks the targets of `with` and moves its evaluated values into expressions.
//!
//! `p with input as {"a": q}` becomes `x = {"a": q}; p with input as x`.

use std::borrow::Cow;
use std::mem;

use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Body, Expr, Term, TermKind, With};
use solon_syntax::source::{Code, Span};

use super::{each_branch_with, hoist, nested_bodies, number, requires_evaluation};
use crate::compile::facts::Facts;
use crate::compile::functions::dotted;
use crate::compile::locals::Locals;
use crate::compile::report::Report;
use crate::compile::rule_tree::RuleTree;
use crate::compile::{Compilation, Options, QueryCompilation};
use crate::types::Type;

/// Checks and rewrites the modifiers in all modules.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut rewriter = WithRewriter {
        options: compilation.options,
        tree: &compilation.rule_tree,
        locals: &mut compilation.locals,
        report: &mut compilation.report,
    };
    each_branch_with(&mut compilation.modules, Facts::WITH, |rule| {
        if !has_modifiers(&rule.head) && !has_modifiers(&rule.body) {
            return;
        }
        nested_bodies(&mut rule.head, |body| rewriter.body(body));
        rewriter.body(&mut rule.body);
    });
}

/// Checks and rewrites the modifiers of a query.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    let locals = query.locals.restart(&query.body);
    let mut rewriter = WithRewriter {
        options: query.options,
        tree: &query.compiled.rule_tree,
        locals,
        report: &mut query.report,
    };
    rewriter.body(&mut query.body);
}

fn has_modifiers<N: Walk>(node: &N) -> bool {
    let mut occurs = false;
    node.walk(&mut Exprs(|expr: &Expr| {
        occurs = occurs || !expr.with.is_empty();
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

struct WithRewriter<'c> {
    options: &'c Options,
    tree: &'c RuleTree,
    locals: &'c mut Locals,
    report: &'c mut Report,
}

struct WithRejection {
    code: Code,
    span: Span,
    message: String,
}

impl WithRewriter<'_> {
    /// Rewrites a body, then the bodies inside it. The first rejection ends the rewriting of a body.
    fn body(&mut self, body: &mut Body) {
        let mut rewritten = Vec::with_capacity(body.len());
        // an expression and those that were moved out of it have the same modifiers, which are evaluated once
        let mut shared: Option<(Vec<With>, Vec<With>)> = None;
        for mut expr in mem::take(body) {
            shared = match shared {
                Some((before, after)) if before == expr.with => {
                    expr.with.clone_from(&after);
                    Some((before, after))
                }
                _ => {
                    let before = expr.with.clone();
                    for with in &mut expr.with {
                        match self.check(with) {
                            Ok(true) => rewritten.push(hoist(self.locals, &mut with.value)),
                            Ok(false) => {}
                            Err(rejection) => return self.reject(rejection),
                        }
                    }
                    Some((before, expr.with.clone()))
                }
            };
            if !expr.generated {
                shared = None;
            }
            rewritten.push(expr);
        }
        number(&mut rewritten);
        *body = rewritten;
        nested_bodies(body, |inner| self.body(inner));
    }

    fn reject(&mut self, rejection: WithRejection) {
        self.report
            .error(rejection.code, rejection.span, rejection.message);
    }

    /// Checks a modifier. Returns `true` if its value must be evaluated first.
    fn check(&self, with: &mut With) -> Result<bool, WithRejection> {
        let With { target, value, .. } = with;
        if self.is_builtin(value) {
            as_reference(value);
        }
        let replaces_builtin = self.is_replaceable(target)?;
        if is_below(target, "data") {
            if self.keeps_function(target, value)? {
                return Ok(false);
            }
        } else if replaces_builtin {
            as_reference(target);
            self.check_builtin_target(target)?;
            if self.names_function(value)? {
                return Ok(false);
            }
        } else if !is_below(target, "input") {
            return Err(WithRejection {
                code: Code::Type,
                span: target.span,
                message: "with keyword target must reference existing input, data, or a function"
                    .to_owned(),
            });
        }
        Ok(requires_evaluation(value))
    }

    /// Returns `true` if a target below `data` is a function replaced by another one, or the value is a function that
    /// replaces a document.
    fn keeps_function(&self, target: &Term, value: &Term) -> Result<bool, WithRejection> {
        let path = target.as_ref().map(Vec::as_slice).unwrap_or_default();
        let Some((last, steps)) = path.split_last().filter(|(_, steps)| !steps.is_empty()) else {
            return Ok(self.is_rule_function(value));
        };
        let mut node = RuleTree::DATA;
        for step in steps.iter().skip(1) {
            let Some(child) = self.tree.child(node, step) else {
                break;
            };
            if !self.tree.node(child).rules.is_empty() {
                return Err(WithRejection {
                    code: Code::Compile,
                    span: target.span,
                    message: "with keyword cannot partially replace virtual document(s)".to_owned(),
                });
            }
            node = child;
        }
        let replaced = self.tree.child(node, last);
        if replaced.is_some_and(|node| self.tree.node(node).arity > 0)
            && self.names_function(value)?
        {
            return Ok(true);
        }
        Ok(self.is_rule_function(value))
    }

    fn is_rule_function(&self, value: &Term) -> bool {
        let node = value.as_ref().and_then(|path| self.tree.find(path));
        node.is_some_and(|node| self.tree.node(node).arity > 0)
    }

    /// Returns `true` if a value names a built-in or something in the rule tree, and therefore is not evaluated.
    fn names_function(&self, value: &Term) -> Result<bool, WithRejection> {
        let in_tree = value
            .as_ref()
            .is_some_and(|path| self.tree.find(path).is_some());
        Ok(in_tree || self.is_replaceable(value)?)
    }

    fn is_builtin(&self, term: &Term) -> bool {
        name_of(term).is_some_and(|name| self.options.declaration(&name).is_some())
    }

    /// Returns `true` if a term names a built-in. Unsafe ones are rejected.
    fn is_replaceable(&self, term: &Term) -> Result<bool, WithRejection> {
        let Some(name) = name_of(term) else {
            return Ok(false);
        };
        if self
            .options
            .unsafe_builtins
            .iter()
            .any(|banned| *banned == name)
        {
            return Err(builtin_rejection(
                term.span,
                &format!("target must not be unsafe: \"{name}\""),
            ));
        }
        Ok(self.options.declaration(&name).is_some())
    }

    fn check_builtin_target(&self, target: &Term) -> Result<(), WithRejection> {
        let name = name_of(target).unwrap_or_default();
        let rejection = match &*name {
            "eq" | "rego.metadata.chain" | "rego.metadata.rule" => {
                format!("replacement of \"{name}\" invalid")
            }
            _ if name.starts_with("internal.") => {
                format!("replacement of internal function \"{name}\" invalid")
            }
            "walk" => "target must not be a relation".to_owned(),
            _ => match self.options.declaration(&name) {
                Some(Type::Function(function)) if function.result.is_none() => {
                    "target must not be a void function".to_owned()
                }
                _ => return Ok(()),
            },
        };
        Err(builtin_rejection(target.span, &rejection))
    }
}

fn builtin_rejection(span: Span, reason: &str) -> WithRejection {
    WithRejection {
        code: Code::Compile,
        span,
        message: format!("with keyword replacing built-in function: {reason}"),
    }
}

/// Returns the dotted name of a variable or a reference.
fn name_of(term: &Term) -> Option<Cow<'_, str>> {
    match &term.kind {
        TermKind::Var(name) => Some(Cow::Borrowed(name)),
        TermKind::Ref(path) => dotted(path),
        _ => None,
    }
}

/// Converts a name to a reference, the form of operators.
fn as_reference(term: &mut Term) {
    if term.as_var().is_some() {
        let span = term.span;
        let name = mem::take(term);
        *term = Term::new(TermKind::Ref(vec![name]), span);
    }
}

fn is_below(target: &Term, root: &str) -> bool {
    let head = target.as_ref().and_then(|path| path.first()?.as_var());
    head.is_some_and(|head| &**head == root)
}
