//! Prepared queries to be asked while something is unknown.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Body, Name, Ref, Term, TermKind};

use crate::compile::Options;
use crate::error::Error;
use crate::eval::InputSource;
use crate::partial::{Dependence, Inlining, Residuals, Simplification};
use crate::query::{EvalEnv, Pinned, Recompiling, Request, eval_setup, with_memory, within_bounds};
use crate::snapshot::Snapshot;
use crate::topdown::partial_eval::Terms;
use crate::topdown::{SearchOptions, Topdown, TopdownContext, TopdownQuery};
use crate::trace::Observer;

/// What is unknown, and how far rules are inlined.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartialOptions {
    /// What is unknown: `input`, or references into `input` and `data` without variables.
    pub unknowns: Vec<String>,
    /// The documents that are not inlined, by reference.
    pub disable_inlining: Vec<String>,
    /// Whether no rule that depends on the unknown is inlined, and nothing is simplified.
    pub shallow_inlining: bool,
    /// Whether nondeterministic built-ins are called when their arguments are known.
    pub nondeterministic_builtins: bool,
    /// Whether a default of `false` is left out where a rule only has to hold.
    pub skip_false_defaults: bool,
    /// The package below `data` that support rules stand in.
    pub namespace: String,
    /// Whether support rules of documents and functions stand where the policy's own do, to take their place.
    pub skip_namespace: bool,
    /// Whether rules are told that may give several values at once.
    pub(crate) watched: bool,
    /// Whether comparisons are negated one by one, though what they refer to may be missing.
    pub(crate) complements: bool,
}

impl PartialOptions {
    /// With this unknown: `input`, or references into `input` and `data` without variables.
    #[must_use]
    pub fn unknowns(mut self, unknowns: Vec<String>) -> Self {
        self.unknowns = unknowns;
        self
    }

    /// With documents that are not inlined, by reference.
    #[must_use]
    pub fn disable_inlining(mut self, disable_inlining: Vec<String>) -> Self {
        self.disable_inlining = disable_inlining;
        self
    }

    /// Whether no rule that depends on the unknown is inlined, and nothing is simplified.
    #[must_use]
    pub fn shallow_inlining(mut self, shallow_inlining: bool) -> Self {
        self.shallow_inlining = shallow_inlining;
        self
    }

    /// Whether nondeterministic built-ins are called when their arguments are known.
    #[must_use]
    pub fn nondeterministic_builtins(mut self, nondeterministic_builtins: bool) -> Self {
        self.nondeterministic_builtins = nondeterministic_builtins;
        self
    }

    /// Whether a default of `false` is left out where a rule only has to hold.
    #[must_use]
    pub fn skip_false_defaults(mut self, skip_false_defaults: bool) -> Self {
        self.skip_false_defaults = skip_false_defaults;
        self
    }

    /// With support rules in another package below `data`.
    #[must_use]
    pub fn namespace(mut self, namespace: String) -> Self {
        self.namespace = namespace;
        self
    }

    /// Whether support rules of documents and functions stand where the policy's own do.
    #[must_use]
    pub fn skip_namespace(mut self, skip_namespace: bool) -> Self {
        self.skip_namespace = skip_namespace;
        self
    }
}

impl Default for PartialOptions {
    /// The input is unknown, and everything is inlined.
    fn default() -> Self {
        Self {
            unknowns: vec!["input".to_owned()],
            disable_inlining: Vec::new(),
            shallow_inlining: false,
            nondeterministic_builtins: false,
            skip_false_defaults: false,
            namespace: "partial".to_owned(),
            skip_namespace: false,
            watched: false,
            complements: false,
        }
    }
}

/// A compiled query that is asked while something is unknown. Made by
/// [`Engine::prepare_partial`](crate::Engine::prepare_partial). It follows its engine: where modules have changed it is
/// compiled anew on its next use.
///
/// ```
/// use solon::{Engine, PartialOptions, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if {\n\tinput.role == data.role\n\tinput.n > 1\n}")?;
/// engine.put("/role", "admin".into())?;
/// let partial = engine.prepare_partial_document("p/allow", &PartialOptions::default())?;
/// let left = partial.evaluate(&Request::new())?;
/// assert_eq!(left.query_texts(), ["input.role = \"admin\"; gt(input.n, 1)"]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedPartial {
    pub(crate) handle: Arc<Recompiling<PartialInner>>,
}

/// Such a query compiled for one policy.
pub(crate) struct PartialInner {
    pub options: Options,
    pub inlining: Inlining,
    /// Which rules depend on the unknown.
    pub dependence: Dependence,
    /// The canonical body.
    pub body: Body,
    /// The user's names of its generated locals.
    pub originals: HashMap<Name, Name>,
}

impl PreparedPartial {
    /// The query as the engine's policy and documents are now.
    ///
    /// # Errors
    /// [`Error::Compile`] where it does not compile any more.
    pub fn pin(&self) -> Result<PinnedPartial, Error> {
        self.handle.pin().map(PinnedPartial)
    }

    /// The query as it was at a moment.
    ///
    /// # Errors
    /// [`Error::Compile`] where it does not compile then.
    pub fn pin_to(&self, snapshot: &Snapshot) -> Result<PinnedPartial, Error> {
        self.handle.pin_to(snapshot).map(PinnedPartial)
    }

    /// The query at the moment that a request asks about.
    pub(crate) fn pin_for(&self, request: &Request<'_>) -> Result<PinnedPartial, Error> {
        self.handle.pin_for(request).map(PinnedPartial)
    }

    /// What the query still depends on.
    ///
    /// # Errors
    /// [`Error::Eval`] when the evaluation ends early, [`Error::Input`] when the input cannot be read, [`Error::Compile`]
    /// where the policy has changed and the query does not compile any more.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Residuals, Error> {
        self.evaluate_as(request, SearchOptions::default())
    }

    /// The same, watched and measured as asked.
    ///
    /// # Errors
    /// As for [`Self::evaluate`].
    pub fn evaluate_as(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Residuals, Error> {
        self.pin_for(request)?.evaluate_as(request, search)
    }
}

/// Such a query and the moment that it asks.
///
/// ```
/// use solon::{Engine, PartialOptions, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.n > data.least")?;
/// engine.put("/least", 1.into())?;
/// let pinned = engine.prepare_partial_document("p/allow", &PartialOptions::default())?.pin()?;
/// engine.put("/least", 5.into())?;
/// assert_eq!(pinned.evaluate(&Request::new())?.query_texts(), ["gt(input.n, 1)"]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PinnedPartial(pub(crate) Pinned<PartialInner>);

impl PinnedPartial {
    /// The policy and the documents that it asks.
    pub fn snapshot(&self) -> &Snapshot {
        &self.0.snapshot
    }

    /// What the query still depends on.
    ///
    /// # Errors
    /// [`Error::Eval`] when the evaluation ends early, [`Error::Input`] when the input cannot be read.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Residuals, Error> {
        self.evaluate_as(request, SearchOptions::default())
    }

    /// The same, watched and measured as asked.
    ///
    /// # Errors
    /// As for [`Self::evaluate`].
    pub fn evaluate_as(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Residuals, Error> {
        let SearchOptions {
            observer,
            instruments,
            shortcuts,
            builtin_errors: faults,
        } = search;
        let Pinned {
            shared,
            snapshot,
            prepared: inner,
        } = &self.0;
        let basis = EvalEnv {
            shared,
            state: snapshot.state(),
            constants: &[],
            may_block: false,
        };
        let simplifier = Simplification {
            compiled: &basis.state.policy.compiled,
            options: &inner.options,
            namespace: &inner.inlining.namespace,
            silent: inner.inlining.reports_choices,
        };
        let terms = Terms::default();
        with_memory(request.bounds(shared), |memory| {
            let arena = &memory.arena;
            let (context, call) = eval_setup(arena, basis, request)?;
            let context = TopdownContext {
                program: context.program,
                data: context.data.borrow(),
                input: context.input.map(|input| match input {
                    InputSource::Value(value) => value.borrow(),
                    InputSource::Read(value) => value,
                }),
                strict: context.strict,
                observer: observer.map(|observer| observer as &mut dyn Observer),
            };
            let question = TopdownQuery {
                body: &inner.body,
                originals: &inner.originals,
                variables: &[],
            };
            let limits = request.bounds(basis.shared);
            let search =
                Topdown::new(context, call).within(limits.explanation.unwrap_or(usize::MAX));
            let search = search.tuned(shortcuts, instruments).collecting(faults);
            let mut search =
                search.leaving_open(&inner.inlining, &simplifier, &terms, &inner.dependence);
            let residuals = search.residuals(&question)?;
            within_bounds(arena)?;
            Ok(residuals)
        })
    }
}

/// A document by reference: the name of one, and constants.
pub(crate) fn document(term: Term) -> Option<Ref> {
    match term.kind {
        TermKind::Var(_) => Some(vec![term]),
        TermKind::Ref(terms) => terms.iter().skip(1).all(Term::is_scalar).then_some(terms),
        _ => None,
    }
}
