//! What an observer is told.

use std::sync::Arc;

use solon_syntax::ast::{Body, Expr, Name, Rule, Term, TermKind};
use solon_syntax::source::Span;

use super::machine::{Exprs, Goal, Walk};
use super::term::{Made, T};
use crate::builtins::Entry;
use crate::trace::{Event, Local, Node, Observer, Op};
use crate::value::{Kind, V};

/// What the steps of a search are shown as, made once.
#[derive(Default)]
pub(super) struct Shown {
    rules: std::collections::HashMap<*const Rule, (Arc<Rule>, Arc<str>)>,
    exprs: std::collections::HashMap<*const Expr, Arc<Expr>>,
}

impl<'e> Walk<'e> {
    /// Whether somebody wants to know of events of a kind.
    fn is_watched(&self, op: Op) -> bool {
        let observer = self.observer.as_deref();
        observer.is_some_and(|observer| observer.wants(op))
    }

    /// A body is entered, solved, or searched again.
    pub(super) fn body_event(&mut self, op: Op, goal: Goal<'e>) {
        if !self.is_watched(op) {
            return;
        }
        let body: Body = match goal.exprs {
            Exprs::Body(body) => body.to_vec(),
            Exprs::Positive(expr) => vec![positive(expr)],
            Exprs::Domain(..) => Vec::new(),
        };
        let span = body.first().map_or_else(Span::default, |expr| expr.span);
        self.tell(op, goal, Node::Body(body), span);
    }

    /// An expression of a body is searched, has failed, or is searched again.
    pub(super) fn expr_event(&mut self, op: Op, goal: Goal<'e>) {
        if !self.is_watched(op) {
            return;
        }
        let (node, span) = self.current(goal);
        self.tell(op, goal, node, span);
    }

    /// Something happens to the elements of the `every` of the goal around.
    pub(super) fn own_event(&mut self, op: Op, goal: Goal<'e>, around: Goal<'e>) {
        if !self.is_watched(op) {
            return;
        }
        let (node, span) = self.current(around);
        self.tell(op, goal, node, span);
    }

    pub(super) fn rule_event(&mut self, op: Op, goal: Goal<'e>, rule: &'e Rule) {
        if !self.is_watched(op) {
            return;
        }
        let key = std::ptr::from_ref(rule);
        let (shown, path) = match self.shown.rules.get(&key) {
            Some(shown) => shown.clone(),
            None => {
                let shown = (Arc::new(rule.clone()), self.rule_path(rule));
                self.shown.rules.insert(key, shown.clone());
                shown
            }
        };
        self.tell(op, goal, Node::Rule(shown, path), rule.span);
    }

    pub(super) fn unify_event(&mut self, goal: Goal<'e>, left: T<'e>, right: T<'e>) {
        if !self.is_watched(Op::Unify) {
            return;
        }
        let operands = vec![shown(left), shown(right)];
        let expr = Expr {
            generated: false,
            ..Expr::generated_call("eq", operands, Span::default())
        };
        self.tell(Op::Unify, goal, Node::Expr(Arc::new(expr)), Span::default());
    }

    pub(super) fn index_event(
        &mut self,
        goal: Goal<'e>,
        path: &[V<'e>],
        matched: usize,
        early_exit: bool,
    ) {
        if !self.is_watched(Op::Index) {
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

    /// What `trace` and `internal.test_case` say.
    pub(super) fn note(&mut self, goal: Goal<'e>, entry: &Entry, values: &[V<'e>]) {
        if !self.is_watched(Op::Note) {
            return;
        }
        let (node, span) = self.current(goal);
        if let ("trace", Some(text)) = (entry.builtin.name, values.first()) {
            let Some(text) = text.as_text() else {
                return;
            };
            let mut event = self.about(Op::Note, goal, node, span);
            event.message = text.to_str().into_owned();
            self.send(event);
        } else if entry.builtin.name == "internal.test_case" {
            self.tell(Op::TestCase, goal, node, span);
        }
    }

    fn tell(&mut self, op: Op, goal: Goal<'e>, node: Node, span: Span) {
        let mut event = self.about(op, goal, node, span);
        if op == Op::Exit && goal.find_one {
            event.message = "early".to_owned();
        }
        self.send(event);
    }

    fn send(&mut self, event: Event) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.event(event);
        }
    }

    fn about(&mut self, op: Op, goal: Goal<'e>, node: Node, span: Span) -> Event {
        let observer = self.observer.as_deref();
        let named = observer.is_some_and(Observer::needs_locals);
        let frame = self.frames.get(goal.frame as usize).filter(|_| named);
        let mut bound: Vec<(&'e str, T<'e>)> = frame
            .into_iter()
            .flatten()
            .map(|(name, value)| (*name, *value))
            .collect();
        bound.sort_by_key(|(name, _)| *name);
        let locals = bound.into_iter().map(|(name, value)| {
            let plugged = self.plug(value);
            Local {
                name: name.into(),
                shown: self.shown_name(name),
                value: plugged.map_or_else(|| shown(self.apply(value)), value_term),
            }
        });
        Event {
            op,
            query_id: goal.id,
            parent_id: goal.parent,
            node,
            span,
            locals: locals.collect(),
            message: String::new(),
            reference: None,
        }
    }

    /// What the user calls a variable.
    fn shown_name(&self, name: &str) -> Name {
        let originals = &self.program.canonical.originals;
        let found = originals
            .get(name)
            .or_else(|| self.originals.and_then(|originals| originals.get(name)));
        found.cloned().unwrap_or_else(|| name.into())
    }

    /// The current expression of a goal.
    fn current(&mut self, goal: Goal<'e>) -> (Node, Span) {
        let expr = match goal.exprs {
            Exprs::Body(body) => body.get(goal.at),
            Exprs::Positive(expr) => return (Node::Expr(Arc::new(positive(expr))), expr.span),
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
                return (Node::Expr(Arc::new(expr)), every.domain.span);
            }
        };
        let Some(expr) = expr else {
            return (Node::Body(Body::new()), Span::default());
        };
        let shown = self.shown.exprs.entry(std::ptr::from_ref(expr));
        let shown = shown.or_insert_with(|| Arc::new(expr.clone()));
        (Node::Expr(shown.clone()), expr.span)
    }

    fn rule_path(&self, rule: &Rule) -> Arc<str> {
        let modules = self.program.canonical.modules.iter();
        let mut terms = modules
            .filter(|module| module.source.id == rule.span.source)
            .map(|module| module.package.path.clone())
            .next()
            .unwrap_or_default();
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

/// An expression without its `not` and `with`.
fn positive(expr: &Expr) -> Expr {
    Expr {
        negated: false,
        with: Vec::new(),
        index: 0,
        ..expr.clone()
    }
}

/// A term as it stands.
fn shown(term: T<'_>) -> Term {
    match term {
        T::Known(value) => value_term(value),
        T::Term(term, _) => term.clone(),
        T::Made(Made::Var(name, _)) => Term::var(*name, Span::default()),
        T::Made(Made::Ref(terms)) => {
            let terms = terms.iter().map(|term| shown(*term)).collect();
            Term::new(TermKind::Ref(terms), Span::default())
        }
    }
}

/// A value as a term.
pub(super) fn value_term(value: V<'_>) -> Term {
    let kind = match value.kind() {
        Kind::Null => TermKind::Null,
        Kind::Boolean => TermKind::Boolean(value.holds()),
        Kind::Number => TermKind::Number(value.to_string().into()),
        Kind::String => TermKind::String(value.text_or_empty().to_str().into()),
        Kind::Array => {
            let items = value.as_array().into_iter().flat_map(|items| items.iter());
            TermKind::Array(items.map(value_term).collect())
        }
        Kind::Object => {
            let pairs = value
                .as_object()
                .into_iter()
                .flat_map(|object| object.iter());
            let pairs = pairs.map(|(key, value)| (value_term(key), value_term(value)));
            TermKind::Object(pairs.collect())
        }
        Kind::Set => {
            let members = value.as_set().into_iter().flat_map(|set| set.iter());
            TermKind::Set(members.map(value_term).collect())
        }
    };
    Term::new(kind, Span::default())
}
