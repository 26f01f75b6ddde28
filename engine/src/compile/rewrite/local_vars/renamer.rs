//! Renaming in bodies and terms.

use std::collections::BTreeSet;
use std::mem;

use solon_syntax::ast::{
    Body, Comprehension, Expr, ExprKind, Name, SomeDecl, TemplatePart, Term, TermKind, VarScan,
    With,
};
use solon_syntax::source::{Code, Span};
use solon_syntax::stack;

use super::super::{arrange, number, truth};
use super::operands::IN_NEGATION;
use super::scopes::{Occurrence, Scopes};
use crate::compile::locals::Locals;
use crate::compile::report::Report;

/// Renames the variables of one rule, or of a query.
pub(super) struct Renamer<'a> {
    pub locals: &'a mut Locals,
    pub scopes: Scopes,
    pub strict: bool,
    /// Errors that end the compilation.
    pub errors: Vec<(Span, String)>,
    /// Unused variables, with the message of each.
    pub unused: Vec<(Span, String)>,
}

impl<'a> Renamer<'a> {
    /// Creates a renamer in these scopes. Only with `strict` it collects unused variables.
    pub(super) fn new(locals: &'a mut Locals, scopes: Scopes, strict: bool) -> Self {
        Self {
            locals,
            scopes,
            strict,
            errors: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Reports the errors. Unused variables are recoverable.
    pub(super) fn report(self, report: &mut Report) {
        for (span, message) in self.errors {
            report.error(Code::Compile, span, message);
        }
        for (span, message) in self.unused {
            report.recoverable(Code::Compile, span, message);
        }
    }

    /// Renames in a body within the innermost scope; `used_names` are names that occur outside of it.
    pub(super) fn body(&mut self, body: &mut Body, used_names: &BTreeSet<Name>) {
        let spans: Vec<Span> = body.iter().map(|expr| expr.span).collect();
        let mut renamed = Vec::with_capacity(body.len());
        for (position, mut expr) in mem::take(body).into_iter().enumerate() {
            self.scopes.set_position(position);
            if self.statement(&mut expr) {
                renamed.push(expr);
            }
        }
        if renamed.is_empty() {
            renamed.push(truth(Span::default()));
        }
        number(&mut renamed);
        *body = renamed;
        self.check_unused_assigned(&spans, used_names);
        self.check_unused_declared(&spans, used_names, body);
    }

    /// Renames in an expression of a body. Returns `true` if the expression stays.
    pub(super) fn statement(&mut self, expr: &mut Expr) -> bool {
        if let ExprKind::Call(terms) = &expr.kind
            && terms
                .first()
                .is_some_and(|operator| operator.is_operator("assign"))
        {
            self.assignment(expr);
            return true;
        }
        match &mut expr.kind {
            ExprKind::Some(decl) => {
                let decl = mem::replace(
                    decl,
                    SomeDecl {
                        symbols: Vec::new(),
                        span: decl.span,
                    },
                );
                return self.declaration(expr, decl);
            }
            ExprKind::Every(_) => return self.every(expr),
            ExprKind::Not(not) if not.explicit_body => {
                self.scopes.push();
                self.body(&mut not.body, &BTreeSet::new());
                self.modifiers(&mut expr.with);
                self.scopes.pop();
            }
            ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => self.operands(expr),
            ExprKind::Term(_) | ExprKind::Call(_) => self.expr(expr),
        }
        true
    }

    /// Renames in `target := value`. The value comes first: `x := x` reads the `x` of the outer scope.
    pub(super) fn assignment(&mut self, expr: &mut Expr) {
        if expr.negated {
            self.errors.push((expr.span, IN_NEGATION.to_owned()));
            return;
        }
        let ExprKind::Call(terms) = &mut expr.kind else {
            return;
        };
        let [operator, target, value] = terms.as_mut_slice() else {
            return;
        };
        let before = self.errors.len();
        self.term(value);
        for with in &mut expr.with {
            self.term(&mut with.value);
        }
        self.target(target);
        if self.errors.len() == before {
            *operator = Term::operator("eq", operator.span);
            expr.assigned = true;
        }
    }

    /// Declares the variables of the left side of `:=`.
    fn target(&mut self, term: &mut Term) {
        arrange(term);
        let name = match &mut term.kind {
            TermKind::Var(name) => name.clone(),
            TermKind::Array(terms) => {
                for term in terms {
                    self.target(term);
                }
                return;
            }
            TermKind::Object(pairs) => {
                for (_, value) in pairs {
                    self.target(value);
                }
                return;
            }
            TermKind::Ref(terms) if is_root(terms) => match terms.first().and_then(Term::as_var) {
                Some(name) => name.clone(),
                None => return,
            },
            kind => {
                let message = format!("cannot assign to {}", kind.name());
                self.errors.push((term.span, message));
                return;
            }
        };
        match self
            .scopes
            .declare(&name, Occurrence::Assigned, self.locals)
        {
            Ok(local) => term.kind = TermKind::Var(local),
            Err(message) => self.errors.push((term.span, message)),
        }
    }

    /// Renames in an expression that declares nothing.
    pub(super) fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Term(term) => self.term(term),
            ExprKind::Call(terms) => self.terms(terms),
            ExprKind::Some(decl) => self.terms(&mut decl.symbols),
            ExprKind::Every(every) => self.declare_free(&every.body),
            ExprKind::Not(not) => self.operand(&mut not.body, not.explicit_body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                // chains nest in the left operand
                stack::level(|| self.operand(&mut logical.lhs, logical.explicit_lhs));
                self.operand(&mut logical.rhs, logical.explicit_rhs);
            }
        }
        self.modifiers(&mut expr.with);
    }

    /// Renames in modifiers. The target `input` is the document even if a variable shadows it.
    pub(super) fn modifiers(&mut self, with: &mut [With]) {
        for with in with {
            self.term(&mut with.target);
            let input = Name::from("input");
            if let Some(variable) = self.scopes.find(&input) {
                let is_hidden = |term: &Term| term.as_var() == Some(&variable.local);
                if is_hidden(&with.target) {
                    let span = with.target.span;
                    with.target.kind = TermKind::Ref(vec![Term::var(input, span)]);
                } else if let TermKind::Ref(terms) = &mut with.target.kind
                    && let Some(head) = terms.first_mut().filter(|head| is_hidden(head))
                {
                    head.kind = TermKind::Var(input);
                }
            }
            self.term(&mut with.value);
        }
    }

    /// Renames in terms, in order, because declarations apply to later terms.
    pub(super) fn terms(&mut self, terms: &mut [Term]) {
        for term in terms {
            self.term(term);
        }
    }

    /// Renames in a term. A name without a declaration is kept.
    pub(super) fn term(&mut self, term: &mut Term) {
        arrange(term);
        match &mut term.kind {
            TermKind::Var(name) => match self.scopes.see(name) {
                Some(local) => *name = local,
                None => self.scopes.keep(name),
            },
            TermKind::Ref(terms) if is_root(terms) => self.root_document(term),
            TermKind::Ref(terms) => self.terms(terms),
            TermKind::Array(terms) | TermKind::Set(terms) => self.terms(terms),
            TermKind::Call(terms) => {
                if let Some(operator) = terms.first() {
                    self.check_shadowed(operator, term.span);
                }
                self.terms(terms);
            }
            TermKind::Object(pairs) => {
                for (key, value) in pairs {
                    self.term(key);
                    self.term(value);
                }
            }
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => self.comprehension(inner),
            TermKind::Template(template) => {
                for part in &mut template.parts {
                    match part {
                        TemplatePart::Term(term) => self.term(term),
                        TemplatePart::Expr(expr) => self.expr(expr),
                    }
                }
            }
            TermKind::Null | TermKind::Boolean(_) | TermKind::Number(_) | TermKind::String(_) => {}
        }
    }

    /// Renames `input` or `data` without steps, which a v0 module may declare as a variable.
    fn root_document(&mut self, term: &mut Term) {
        let name = term.as_ref().and_then(|terms| terms.first()?.as_var());
        let variable = name.and_then(|name| self.scopes.find(name));
        if let Some(variable) = variable.filter(|variable| variable.occurrence != Occurrence::Used)
        {
            term.kind = TermKind::Var(variable.local.clone());
        }
    }

    /// Rejects a local as an operator: functions are not values, so a local cannot refer to one.
    fn check_shadowed(&mut self, operator: &Term, span: Span) {
        let scopes = &self.scopes;
        let shadowed = VarScan::default().any(operator, |name| {
            scopes
                .find(name)
                .is_some_and(|variable| variable.local != *name)
        });
        if shadowed {
            let message = format!("called function {operator} shadowed");
            self.errors.push((span, message));
        }
    }

    /// Renames in a comprehension, which is a scope of its own.
    pub(super) fn comprehension(&mut self, inner: &mut Comprehension) {
        let mut used_names = BTreeSet::new();
        for term in inner.key.iter().chain([&inner.head]) {
            VarScan::default().collect(term, &mut used_names);
        }
        self.scopes.push();
        self.body(&mut inner.body, &used_names);
        for term in inner.key.iter_mut().chain([&mut inner.head]) {
            self.term(term);
        }
        self.scopes.pop();
    }
}

fn is_root(terms: &[Term]) -> bool {
    matches!(terms, [head] if matches!(head.as_var().map(|name| &**name), Some("input" | "data")))
}
