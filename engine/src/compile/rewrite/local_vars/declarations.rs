//! `some` and `every`.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::has_comprehension;
use solon_syntax::ast::{Expr, ExprKind, Name, SomeDecl, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use super::renamer::Renamer;
use super::scopes::Occurrence;
use crate::compile::safety::OPERANDS;

impl Renamer<'_> {
    /// Rewrites `some …`. Returns `true` if the expression stays.
    pub(super) fn declaration(&mut self, expr: &mut Expr, decl: SomeDecl) -> bool {
        for symbol in decl.symbols {
            match symbol.kind {
                TermKind::Var(name) if self.declare(&name, decl.span) => {}
                TermKind::Call(terms) => {
                    return self.membership(expr, terms.into_vec(), decl.span);
                }
                _ => break,
            }
        }
        false
    }

    /// Declares a variable, or reports the reason that it cannot be declared.
    fn declare(&mut self, name: &Name, span: Span) -> bool {
        let result = self.scopes.declare(name, Occurrence::Declared, self.locals);
        result
            .map_err(|message| self.errors.push((span, message)))
            .is_ok()
    }

    /// Rewrites `some value in collection` to `value = collection[local]`, and `some key, value in collection` to
    /// `value = collection[key]`. The patterns declare variables.
    fn membership(&mut self, expr: &mut Expr, mut terms: Vec<Term>, span: Span) -> bool {
        let (Some(collection), Some(value)) = (terms.pop(), terms.pop()) else {
            return false;
        };
        let key = match terms.pop() {
            Some(key) if !terms.is_empty() => key,
            _ => Term::var(self.locals.fresh(), value.span),
        };
        if self.is_circular(&[&key, &value], &collection, span) {
            return false;
        }
        let mut outputs = BTreeSet::new();
        OPERANDS.collect(&key, &mut outputs);
        if matches!(
            value.kind,
            TermKind::Var(_) | TermKind::Array(_) | TermKind::Object(_)
        ) {
            OPERANDS.collect(&value, &mut outputs);
        }
        VarScan::default().each(&collection, |_, name| {
            outputs.remove(name);
        });
        let span_of_collection = collection.span;
        let path = match collection.kind {
            TermKind::Ref(mut path) => {
                path.push(key);
                path
            }
            _ => vec![collection, key],
        };
        let lookup = Term::new(TermKind::Ref(path), span_of_collection);
        expr.kind = ExprKind::Call(vec![Term::operator("eq", span), value, lookup]);
        for name in outputs {
            if !self.declare(&name, span) {
                return false;
            }
        }
        self.expr(expr);
        true
    }

    /// Rejects variables that are needed for the collection that binds them.
    fn is_circular(&mut self, patterns: &[&Term], collection: &Term, span: Span) -> bool {
        let needed_vars = VarScan {
            skip_closures: true,
            skip_templates: true,
            ..VarScan::default()
        };
        let bound_vars = VarScan {
            skip_ref_heads: true,
            skip_object_keys: true,
            ..needed_vars
        };
        let mut names = BTreeSet::new();
        for pattern in patterns {
            bound_vars.collect(*pattern, &mut names);
        }
        names.retain(|name| needed_vars.any(collection, |needed_name| needed_name == name));
        for name in &names {
            self.errors
                .push((span, format!("var {name} assigned before")));
        }
        !names.is_empty()
    }

    /// Rewrites `every key, value in domain { body }`. Returns `true` if the expression stays.
    pub(super) fn every(&mut self, expr: &mut Expr) -> bool {
        let ExprKind::Every(every) = &mut expr.kind else {
            return true;
        };
        self.term(&mut every.domain);
        self.scopes.push();
        if every.key.is_none() {
            every.key = Some(Term::var(self.locals.fresh(), Span::default()));
        } else if let Some(key) = &mut every.key
            && !self.iterator(key)
        {
            self.scopes.pop();
            return false;
        }
        let stays = self.iterator(&mut every.value);
        if stays {
            self.body(&mut every.body, &BTreeSet::new());
            // a name in the domain means a variable of `every` itself if no outer scope knows it
            if !has_comprehension(&every.domain) {
                self.term(&mut every.domain);
            }
            self.modifiers(&mut expr.with);
        }
        self.scopes.pop();
        stays
    }

    /// Declares the key or value variable of `every`.
    fn iterator(&mut self, term: &mut Term) -> bool {
        if term.is_wildcard() {
            return true;
        }
        let Some(name) = term.as_var() else {
            return true;
        };
        match self.scopes.declare(name, Occurrence::Declared, self.locals) {
            Ok(local) => term.kind = TermKind::Var(local),
            Err(message) => {
                // OPA reports this error without a location
                self.errors.push((Span::default(), message));
                return false;
            }
        }
        true
    }
}
