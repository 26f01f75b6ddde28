//! The search loop: evaluates one expression after another.

use hashbrown::HashMap;

use solon_syntax::ast::{Every, Expr, ExprKind, Name, Rule, Term, TermKind};
use solon_syntax::source::Span;

use super::bindings::RuleBindings;
use super::builtin_errors::BuiltinErrors;
use super::call_stack::CallStack;
use super::calls::ResolvedOperator;
use super::event_cache::EventCache;
use super::partial_eval::PartialState;
use super::scope::{ROOT, TopdownScope};
use super::shortcuts::Shortcuts;
use super::term::{BuiltTerm, FrameId, NO_VALUE, TermRef};
use crate::bug::bug;
use crate::builtins::BuiltinContext;
use crate::limits;
use crate::program::Program;
use crate::program::canonical::Keyed;
use crate::runtime::{EvalError, Halt};
use crate::trace::{Instruments, Observer, Op};
use crate::value::{RefRepr, ValueRef};

/// Request of a continuation to its caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchFlow {
    /// Find the next solution.
    More,
    /// Find no more solutions, after the current enumeration is complete.
    Deferred,
    /// Find no more solutions.
    Stop,
}

pub(super) type SearchResult = Result<SearchFlow, Halt>;

/// Continuation that is called for each solution.
pub(super) type Continuation<'n, 'e> = &'n mut dyn FnMut(&mut Topdown<'e>) -> SearchResult;

/// Environment that a search reads.
pub struct TopdownContext<'e> {
    /// Program whose canonical bodies are searched.
    pub program: &'e Program,
    /// Base documents of the snapshot.
    pub data: ValueRef<'e>,
    /// Input document, if there is one.
    pub input: Option<ValueRef<'e>>,
    /// `true` if the first error of a built-in ends the search.
    pub strict: bool,
    /// Receives an event for each step.
    pub observer: Option<&'e mut dyn Observer>,
}

/// A query to search, in canonical form.
pub struct TopdownQuery<'e> {
    /// Canonical body of the query, in evaluation order.
    pub body: &'e [Expr],
    /// User's names of the generated locals.
    pub originals: &'e HashMap<Name, Name>,
    /// Variables whose values form a solution.
    pub variables: &'e [Name],
}

/// Expressions of a goal: a body, or parts of an expression that have events of their own.
#[derive(Clone, Copy)]
pub(super) enum Exprs<'e> {
    Body(&'e [Expr]),
    /// An expression without its `not` and `with`.
    Positive(&'e Expr),
    /// The elements of the domain of an `every`, one solution each.
    Domain(&'e Every, Span),
    /// The head of a rule, before its body.
    Head(&'e Rule),
}

/// A body that is being searched: the current position and the goal that contains it.
#[derive(Clone, Copy)]
pub(super) struct Goal<'e> {
    pub exprs: Exprs<'e>,
    /// Index of the current expression.
    pub at: usize,
    /// Environment of the variables.
    pub frame: FrameId,
    pub id: u64,
    pub parent: u64,
    /// `true` if the first solution ends the search.
    pub find_one: bool,
}

impl<'e> Goal<'e> {
    /// Returns the current expression, or `None` at the end and for goals without one.
    pub fn expr(&self) -> Option<&'e Expr> {
        match self.exprs {
            Exprs::Body(body) => body.get(self.at),
            Exprs::Positive(expr) => (self.at == 0).then_some(expr),
            Exprs::Domain(..) | Exprs::Head(_) => None,
        }
    }

    /// Returns the goal for unifying a rule's head, in the same frame.
    pub fn head(self, rule: &'e Rule) -> Self {
        let exprs = Exprs::Head(rule);
        Self { exprs, ..self }
    }

    fn next(self) -> Self {
        Self {
            at: self.at + 1,
            ..self
        }
    }
}

/// State of one search: environments, scopes and observers.
pub struct Topdown<'e> {
    pub(super) program: &'e Program,
    pub(super) originals: Option<&'e HashMap<Name, Name>>,
    /// Comprehensions of the query that are searched once.
    pub(super) keyed: Option<&'e Keyed>,
    pub(super) data: ValueRef<'e>,
    pub(super) strict: bool,
    pub(super) call: BuiltinContext<'e>,
    pub(super) observer: Option<&'e mut dyn Observer>,
    pub(super) frames: Vec<RuleBindings<'e>>,
    pub(super) spare: Vec<RuleBindings<'e>>,
    pub(super) scopes: Vec<TopdownScope<'e>>,
    pub(super) scope: usize,
    pub(super) constants: HashMap<*const Term, Option<ValueRef<'e>>, foldhash::fast::RandomState>,
    /// Functions that operators refer to, by address.
    pub(super) callees: HashMap<*const Term, ResolvedOperator, foldhash::fast::RandomState>,
    pub(super) event_cache: EventCache<'e>,
    pub(super) shortcuts: Shortcuts,
    pub(super) instruments: Option<&'e Instruments>,
    /// Collector for errors of built-ins.
    pub(super) builtin_errors: Option<&'e BuiltinErrors>,
    /// State of partial evaluation; `None` if everything is known.
    pub(super) open: Option<Box<PartialState<'e>>>,
    pub(super) call_stack: Option<Box<CallStack<'e>>>,
    /// First error of a built-in, if it ends the search later.
    pub(super) postponed: Option<Halt>,
    pub(super) next_id: u64,
    pub(super) depth: usize,
}

/// Bytes of stack that a step needs, and bytes that are added if fewer remain.
const RED_ZONE: usize = limits::VALUE_STACK;
const STACK_GROWTH: usize = RED_ZONE + (1 << 20);

impl<'e> Topdown<'e> {
    /// Creates a search without observers. Nothing is evaluated.
    pub fn new(context: TopdownContext<'e>, call: BuiltinContext<'e>) -> Self {
        Self {
            program: context.program,
            originals: None,
            keyed: None,
            data: context.data,
            strict: context.strict,
            call,
            observer: context.observer,
            frames: Vec::new(),
            spare: Vec::new(),
            scopes: vec![TopdownScope::root(context.input)],
            scope: ROOT,
            constants: HashMap::default(),
            callees: HashMap::default(),
            event_cache: EventCache::new(usize::MAX),
            shortcuts: Shortcuts::default(),
            instruments: None,
            builtin_errors: None,
            open: None,
            call_stack: None,
            postponed: None,
            next_id: 0,
            depth: 0,
        }
    }

    /// Returns all solutions of a query: the values of its variables.
    ///
    /// # Errors
    ///
    /// The first error that ends the search.
    pub fn solutions(
        &mut self,
        question: &TopdownQuery<'e>,
    ) -> Result<Vec<Vec<ValueRef<'e>>>, Box<EvalError>> {
        self.originals = Some(question.originals);
        let frame = self.push_frame();
        let goal = Goal {
            exprs: Exprs::Body(question.body),
            at: 0,
            frame,
            id: self.fresh_id(),
            parent: 0,
            find_one: false,
        };
        let mut rows = Vec::new();
        self.body_event(Op::Enter, goal);
        let outcome = self.run(goal, &mut |walk| {
            walk.body_event(Op::Exit, goal);
            let wanted = question.variables.iter();
            let row = wanted.map(|name| walk.plug(TermRef::Built(walk.variable(name, frame))));
            let row = row.map(|value| value.unwrap_or_else(|| bug!("a variable without a value")));
            rows.push(row.collect());
            walk.body_event(Op::Redo, goal);
            Ok(SearchFlow::More)
        });
        self.pop_frame();
        self.ended(outcome)?;
        // the last steps may have exceeded the memory budget
        self.bounded().map_err(Halt::into_error)?;
        Ok(rows)
    }

    /// Searches the given comprehensions of the query only once, as those of the program.
    #[must_use]
    pub fn searching_once(mut self, keyed: &'e Keyed) -> Self {
        self.keyed = Some(keyed);
        self
    }

    /// Ends the search if the events for its observer take more than `bytes` bytes.
    #[must_use]
    pub fn limiting_events(mut self, bytes: usize) -> Self {
        self.event_cache = EventCache::new(bytes);
        self
    }

    pub(super) fn variable(&self, name: &'e str, frame: FrameId) -> &'e BuiltTerm<'e> {
        self.call.arena.bump().alloc(BuiltTerm::Var(name, frame))
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns an error if the events exceed the memory budget.
    fn bounded(&self) -> Result<(), Halt> {
        if self.event_cache.is_full() {
            return Err(Halt::new(EvalError::explanation_too_large()));
        }
        Ok(())
    }

    /// Counts an iteration against the budget. Polls the clock and cancellation.
    pub(super) fn count_iteration(&mut self) -> Result<(), Halt> {
        self.bounded()?;
        match self.call.budget.step() {
            Ok(()) => Ok(()),
            Err(fault) => Err(Halt::exhausted(self.program, &fault, Span::default())),
        }
    }

    /// Tries alternatives in order until no more solutions are wanted.
    pub(super) fn alternatives<A>(
        &mut self,
        alternatives: impl IntoIterator<Item = A>,
        mut search: impl FnMut(&mut Self, A) -> SearchResult,
    ) -> SearchResult {
        let mut ending = SearchFlow::More;
        for alternative in alternatives {
            match search(self, alternative)? {
                SearchFlow::Stop => return Ok(SearchFlow::Stop),
                SearchFlow::Deferred => ending = SearchFlow::Deferred,
                SearchFlow::More => {}
            }
        }
        Ok(ending)
    }

    /// Searches the remaining expressions of a body; calls `next` for each solution.
    pub(super) fn run(&mut self, goal: Goal<'e>, next: Continuation<'_, 'e>) -> SearchResult {
        self.count_iteration()?;
        self.deeper(|walk| match walk.call_stack {
            None => walk.expr(goal, next),
            Some(_) => walk.on_call_stack(goal, next),
        })
    }

    /// Recurses one level, on a new stack segment if the current one is nearly full.
    pub(super) fn deeper(
        &mut self,
        search: impl FnOnce(&mut Self) -> SearchResult,
    ) -> SearchResult {
        if self.depth > limits::SEARCH_DEPTH {
            return Err(Halt::new(EvalError::too_deep()));
        }
        self.depth += 1;
        let outcome = stacker::maybe_grow(RED_ZONE, STACK_GROWTH, || search(self));
        self.depth -= 1;
        outcome
    }

    pub(super) fn expr(&mut self, goal: Goal<'e>, next: Continuation<'_, 'e>) -> SearchResult {
        if let (Exprs::Domain(every, span), 0) = (goal.exprs, goal.at) {
            return self.domain(goal, every, span, next);
        }
        let Some(expr) = goal.expr() else {
            return Ok(match (next(self)?, goal.find_one) {
                (SearchFlow::More, false) => SearchFlow::More,
                (_, true) => SearchFlow::Stop,
                // a continuation that wants no more solutions still lets this body finish
                (_, false) => SearchFlow::Deferred,
            });
        };
        self.expr_event(Op::Eval, goal);
        if expr.with.is_empty() || matches!(goal.exprs, Exprs::Positive(_)) {
            self.step(goal, expr, &mut |walk| walk.run(goal.next(), next))
        } else {
            self.with(goal, expr, &mut |walk| walk.run(goal.next(), next))
        }
    }

    /// Finds the ways to satisfy the current expression, ignoring its `with`.
    pub(super) fn step(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if expr.negated && !matches!(goal.exprs, Exprs::Positive(_)) {
            return self.negation(goal, expr, next);
        }
        let mut defined = false;
        let mut solved = |walk: &mut Self| {
            // the truth of a saved term is unknown
            if walk.is_left() {
                return next(walk);
            }
            defined = true;
            let flow = next(walk);
            walk.expr_event(Op::Redo, goal);
            flow
        };
        let flow = match &expr.kind {
            ExprKind::Term(term) => self.term(goal, term, &mut solved)?,
            ExprKind::Call(terms) => self.call_expr(goal, terms, &mut solved)?,
            ExprKind::Every(every) if self.open.is_some() && self.goal_depends(goal) => {
                self.open_every(goal, every, expr, &mut solved)?
            }
            ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_)
                if self.open.is_some() && self.goal_depends(goal) =>
            {
                self.save_whole(goal, expr, &mut solved)?
            }
            ExprKind::Every(every) => self.every(goal, every, expr, &mut solved)?,
            ExprKind::Not(not) => self.not_body(goal, &not.body, &mut solved)?,
            ExprKind::And(pair) => self.and(goal, &pair.lhs, &pair.rhs, &mut solved)?,
            ExprKind::Or(pair) => self.or(goal, &pair.lhs, &pair.rhs, &mut solved)?,
            ExprKind::Some(_) => solved(self)?,
        };
        if !defined {
            self.expr_event(Op::Fail, goal);
        }
        Ok(flow)
    }

    /// Searches an expression that is a term: it succeeds for each value except `false`.
    fn term(&mut self, goal: Goal<'e>, term: &'e Term, next: Continuation<'_, 'e>) -> SearchResult {
        if self.observer.is_none() && matches!(term.kind, TermKind::Boolean(true)) {
            return next(self);
        }
        let name = bumpalo::format!(in self.call.arena.bump(), "$_term_{}_{}", goal.id, goal.at);
        let value = TermRef::Built(self.variable(name.into_bump_str(), goal.frame));
        if self.open.is_some() {
            return self.open_term(goal, term, value, next);
        }
        self.unify(
            goal,
            TermRef::Term(term, goal.frame),
            value,
            &mut |walk| match walk.plug(value) {
                Some(ValueRef(RefRepr::Bool(false))) => Ok(SearchFlow::More),
                Some(_) => next(walk),
                None => {
                    bug!(NO_VALUE)
                }
            },
        )
    }

    /// Returns the goal of a closure: a body in the environment of the enclosing body.
    pub(super) fn closure(&mut self, goal: Goal<'e>, exprs: Exprs<'e>) -> Goal<'e> {
        Goal {
            exprs,
            at: 0,
            frame: goal.frame,
            id: self.fresh_id(),
            parent: goal.id,
            find_one: false,
        }
    }

    /// Returns the goal of a rule's body, in an environment of its own.
    pub(super) fn child(&mut self, goal: Goal<'e>, rule: &'e Rule, find_one: bool) -> Goal<'e> {
        let (frame, id) = (self.push_frame(), self.fresh_id());
        self.number_frame(frame, id);
        Goal {
            exprs: Exprs::Body(&rule.body),
            at: 0,
            frame,
            id,
            parent: goal.id,
            find_one,
        }
    }
}
