//! Events for observers.

use std::sync::Arc;

use solon_syntax::ast::visit::{Descent as Visit, Terms, Walk as _};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Rule, Term, TermKind, With};
use solon_syntax::source::Span;

use super::bindings::Binding;
use super::event_terms::{unplugged, value_term};
use super::machine::{Exprs, Goal, Topdown};
use super::partial_eval::SavedKind;
use super::term::TermRef;
use crate::bug::bug;
use crate::builtins::{BuiltinEntry, Observed};
use crate::program::constant;
use crate::trace::{Event, EventNode, Local, Observer, Op};
use crate::value::{Value, ValueRef};

impl<'e> Topdown<'e> {
    /// Returns `true` if the observer receives events of this kind.
    fn is_traced(&self, op: Op) -> bool {
        let observer = self.observer.as_deref();
        observer.is_some_and(|observer| observer.wants(op))
    }

    /// Emits an event for a body that is entered, solved or searched again.
    pub(super) fn body_event(&mut self, op: Op, goal: Goal<'e>) {
        if !self.is_traced(op) {
            return;
        }
        let (first, body) = match goal.exprs {
            Exprs::Body(body) => (body.first(), body),
            Exprs::Positive(expr) => (Some(expr), [].as_slice()),
            Exprs::Domain(..) | Exprs::Head(_) => (None, [].as_slice()),
        };
        let span = first.map_or_else(Span::default, |expr| expr.span);
        // bodies are identified by the address of their first expression, which `not` may share with its operand
        let key = first.map(std::ptr::from_ref).filter(|_| !body.is_empty());
        let shown = match key.and_then(|key| self.event_cache.bodies.get(&key)) {
            Some(shown) => shown.clone(),
            None => {
                let alone = matches!(goal.exprs, Exprs::Positive(_));
                let shown: Body = match first {
                    Some(expr) if alone => vec![positive(expr)],
                    _ => body.to_vec(),
                };
                let shown = Arc::new(shown);
                key.map(|key| self.event_cache.bodies.insert(key, shown.clone()));
                shown
            }
        };
        self.emit(op, goal, EventNode::Body(shown), span);
    }

    /// Emits an event for an expression that is searched, has failed, or is searched again.
    pub(super) fn expr_event(&mut self, op: Op, goal: Goal<'e>) {
        if !self.is_traced(op) {
            return;
        }
        let (node, span) = self.current(goal);
        self.emit(op, goal, node, span);
    }

    /// Emits that expressions are saved instead of the goal's expression; for arguments of a function, before its body.
    pub(super) fn save_event(&mut self, goal: Goal<'e>, kinds: &[SavedKind<'e>], with: &[With]) {
        let stands = match goal.exprs {
            Exprs::Body(body) => goal.at < body.len(),
            Exprs::Head(_) | Exprs::Positive(_) | Exprs::Domain(..) => true,
        };
        if !stands || !self.is_traced(Op::Save) {
            return;
        }
        let span = match goal.exprs {
            Exprs::Head(rule) => rule.body.first().map_or(rule.span, |first| first.span),
            _ => self.current(goal).1,
        };
        let saved = |kind| Expr::new(kind, span);
        for kind in kinds {
            let mut expr = match kind {
                SavedKind::Done(expr) => expr.clone(),
                SavedKind::Term(term) => saved(ExprKind::Term(self.followed(*term))),
                SavedKind::Equal(left, right) => {
                    let operands = [self.followed(*left), self.followed(*right)];
                    let operator = Term::operator("eq", span);
                    saved(ExprKind::Call(
                        std::iter::once(operator).chain(operands).collect(),
                    ))
                }
                SavedKind::Call(operator, operands) => {
                    let mut terms = vec![operator.clone()];
                    terms.extend(operands.iter().map(|operand| self.operand(*operand)));
                    saved(ExprKind::Call(terms))
                }
            };
            if !matches!(kind, SavedKind::Done(_)) {
                expr.with = with.to_vec();
            }
            self.emit(Op::Save, goal, EventNode::Expr(Arc::new(expr)), span);
        }
    }

    /// Returns the binding of a variable, or the term itself if it is not a variable.
    fn followed(&mut self, term: TermRef<'e>) -> Term {
        let term = self.apply(term);
        self.operand(term)
    }

    /// Emits an event about the elements of an `every`, attributed to the goal that contains it.
    pub(super) fn own_event(&mut self, op: Op, goal: Goal<'e>, around: Goal<'e>) {
        if !self.is_traced(op) {
            return;
        }
        let (node, span) = self.current(around);
        self.emit(op, goal, node, span);
    }

    pub(super) fn rule_event(&mut self, op: Op, goal: Goal<'e>, rule: &'e Rule) {
        if !self.is_traced(op) {
            return;
        }
        let key = std::ptr::from_ref(rule);
        let (shown, path) = match self.event_cache.rules.get(&key) {
            Some(shown) => shown.clone(),
            None => {
                let shown = (Arc::new(rule.clone()), self.rule_path(rule));
                self.event_cache.rules.insert(key, shown.clone());
                shown
            }
        };
        self.emit(op, goal, EventNode::Rule(shown, path), rule.span);
    }

    pub(super) fn unify_event(&mut self, goal: Goal<'e>, left: TermRef<'e>, right: TermRef<'e>) {
        if !self.is_traced(Op::Unify) {
            return;
        }
        let operands = vec![self.operand(left), self.operand(right)];
        let expr = Expr {
            generated: false,
            ..Expr::generated_call("eq", operands, Span::default())
        };
        let span = self.current(goal).1;
        self.emit(Op::Unify, goal, EventNode::Expr(Arc::new(expr)), span);
    }

    /// Returns an operand of a unification as a term, if the memory budget allows.
    fn operand(&mut self, term: TermRef<'e>) -> Term {
        match term {
            TermRef::Value(value) => self.event_cache.within(value),
            term => unplugged(term),
        }
    }

    pub(super) fn index_event(
        &mut self,
        goal: Goal<'e>,
        path: &[ValueRef<'e>],
        matched: usize,
        early_exit: bool,
    ) {
        if !self.is_traced(Op::Index) {
            return;
        }
        let (node, span) = self.current(goal);
        let mut event = self.about(Op::Index, goal, node, span);
        let rules = if matched == 1 { "rule" } else { "rules" };
        let early = if early_exit { ", early exit" } else { "" };
        event.message = format!("(matched {matched} {rules}{early})");
        let root = Term::var("data", Span::default());
        let steps = path.iter().map(|key| value_term(*key));
        let terms = std::iter::once(root).chain(steps).collect();
        event.reference = Some(Term::new(TermKind::Ref(terms), Span::default()));
        self.send(event);
    }

    /// Emits a note of `trace` or `internal.test_case`.
    pub(super) fn note(&mut self, goal: Goal<'e>, entry: &BuiltinEntry, values: &[ValueRef<'e>]) {
        if !self.is_traced(Op::Note) && !self.is_traced(Op::TestCase) {
            return;
        }
        let (node, span) = self.current(goal);
        if let (Some(Observed::Note), Some(text)) = (entry.builtin.observed, values.first()) {
            let Some(text) = text.as_text() else {
                return;
            };
            let mut event = self.about(Op::Note, goal, node, span);
            event.message = text.to_str().into_owned();
            self.send(event);
        } else if let (Some(Observed::TestCase), Some(keys)) =
            (entry.builtin.observed, values.first())
            && self.is_traced(Op::TestCase)
        {
            let keys = self.event_cache.within(*keys);
            let call = Expr::generated_call(entry.builtin.name, vec![keys], Span::default());
            let node = EventNode::Expr(Arc::new(Expr {
                generated: false,
                ..call
            }));
            let event = self.about(Op::TestCase, goal, node, Span::default());
            self.send(Event {
                parent_id: 0,
                locals: Vec::new(),
                documents: Vec::new(),
                ..event
            });
        }
    }

    fn emit(&mut self, op: Op, goal: Goal<'e>, node: EventNode, span: Span) {
        let mut event = self.about(op, goal, node, span);
        if op == Op::Exit && goal.find_one {
            "early".clone_into(&mut event.message);
        }
        self.send(event);
    }

    fn send(&mut self, event: Event) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.event(event);
            self.event_cache.full = self.event_cache.full || observer.is_full();
        }
    }

    fn about(&mut self, op: Op, goal: Goal<'e>, node: EventNode, span: Span) -> Event {
        let frame = self.frames.get(goal.frame as usize);
        let observer = self.observer.as_deref();
        let told = observer.is_some_and(Observer::needs_locals) && !self.event_cache.full;
        let mut bound: Vec<(&'e str, Binding<'e>)> = frame
            .filter(|_| told)
            .into_iter()
            .flatten()
            .map(|(name, bound)| (*name, *bound))
            .collect();
        bound.sort_by_key(|(name, _)| *name);
        let documents = observer.is_some_and(Observer::needs_documents);
        let mut locals = Vec::with_capacity(bound.len());
        for (name, bound) in bound {
            let value = match self.plug(bound.term) {
                Some(value) => self.event_cache.value(value),
                None => Arc::new(self.partially_plugged(bound.term)),
            };
            locals.push(Local {
                name: self.name(name),
                user_name: self.user_name(name),
                value,
                span: bound.span,
            });
        }
        let documents = if documents {
            self.cached_documents(&node)
        } else {
            Vec::new()
        };
        let span = match op {
            Op::TestCase => span,
            _ => self.event_cache.span(goal, &node, span),
        };
        Event {
            op,
            query_id: goal.id,
            parent_id: goal.parent,
            node,
            span,
            locals,
            documents,
            message: String::new(),
            reference: None,
        }
    }

    /// Returns the documents that a node refers to, if they are already cached.
    fn cached_documents(&mut self, node: &EventNode) -> Vec<(Arc<Term>, Arc<Term>)> {
        let mut references: Vec<Term> = Vec::new();
        let mut look = Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && terms
                    .first()
                    .and_then(Term::as_var)
                    .is_some_and(|name| &**name == "data")
            {
                let steps = terms.iter().enumerate();
                let ground = steps.take_while(|(at, step)| *at == 0 || constant(step).is_some());
                let ground = ground.map(|(_, step)| step.clone()).collect();
                references.push(Term::new(TermKind::Ref(ground), term.span));
            }
            Visit::Into
        });
        match node {
            EventNode::Body(body) => body.walk(&mut look),
            EventNode::Expr(expr) => expr.walk(&mut look),
            // only variables of a rule are reported, not its documents
            EventNode::Rule(..) => {}
        }
        let mut known = Vec::new();
        for reference in references {
            let steps = reference.as_ref().into_iter().flatten().skip(1);
            let steps: Vec<Value> = steps.filter_map(constant).collect();
            let path: Vec<ValueRef<'_>> = steps.iter().map(Value::borrow).collect();
            let kept = self.scope().memo.get(path.as_slice()).copied();
            if let Some(Some(value)) = kept {
                known.push((Arc::new(reference), self.event_cache.value(value)));
            }
        }
        known
    }

    /// Returns an interned variable name.
    fn name(&mut self, name: &'e str) -> Name {
        let made = self.event_cache.names.entry(name);
        made.or_insert_with(|| name.into()).clone()
    }

    /// Returns the name that the user wrote for a variable.
    fn user_name(&self, name: &str) -> Name {
        let originals = &self.program.canonical.originals;
        let found = originals
            .get(name)
            .or_else(|| self.originals.and_then(|originals| originals.get(name)));
        found.cloned().unwrap_or_else(|| name.into())
    }

    /// Returns the current expression of a goal and its location, as events show them.
    fn current(&mut self, goal: Goal<'e>) -> (EventNode, Span) {
        let expr = match goal.exprs {
            Exprs::Body(body) => body.get(goal.at),
            Exprs::Positive(expr) => return (EventNode::Expr(Arc::new(positive(expr))), expr.span),
            Exprs::Head(rule) => return (EventNode::Body(Arc::default()), rule.span),
            Exprs::Domain(every, _) => {
                let reference = Term::new(
                    TermKind::Ref(
                        std::iter::once(every.domain.clone())
                            .chain(every.key.clone())
                            .collect(),
                    ),
                    every.domain.span,
                );
                let operands = vec![reference, every.value.clone()];
                let expr = Expr {
                    generated: false,
                    ..Expr::generated_call("eq", operands, every.domain.span)
                };
                return (EventNode::Expr(Arc::new(expr)), every.domain.span);
            }
        };
        let Some(expr) = expr else {
            return (EventNode::Body(Arc::default()), Span::default());
        };
        let shown = self.event_cache.exprs.entry(std::ptr::from_ref(expr));
        let shown = shown.or_insert_with(|| Arc::new(expr.clone()));
        (EventNode::Expr(shown.clone()), expr.span)
    }

    fn rule_path(&self, rule: &Rule) -> Arc<str> {
        let modules = self.program.canonical.modules.iter();
        let mut terms = modules
            .filter(|module| module.source.id == rule.span.source)
            .map(|module| module.package.path.clone())
            .next()
            .unwrap_or_else(|| bug!("a rule stands in no module"));
        let reference = rule.head.reference.iter().enumerate();
        terms.extend(reference.map_while(|(at, term)| match term.as_var() {
            Some(name) if at == 0 => Some(Term::string(name.clone(), term.span)),
            Some(_) => None,
            None => Some(term.clone()),
        }));
        Term::new(TermKind::Ref(terms), rule.span)
            .to_string()
            .into()
    }
}

/// Returns an expression without its `not` and `with`, for the event of the inner search.
fn positive(expr: &Expr) -> Expr {
    Expr {
        negated: false,
        with: Vec::new(),
        index: 0,
        ..expr.clone()
    }
}
