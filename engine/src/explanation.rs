//! Explanations: the steps of an evaluation.

mod document;

use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;

use solon_syntax::ast::visit::{Descent, Terms, Walk as _};
use solon_syntax::ast::{Name, Term, TermKind};
use solon_syntax::source::SourceId;

use crate::builtins::{self, EvalErrorCode};
use crate::error::Error;
use crate::limits;
use crate::partial::Residuals;
use crate::partial_query::{PartialInner, PinnedPartial, PreparedPartial};
use crate::query::{
    self, EngineShared, Pinned, PinnedQuery, PreparedQuery, QueryInner, Request, Solution,
};
use crate::runtime::EvalError;
use crate::snapshot::Policy;
use crate::topdown::{SearchOptions, Shortcuts};
use crate::trace::{self, Detail, Event, EventNames, Names, Observers, Pretty, Recorder, Spelling};
use crate::value::json::TooLong;

type SourceFiles = std::collections::HashMap<SourceId, Arc<str>>;

/// Options of an explanation. To select events only, pass a [`Detail`].
#[non_exhaustive]
pub struct ExplainOptions<'s> {
    /// Selects the events.
    pub detail: Detail,
    /// `true` if values of documents are shown in addition to those of variables.
    pub documents: bool,
    /// Further observers and instruments, and the optimisations of the tracing evaluator.
    pub search: SearchOptions<'s>,
}

impl<'s> ExplainOptions<'s> {
    /// Selects events, without the values of documents.
    pub fn new(detail: Detail) -> Self {
        Self {
            detail,
            documents: false,
            search: SearchOptions::default(),
        }
    }

    /// Sets whether values of documents are shown in addition to those of variables.
    #[must_use]
    pub fn documents(mut self, documents: bool) -> Self {
        self.documents = documents;
        self
    }

    /// Adds further observers, like [`Coverage`](crate::trace::Coverage) or [`Profile`](crate::trace::Profile), and
    /// instruments.
    #[must_use]
    pub fn search(mut self, search: SearchOptions<'s>) -> Self {
        self.search = search;
        self
    }
}

impl From<Detail> for ExplainOptions<'_> {
    fn from(detail: Detail) -> Self {
        Self::new(detail)
    }
}

/// Options of the lines of a trace ([`Explanation::lines`]). By default, lines have neither.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TraceLines {
    /// `true` if each line starts with the file and the row.
    pub locations: bool,
    /// `true` if the values of variables are shown.
    pub variables: bool,
    /// Number of additional blanks after each column.
    pub gap: usize,
}

impl TraceLines {
    /// Sets whether each line starts with the file and the row.
    #[must_use]
    pub fn locations(mut self, locations: bool) -> Self {
        self.locations = locations;
        self
    }

    /// Sets whether the values of variables are shown.
    #[must_use]
    pub fn variables(mut self, variables: bool) -> Self {
        self.variables = variables;
        self
    }

    /// Sets the number of additional blanks after each column.
    #[must_use]
    pub fn gap(mut self, gap: usize) -> Self {
        self.gap = gap;
        self
    }
}

/// The result of an explained query, its solutions or residuals, and the steps that led to it.
///
/// ```
/// use solon::trace::Detail;
/// use solon::{Engine, Request, TraceLines};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.x > 1")?;
/// let allow = engine.prepare_document("data.p.allow")?;
/// let explained = allow.explain(&Request::new().input_json(br#"{"x": 1}"#), Detail::Fails);
/// assert!(explained.lines(TraceLines::default())?.iter().any(|line| line.contains("Fail")));
/// # Ok::<(), solon::Error>(())
/// ```
#[non_exhaustive]
pub struct Explanation<T = Vec<Solution>> {
    /// The result, or the error that ended the evaluation.
    pub result: Result<T, Error>,
    /// The selected events, in order.
    pub events: Vec<Event>,
    /// Maximum length of a text made of the events, in bytes.
    longest: usize,
    query: ExplainedQuery,
}

pub(crate) enum ExplainedQuery {
    Query(Pinned<QueryInner>),
    Partial(Pinned<PartialInner>),
    /// A query that no longer compiles.
    Nothing,
}

impl PreparedQuery {
    /// Calls [`PinnedQuery::search`] with the snapshot of the request.
    ///
    /// # Errors
    /// Errors of [`Self::solutions`].
    pub fn search<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<SearchOptions<'s>>,
    ) -> Result<Vec<Solution>, Error> {
        self.pin_for(request)?.search(request, options)
    }

    /// Calls [`PinnedQuery::explain`] with the snapshot of the request.
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<ExplainOptions<'s>>,
    ) -> Explanation {
        match self.pin_for(request) {
            Ok(pinned) => pinned.explain(request, options),
            Err(error) => Explanation::without_query(Err(error)),
        }
    }
}

impl PinnedQuery {
    /// Returns the same as [`Self::solutions`], computed by the tracing evaluator with the observers, instruments and
    /// optimisations of `options`.
    ///
    /// # Errors
    /// Errors of [`Self::solutions`].
    pub fn search<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<SearchOptions<'s>>,
    ) -> Result<Vec<Solution>, Error> {
        let options = options.into();
        let compared = cfg!(debug_assertions)
            && options.cross_check
            && options.shortcuts == Shortcuts::default()
            && !self.is_nondeterministic();
        let result = self.searched(request, options);
        if compared {
            let planned = self.solutions(&request.silent());
            if !agree(&planned, &result) && !ran_out(&planned) && !ran_out(&result) {
                return Err(self.disagreement());
            }
        }
        result
    }

    fn searched(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Vec<Solution>, Error> {
        let inner = &*self.0.prepared;
        query::search(
            self.eval_env(),
            request,
            search,
            inner,
            |evaluator, inner| {
                let mut evaluator = evaluator.searching_once(&inner.keyed).with_call_stack();
                let rows = evaluator
                    .solutions(&inner.question())
                    .map_err(|mut error| {
                        error.stack = evaluator.stack();
                        error
                    })?;
                Ok(rows.iter().filter_map(|row| inner.solution(row)).collect())
            },
        )
    }

    /// Evaluates a request and records the steps. A debug build also runs the fast evaluator; a different result is an
    /// internal error.
    ///
    /// ```
    /// use solon::trace::{Coverage, Detail};
    /// use solon::{Engine, Request, SearchOptions, ExplainOptions};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow if input.x > 1")?;
    /// let query = engine.prepare_query("data.p.allow")?.pin()?;
    /// let mut coverage = Coverage::default();
    /// let watched = ExplainOptions::new(Detail::Full).search(SearchOptions::default().observer(&mut coverage));
    /// let explained = query.explain(&Request::new().input_json(br#"{"x": 2}"#), watched);
    /// assert_eq!(explained.result?.len(), 1);
    /// let modules = query.snapshot().modules().map(|(_, module)| &**module);
    /// assert_eq!(coverage.report(&[], modules).coverage, 100.0);
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<ExplainOptions<'s>>,
    ) -> Explanation {
        let query = ExplainedQuery::Query(self.0.clone());
        Explanation::record(query, &self.0.shared, request, options.into(), |search| {
            self.search(request, search.cross_check(true))
        })
    }

    /// Returns `true` if a second evaluation may legitimately return something else.
    fn is_nondeterministic(&self) -> bool {
        let program = self.eval_env().program();
        let functions = &program.functions;
        let mut is_found = functions.iter().any(|function| !function.memoise);
        let mut visit = Terms(|term: &Term| {
            if let TermKind::Ref(_) = &term.kind {
                is_found = is_found
                    || builtins::all().any(|entry| {
                        entry.builtin.nondeterministic && term.is_operator(entry.builtin.name)
                    });
            }
            Descent::Into
        });
        self.0.prepared.body.walk(&mut visit);
        let modules = program.canonical.modules.iter();
        modules.for_each(|module| module.rules.walk(&mut visit));
        is_found
    }

    fn disagreement(&self) -> Error {
        let query = &self.0.prepared.source.text;
        let message = format!("both machines answer the query `{query}`, but not alike");
        Error::Eval(Box::new(EvalError::nowhere(
            EvalErrorCode::Internal,
            message,
        )))
    }
}

/// Returns `true` if two results are equal. Errors are equal if code, message and location are.
fn agree(left: &Result<Vec<Solution>, Error>, right: &Result<Vec<Solution>, Error>) -> bool {
    match (left, right) {
        (Ok(left), Ok(right)) => left == right,
        (Err(left), Err(right)) => {
            let entries_of = |error: &Error| -> Vec<_> {
                let entries = error.entries().into_iter();
                entries
                    .map(|entry| (entry.code, entry.message, entry.location))
                    .collect()
            };
            entries_of(left) == entries_of(right)
        }
        _ => false,
    }
}

/// Returns `true` if a limit ended the evaluation. The evaluators do not reach limits at the same point.
fn ran_out(result: &Result<Vec<Solution>, Error>) -> bool {
    matches!(result, Err(Error::Eval(error)) if matches!(error.code, EvalErrorCode::Cancel(_)))
}

impl PreparedPartial {
    /// Calls [`PinnedPartial::explain`] with the snapshot of the request.
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<ExplainOptions<'s>>,
    ) -> Explanation<Residuals> {
        match self.pin_for(request) {
            Ok(pinned) => pinned.explain(request, options),
            Err(error) => Explanation::without_query(Err(error)),
        }
    }
}

impl PinnedPartial {
    /// Partially evaluates the query and records the steps.
    ///
    /// ```
    /// use solon::trace::Detail;
    /// use solon::{Engine, PartialOptions, Request, TraceLines};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow if input.x > 1")?;
    /// let partial = engine.prepare_partial("data.p.allow", &PartialOptions::default())?;
    /// let explained = partial.pin()?.explain(&Request::new(), Detail::Full);
    /// assert!(explained.lines(TraceLines::default())?.iter().any(|line| line.contains("Save")));
    /// assert_eq!(explained.result?.query_texts(), ["gt(input.x, 1)"]);
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<ExplainOptions<'s>>,
    ) -> Explanation<Residuals> {
        let query = ExplainedQuery::Partial(self.0.clone());
        Explanation::record(query, &self.0.shared, request, options.into(), |search| {
            self.search(request, search)
        })
    }
}

impl ExplainedQuery {
    fn policy(&self) -> Option<&Policy> {
        let snapshot = match self {
            Self::Query(query) => &query.snapshot,
            Self::Partial(partial) => &partial.snapshot,
            Self::Nothing => return None,
        };
        Some(&snapshot.state().policy)
    }

    /// Maps generated locals to the user's names.
    fn originals(&self) -> Option<&HashMap<Name, Name>> {
        match self {
            Self::Query(query) => Some(&query.prepared.originals),
            Self::Partial(partial) => Some(&partial.prepared.originals),
            Self::Nothing => None,
        }
    }
}

impl<T> Explanation<T> {
    /// Returns an explanation without events, for a result that was not searched.
    fn without_query(result: Result<T, Error>) -> Self {
        Self {
            result,
            events: Vec::new(),
            longest: limits::RESULT_BYTES,
            query: ExplainedQuery::Nothing,
        }
    }

    /// Splits the explanation into the result and the recorded steps.
    pub(crate) fn split(self) -> (Result<T, Error>, Explanation<()>) {
        let explanation = Explanation {
            result: Ok(()),
            events: self.events,
            longest: self.longest,
            query: self.query,
        };
        (self.result, explanation)
    }

    fn map<U>(self, make: impl FnOnce(T) -> U) -> Explanation<U> {
        Explanation {
            result: self.result.map(make),
            events: self.events,
            longest: self.longest,
            query: self.query,
        }
    }

    /// Calls `run` with a recorder as observer, and returns its result with the recorded events.
    pub(crate) fn record(
        query: ExplainedQuery,
        shared: &EngineShared,
        request: &Request<'_>,
        options: ExplainOptions<'_>,
        run: impl FnOnce(SearchOptions<'_>) -> Result<T, Error>,
    ) -> Self {
        let ExplainOptions {
            detail,
            documents,
            search,
        } = options;
        let limits = request.bounds(shared);
        let mut recorder = Recorder::new(detail, limits.explanation.unwrap_or(usize::MAX));
        if documents {
            recorder = recorder.with_documents();
        }
        let longest = limits.memory.unwrap_or(usize::MAX);
        let mut observers = Observers(vec![&mut recorder]);
        if let Some(observer) = search.observer {
            observers.0.push(observer);
        }
        let result = run(SearchOptions {
            observer: Some(&mut observers),
            ..search
        });
        Self {
            result,
            events: recorder.into_events(),
            longest: longest.min(limits::RESULT_BYTES),
            query,
        }
    }

    /// Returns the lines of the trace.
    ///
    /// # Errors
    /// [`Error::Eval`] if they exceed the maximum length.
    pub fn lines(&self, options: TraceLines) -> Result<Vec<String>, Error> {
        let format = Pretty {
            gap: options.gap,
            files: options.locations.then(|| self.files()),
            variables: options.variables,
            originals: self.names(),
        };
        Error::caught(|| trace::pretty(&self.events, format, self.longest).map_err(too_long))
    }

    /// Returns the events as JSON in the format of the REST API.
    ///
    /// # Errors
    /// [`Error::Eval`] if the text exceeds the maximum length.
    pub fn json(&self, spelling: Spelling) -> Result<String, Error> {
        Error::caught(|| trace::json(&self.events, spelling, self.longest).map_err(too_long))
    }

    /// Returns the events as JSON in the format of the command line.
    ///
    /// # Errors
    /// [`Error::Eval`] if the text exceeds the maximum length.
    pub fn detailed_json(&self) -> Result<String, Error> {
        let sources = EventNames {
            files: self.files(),
            originals: self.names(),
        };
        Error::caught(|| trace::detailed(&self.events, sources, self.longest).map_err(too_long))
    }

    fn files(&self) -> &SourceFiles {
        static NONE: LazyLock<SourceFiles> = LazyLock::new(SourceFiles::new);
        let policy = self.query.policy();
        policy.map_or(&NONE, |policy| &policy.program.files)
    }

    fn names(&self) -> Names<'_> {
        let policy = self.query.policy();
        Names {
            modules: policy.map(|policy| policy.program.canonical.originals.all()),
            query: self.query.originals(),
        }
    }
}

fn too_long(_: TooLong) -> Error {
    Error::Eval(Box::new(EvalError::explanation_too_large()))
}
