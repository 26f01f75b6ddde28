//! Documents that were asked for, prepared for the next time, and where they are evaluated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use solon::ValueRef;
use solon::json::Style;
use solon::store::Path;
use solon::{Error, Limits, PinnedDocument, PreparedDocument, Snapshot};

use super::ApiError;
use super::cache::Cache;
use super::call::Call;
use super::evaluation::Prints;
use super::state::State;
use crate::http::{LatencyEstimate, RequestExt as _, Stopwatch};

/// What an evaluation is thought to take, at most, that is made on a reactor.
const SHORT: Duration = Duration::from_micros(100);
/// What an evaluation may take on a reactor before it is made anew in the pool.
const AT_ONCE: Duration = Duration::from_micros(300);
/// Memory that it may take there.
const MEMORY_AT_ONCE: usize = 4 << 20;

/// When an evaluation ends that takes too long.
#[derive(Clone, Copy)]
enum Ends {
    /// With the request: at its deadline, or when its client has gone.
    WithRequest,
    /// At the time limit of the engine.
    ByItself,
}

/// Why a document was not evaluated.
pub enum Failure {
    /// The input is malformed.
    Input(String),
    /// Anything else.
    Other(ApiError),
}

impl Failure {
    /// Returns the failure as one text, as the log shows it.
    pub fn text(&self) -> String {
        match self {
            Self::Input(text) => text.clone(),
            Self::Other(error) => error
                .first_error()
                .or_else(|| error.message().map(str::to_owned))
                .unwrap_or_default(),
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(error) => Self::Input(error.to_string()),
            other => Self::Other(other.into()),
        }
    }
}

/// Prepared documents by the path of the requests for them.
pub struct Documents {
    kept: Cache<Box<str>, Document>,
    /// What bounds an evaluation on a reactor, beside its time.
    brief: Limits,
}

/// A prepared document.
pub struct Document {
    prepared: PreparedDocument,
    /// How long decisions take.
    estimate: Arc<LatencyEstimate>,
    /// The generation of the engine in which it was answered by a search last.
    answered: AtomicU64,
}

impl Documents {
    /// At most so many of an engine's with these limits.
    pub fn new(most: usize, limits: &Limits) -> Self {
        Self {
            kept: Cache::new(most),
            brief: limits.clone().time(None).memory(Some(MEMORY_AT_ONCE)),
        }
    }

    /// The document that a request asks for, and whether it was prepared before. Preparing is for the pool.
    ///
    /// `key` is the request's path, escapes and all, or another text that begins otherwise; `path` reads it where it is
    /// not known yet.
    pub fn get(
        &self,
        state: &State,
        request: &Call<'_>,
        key: &str,
        path: impl FnOnce() -> Result<Path, ApiError>,
    ) -> Result<(Arc<Document>, bool), ApiError> {
        if let Some(known) = self.kept.get(key) {
            return Ok((known, true));
        }
        if request.place.is_reactor() {
            return Err(ApiError::Elsewhere(None));
        }
        let document = Arc::new(Document {
            prepared: state.engine.prepare_document_at(&path()?)?,
            estimate: Arc::default(),
            answered: AtomicU64::new(u64::MAX),
        });
        Ok((self.kept.keep(key.into(), document), false))
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Forgets all of them: policies have changed.
    pub fn forget(&self) {
        self.kept.clear();
    }
}

impl Document {
    /// The document itself.
    pub fn prepared(&self) -> &PreparedDocument {
        &self.prepared
    }

    /// Whether it was answered before as policies and documents are now.
    pub fn was_answered(&self, generation: u64) -> bool {
        self.answered.load(Ordering::Relaxed) == generation || self.estimate.is_of(generation)
    }

    /// Notes that it was answered by a search.
    pub fn answered(&self, generation: u64) {
        self.answered.store(generation, Ordering::Relaxed);
    }

    /// Whether rules make it, or something within it.
    pub fn has_rules(&self) -> bool {
        self.prepared.has_rules()
    }

    /// What `read` makes of the document at a moment.
    pub fn evaluate<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        now: &PinnedDocument,
        asked: solon::Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Failure> {
        self.ask(state, request, now, asked, |document, asked| {
            document.evaluate_with(asked, read)
        })
    }

    /// The document as JSON text, as it is now or at a moment.
    pub fn evaluate_text(
        &self,
        state: &State,
        request: &Call<'_>,
        moment: Option<&Snapshot>,
        asked: solon::Request<'_>,
        style: Style<'_>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let bound = match moment {
            Some(moment) => self.prepared.pin_to(moment),
            None => self.prepared.pin(),
        };
        self.ask(state, request, &bound, asked, |document, asked| {
            document.evaluate_text(asked, style)
        })
    }

    /// The document as JSON text at a moment, for a decision about the request that has to be made although the client has gone or the
    /// time of the request is up.
    pub fn evaluate_apart(
        &self,
        state: &State,
        request: &Call<'_>,
        bound: &PinnedDocument,
        asked: solon::Request<'_>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let style = Style::default();
        self.ask_until(
            state,
            request,
            Ends::ByItself,
            bound,
            asked,
            |document, asked| document.evaluate_text(asked, style),
        )
    }

    /// Checks that the document may be evaluated where the request is being answered.
    ///
    /// # Errors
    /// [`ApiError::Elsewhere`] on a reactor, unless an evaluation at this moment is known to be short.
    pub fn is_quick_at(&self, request: &Call<'_>, bound: &PinnedDocument) -> Result<(), ApiError> {
        let generation = bound.snapshot().generation();
        let is_quick = || self.estimate.is_under(generation, SHORT) && !bound.may_block();
        // what asks the outside would ask twice
        if request.place.is_reactor() && !is_quick() {
            return Err(ApiError::Elsewhere(Some(self.estimate.clone())));
        }
        Ok(())
    }

    /// Evaluates at a moment, here if it is known to be quick enough for here.
    fn ask<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        bound: &PinnedDocument,
        asked: solon::Request<'_>,
        evaluate: impl FnOnce(&PinnedDocument, &solon::Request<'_>) -> Result<Option<R>, Error>,
    ) -> Result<Option<R>, Failure> {
        self.ask_until(state, request, Ends::WithRequest, bound, asked, evaluate)
    }

    fn ask_until<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        ends: Ends,
        bound: &PinnedDocument,
        asked: solon::Request<'_>,
        evaluate: impl FnOnce(&PinnedDocument, &solon::Request<'_>) -> Result<Option<R>, Error>,
    ) -> Result<Option<R>, Failure> {
        let generation = bound.snapshot().generation();
        let here = request.place.is_reactor();
        self.is_quick_at(request, bound)?;
        let prints = Prints::default();
        let print = |line: &str| prints.add(line);
        let poll = || request.place.poll();
        let host_call = |call: &mut dyn FnMut()| request.place.host_call(call);
        let asked = asked.print(&print);
        let start = Instant::now();
        let stopwatch = if here {
            Stopwatch::limited(start, AT_ONCE)
        } else {
            Stopwatch::of_thread()
        };
        let answer = if here {
            let limits = state.documents.brief.clone();
            let limits = limits.until(start.checked_add(AT_ONCE));
            // who could cancel it is this thread
            evaluate(bound, &asked.limits(&limits))
        } else {
            let limits = match ends {
                Ends::WithRequest => state.limits_of(request),
                Ends::ByItself => state.engine.limits().clone(),
            };
            let asked = match ends {
                Ends::WithRequest => asked.cancel(&request.info().cancel),
                Ends::ByItself => asked,
            };
            let asked = asked
                .limits(&limits)
                .on_poll(&poll)
                .around_host_calls(&host_call);
            evaluate(bound, &asked)
        };
        self.estimate.note(generation, stopwatch.took());
        match answer {
            // there is more time elsewhere, to find out which queries were running too
            Err(Error::Eval(error)) if here && error.stack.is_empty() => {
                self.estimate.misjudged(generation);
                state.counts.misjudged();
                Err(ApiError::Elsewhere(Some(self.estimate.clone())).into())
            }
            answer => {
                prints.log(request);
                Ok(answer?)
            }
        }
    }
}
