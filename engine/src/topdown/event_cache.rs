//! Terms and names of events, converted once each and limited in memory.

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Body, Expr, Name, Rule, Term, TermKind};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::event_terms::value_term;
use super::machine::{Exprs, Goal};
use crate::program::canonical::is_added_test_case;
use crate::trace::EventNode;
use crate::value::{Kind, RefRepr, ValueRef};

/// Terms and names used in events, converted once each.
pub(super) struct EventCache<'e> {
    pub rules: HashMap<*const Rule, (Arc<Rule>, Arc<str>)>,
    pub exprs: HashMap<*const Expr, Arc<Expr>>,
    pub bodies: HashMap<*const Expr, Arc<Body>>,
    pub names: HashMap<&'e str, Name>,
    values: HashMap<usize, Arc<Term>>,
    /// Span of the last event of each query whose body reports a test case.
    last_spans: HashMap<u64, Span>,
    /// Bytes that terms of values may still use.
    left: usize,
    /// `true` once the events exceed the memory budget.
    pub full: bool,
}

impl EventCache<'_> {
    /// An empty cache whose terms may use `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        Self {
            rules: HashMap::new(),
            exprs: HashMap::new(),
            bodies: HashMap::new(),
            names: HashMap::new(),
            values: HashMap::new(),
            last_spans: HashMap::new(),
            left: bytes,
            full: false,
        }
    }

    /// Returns the span of an event. A call that the compiler added to a test has that of the last event of its query.
    pub fn span(&mut self, goal: Goal<'_>, node: &EventNode, span: Span) -> Span {
        let body = match goal.exprs {
            Exprs::Body(body) => body,
            Exprs::Head(rule) => &rule.body,
            Exprs::Positive(_) | Exprs::Domain(..) => return span,
        };
        if !body.iter().any(is_added_test_case) {
            return span;
        }
        let last = self.last_spans.entry(goal.id).or_insert(span);
        match node {
            EventNode::Expr(expr) if is_added_test_case(expr) => {}
            _ => *last = span,
        }
        *last
    }

    /// Returns `true` if the events exceeded the memory budget.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Converts a value to a term. Terms of collections are cached by address, because such values do not move during a
    /// search.
    pub fn value(&mut self, value: ValueRef<'_>) -> Arc<Term> {
        let Some(address) = address(value) else {
            return Arc::new(value_term(value));
        };
        if let Some(term) = self.values.get(&address) {
            return term.clone();
        }
        let term = Arc::new(self.within(value));
        self.values.insert(address, term.clone());
        term
    }

    /// Converts a value to a term if the remaining budget covers its nodes.
    pub fn within(&mut self, value: ValueRef<'_>) -> Term {
        let parts = node_count(value, self.left / size_of::<Term>());
        match parts {
            Some(parts) => {
                self.left -= parts * size_of::<Term>();
                value_term(value)
            }
            None => {
                self.full = true;
                Term::new(TermKind::Null, Span::default())
            }
        }
    }
}

/// Address of a value whose storage lives for the whole evaluation.
fn address(value: ValueRef<'_>) -> Option<usize> {
    Some(match value {
        ValueRef(RefRepr::Text(text)) => std::ptr::from_ref(text).addr(),
        ValueRef(RefRepr::Bytes(bytes)) => std::ptr::from_ref(bytes).addr(),
        ValueRef(RefRepr::ArenaText(text)) => std::ptr::from_ref(text).addr(),
        ValueRef(RefRepr::Array(items)) => std::ptr::from_ref(items).addr(),
        ValueRef(RefRepr::ArenaArray(items)) => std::ptr::from_ref(items).addr(),
        ValueRef(RefRepr::Object(object)) => std::ptr::from_ref(object).addr(),
        ValueRef(RefRepr::ArenaObject(object)) => std::ptr::from_ref(object).addr(),
        ValueRef(RefRepr::Set(set)) => std::ptr::from_ref(set).addr(),
        ValueRef(RefRepr::ArenaSet(set)) => std::ptr::from_ref(set).addr(),
        _ => return None,
    })
}

/// Number of nodes of a value, counting strings by their length, or `None` if it exceeds the maximum.
fn node_count(value: ValueRef<'_>, most: usize) -> Option<usize> {
    let own = match value.as_text() {
        Some(text) => 1 + text.as_bytes().len() / size_of::<Term>(),
        None => 1,
    };
    let left = most.checked_sub(own)?;
    let items = value.as_array().into_iter().flat_map(|items| items.iter());
    let members = value.as_set().into_iter().flat_map(|set| set.iter());
    let pairs = value
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter());
    let pairs = pairs.flat_map(|(key, value)| [key, value]);
    let mut all = items.chain(members).chain(pairs);
    let left = match value.kind() {
        Kind::Array | Kind::Set | Kind::Object => {
            stack::level(|| all.try_fold(left, |left, part| Some(left - node_count(part, left)?)))
        }
        // most nodes are scalars
        _ => Some(left),
    };
    Some(most - left?)
}
