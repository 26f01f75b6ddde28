//! Unknowns and the expressions saved so far.

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

/// Options of partial evaluation: unknowns, and which rules are inlined.
#[derive(Clone, Debug)]
pub struct Inlining {
    /// Unknowns: `input`, or references into `input` and `data` with constant steps.
    pub unknowns: Vec<Ref>,
    /// Rules that are not inlined, by reference.
    pub disabled: Vec<Ref>,
    /// If set, rules that depend on unknowns are not inlined, and residuals are not simplified.
    pub shallow: bool,
    /// If set, nondeterministic built-ins are called once their arguments are known.
    pub nondeterministic: bool,
    /// If set, a default of `false` is omitted where a rule only needs to be true.
    pub skip_false_defaults: bool,
    /// Package below `data` for support rules.
    pub namespace: Name,
    /// If set, support rules of documents and functions keep the packages of the policy's rules.
    pub skip_namespace: bool,
    /// If set, choices between values are reported.
    pub reports_choices: bool,
    /// If set, calls are negated one by one, since all references are defined.
    pub complements: bool,
}

/// Simplifies saved bodies.
pub trait Simplifier {
    /// Returns `false` if types rule the body out.
    fn is_possible(&self, body: &Body) -> bool;

    /// Returns an equivalent body with fewer variables. The `live` variables stay; the `given` variables have values
    /// before the body.
    fn simplify(&self, body: Body, live: &BTreeSet<Name>, given: &BTreeSet<Name>) -> Body;
}

/// Result of partial evaluation: queries of which one must be true, and the rules that they use.
#[derive(Debug, Default)]
pub struct Residuals {
    /// Bodies of which at least one must hold.
    pub queries: Vec<Body>,
    /// Modules that the bodies refer to.
    pub support: Vec<Module>,
    /// Rules that may give several values at the same time, if they are reported.
    pub(crate) choices: Vec<Choice>,
}

/// References and terms that are not inlined.
pub(in crate::topdown) enum Hidden<'e> {
    /// References that share a prefix with this one.
    Path(Vec<ValueRef<'e>>),
    /// References that share a prefix with this one, because `with` replaces it.
    Replaced(Vec<ValueRef<'e>>),
    /// A term that only needs to be true, stored in this variable.
    Truth(&'e str, FrameId),
}

pub(in crate::topdown) struct PartialState<'e> {
    pub inlining: &'e Inlining,
    pub simplifier: &'e dyn Simplifier,
    pub terms: &'e Terms,
    /// Unknown paths; the first element is the document's name.
    pub unknowns: Rc<[Vec<ValueRef<'e>>]>,
    pub vars: UnknownVars<'e>,
    /// Stack of saved expressions: the query's, then those of each nested search.
    pub saved: Vec<Vec<Saved<'e>>>,
    pub hidden: Vec<Hidden<'e>>,
    pub support: Support<'e>,
    /// Rules that may give several values at the same time.
    pub choices: Vec<Choice>,
    /// Numbers of the environments, as used in generated names.
    pub ids: Vec<u64>,
    /// Number of variables created for references, by environment.
    pub ref_vars: HashMap<u64, u64>,
    /// Dependence of groups of rules on unknowns, shared by all evaluations of the query.
    pub dependence: &'e Dependence,
    pub groups: HashMap<DocNodeId, bool>,
    /// Values wrapped in the objects of a head, by address of the value and depth.
    pub wrapped: HashMap<(*const Term, usize), &'e Term>,
    /// `true` if the solution that is about to be reported depends on a saved term.
    pub is_left: bool,
    /// `true` if everything in the current search is known.
    pub settled: bool,
    /// Number of expressions created.
    pub exprs: usize,
    pub term_count: usize,
    /// Nesting depth of the term under construction.
    pub nesting: usize,
}

/// Unknown variables, as a stack.
#[derive(Default)]
pub(in crate::topdown) struct UnknownVars<'e> {
    order: Vec<(&'e str, FrameId)>,
    /// Number of occurrences of each variable.
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

    /// Removes all variables added since the stack had `len` elements.
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
    /// Returns the state of partial evaluation. Only called during partial evaluation.
    pub(super) fn opened(&self) -> Option<&PartialState<'e>> {
        if self.open.is_none() {
            bug!(NOT_OPEN);
        }
        self.open.as_deref()
    }

    /// Mutable version of [`Self::opened`].
    pub(super) fn opened_mut(&mut self) -> Option<&mut PartialState<'e>> {
        if self.open.is_none() {
            bug!(NOT_OPEN);
        }
        self.open.as_deref_mut()
    }

    /// Returns the expressions saved by the innermost search.
    pub(super) fn saved_mut(&mut self) -> Option<&mut Vec<Saved<'e>>> {
        let saved = self.opened_mut().and_then(|open| open.saved.last_mut());
        if saved.is_none() {
            bug!("there is no body to save an expression for");
        }
        saved
    }

    /// Enables partial evaluation. References that may read an unknown are saved instead of evaluated.
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

    /// Returns the constant prefix of a reference, starting with the name of its head.
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

    /// Returns the residuals of a query.
    ///
    /// # Errors
    ///
    /// The first error that ends the search.
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

    /// Returns the variables of a query that its residuals must keep, and the unknown documents.
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

    /// Returns `false` if types rule a body out. Inside a `with`, the replaced documents may have other types than in
    /// the policy.
    pub(super) fn is_possible(&self, body: &Body) -> bool {
        self.is_modified()
            || self
                .opened()
                .is_none_or(|open| open.simplifier.is_possible(&assigned_first(body)))
    }

    /// Returns a simplified body, unless simplification is disabled.
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

    /// Sets the number used in generated names for an environment.
    pub(in crate::topdown) fn number_frame(&mut self, frame: FrameId, id: u64) {
        if let Some(open) = &mut self.open {
            let frame = frame as usize;
            if open.ids.len() <= frame {
                open.ids.resize(frame + 1, 0);
            }
            *open.ids.item_mut(frame) = id;
        }
    }

    /// Returns the number used in generated names for an environment.
    pub(super) fn frame_number(&self, frame: FrameId) -> u64 {
        let number = self.opened().and_then(|open| open.ids.get(frame as usize));
        *number.unwrap_or_else(|| bug!("an environment without a number"))
    }

    /// Returns `true` if a document is not inlined.
    pub(in crate::topdown) fn is_hidden(&self, path: &[ValueRef<'e>], ignoring_with: bool) -> bool {
        let hidden = self.opened().into_iter().flat_map(|open| &open.hidden);
        let mut hidden = hidden.filter_map(|hidden| match hidden {
            Hidden::Path(other) => Some(other),
            Hidden::Replaced(other) if !ignoring_with => Some(other),
            _ => None,
        });
        hidden.any(|other| other.iter().zip(path).all(|(one, other)| one == other))
    }

    /// Returns `true` if a term only needs to be true; its value is not used.
    pub(super) fn is_truth(&self, term: TermRef<'e>) -> bool {
        let crate::topdown::term::ResolvedTerm::Var(name, frame) = term.resolved() else {
            return false;
        };
        let mut hidden = self.opened().into_iter().flat_map(|open| &open.hidden);
        hidden.any(
            |hidden| matches!(hidden, Hidden::Truth(other, at) if *other == name && *at == frame),
        )
    }

    /// Counts created expressions and returns an error beyond the limit.
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

/// Assigns indices to the expressions of a body.
pub(super) fn numbered(mut body: Body) -> Body {
    for (at, expr) in (0_u32..).zip(&mut body) {
        expr.index = at;
    }
    body
}
