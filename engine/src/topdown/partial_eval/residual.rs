//! Conversion of saved terms to expressions: bound variables are followed, and variables of environments other than the
//! query's are renamed.

use std::borrow::Cow;

use solon_syntax::ast::visit::{Descent, Terms, VisitorMut, Walk as _, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Term, TermKind, With};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::save::{Saved, SavedKind, terms_of};
use super::state::PartialState;
use crate::bug::{Within as _, WithinMut as _, bug};
use crate::builtins;
use crate::limits;
use crate::program::canonical::DocTree;
use crate::program::constant;
use crate::runtime::Halt;
use crate::topdown::calls::operator_name;
use crate::topdown::machine::Topdown;
use crate::topdown::scope::{FunctionMock, Mocked};
use crate::topdown::term::{FrameId, ResolvedTerm, TermList, TermRef, is_document};
use crate::value::{RefRepr, ValueRef};

const QUERY: FrameId = 0;

impl<'e> Topdown<'e> {
    /// Returns a term with bound variables followed. Terms that exceed the limits are cut off; [`Self::count`] reports
    /// that.
    pub(super) fn residual(&mut self, term: TermRef<'e>) -> Term {
        if let Some(made) = self.residual_scalar(term) {
            return made;
        }
        let within = |open: &mut PartialState<'e>| {
            open.term_count += 1;
            let within =
                open.term_count <= limits::RESIDUAL_TERMS && open.nesting <= limits::NESTING;
            open.nesting += usize::from(within);
            within
        };
        if !self.opened_mut().is_some_and(within) {
            return Term::new(TermKind::Null, Span::default());
        }
        let made = stack::level(|| self.residual_within(term));
        if let Some(open) = self.opened_mut()
            && open.nesting <= limits::NESTING
        {
            open.nesting -= 1;
        }
        made
    }

    /// Returns a string, boolean, null or document name as written, while the limits allow.
    fn residual_scalar(&mut self, term: TermRef<'e>) -> Option<Term> {
        let TermRef::Term(term, _) = term else {
            return None;
        };
        let span = match &term.kind {
            TermKind::String(_) | TermKind::Boolean(_) | TermKind::Null => Span::default(),
            TermKind::Var(name) if is_document(name) => term.span,
            _ => return None,
        };
        let open = self.opened_mut()?;
        if open.term_count >= limits::RESIDUAL_TERMS || open.nesting > limits::NESTING {
            return None;
        }
        open.term_count += 1;
        Some(Term::new(term.kind.clone(), span))
    }

    fn residual_within(&mut self, term: TermRef<'e>) -> Term {
        let term = self.apply(term);
        let span = term.span();
        let kind = match term.resolved() {
            ResolvedTerm::Value(value) => return self.counted(literal(value)),
            ResolvedTerm::Var(name, frame) => TermKind::Var(self.residual_name(name, frame)),
            ResolvedTerm::Ref(list) if list.len() == 1 => match list.document() {
                Some(name) => TermKind::Var(name.into()),
                None => return self.residual_ref(list),
            },
            ResolvedTerm::Ref(list) => return self.residual_ref(list),
            ResolvedTerm::Array(list) => TermKind::Array(self.residual_all(list).into()),
            ResolvedTerm::Set(items, frame) => {
                TermKind::Set(self.residual_all(TermList::Terms(items, frame)).into())
            }
            ResolvedTerm::Object(pairs, frame) => {
                let pairs = pairs.iter().map(|(key, value)| {
                    let key = self.residual(TermRef::Term(key, frame));
                    (key, self.residual(TermRef::Term(value, frame)))
                });
                TermKind::Object(pairs.collect())
            }
            ResolvedTerm::Comprehension(term, _, frame) => return self.renamed(term, frame),
            ResolvedTerm::Other => match term {
                TermRef::Term(term, frame) => match &term.kind {
                    TermKind::Call(terms) => {
                        TermKind::Call(self.residual_all(TermList::Terms(terms, frame)).into())
                    }
                    _ => return self.renamed(term, frame),
                },
                _ => bug!("a term that is not of the program has no kind"),
            },
        };
        Term::new(kind, span)
    }

    fn counted(&mut self, value: Term) -> Term {
        let mut terms = 0;
        value.walk(&mut Terms(|_: &Term| {
            terms += 1;
            Descent::Into
        }));
        if let Some(open) = self.opened_mut() {
            open.term_count += terms;
        }
        value
    }

    fn residual_all(&mut self, list: TermList<'e>) -> Vec<Term> {
        let terms = terms_of(list);
        terms.into_iter().map(|term| self.residual(term)).collect()
    }

    fn residual_ref(&mut self, list: TermList<'e>) -> Term {
        let mut terms = self.residual_all(list);
        let head = terms.first_mut().map(|head| std::mem::take(&mut head.kind));
        match head {
            // a variable bound to a reference continues where that reference ends
            Some(TermKind::Ref(mut base)) => {
                base.extend(terms.into_iter().skip(1));
                terms = base;
            }
            Some(kind) => {
                if let Some(head) = terms.first_mut() {
                    head.kind = kind;
                }
            }
            None => bug!("a reference without a head"),
        }
        let span = terms.first().map_or(Span::default(), |head| head.span);
        Term::new(TermKind::Ref(terms), span)
    }

    /// Returns the name of a variable in residuals. Variables of rules get the number of their frame.
    pub(super) fn residual_name(&self, name: &str, frame: FrameId) -> Name {
        if frame == QUERY || matches!(name, "data" | "input") {
            return name.into();
        }
        format!("{name}{}", self.frame_number(frame)).into()
    }

    /// Returns a copy of a node with the residual names of its variables. Bindings are not followed.
    pub(super) fn renamed<N: WalkMut + Clone>(&self, node: &N, frame: FrameId) -> N {
        let mut node = node.clone();
        node.walk_mut(&mut Renaming(|name: &mut Name| {
            *name = self.residual_name(name, frame);
        }));
        node
    }

    /// Returns the saved expressions.
    pub(super) fn residual_body(&mut self) -> Result<Body, Halt> {
        let query = self.saved_mut().map(std::mem::take).unwrap_or_default();
        self.count(query.len() + 1)?;
        let body = query
            .iter()
            .map(|saved| self.residual_expr(saved))
            .collect();
        if let Some(place) = self.saved_mut() {
            *place = query;
        }
        Ok(body)
    }

    /// Returns the saved expressions, including those saved around the current search: the inside of a negation is
    /// evaluated after them.
    pub(super) fn residual_around(&mut self) -> Result<Body, Halt> {
        let levels = self
            .opened_mut()
            .map(|open| std::mem::take(&mut open.saved));
        let levels = levels.unwrap_or_default();
        self.count(levels.iter().map(Vec::len).sum::<usize>() + 1)?;
        let body = levels.iter().flatten();
        let body = body.map(|saved| self.residual_expr(saved)).collect();
        if let Some(open) = self.opened_mut() {
            open.saved = levels;
        }
        Ok(body)
    }

    fn residual_expr(&mut self, saved: &Saved<'e>) -> Expr {
        let (with, frame) = saved.with;
        let mut expr = match &saved.kind {
            SavedKind::Equal(left, right) => {
                let operands = vec![self.residual(*left), self.residual(*right)];
                equation(operands)
            }
            SavedKind::Term(term) => {
                Expr::new(ExprKind::Term(self.residual(*term)), Span::default())
            }
            SavedKind::Call(operator, operands) => {
                let mut terms = vec![operator.clone()];
                terms.extend(operands.iter().map(|operand| self.residual(*operand)));
                Expr::new(ExprKind::Call(terms), Span::default())
            }
            SavedKind::Done(expr) => expr.clone(),
        };
        // a negation has the source location of the policy's expression
        if !expr.span.is_somewhere() {
            expr.span = saved.span;
        }
        if expr.with.is_empty() {
            expr.with = self.residual_with(with, frame);
        }
        if let Some(mocks) = &saved.mocks {
            self.keep_mocks(&mut expr, mocks);
        }
        expr
    }

    /// Adds `with` modifiers for replaced functions. They are specialised everywhere except in the policy's own rules
    /// and in closures, where they are replaced when the residual is evaluated.
    fn keep_mocks(&self, expr: &mut Expr, mocks: &[Mocked<'e>]) {
        let moved = self
            .opened()
            .is_some_and(|open| open.inlining.skip_namespace);
        if moved || !self.depends_on_policy(expr) {
            return;
        }
        let mut kept: Vec<With> = Vec::new();
        for (at, mocked) in mocks.iter().enumerate() {
            let later = mocks.within(at + 1..);
            let own = expr.with.iter().map(|with| operator_name(&with.target));
            let mut rest = own.chain(later.iter().map(|later| Some(later.name.clone())));
            if rest.all(|name| name.as_ref() != Some(&mocked.name)) {
                let value = match mocked.mock {
                    FunctionMock::Callee(other) => other.clone(),
                    FunctionMock::Value(value) => literal(value),
                };
                kept.push(With {
                    target: mocked.target.clone(),
                    value,
                    span: Span::default(),
                });
            }
        }
        kept.append(&mut expr.with);
        expr.with = kept;
    }

    /// Returns `true` if an expression has closures, or leads to rules of the policy.
    fn depends_on_policy(&self, expr: &Expr) -> bool {
        let mut found = !matches!(expr.kind, ExprKind::Term(_) | ExprKind::Call(_));
        expr.kind.walk(&mut Terms(|term: &Term| {
            found |= match &term.kind {
                TermKind::ArrayComprehension(_)
                | TermKind::SetComprehension(_)
                | TermKind::ObjectComprehension(_) => true,
                TermKind::Ref(terms) => self.leads_to_rules(terms),
                _ => false,
            };
            if found { Descent::Over } else { Descent::Into }
        }));
        found
    }

    fn leads_to_rules(&self, terms: &[Term]) -> bool {
        let Some((head, steps)) = terms.split_first() else {
            bug!("a reference without a head");
        };
        if head.as_var().is_none_or(|name| &**name != "data") {
            return false;
        }
        let mut site = DocTree::DATA;
        for step in steps {
            let Some(key) = constant(step) else {
                return true;
            };
            match self.doc_tree().child(site, key.borrow()) {
                Some(child) => site = child,
                None => return false,
            }
            if self
                .doc_node(Some(site))
                .is_some_and(|site| site.group.is_some())
            {
                return true;
            }
        }
        true
    }

    /// Returns the modifiers of an expression without those of functions: their replacements are specialised.
    pub(super) fn residual_with(&mut self, with: &'e [With], frame: FrameId) -> Vec<With> {
        let mut kept = Vec::with_capacity(with.len());
        for with in with {
            if !self.replaces_function(with) {
                kept.push(With {
                    target: with.target.clone(),
                    value: self.residual(TermRef::Term(&with.value, frame)),
                    span: with.span,
                });
            }
        }
        kept
    }

    /// Returns the bound variables of an environment as equations, in order.
    pub(super) fn bindings_of(&mut self, frame: FrameId) -> Vec<Expr> {
        let bound: Vec<(&'e str, TermRef<'e>)> = self.all_bindings(frame).collect();
        let mut equations: Vec<Expr> = bound
            .into_iter()
            .map(|(name, term)| {
                let name = Term::var(self.residual_name(name, frame), Span::default());
                equation(vec![name, self.residual(term)])
            })
            .collect();
        equations.sort();
        equations
    }
}

/// Renames the variables of a node. Operators and names of mocks stay.
pub(super) struct Renaming<F>(pub F);

impl<F: FnMut(&mut Name)> VisitorMut for Renaming<F> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        match &mut expr.kind {
            ExprKind::Call(terms) => terms.within_mut(1..).walk_mut(self),
            kind => kind.walk_mut(self),
        }
        expr.with.walk_mut(self);
        Descent::Over
    }

    fn with(&mut self, with: &mut With) -> Descent {
        let mock = operator_name(&with.value);
        if mock.is_none_or(|name| builtins::lookup(&name).is_none()) {
            with.value.walk_mut(self);
        }
        Descent::Over
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        match &mut term.kind {
            TermKind::Var(name) if !is_document(name) => (self.0)(name),
            TermKind::Call(terms) => terms.within_mut(1..).walk_mut(self),
            _ => return Descent::Into,
        }
        Descent::Over
    }
}

/// Returns `left = right`.
pub(super) fn equation(operands: Vec<Term>) -> Expr {
    let mut terms = vec![Term::operator("eq", Span::default())];
    terms.extend(operands);
    Expr::new(ExprKind::Call(terms), Span::default())
}

pub(super) fn literal(value: ValueRef<'_>) -> Term {
    let all =
        |items: &mut dyn Iterator<Item = ValueRef<'_>>| items.map(literal).collect::<Vec<Term>>();
    let kind = if let Some(text) = value.as_text() {
        match text.to_str() {
            Cow::Borrowed(text) => TermKind::String(text.into()),
            // invalid UTF-8 has no literal
            Cow::Owned(_) => {
                let bytes = Term::string(hex::encode(text.as_bytes()).as_str(), Span::default());
                TermKind::Call(vec![Term::operator("hex.decode", Span::default()), bytes].into())
            }
        }
    } else if value.as_number().is_some() {
        TermKind::Number(value.rego_text().to_string().into())
    } else if let Some(items) = value.as_array() {
        TermKind::Array(all(&mut items.iter()).into())
    } else if let Some(items) = value.as_set() {
        TermKind::Set(all(&mut items.iter()).into())
    } else if let Some(pairs) = value.as_object() {
        let pairs = pairs
            .iter()
            .map(|(key, value)| (literal(key), literal(value)));
        TermKind::Object(pairs.collect())
    } else if let ValueRef(RefRepr::Bool(truth)) = value {
        TermKind::Boolean(truth)
    } else if value == ValueRef(RefRepr::Null) {
        TermKind::Null
    } else {
        bug!("a value of no kind")
    };
    Term::new(kind, Span::default())
}
