//! Cache of prepared documents, and the choice of the thread that evaluates them.

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
use crate::execution::{LatencyEstimate, Stopwatch};
use crate::http::RequestExt as _;

/// Maximum estimated time of an evaluation that runs on a reactor.
const SHORT: Duration = Duration::from_micros(100);
/// Time limit of an evaluation on a reactor. If it is exceeded, the evaluation is repeated in the pool.
const AT_ONCE: Duration = Duration::from_micros(300);
/// Memory limit of an evaluation on a reactor, in bytes.
const MEMORY_AT_ONCE: usize = 4 << 20;

/// Time at which a long evaluation is stopped.
#[derive(Clone, Copy)]
enum Ends {
    /// At the deadline of the request, or when its client has gone.
    WithRequest,
    /// At the time limit of the engine.
    ByItself,
}

/// Reason why a document was not evaluated.
pub enum EvaluationFailure {
    /// The input is malformed: a message for the client.
    Input(String),
    Other(ApiError),
}

impl EvaluationFailure {
    /// Returns the failure as one text for the log.
    pub fn text(&self) -> String {
        match self {
            Self::Input(text) => text.clone(),
            Self::Other(error) => error.log_text(),
        }
    }
}

impl From<ApiError> for EvaluationFailure {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<Error> for EvaluationFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(error) => Self::Input(error.to_string()),
            other => Self::Other(other.into()),
        }
    }
}

/// Prepared documents by request path.
pub struct Documents {
    cache: Cache<Box<str>, ServedDocument>,
    /// Limits of an evaluation on a reactor.
    brief: Limits,
}

/// A prepared document, with the estimate of its latency.
pub struct ServedDocument {
    prepared: PreparedDocument,
    estimate: Arc<LatencyEstimate>,
    /// Engine generation of the last traced evaluation.
    answered: AtomicU64,
}

impl Documents {
    /// Creates a cache of up to `max` documents. `limits` are those of the engine.
    pub fn new(max: usize, limits: &Limits) -> Self {
        Self {
            cache: Cache::new(max),
            brief: limits
                .clone()
                .time(Some(AT_ONCE))
                .memory(Some(MEMORY_AT_ONCE)),
        }
    }

    /// Returns the document that a request names, and `true` if it was already prepared. Documents are prepared only in the pool.
    ///
    /// `key` is the encoded path of the request, or a text with another prefix. `path` parses it if it is not in the cache.
    pub fn get(
        &self,
        state: &State,
        request: &Call<'_>,
        key: &str,
        path: impl FnOnce() -> Result<Path, ApiError>,
    ) -> Result<(Arc<ServedDocument>, bool), ApiError> {
        if let Some(document) = self.cache.get(key) {
            return Ok((document, true));
        }
        if request.context.is_reactor() {
            return Err(ApiError::Elsewhere(None));
        }
        let document = Arc::new(ServedDocument {
            prepared: state.engine.document(&path()?),
            estimate: Arc::default(),
            answered: AtomicU64::new(u64::MAX),
        });
        Ok((self.cache.keep(key.into(), document), false))
    }

    /// Returns the number of cached documents.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Removes all documents, because policies have changed.
    pub fn forget(&self) {
        self.cache.clear();
    }
}

impl ServedDocument {
    pub fn prepared(&self) -> &PreparedDocument {
        &self.prepared
    }

    /// Returns `true` if the document was evaluated before on the current policies and documents.
    pub fn was_answered(&self, generation: u64) -> bool {
        self.answered.load(Ordering::Relaxed) == generation || self.estimate.is_of(generation)
    }

    /// Records a traced evaluation.
    pub fn answered(&self, generation: u64) {
        self.answered.store(generation, Ordering::Relaxed);
    }

    /// Returns `true` if rules define the document or a part of it.
    pub fn has_rules(&self) -> bool {
        self.prepared.has_rules()
    }

    /// Evaluates the document on a snapshot and returns the result of `read_value`, or `None` if the document is undefined.
    pub fn evaluate<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        now: &PinnedDocument,
        eval_request: solon::Request<'_>,
        read_value: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, EvaluationFailure> {
        self.evaluate_on(
            state,
            request,
            now,
            eval_request,
            |document, eval_request| document.evaluate_with(eval_request, read_value),
        )
    }

    /// Evaluates the document and returns JSON text, on the current snapshot or a given one.
    pub fn evaluate_text(
        &self,
        state: &State,
        request: &Call<'_>,
        snapshot: Option<&Snapshot>,
        eval_request: solon::Request<'_>,
        style: Style<'_>,
    ) -> Result<Option<Vec<u8>>, EvaluationFailure> {
        let pinned = match snapshot {
            Some(snapshot) => self.prepared.pin_to(snapshot),
            None => self.prepared.pin(),
        };
        self.evaluate_on(
            state,
            request,
            &pinned,
            eval_request,
            |document, eval_request| document.evaluate_json(&eval_request.json_style(&style)),
        )
    }

    /// Evaluates the document and returns JSON text, on a snapshot. It is for decisions that must be made even if the client has
    /// gone or the deadline of the request has passed.
    pub fn evaluate_detached(
        &self,
        state: &State,
        request: &Call<'_>,
        pinned: &PinnedDocument,
        eval_request: solon::Request<'_>,
    ) -> Result<Option<Vec<u8>>, EvaluationFailure> {
        self.evaluate_until(
            state,
            request,
            Ends::ByItself,
            pinned,
            eval_request,
            |document, eval_request| document.evaluate_json(eval_request),
        )
    }

    /// Checks that the document may be evaluated on the current thread.
    ///
    /// # Errors
    /// [`ApiError::Elsewhere`] on a reactor, unless an evaluation on this snapshot is known to be short.
    pub fn is_quick_at(&self, request: &Call<'_>, pinned: &PinnedDocument) -> Result<(), ApiError> {
        let generation = pinned.snapshot().generation();
        let is_quick = || self.estimate.is_under(generation, SHORT) && !pinned.may_block();
        // a repeated evaluation would repeat external I/O
        if request.context.is_reactor() && !is_quick() {
            return Err(ApiError::Elsewhere(Some(self.estimate.clone())));
        }
        Ok(())
    }

    /// Evaluates on a snapshot, on the current thread if it is known to be short enough for it.
    fn evaluate_on<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        pinned: &PinnedDocument,
        eval_request: solon::Request<'_>,
        evaluate: impl FnOnce(&PinnedDocument, &solon::Request<'_>) -> Result<Option<R>, Error>,
    ) -> Result<Option<R>, EvaluationFailure> {
        self.evaluate_until(
            state,
            request,
            Ends::WithRequest,
            pinned,
            eval_request,
            evaluate,
        )
    }

    fn evaluate_until<R>(
        &self,
        state: &State,
        request: &Call<'_>,
        ends: Ends,
        pinned: &PinnedDocument,
        eval_request: solon::Request<'_>,
        evaluate: impl FnOnce(&PinnedDocument, &solon::Request<'_>) -> Result<Option<R>, Error>,
    ) -> Result<Option<R>, EvaluationFailure> {
        let generation = pinned.snapshot().generation();
        let is_inline = request.context.is_reactor();
        self.is_quick_at(request, pinned)?;
        let prints = Prints::default();
        let print = |line: &str| prints.add(line);
        let poll = || request.context.poll();
        let host_call = |call: &mut dyn FnMut()| request.host_call(call);
        let eval_request = eval_request.print(&print);
        let stopwatch = if is_inline {
            Stopwatch::limited(Instant::now(), AT_ONCE)
        } else {
            Stopwatch::of_thread()
        };
        let result = if is_inline {
            // only this thread could cancel it
            evaluate(pinned, &eval_request.limits(&state.documents.brief))
        } else {
            let limits = match ends {
                Ends::WithRequest => state.limits_of(request),
                Ends::ByItself => state.engine.limits().clone(),
            };
            let eval_request = match ends {
                Ends::WithRequest => eval_request.cancel(&request.info().cancel),
                Ends::ByItself => eval_request,
            };
            let eval_request = eval_request
                .limits(&limits)
                .on_poll(&poll)
                .around_host_calls(&host_call);
            evaluate(pinned, &eval_request)
        };
        self.estimate.note(generation, stopwatch.took());
        match result {
            // the evaluation in the pool has time to collect the stack of running queries
            Err(Error::Eval(error)) if is_inline && error.stack.is_empty() => {
                self.estimate.misjudged(generation);
                state.counts.misjudged();
                Err(ApiError::Elsewhere(Some(self.estimate.clone())).into())
            }
            result => {
                prints.log(request);
                Ok(result?)
            }
        }
    }
}
