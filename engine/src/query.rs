//! Prepared queries and documents: what a host keeps and asks many times, from many threads.

mod glance;
mod search;
mod surroundings;

use hashbrown::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use solon_syntax::ast::{Body, Name};
use solon_syntax::source::Source;

use crate::builtins::http::ResponseCache;
use crate::builtins::{Capabilities, Graphs, NdBuiltinCache, Patterns, SendMetrics};
use crate::error::Error;
use crate::eval::{Entry, Given, Glimpse, Machine};
use crate::evaluation::EvalError;
use crate::host::{Cancel, Host};
use crate::limits::{self, Limits};
use crate::program::Plan;
use crate::program::canonical::Keyed;
use crate::store::Snapshot;
use crate::trace::Timer;
use crate::value::json::{self, Style, TooLong};
use crate::value::{V, Value};
pub(crate) use glance::Glances;
pub(crate) use surroundings::{Basis, Prepared, surroundings, with_memory, within_bounds};
use surroundings::{call, given, world};

pub(crate) use search::search;
use search::traced;

/// The input of an evaluation.
#[derive(Clone, Copy, Default)]
pub enum Input<'a> {
    /// `input` is undefined.
    #[default]
    Undefined,
    /// A value.
    Value(&'a Value),
    /// JSON text, read straight into the evaluation's memory.
    Json(&'a [u8]),
}

/// What one evaluation is given.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    input: Input<'a>,
    snapshot: Option<&'a Snapshot>,
    limits: Option<&'a Limits>,
    cancel: Option<&'a Cancel>,
    strict_builtin_errors: bool,
    print: Option<&'a dyn Fn(&str)>,
    nd_cache: Option<&'a NdBuiltinCache>,
    send_metrics: Option<&'a SendMetrics>,
}

impl<'a> Request<'a> {
    /// No input, the engine's data and limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// With an input.
    #[must_use]
    pub fn input(mut self, input: &'a Value) -> Self {
        self.input = Input::Value(input);
        self
    }

    /// With an input as JSON text.
    #[must_use]
    pub fn input_json(mut self, text: &'a [u8]) -> Self {
        self.input = Input::Json(text);
        self
    }

    /// On documents of another moment than now.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &'a Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// With other limits than the engine's.
    #[must_use]
    pub fn limits(mut self, limits: &'a Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// With a handle that stops it.
    #[must_use]
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Whether the first error of a built-in ends the evaluation.
    #[must_use]
    pub fn strict_builtin_errors(mut self, strict: bool) -> Self {
        self.strict_builtin_errors = strict;
        self
    }

    /// What bounds it.
    pub(crate) fn bounds(&self, shared: &'a Shared) -> &'a Limits {
        self.limits.unwrap_or(&shared.limits)
    }

    /// The same without a place for the lines of `print`.
    pub(crate) fn silent(&self) -> Self {
        Self {
            print: None,
            ..*self
        }
    }

    /// With a place for the lines of `print`.
    #[must_use]
    pub fn print(mut self, print: &'a dyn Fn(&str)) -> Self {
        self.print = Some(print);
        self
    }

    /// With a place where the answers of nondeterministic built-ins are noted, and looked up first.
    #[must_use]
    pub fn nd_builtin_cache(mut self, cache: &'a NdBuiltinCache) -> Self {
        self.nd_cache = Some(cache);
        self
    }

    /// With a place where requests of `http.send` are counted.
    #[must_use]
    pub fn send_metrics(mut self, metrics: &'a SendMetrics) -> Self {
        self.send_metrics = Some(metrics);
        self
    }
}

/// What all evaluations of an engine share.
pub(crate) struct Shared {
    pub host: Arc<dyn Host>,
    pub patterns: Patterns,
    pub graphs: Graphs,
    pub responses: ResponseCache,
    pub limits: Limits,
    pub capabilities: Option<Arc<Capabilities>>,
    /// The documents now. Readers take a guard, not a count, so that threads do not meet here.
    pub current: ArcSwap<Snapshot>,
}

/// One solution of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The query's variables, by name.
    pub bindings: Vec<(Name, Value)>,
    /// The value of each expression, in order.
    pub values: Vec<Value>,
}

/// Where a query stands: the package whose rules it may name, and what it imports.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryContext<'a> {
    /// A package, like `authz.users`.
    pub package: Option<&'a str>,
    /// Imports, like `data.users as us`.
    pub imports: &'a [String],
    /// Built-in functions that it may not call itself.
    pub unsafe_builtins: &'a [String],
    /// Who is told how long the stages of its compilation take.
    pub timer: Timer<'a>,
}

/// An expression of a query as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionText {
    /// Its text.
    pub text: String,
    /// Row of its first character.
    pub row: u32,
    /// Column of its first character.
    pub col: u32,
}

/// How the value of an expression of a query is found in a solution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expression {
    /// Behind the variables, at this position.
    Captured(usize),
    /// It has none of its own: `true`.
    Holds,
}

/// A compiled query.
#[derive(Clone)]
pub struct PreparedQuery {
    pub(crate) inner: Arc<QueryInner>,
}

pub(crate) struct QueryInner {
    pub basis: Basis,
    pub plan: Plan,
    pub constants: Vec<Value>,
    /// Names as the user wrote them, in the order of the plan's leaf.
    pub variables: Vec<Name>,
    pub expressions: Vec<Expression>,
    /// The same as they were written.
    pub texts: Vec<ExpressionText>,
    /// What the canonical body calls the variables, and the captured values behind them.
    pub wanted: Vec<Name>,
    /// The query's text.
    pub source: Source,
    /// The canonical body.
    pub body: Body,
    /// The user's names of its generated locals.
    pub originals: HashMap<Name, Name>,
    /// Its comprehensions that are searched once.
    pub keyed: Keyed,
}

impl PreparedQuery {
    /// The query's expressions, in the order of [`Solution::values`].
    pub fn expressions(&self) -> &[ExpressionText] {
        &self.inner.texts
    }

    /// Whether an evaluation may wait for the outside (`http.send`, `net.lookup_ip_addr`), so that it does not belong
    /// on a thread that others wait for.
    pub fn may_block(&self) -> bool {
        self.inner.basis.may_block
    }

    /// All solutions, in the order they are found.
    ///
    /// # Errors
    /// [`Error::Eval`] when the evaluation ends early, [`Error::Input`] when the input cannot be read.
    pub fn solutions(&self, request: &Request<'_>) -> Result<Vec<Solution>, Error> {
        let inner = &*self.inner;
        let world = inner.basis.prepared(&inner.constants);
        traced(inner, request, |request| {
            evaluate(world, request, inner, |machine, inner| {
                let rows = machine.solutions(&inner.plan)?;
                Ok(rows.iter().filter_map(|row| inner.solution(row)).collect())
            })
        })
    }
}

impl QueryInner {
    pub(crate) fn solution(&self, row: &[V<'_>]) -> Option<Solution> {
        let mut values = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            values.push(match expression {
                Expression::Captured(at) => row.get(self.variables.len() + at)?.to_value(),
                Expression::Holds => Value::Bool(true),
            });
        }
        let bindings = self
            .variables
            .iter()
            .cloned()
            .zip(row.iter().map(|value| value.to_value()))
            .collect();
        Some(Solution { bindings, values })
    }
}

/// The document at a fixed path of `data`.
#[derive(Clone)]
pub struct PreparedDocument {
    pub(crate) inner: Arc<DocumentInner>,
}

pub(crate) struct DocumentInner {
    pub basis: Basis,
    pub entry: Entry,
    pub path: Vec<Segment>,
    pub glances: Glances,
}

/// A step of a document's path: an index in an array, a name in an object.
pub(crate) struct Segment {
    pub text: Value,
    pub integer: Option<i64>,
}

impl Segment {
    pub fn new(text: &str) -> Self {
        Self {
            text: Value::string(text),
            integer: text.parse().ok(),
        }
    }

    /// The document that this step leads to.
    fn below<'e>(&'e self, document: V<'e>) -> Option<V<'e>> {
        let integer = self.integer.map(V::Int);
        match document {
            V::Array(_) | V::NewArray(_) => document.lookup(integer?),
            _ => document
                .lookup(self.text.borrow())
                .or_else(|| document.lookup(integer?)),
        }
    }
}

impl PreparedDocument {
    /// The document; `None` when it is undefined.
    ///
    /// # Errors
    /// [`Error::Eval`] when the evaluation ends early, [`Error::Input`] when the input cannot be read.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Option<Value>, Error> {
        self.evaluate_with(request, |value| value.to_value())
    }

    /// The document as JSON text, written without making a value of it first.
    ///
    /// # Errors
    /// As for [`Self::evaluate`].
    pub fn evaluate_json(&self, request: &Request<'_>) -> Result<Option<Vec<u8>>, Error> {
        self.evaluate_text(request, Style::default())
    }

    /// The document as JSON text of a style.
    ///
    /// # Errors
    /// As for [`Self::evaluate`].
    pub fn evaluate_text(
        &self,
        request: &Request<'_>,
        style: Style<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let limits = request.limits.unwrap_or(&self.inner.basis.shared.limits);
        let longest = limits
            .memory
            .unwrap_or(usize::MAX)
            .min(limits::ANSWER_BYTES);
        let text = self.evaluate_with(request, |value| {
            let mut text = Vec::with_capacity(64);
            json::write_within(value, style, longest, &mut text).map(|()| text)
        })?;
        text.transpose()
            .map_err(|TooLong| Error::Eval(Box::new(EvalError::too_large())))
    }

    /// What `read` makes of the document, which lives only as long as that.
    ///
    /// # Errors
    /// As for [`Self::evaluate`].
    pub fn evaluate_with<R>(
        &self,
        request: &Request<'_>,
        read: impl FnOnce(V<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let inner = &*self.inner;
        match inner.glance(request, read) {
            Ok(found) => Ok(found),
            Err(read) => traced(inner, request, |request| inner.evaluate(request, read)),
        }
    }

    /// Whether an evaluation may wait for the outside (`http.send`, `net.lookup_ip_addr`), so that it does not belong
    /// on a thread that others wait for.
    pub fn may_block(&self) -> bool {
        self.inner.basis.may_block
    }

    /// Whether rules make the document, or something within it.
    pub fn has_rules(&self) -> bool {
        let tree = &self.inner.basis.program.tree;
        let mut node = 0;
        for segment in &self.inner.path {
            if tree.node(node).is_some_and(|node| node.rule.is_some()) {
                return true;
            }
            let Some(child) = tree.child(node, &segment.text) else {
                return false;
            };
            node = child;
        }
        true
    }
}

impl DocumentInner {
    fn evaluate<R>(
        &self,
        request: &Request<'_>,
        read: impl FnOnce(V<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let prepared = self.basis.prepared(&[]);
        with_memory(prepared.shared, request, |arena, snapshot| {
            let input = given(arena, request)?;
            let glimpse = match (input, self.glanced(request)) {
                (Some(Given::Read(_)), Some(rule)) => {
                    self.glimpse(rule, input, || snapshot.root(), request)
                }
                _ => Glimpse::Unsure,
            };
            let found = match glimpse {
                Glimpse::Found(value) => Some(read(value)),
                Glimpse::Undefined => None,
                Glimpse::Unsure => {
                    // one expression: the machine is made where it stays
                    let mut machine = Machine::new(
                        world(prepared, snapshot, input, request),
                        call(arena, prepared, request),
                    );
                    self.document(&mut machine)?.map(read)
                }
            };
            within_bounds(arena)?;
            Ok(found)
        })
    }

    #[inline]
    fn document<'e>(&'e self, machine: &mut Machine<'e>) -> Result<Option<V<'e>>, Error> {
        let named = machine.entry(&self.entry)?;
        if named.is_some() {
            return Ok(named);
        }
        self.element(machine)
    }

    /// What is at a path that no name leads to: above it there may be an array.
    #[inline(never)]
    fn element<'e>(&'e self, machine: &mut Machine<'e>) -> Result<Option<V<'e>>, Error> {
        let Some(at) = self.path.iter().position(|one| one.integer.is_some()) else {
            return Ok(None);
        };
        let path: smallvec::SmallVec<[V<'_>; 8]> = self
            .path
            .iter()
            .map(|segment| segment.text.borrow())
            .collect();
        let above = machine.document_at(path.get(..at).unwrap_or(&[]))?;
        let below = self.path.get(at..).unwrap_or(&[]);
        Ok(below
            .iter()
            .try_fold(above, |document, segment| Some(segment.below(document?)))
            .flatten())
    }
}

/// Sets up an evaluation of `subject` and runs it.
fn evaluate<T, R>(
    prepared: Prepared<'_>,
    request: &Request<'_>,
    subject: &T,
    run: impl for<'e> FnOnce(&mut Machine<'e>, &'e T) -> Result<R, Error>,
) -> Result<R, Error> {
    with_memory(prepared.shared, request, |arena, snapshot| {
        let input = given(arena, request)?;
        // one expression: the machine is made where it stays
        let mut machine = Machine::new(
            world(prepared, snapshot, input, request),
            call(arena, prepared, request),
        );
        let result = run(&mut machine, subject)?;
        within_bounds(arena)?;
        Ok(result)
    })
}
