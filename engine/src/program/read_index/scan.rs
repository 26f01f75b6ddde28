//! Collection of the read paths of rule bodies.

use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Visitor, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Head, Module, Term, TermKind};

use super::ReadRoot;
use super::builder::Builder;
use crate::program::{Program, RuleId, constant};
use crate::value::Value;

/// Adds the reads of all rules of a program.
pub fn modules(program: &Program, builder: &mut Builder) {
    for module in &**program.canonical.modules {
        for rule in &module.rules {
            let rules = rule_sets(program, module, &rule.head);
            for id in &rules {
                builder.scan(*id);
            }
            rule.walk(&mut BodyScan {
                rules: &rules,
                builder,
            });
        }
    }
}

/// Returns the rule sets that a rule belongs to: those at the prefixes of its path. A set contains the rules of
/// documents below it if one of its heads has a variable.
fn rule_sets(program: &Program, module: &Module, head: &Head) -> Vec<RuleId> {
    let package = module.package.path.iter().skip(1);
    let keys = package.chain(&head.reference).map_while(key);
    let mut sets = Vec::with_capacity(1);
    let mut node = 0;
    for key in keys {
        match program.tree.child(node, key.borrow()) {
            Some(child) => node = child,
            None => break,
        }
        sets.extend(program.tree.node(node).and_then(|node| node.rule));
    }
    sets
}

/// Returns the key of a step of a head: its name, or a constant.
fn key(step: &Term) -> Option<Value> {
    match step.as_var() {
        Some(name) => Some(Value::string(name)),
        None => constant(step),
    }
}

/// Visitor that adds reads.
struct BodyScan<'s> {
    rules: &'s [RuleId],
    builder: &'s mut Builder,
}

impl BodyScan<'_> {
    /// Adds a reference below a document, up to its first step that is not a constant string.
    fn reference(&mut self, root: ReadRoot, steps: &[Term]) {
        let path = steps.iter().map_while(Term::as_string);
        self.builder.add_read(self.rules, root, path);
    }

    /// Adds the built-in or function of the host that a call names. Functions of policies are documents.
    fn operator(&mut self, terms: &[Term]) {
        let reference = terms.first().and_then(Term::as_ref);
        let Some((head, steps)) = reference.and_then(|reference| split(reference)) else {
            return;
        };
        if ReadRoot::of_variable(head).is_none() {
            let steps = steps.iter().map_while(Term::as_string);
            let path = std::iter::once(head).chain(steps);
            self.builder.add_read(self.rules, ReadRoot::Function, path);
        }
    }
}

/// Returns the variable that a reference starts with, and its steps.
fn split(reference: &[Term]) -> Option<(&Arc<str>, &[Term])> {
    let (head, steps) = reference.split_first()?;
    Some((head.as_var()?, steps))
}

impl<'a> Visitor<'a> for BodyScan<'_> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        if let ExprKind::Call(terms) = &expr.kind {
            self.operator(terms);
        }
        Descent::Into
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::Ref(reference) => {
                let Some((head, steps)) = split(reference) else {
                    return Descent::Into;
                };
                let Some(root) = ReadRoot::of_variable(head) else {
                    return Descent::Into;
                };
                self.reference(root, steps);
                // the head alone is not a reference
                steps.walk(self);
                Descent::Over
            }
            TermKind::Var(name) => {
                if let Some(root) = ReadRoot::of_variable(name) {
                    self.reference(root, &[]);
                }
                Descent::Over
            }
            TermKind::Call(terms) => {
                self.operator(terms);
                Descent::Into
            }
            _ => Descent::Into,
        }
    }
}
