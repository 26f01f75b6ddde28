//! Explanations: what a search did, step by step.

mod document;

use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;

use solon_syntax::ast::visit::{Flow, Terms, Walk as _};
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
use crate::trace::{
    self, Detail, Event, Names, Observer, Observers, Pretty, Recorder, Sources, Spelling,
};
use crate::value::json::TooLong;

type Files = std::collections::HashMap<SourceId, Arc<str>>;

/// How much is told of a search, and to whom. Where the events are all, a [`Detail`] does.
#[non_exhaustive]
pub struct ExplainOptions<'s> {
    /// Which events.
    pub detail: Detail,
    /// Whether the values of documents are told beside those of variables.
    pub documents: bool,
    /// Who else watches and measures, and which shortcuts are taken.
    pub search: SearchOptions<'s>,
}

impl<'s> ExplainOptions<'s> {
    /// Some events, without the values of documents.
    pub fn new(detail: Detail) -> Self {
        Self {
            detail,
            documents: false,
            search: SearchOptions::default(),
        }
    }

    /// Whether the values of documents are told beside those of variables.
    #[must_use]
    pub fn documents(mut self, documents: bool) -> Self {
        self.documents = documents;
        self
    }

    /// Watched by others as well, like [`Coverage`](crate::trace::Coverage) or [`Profile`](crate::trace::Profile), and
    /// measured.
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

/// The answer to a query and how it was found: its solutions, or what it still depends on.
///
/// ```
/// use solon::trace::Detail;
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.x > 1")?;
/// let allow = engine.prepare_document("p/allow")?;
/// let explained = allow.explain(&Request::new().input_json(br#"{"x": 1}"#), Detail::Fails);
/// assert!(explained.lines(false, false)?.iter().any(|line| line.contains("Fail")));
/// # Ok::<(), solon::Error>(())
/// ```
#[non_exhaustive]
pub struct Explanation<T = Vec<Solution>> {
    /// The answer, or what ended the search.
    pub result: Result<T, Error>,
    /// What is shown of what happened, in order.
    pub events: Vec<Event>,
    /// Longest text that is made of the events, in bytes.
    longest: usize,
    query: ExplainedQuery,
}

/// What was asked.
pub(crate) enum ExplainedQuery {
    Query(Pinned<QueryInner>),
    Partial(Pinned<PartialInner>),
    /// What does not compile any more.
    Nothing,
}

impl PreparedQuery {
    /// As [`PinnedQuery::search`].
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search(
        &self,
        request: &Request<'_>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Solution>, Error> {
        self.pin_for(request)?.search(request, observer)
    }

    /// As [`PinnedQuery::search_as`].
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search_as(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Vec<Solution>, Error> {
        self.pin_for(request)?.search_as(request, search)
    }

    /// As [`PinnedQuery::explain`].
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        watched: impl Into<ExplainOptions<'s>>,
    ) -> Explanation {
        match self.pin_for(request) {
            Ok(bound) => bound.explain(request, watched),
            Err(error) => Explanation::without_query(Err(error)),
        }
    }

    /// As [`PinnedQuery::checked`].
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search_checked(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Vec<Solution>, Error> {
        self.pin_for(request)?.checked(request, search)
    }
}

impl PinnedQuery {
    /// The same as [`Self::solutions`], found by the machine that searches, whose steps an observer may follow.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search(
        &self,
        request: &Request<'_>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Solution>, Error> {
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        self.search_as(
            request,
            SearchOptions {
                observer,
                ..SearchOptions::default()
            },
        )
    }

    /// The same, watched and measured as asked.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search_as(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Vec<Solution>, Error> {
        let inner = &*self.0.prepared;
        query::search(self.eval_env(), request, search, inner, |walk, inner| {
            let mut walk = walk.searching_once(&inner.keyed).with_call_stack();
            let rows = walk.solutions(&inner.question()).map_err(|mut error| {
                error.stack = walk.stack();
                error
            })?;
            Ok(rows.iter().filter_map(|row| inner.solution(row)).collect())
        })
    }

    /// Answers a request and tells how. A debug build asks the other machine as well; where that answers otherwise
    /// the answer is an internal error.
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
        watched: impl Into<ExplainOptions<'s>>,
    ) -> Explanation {
        let asked = ExplainedQuery::Query(self.0.clone());
        Explanation::record(asked, &self.0.shared, request, watched.into(), |search| {
            self.checked(request, search)
        })
    }

    /// The same as [`Self::search_as`]; in a debug build the other machine must answer alike.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn checked(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Vec<Solution>, Error> {
        let usual = search.shortcuts == Shortcuts::default();
        let answer = self.search_as(request, search);
        if cfg!(debug_assertions) && usual && !self.is_nondeterministic() {
            let planned = self.solutions(&request.silent());
            if !agree(&planned, &answer) && !ran_out(&planned) && !ran_out(&answer) {
                return Err(self.disagreement());
            }
        }
        answer
    }

    /// Whether a second look may rightly see something else.
    fn is_nondeterministic(&self) -> bool {
        let program = self.eval_env().program();
        let functions = &program.functions;
        let mut found = functions.iter().any(|function| !function.memoise);
        let mut look = Terms(|term: &Term| {
            if let TermKind::Ref(_) = &term.kind {
                found = found
                    || builtins::all().any(|entry| {
                        entry.builtin.nondeterministic && term.is_operator(entry.builtin.name)
                    });
            }
            Flow::Into
        });
        self.0.prepared.body.walk(&mut look);
        let modules = program.canonical.modules.iter();
        modules.for_each(|module| module.rules.walk(&mut look));
        found
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

/// Whether two answers are the same, of errors the code, the message and the place.
fn agree(left: &Result<Vec<Solution>, Error>, right: &Result<Vec<Solution>, Error>) -> bool {
    match (left, right) {
        (Ok(left), Ok(right)) => left == right,
        (Err(left), Err(right)) => {
            let told = |error: &Error| -> Vec<_> {
                let entries = error.entries().into_iter();
                entries
                    .map(|entry| (entry.code, entry.message, entry.location))
                    .collect()
            };
            told(left) == told(right)
        }
        _ => false,
    }
}

/// Whether a bound ended the evaluation, which the machines do not reach at the same point.
fn ran_out(answer: &Result<Vec<Solution>, Error>) -> bool {
    matches!(answer, Err(Error::Eval(error)) if matches!(error.code, EvalErrorCode::Cancel(_)))
}

impl PreparedPartial {
    /// As [`PinnedPartial::explain`].
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        watched: impl Into<ExplainOptions<'s>>,
    ) -> Explanation<Residuals> {
        match self.pin_for(request) {
            Ok(bound) => bound.explain(request, watched),
            Err(error) => Explanation::without_query(Err(error)),
        }
    }
}

impl PinnedPartial {
    /// What the query still depends on, and how that was found.
    ///
    /// ```
    /// use solon::trace::Detail;
    /// use solon::{Engine, PartialOptions, Request};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow if input.x > 1")?;
    /// let partial = engine.prepare_partial_document("p/allow", &PartialOptions::default())?;
    /// let explained = partial.pin()?.explain(&Request::new(), Detail::Full);
    /// assert!(explained.lines(false, false)?.iter().any(|line| line.contains("Save")));
    /// assert_eq!(explained.result?.query_texts(), ["gt(input.x, 1)"]);
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        watched: impl Into<ExplainOptions<'s>>,
    ) -> Explanation<Residuals> {
        let asked = ExplainedQuery::Partial(self.0.clone());
        Explanation::record(asked, &self.0.shared, request, watched.into(), |search| {
            self.evaluate_as(request, search)
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

    /// The user's names of generated locals.
    fn originals(&self) -> Option<&HashMap<Name, Name>> {
        match self {
            Self::Query(query) => Some(&query.prepared.originals),
            Self::Partial(partial) => Some(&partial.prepared.originals),
            Self::Nothing => None,
        }
    }
}

impl<T> Explanation<T> {
    /// Nothing happened.
    fn without_query(answer: Result<T, Error>) -> Self {
        Self {
            result: answer,
            events: Vec::new(),
            longest: limits::RESULT_BYTES,
            query: ExplainedQuery::Nothing,
        }
    }

    /// The answer, and apart from it how it was found.
    pub(crate) fn split(self) -> (Result<T, Error>, Explanation<()>) {
        let how = Explanation {
            result: Ok(()),
            events: self.events,
            longest: self.longest,
            query: self.query,
        };
        (self.result, how)
    }

    /// The same with something else made of the answer.
    fn map<U>(self, make: impl FnOnce(T) -> U) -> Explanation<U> {
        Explanation {
            result: self.result.map(make),
            events: self.events,
            longest: self.longest,
            query: self.query,
        }
    }

    /// What `run` answers, and what it tells on the way.
    pub(crate) fn record(
        asked: ExplainedQuery,
        shared: &EngineShared,
        request: &Request<'_>,
        watched: ExplainOptions<'_>,
        run: impl FnOnce(SearchOptions<'_>) -> Result<T, Error>,
    ) -> Self {
        let ExplainOptions {
            detail,
            documents,
            search,
        } = watched;
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
        let answer = run(SearchOptions {
            observer: Some(&mut observers),
            ..search
        });
        Self {
            result: answer,
            events: recorder.into_events(),
            longest: longest.min(limits::RESULT_BYTES),
            query: asked,
        }
    }

    /// The lines of the trace; with places, each begins with the file and the row.
    ///
    /// # Errors
    /// [`Error::Eval`] when they would get too long.
    pub fn lines(&self, places: bool, variables: bool) -> Result<Vec<String>, Error> {
        self.lines_with_gap(places, variables, 0)
    }

    /// The same with so many blanks more after each column.
    ///
    /// # Errors
    /// As for [`Self::lines`].
    pub fn lines_with_gap(
        &self,
        places: bool,
        variables: bool,
        gap: usize,
    ) -> Result<Vec<String>, Error> {
        let how = Pretty {
            gap,
            files: places.then(|| self.files()),
            variables,
            originals: self.names(),
        };
        Error::caught(|| trace::pretty(&self.events, how, self.longest).map_err(too_long))
    }

    /// The events as JSON, in the form of the REST API.
    ///
    /// # Errors
    /// [`Error::Eval`] when the text would get too long.
    pub fn json(&self, spelling: Spelling) -> Result<String, Error> {
        Error::caught(|| trace::json(&self.events, spelling, self.longest).map_err(too_long))
    }

    /// The events as JSON, in the form of the command line.
    ///
    /// # Errors
    /// [`Error::Eval`] when the text would get too long.
    pub fn detailed_json(&self) -> Result<String, Error> {
        let sources = Sources {
            files: self.files(),
            originals: self.names(),
        };
        Error::caught(|| trace::detailed(&self.events, sources, self.longest).map_err(too_long))
    }

    fn files(&self) -> &Files {
        static NONE: LazyLock<Files> = LazyLock::new(Files::new);
        let policy = self.query.policy();
        policy.map_or(&NONE, |policy| &policy.program.files)
    }

    fn names(&self) -> Names<'_> {
        let policy = self.query.policy();
        Names {
            modules: policy.map(|policy| &*policy.program.canonical.originals),
            query: self.query.originals(),
        }
    }
}

fn too_long(_: TooLong) -> Error {
    Error::Eval(Box::new(EvalError::explanation_too_large()))
}
