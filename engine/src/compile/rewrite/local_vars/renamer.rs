//! Renaming in bodies and terms.

use std::collections::BTreeSet;
use std::mem;

use solon_syntax::ast::visit::{Flow, Terms, Walk};
use solon_syntax::ast::{
    Body, Comprehension, Expr, ExprKind, Logical, Name, SomeDecl, TemplatePart, Term, TermKind,
    VarScan, With,
};
use solon_syntax::source::{Code, Span};

use super::super::{arrange, number, truth};
use super::scopes::{Occurrence, Scopes};
use crate::compile::locals::Locals;
use crate::compile::report::Report;
use crate::compile::safety::OPERANDS;

const IN_NEGATION: &str = "cannot assign vars inside negated expression";
const IN_AND: &str = "cannot assign vars inside implicit and operand";
const IN_OR: &str = "cannot assign vars inside implicit or operand";

/// Renames the variables of one rule, or of a query.
pub(super) struct Renamer<'a> {
    pub locals: &'a mut Locals,
    pub scopes: Scopes,
    pub strict: bool,
    /// What ends the compilation.
    pub errors: Vec<(Span, String)>,
    /// Variables that nothing uses.
    pub unused: Vec<(Span, String)>,
}

impl<'a> Renamer<'a> {
    pub(super) fn new(locals: &'a mut Locals, scopes: Scopes, strict: bool) -> Self {
        Self {
            locals,
            scopes,
            strict,
            errors: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Reports what was refused.
    pub(super) fn report(self, report: &mut Report) {
        for (span, message) in self.errors {
            report.error(Code::Compile, span, message);
        }
        for (span, message) in self.unused {
            report.recoverable(Code::Compile, span, message);
        }
    }

    /// Renames in a body within the innermost scope; `used` are names that stand outside it.
    pub(super) fn body(&mut self, body: &mut Body, used: &BTreeSet<Name>) {
        let places: Vec<Span> = body.iter().map(|expr| expr.span).collect();
        let mut renamed = Vec::with_capacity(body.len());
        for (position, mut expr) in mem::take(body).into_iter().enumerate() {
            self.scopes.at(position);
            if self.statement(&mut expr) {
                renamed.push(expr);
            }
        }
        if renamed.is_empty() {
            renamed.push(truth(Span::default()));
        }
        number(&mut renamed);
        *body = renamed;
        self.check_unused_assigned(&places, used);
        self.check_unused_declared(&places, used, body);
    }

    fn scoped_body(&mut self, body: &mut Body) {
        self.scopes.push();
        self.body(body, &BTreeSet::new());
        self.scopes.pop();
    }

    /// Renames in an expression of a body; answers whether it stays.
    fn statement(&mut self, expr: &mut Expr) -> bool {
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

    /// `target := value`. The value comes first: `x := x` reads the `x` of the scope around.
    fn assignment(&mut self, expr: &mut Expr) {
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

    /// `some …`; answers whether an expression is left of it.
    fn declaration(&mut self, expr: &mut Expr, decl: SomeDecl) -> bool {
        for symbol in decl.symbols {
            match symbol.kind {
                TermKind::Var(name) if self.declare(&name, decl.span) => {}
                TermKind::Call(terms) => return self.membership(expr, terms, decl.span),
                _ => break,
            }
        }
        false
    }

    /// Declares a variable, or reports why it cannot be.
    fn declare(&mut self, name: &Name, span: Span) -> bool {
        let declared = self.scopes.declare(name, Occurrence::Declared, self.locals);
        declared
            .map_err(|message| self.errors.push((span, message)))
            .is_ok()
    }

    /// `some value in collection` becomes `value = collection[local]`, `some key, value in collection` becomes
    /// `value = collection[key]`. What this binds is declared.
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
        let at = collection.span;
        let path = match collection.kind {
            TermKind::Ref(mut path) => {
                path.push(key);
                path
            }
            _ => vec![collection, key],
        };
        let lookup = Term::new(TermKind::Ref(path), at);
        expr.kind = ExprKind::Call(vec![Term::operator("eq", span), value, lookup]);
        for name in outputs {
            if !self.declare(&name, span) {
                return false;
            }
        }
        self.expr(expr);
        true
    }

    /// Refuses variables that are bound by what they are themselves needed for.
    fn is_circular(&mut self, patterns: &[&Term], collection: &Term, span: Span) -> bool {
        let needed = VarScan {
            skip_closures: true,
            skip_templates: true,
            ..VarScan::default()
        };
        let bound = VarScan {
            skip_ref_heads: true,
            skip_object_keys: true,
            ..needed
        };
        let mut names = BTreeSet::new();
        for pattern in patterns {
            bound.collect(*pattern, &mut names);
        }
        names.retain(|name| needed.any(collection, |needed| needed == name));
        for name in &names {
            self.errors
                .push((span, format!("var {name} assigned before")));
        }
        !names.is_empty()
    }

    /// `every key, value in domain { body }`; answers whether it stays.
    fn every(&mut self, expr: &mut Expr) -> bool {
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
            // a name in the domain means a variable of `every` itself, if nothing around knows it
            if !has_comprehensions(&every.domain) {
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
                // the published place of such an error is none
                self.errors.push((Span::default(), message));
                return false;
            }
        }
        true
    }

    /// `not` without braces, `and` and `or`: braced operands are scopes, others belong to the body around.
    fn operands(&mut self, expr: &mut Expr) {
        let before = self.errors.len();
        match &mut expr.kind {
            ExprKind::Not(not) => self.implicit_body(&mut not.body, IN_NEGATION),
            ExprKind::And(logical) => self.logical(logical, IN_AND),
            ExprKind::Or(logical) => self.logical(logical, IN_OR),
            _ => {}
        }
        if self.errors.len() == before {
            self.expr(expr);
        }
    }

    fn logical(&mut self, logical: &mut Logical, refusal: &str) {
        for (body, explicit) in [
            (&mut logical.lhs, logical.explicit_lhs),
            (&mut logical.rhs, logical.explicit_rhs),
        ] {
            if explicit {
                self.scoped_body(body);
            } else {
                self.implicit_body(body, refusal);
            }
        }
    }

    /// Refuses assignments in a body without braces and opens the scopes of the braced ones inside it.
    fn implicit_body(&mut self, body: &mut Body, refusal: &str) {
        for expr in body {
            match &mut expr.kind {
                ExprKind::Call(terms)
                    if terms
                        .first()
                        .is_some_and(|operator| operator.is_operator("assign")) =>
                {
                    self.errors.push((expr.span, refusal.to_owned()));
                }
                ExprKind::Not(not) if not.explicit_body => {
                    self.statement(expr);
                }
                ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => self.operands(expr),
                _ => {}
            }
        }
    }

    /// Renames in an expression that declares nothing.
    pub(super) fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Term(term) => self.term(term),
            ExprKind::Call(terms) => self.terms(terms),
            ExprKind::Some(decl) => self.terms(&mut decl.symbols),
            ExprKind::Every(every) => self.mark(&every.body),
            ExprKind::Not(not) => self.operand(&mut not.body, not.explicit_body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                self.operand(&mut logical.lhs, logical.explicit_lhs);
                self.operand(&mut logical.rhs, logical.explicit_rhs);
            }
        }
        self.modifiers(&mut expr.with);
    }

    /// Renames in an operand whose braced bodies are renamed already. What is free in those counts as used here.
    fn operand(&mut self, body: &mut Body, explicit: bool) {
        if explicit {
            self.mark(body);
            return;
        }
        for expr in body {
            match &expr.kind {
                ExprKind::Not(not) if not.explicit_body => self.mark(&not.body),
                // renamed on its own
                ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {}
                _ => self.expr(expr),
            }
        }
    }

    /// Makes the free variables of a renamed body known.
    fn mark(&mut self, body: &Body) {
        let scopes = &mut self.scopes;
        body.walk(&mut Terms(|term: &Term| {
            match &term.kind {
                TermKind::Var(name) if scopes.find(name).is_none() => scopes.keep(name),
                TermKind::ArrayComprehension(_)
                | TermKind::SetComprehension(_)
                | TermKind::ObjectComprehension(_) => return Flow::Over,
                _ => {}
            }
            Flow::Into
        }));
    }

    /// The target `input` is the document, even where a variable hides it.
    fn modifiers(&mut self, with: &mut [With]) {
        for with in with {
            self.term(&mut with.target);
            let input = Name::from("input");
            if let Some(hidden) = self.scopes.find(&input) {
                let is_hidden = |term: &Term| term.as_var() == Some(&hidden.local);
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

    fn terms(&mut self, terms: &mut [Term]) {
        for term in terms {
            self.term(term);
        }
    }

    /// Renames in a term.
    pub(super) fn term(&mut self, term: &mut Term) {
        arrange(term);
        match &mut term.kind {
            TermKind::Var(name) => match self.scopes.see(name) {
                Some(local) => *name = local,
                None => self.scopes.keep(name),
            },
            TermKind::Ref(terms) if is_root(terms) => self.root_document(term),
            TermKind::Ref(terms) | TermKind::Array(terms) | TermKind::Set(terms) => {
                self.terms(terms);
            }
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

    /// `input` or `data` alone, which a v0 module may declare as a variable.
    fn root_document(&mut self, term: &mut Term) {
        let name = term.as_ref().and_then(|terms| terms.first()?.as_var());
        let known = name.and_then(|name| self.scopes.find(name));
        if let Some(variable) = known.filter(|known| known.occurrence != Occurrence::Seen) {
            term.kind = TermKind::Var(variable.local.clone());
        }
    }

    /// Functions are no values, so a local cannot stand for one.
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
        let mut used = BTreeSet::new();
        for term in inner.key.iter().chain([&inner.head]) {
            VarScan::default().collect(term, &mut used);
        }
        self.scopes.push();
        self.body(&mut inner.body, &used);
        for term in inner.key.iter_mut().chain([&mut inner.head]) {
            self.term(term);
        }
        self.scopes.pop();
    }
}

fn has_comprehensions(term: &Term) -> bool {
    let mut found = false;
    term.walk(&mut Terms(|term: &Term| {
        found = found
            || matches!(
                term.kind,
                TermKind::ArrayComprehension(_)
                    | TermKind::SetComprehension(_)
                    | TermKind::ObjectComprehension(_)
            );
        if found { Flow::Over } else { Flow::Into }
    }));
    found
}

fn is_root(terms: &[Term]) -> bool {
    matches!(terms, [head] if matches!(head.as_var().map(|name| &**name), Some("input" | "data")))
}
