//! What is unknown, and what is saved so far.

use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::HashMap;
use solon_syntax::ast::{Body, Expr, Module, Name, Ref, Term};

use super::choices::Choice;
use super::closures::assigned_first;
use super::dependence::Dependence;
use super::save::Saved;
use super::support::Support;
use super::terms::Terms;
use crate::bug::bug;
use crate::index::Indexed as _;
use crate::limits;
use crate::program::canonical::DocNodeId;
use crate::program::constant;
use crate::runtime::{EvalError, Halt};
use crate::topdown::machine::{Exprs, Goal, SearchFlow, Topdown, TopdownQuery};
use crate::topdown::term::{FrameId, TermRef};
use crate::trace::Op;
use crate::value::ValueRef;

/// What is unknown, and how far rules are inlined.
#[derive(Clone, Debug)]
pub struct Inlining {
    /// What is unknown: `input`, or references into `input` and `data` whose steps are constants.
    pub unknowns: Vec<Ref>,
    /// The rules that are not inlined, by reference.
    pub disabled: Vec<Ref>,
    /// Whether no rule that depends on the unknown is inlined, and nothing is simplified.
    pub shallow: bool,
    /// Whether nondeterministic built-ins are called when their arguments are known.
    pub nondeterministic: bool,
    /// Whether a default of `false` is left out where a rule only has to hold.
    pub skip_false_defaults: bool,
    /// The package below `data` that support rules stand in.
    pub namespace: Name,
    /// Whether support rules of documents and functions stand where the policy's own do.
    pub skip_namespace: bool,
    /// Whether choices between values are told.
    pub reports_choices: bool,
    /// Whether calls are negated one by one, since all that they refer to is there.
    pub complements: bool,
}

/// Makes shorter bodies of what was saved.
pub trait Simplifier {
    /// Whether a body has a chance to hold, going by types.
    fn is_possible(&self, body: &Body) -> bool;

    /// An equivalent body of fewer variables. The live ones stay; those that are given have values before it.
    fn simplify(&self, body: Body, live: &BTreeSet<Name>, given: &BTreeSet<Name>) -> Body;
}

/// What a query still depends on.
#[derive(Debug, Default)]
pub struct Residuals {
    /// Bodies, one of which must hold.
    pub queries: Vec<Body>,
    /// Modules that the bodies refer to.
    pub support: Vec<Module>,
    /// Rules that may give several values at once, if that is asked.
    pub(crate) choices: Vec<Choice>,
}

/// What is not inlined.
pub(in crate::topdown) enum Hidden<'e> {
    /// What shares a prefix with this reference.
    Path(Vec<ValueRef<'e>>),
    /// The same, because of a `with`.
    Replaced(Vec<ValueRef<'e>>),
    /// What only has to hold, under this name.
    Truth(&'e str, FrameId),
}

/// The state of a search that leaves something open.
pub(in crate::topdown) struct PartialState<'e> {
    pub inlining: &'e Inlining,
    pub simplifier: &'e dyn Simplifier,
    pub terms: &'e Terms,
    /// The paths that are unknown; the document's name comes first.
    pub unknowns: Rc<[Vec<ValueRef<'e>>]>,
    /// The variables that are unknown.
    pub vars: UnknownVars<'e>,
    /// What is saved: for the query, and for what is being searched on its own.
    pub saved: Vec<Vec<Saved<'e>>>,
    pub hidden: Vec<Hidden<'e>>,
    pub support: Support<'e>,
    /// Rules that may give several values at once.
    pub choices: Vec<Choice>,
    /// Numbers of the environments, as names show them.
    pub ids: Vec<u64>,
    /// How many variables were made for references, by environment.
    pub ref_vars: HashMap<u64, u64>,
    /// Whether groups of rules depend on the unknown: what all evaluations know, and what this one has found out.
    pub dependence: &'e Dependence,
    pub groups: HashMap<DocNodeId, bool>,
    /// Documents of heads: the value within objects, by address of the value and depth.
    pub wrapped: HashMap<(*const Term, usize), &'e Term>,
    /// Whether the solution that is about to be told rests on a term that was saved.
    pub is_left: bool,
    /// Whether what is being searched is known in all its parts.
    pub settled: bool,
    /// How many expressions were made.
    pub exprs: usize,
    /// How many terms were made.
    pub term_count: usize,
    /// How deep the term is that is being made.
    pub nesting: usize,
}

/// The variables that are unknown, and since when.
#[derive(Default)]
pub(in crate::topdown) struct UnknownVars<'e> {
    order: Vec<(&'e str, FrameId)>,
    /// How often each is in it.
    counts: HashMap<(&'e str, FrameId), usize>,
}

impl<'e> UnknownVars<'e> {
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn push(&mut self, var: (&'e str, FrameId)) {
        self.order.push(var);
        *self.counts.entry(var).or_default() += 1;
    }

    /// Forgets those that were added since there were `len`.
    pub fn truncate(&mut self, len: usize) {
        for var in self.order.drain(len.min(self.order.len())..) {
            let Some(count) = self.counts.get_mut(&var) else {
                bug!("a variable is forgotten that was not counted");
            };
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&var);
            }
        }
    }

    pub fn contains(&self, name: &str, frame: FrameId) -> bool {
        self.counts.contains_key(&(name, frame))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'e str, FrameId)> {
        self.counts.keys().copied()
    }
}

const NOT_OPEN: &str = "a search that leaves nothing open asks what is open";

impl<'e> Topdown<'e> {
    /// What is left open. Only a search that leaves something open asks.
    pub(super) fn opened(&self) -> Option<&PartialState<'e>> {
        if self.open.is_none() {
            bug!(NOT_OPEN);
        }
        self.open.as_deref()
    }

    /// The same, to be changed.
    pub(super) fn opened_mut(&mut self) -> Option<&mut PartialState<'e>> {
        if self.open.is_none() {
            bug!(NOT_OPEN);
        }
        self.open.as_deref_mut()
    }

    /// What is saved for what is being searched.
    pub(super) fn saved_mut(&mut self) -> Option<&mut Vec<Saved<'e>>> {
        let saved = self.opened_mut().and_then(|open| open.saved.last_mut());
        if saved.is_none() {
            bug!("there is no body to save an expression for");
        }
        saved
    }

    /// Leaves open what is unknown.
    #[must_use]
    pub fn leaving_open(
        mut self,
        inlining: &'e Inlining,
        simplifier: &'e dyn Simplifier,
        terms: &'e Terms,
        dependence: &'e Dependence,
    ) -> Self {
        let path = |reference: &'e Ref| self.path_of(reference);
        let unknowns = inlining.unknowns.iter().map(path).collect();
        let hidden = inlining.disabled.iter().map(path).map(Hidden::Path);
        let hidden = hidden.collect();
        self.open = Some(Box::new(PartialState {
            inlining,
            simplifier,
            terms,
            unknowns,
            vars: UnknownVars::default(),
            saved: vec![Vec::new()],
            hidden,
            support: Support::default(),
            choices: Vec::new(),
            ids: Vec::new(),
            ref_vars: HashMap::new(),
            dependence,
            groups: HashMap::new(),
            wrapped: HashMap::new(),
            is_left: false,
            settled: false,
            exprs: 0,
            term_count: 0,
            nesting: 0,
        }));
        self
    }

    /// The constant beginning of a reference; the head's name comes first.
    pub(super) fn path_of(&self, terms: &'e [Term]) -> Vec<ValueRef<'e>> {
        let arena = self.call.arena;
        let head = terms.first().and_then(Term::as_var);
        let head = head.map(|name| arena.borrowed_text(name));
        let steps = terms.iter().skip(1).map_while(|step| {
            step.is_scalar()
                .then(|| constant(step))
                .flatten()
                .map(|value| arena.copy_of(&value))
        });
        head.into_iter().chain(steps).collect()
    }

    /// What a query still depends on.
    ///
    /// # Errors
    /// What ends the search early.
    pub fn residuals(&mut self, question: &TopdownQuery<'e>) -> Result<Residuals, Box<EvalError>> {
        self.originals = Some(question.originals);
        let live = self.live_in(question.body);
        let frame = self.push_frame();
        let id = self.fresh_id();
        self.number_frame(frame, id);
        let goal = Goal {
            exprs: Exprs::Body(question.body),
            at: 0,
            frame,
            id,
            parent: 0,
            find_one: false,
        };
        let mut queries = Vec::new();
        self.body_event(Op::Enter, goal);
        let outcome = self.run(goal, &mut |walk| {
            walk.body_event(Op::Exit, goal);
            let mut body = walk.residual_body()?;
            body.extend(walk.bindings_of(frame));
            walk.count(0)?;
            if walk.is_possible(&body) {
                let body = walk.simplified(body, &live, &BTreeSet::new());
                queries.push(numbered(body));
            }
            walk.body_event(Op::Redo, goal);
            Ok(SearchFlow::More)
        });
        self.pop_frame();
        outcome
            .and_then(|_| self.count(0))
            .map_err(Halt::into_error)?;
        let open = self.opened_mut();
        let (support, choices) = open
            .map(|open| (open.support.take(), std::mem::take(&mut open.choices)))
            .unwrap_or_default();
        Ok(Residuals {
            queries,
            support,
            choices,
        })
    }

    /// The variables of a query that its residuals must keep, and the documents that are unknown.
    fn live_in(&self, body: &'e [Expr]) -> BTreeSet<Name> {
        let mut live = self.unknown_documents();
        solon_syntax::ast::VarScan::default().each(body, |_, name| {
            let generated = name.starts_with("__local") || name.starts_with("$_term");
            if !generated {
                live.insert(name.clone());
            }
        });
        live
    }

    pub(super) fn unknown_documents(&self) -> BTreeSet<Name> {
        let inlining = self.opened().map(|open| open.inlining);
        inlining
            .into_iter()
            .flat_map(|inlining| &inlining.unknowns)
            .filter_map(|reference| reference.first()?.as_var().cloned())
            .collect()
    }

    /// Whether types leave a body a chance. Those of what a `with` around it replaces are others than the policy's.
    pub(super) fn is_possible(&self, body: &Body) -> bool {
        self.is_modified()
            || self
                .opened()
                .is_none_or(|open| open.simplifier.is_possible(&assigned_first(body)))
    }

    /// A body made shorter, unless that is not wanted.
    pub(super) fn simplified(
        &self,
        body: Body,
        live: &BTreeSet<Name>,
        given: &BTreeSet<Name>,
    ) -> Body {
        match self.opened() {
            Some(open) if !open.inlining.shallow => open.simplifier.simplify(body, live, given),
            _ => body,
        }
    }

    /// Says under which number the variables of an environment are shown.
    pub(in crate::topdown) fn number_frame(&mut self, frame: FrameId, id: u64) {
        if let Some(open) = &mut self.open {
            let frame = frame as usize;
            if open.ids.len() <= frame {
                open.ids.resize(frame + 1, 0);
            }
            *open.ids.item_mut(frame) = id;
        }
    }

    /// The number under which the variables of an environment are shown.
    pub(super) fn frame_number(&self, frame: FrameId) -> u64 {
        let number = self.opened().and_then(|open| open.ids.get(frame as usize));
        *number.unwrap_or_else(|| bug!("an environment without a number"))
    }

    /// Whether a document is not inlined where it is asked for.
    pub(in crate::topdown) fn is_hidden(&self, path: &[ValueRef<'e>], ignoring_with: bool) -> bool {
        let hidden = self.opened().into_iter().flat_map(|open| &open.hidden);
        let mut hidden = hidden.filter_map(|hidden| match hidden {
            Hidden::Path(other) => Some(other),
            Hidden::Replaced(other) if !ignoring_with => Some(other),
            _ => None,
        });
        hidden.any(|other| other.iter().zip(path).all(|(one, other)| one == other))
    }

    /// Whether a term only has to hold.
    pub(super) fn is_truth(&self, term: TermRef<'e>) -> bool {
        let crate::topdown::term::ResolvedTerm::Var(name, frame) = term.resolved() else {
            return false;
        };
        let mut hidden = self.opened().into_iter().flat_map(|open| &open.hidden);
        hidden.any(
            |hidden| matches!(hidden, Hidden::Truth(other, at) if *other == name && *at == frame),
        )
    }

    /// Counts expressions that are made; there may not be too many.
    pub(super) fn count(&mut self, made: usize) -> Result<(), Halt> {
        let Some(open) = self.opened_mut() else {
            return Ok(());
        };
        open.exprs += made;
        let error = if open.exprs > limits::RESIDUAL_EXPRESSIONS {
            EvalError::too_open(limits::RESIDUAL_EXPRESSIONS, "expressions")
        } else if open.term_count > limits::RESIDUAL_TERMS {
            EvalError::too_open(limits::RESIDUAL_TERMS, "terms")
        } else if open.nesting > limits::NESTING {
            EvalError::too_deep()
        } else {
            return Ok(());
        };
        Err(Halt::new(error))
    }
}

/// Numbers the expressions of a body.
pub(super) fn numbered(mut body: Body) -> Body {
    for (at, expr) in (0_u32..).zip(&mut body) {
        expr.index = at;
    }
    body
}
