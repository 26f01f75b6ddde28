//! Queries prepared for partial evaluation.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Body, Name, Ref, Term, TermKind};

use crate::compile::Options;
use crate::error::Error;
use crate::eval::InputSource;
use crate::partial::{Dependence, Inlining, Residuals, Simplification};
use crate::query::{EvalEnv, Pinned, Recompiling, Request, eval_setup, start, within_bounds};
use crate::snapshot::Snapshot;
use crate::topdown::partial_eval::Terms;
use crate::topdown::{SearchOptions, Topdown, TopdownContext, TopdownQuery};
use crate::trace::Observer;

/// Options of a partial evaluation. By default, `input` is unknown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartialOptions {
    /// References that are unknown: `input`, or references into `input` and `data` without variables.
    pub unknowns: Vec<String>,
    /// The documents that are not inlined, by reference.
    pub disable_inlining: Vec<String>,
    /// `true` if rules that depend on unknowns are not inlined and residuals are not simplified.
    pub shallow_inlining: bool,
    /// `true` if nondeterministic built-ins are called when their arguments are known.
    pub nondeterministic_builtins: bool,
    /// `true` if a default of `false` is left out where a rule only has to be true.
    pub skip_false_defaults: bool,
    /// The package below `data` of support rules.
    pub namespace: String,
    /// `true` if support rules of documents and functions have the packages of the policy's own rules, to replace them.
    pub skip_namespace: bool,
    /// `true` if rules that may have several values at once are reported.
    pub(crate) watched: bool,
    /// `true` if comparisons are negated one by one, although their operands may be undefined.
    pub(crate) complements: bool,
}

impl PartialOptions {
    /// Sets the references that are unknown: `input`, or references into `input` and `data` without variables.
    #[must_use]
    pub fn unknowns(mut self, unknowns: Vec<String>) -> Self {
        self.unknowns = unknowns;
        self
    }

    /// Sets the documents that are not inlined, by reference.
    #[must_use]
    pub fn disable_inlining(mut self, disable_inlining: Vec<String>) -> Self {
        self.disable_inlining = disable_inlining;
        self
    }

    /// Sets whether rules that depend on unknowns are not inlined and residuals are not simplified.
    #[must_use]
    pub fn shallow_inlining(mut self, shallow_inlining: bool) -> Self {
        self.shallow_inlining = shallow_inlining;
        self
    }

    /// Sets whether nondeterministic built-ins are called when their arguments are known.
    #[must_use]
    pub fn nondeterministic_builtins(mut self, nondeterministic_builtins: bool) -> Self {
        self.nondeterministic_builtins = nondeterministic_builtins;
        self
    }

    /// Sets whether a default of `false` is left out where a rule only has to be true.
    #[must_use]
    pub fn skip_false_defaults(mut self, skip_false_defaults: bool) -> Self {
        self.skip_false_defaults = skip_false_defaults;
        self
    }

    /// Sets the package below `data` of support rules.
    #[must_use]
    pub fn namespace(mut self, namespace: String) -> Self {
        self.namespace = namespace;
        self
    }

    /// Sets whether support rules of documents and functions have the packages of the policy's own rules.
    #[must_use]
    pub fn skip_namespace(mut self, skip_namespace: bool) -> Self {
        self.skip_namespace = skip_namespace;
        self
    }
}

impl Default for PartialOptions {
    /// Returns options with an unknown input that inline everything.
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

/// A query compiled for partial evaluation. Made by [`Engine::prepare_partial`](crate::Engine::prepare_partial). After
/// a change of the engine's modules it is compiled again on its next use.
///
/// ```
/// use solon::{Engine, PartialOptions, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if {\n\tinput.role == data.role\n\tinput.n > 1\n}")?;
/// engine.put("data.role", "admin".into())?;
/// let partial = engine.prepare_partial("data.p.allow", &PartialOptions::default())?;
/// let residuals = partial.evaluate(&Request::new())?;
/// assert_eq!(residuals.query_texts(), ["input.role = \"admin\"; gt(input.n, 1)"]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedPartial {
    pub(crate) handle: Arc<Recompiling<PartialInner>>,
}

pub(crate) struct PartialInner {
    pub options: Options,
    pub inlining: Inlining,
    /// The rules that depend on unknowns.
    pub dependence: Dependence,
    pub body: Body,
    /// Maps generated locals to the user's names.
    pub originals: HashMap<Name, Name>,
}

impl PreparedPartial {
    /// Returns the query pinned to the current snapshot.
    ///
    /// # Errors
    /// [`Error::Compile`] if it no longer compiles.
    pub fn pin(&self) -> Result<PinnedPartial, Error> {
        self.handle.pin().map(PinnedPartial)
    }

    /// Returns the query pinned to a snapshot.
    ///
    /// # Errors
    /// [`Error::Compile`] if it does not compile with that policy.
    pub fn pin_to(&self, snapshot: &Snapshot) -> Result<PinnedPartial, Error> {
        self.handle.pin_to(snapshot).map(PinnedPartial)
    }

    /// Returns the query pinned to the snapshot of a request, by default the current one. Recompiles it if the policy
    /// differs.
    pub(crate) fn pin_for(&self, request: &Request<'_>) -> Result<PinnedPartial, Error> {
        self.handle.pin_for(request).map(PinnedPartial)
    }

    /// Partially evaluates the query.
    ///
    /// # Errors
    /// [`Error::Eval`] if the evaluation fails, [`Error::Input`] if the input is not valid, [`Error::Compile`] if the
    /// policy has changed and the query no longer compiles.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Residuals, Error> {
        self.search(request, SearchOptions::default())
    }

    /// Partially evaluates the query with the observers, instruments and optimisations of `options`.
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`].
    pub fn search<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<SearchOptions<'s>>,
    ) -> Result<Residuals, Error> {
        self.pin_for(request)?.search(request, options)
    }
}

/// A query for partial evaluation, pinned to a snapshot.
///
/// ```
/// use solon::{Engine, PartialOptions, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.n > data.least")?;
/// engine.put("data.least", 1.into())?;
/// let pinned = engine.prepare_partial("data.p.allow", &PartialOptions::default())?.pin()?;
/// engine.put("data.least", 5.into())?;
/// assert_eq!(pinned.evaluate(&Request::new())?.query_texts(), ["gt(input.n, 1)"]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PinnedPartial(pub(crate) Pinned<PartialInner>);

impl PinnedPartial {
    /// Returns the snapshot that all evaluations of this query use.
    pub fn snapshot(&self) -> &Snapshot {
        &self.0.snapshot
    }

    /// Partially evaluates the query.
    ///
    /// # Errors
    /// [`Error::Eval`] if the evaluation fails, [`Error::Input`] if the input is not valid.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Residuals, Error> {
        self.search(request, SearchOptions::default())
    }

    /// Partially evaluates the query with the observers, instruments and optimisations of `options`.
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`].
    pub fn search<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<SearchOptions<'s>>,
    ) -> Result<Residuals, Error> {
        let SearchOptions {
            observer,
            instruments,
            shortcuts,
            builtin_errors: faults,
            ..
        } = options.into();
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
        start(shared, request, |memory| {
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
            let search = Topdown::new(context, call)
                .limiting_events(limits.explanation.unwrap_or(usize::MAX));
            let search = search.tuned(shortcuts, instruments).collecting(faults);
            let mut search =
                search.leaving_open(&inner.inlining, &simplifier, &terms, &inner.dependence);
            let residuals = search.residuals(&question)?;
            within_bounds(arena)?;
            Ok(residuals)
        })
    }
}

/// Returns the reference of a term that is a variable or a reference whose operands are constants. `None` for other terms. The head
/// may be any variable, as in OPA: a reference to an unknown that does not exist has no effect.
pub(crate) fn document(term: Term) -> Option<Ref> {
    match term.kind {
        TermKind::Var(_) => Some(vec![term]),
        TermKind::Ref(terms) => terms.iter().skip(1).all(Term::is_scalar).then_some(terms),
        _ => None,
    }
}
