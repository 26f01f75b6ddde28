//! Results of a batch, computed by all threads of the pool that are free.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use parking_lot::Mutex;
use solon::Snapshot;

use super::super::ApiError;
use super::super::body::Envelope;
use super::super::call::Call;
use super::super::data::malformed_body;
use super::super::decision_log::LoggedDecision;
use super::super::document_evaluation::{DocumentEvaluation, RequestedDocument};
use super::super::documents::EvaluationFailure;
use super::super::metrics;
use super::super::state::State;
use super::inputs::Inputs;
use crate::execution::ExecContext;
use crate::http::{BudgetExceeded, BufferedRequest, Rejection, RequestExt as _, Reservation};
use crate::json::JsonFields;

/// Response for one input: its document, or the error.
pub type BatchResponse = Result<JsonFields, JsonFields>;

/// Inputs under evaluation. It owns its data, so that other threads of the pool can help.
pub struct RunningBatch {
    state: Arc<State>,
    /// The request without its body.
    request: BufferedRequest,
    document: RequestedDocument,
    snapshot: Snapshot,
    inputs: Inputs,
    /// Id of the batch, if its decisions are logged.
    id: Option<Arc<str>>,
    /// Next input that no thread has taken.
    next: AtomicUsize,
    answers: Vec<OnceLock<BatchResponse>>,
    /// Part of the memory budget that the results use.
    reserved: Mutex<Reservation>,
    /// The first error that fails the whole batch.
    error: OnceLock<ApiError>,
    has_failed: AtomicBool,
}

impl RunningBatch {
    /// Creates a batch of inputs for a document, on the current snapshot.
    pub fn new(
        state: Arc<State>,
        request: &Call<'_>,
        document: RequestedDocument,
        inputs: Inputs,
        id: Option<Arc<str>>,
    ) -> Self {
        Self {
            request: BufferedRequest::from_parts(
                request.request().clone().into_parts().0,
                Bytes::new(),
            ),
            snapshot: state.engine.snapshot(),
            document,
            next: AtomicUsize::new(0),
            answers: (0..inputs.len()).map(|_| OnceLock::new()).collect(),
            reserved: Mutex::new(state.budget.none()),
            error: OnceLock::new(),
            has_failed: AtomicBool::new(false),
            id,
            inputs,
            state,
        }
    }

    /// Evaluates inputs until none is left.
    pub fn work(&self, context: ExecContext<'_>) {
        let request = Call::new(&self.request, context);
        let cancel = &self.request.info().cancel;
        while !self.has_failed.load(Ordering::Relaxed) && !cancel.is_cancelled() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = self.answers.get(index) else {
                return;
            };
            let (id, result) = self.read(index, &request);
            match self.response(result, id.as_deref()) {
                // each position is taken by one thread
                Ok(response) => drop(slot.set(response)),
                Err(error) => {
                    // the first error is reported
                    let _ = self.error.set(error);
                    self.has_failed.store(true, Ordering::Relaxed);
                }
            }
            context.poll();
        }
    }

    /// Evaluates the document with an input. The first part of the result is the id of the decision, if it is logged.
    fn read(
        &self,
        index: usize,
        request: &Call<'_>,
    ) -> (Option<String>, Result<JsonFields, EvaluationFailure>) {
        let logged = match &self.id {
            Some(_) => LoggedDecision::begin(&self.state, request),
            None => Ok(None),
        };
        let mut logged = match logged {
            Ok(logged) => logged,
            Err(error) => return (None, Err(error.into())),
        };
        if let Some(logged) = &mut logged {
            logged.batch.clone_from(&self.id);
            logged.snapshot = self.snapshot.clone();
        }
        let id = logged.as_ref().map(|logged| logged.id.clone());
        (id, self.evaluate(index, request, logged))
    }

    fn evaluate(
        &self,
        index: usize,
        request: &Call<'_>,
        logged: Option<LoggedDecision>,
    ) -> Result<JsonFields, EvaluationFailure> {
        // a short evaluation might end before it checks the deadline
        if request.info().is_late() {
            return Err(ApiError::cancelled().into());
        }
        let received = Instant::now();
        let input = self.inputs.get(index).map_err(EvaluationFailure::Input)?;
        let evaluation = DocumentEvaluation {
            envelope: Envelope {
                input,
                metadata: None,
            },
            warn: false,
            metrics: metrics::of_decision(request, logged.as_ref()),
            logged,
        };
        let snapshot = Some(&self.snapshot);
        evaluation.read(&self.state, request, &self.document, snapshot, received)
    }

    /// Returns the response for an input. A malformed input fails the whole batch.
    fn response(
        &self,
        result: Result<JsonFields, EvaluationFailure>,
        id: Option<&str>,
    ) -> Result<BatchResponse, ApiError> {
        let response = match result {
            Ok(fields) => Ok(fields),
            Err(EvaluationFailure::Other(ApiError::Refused(rejection))) => {
                Err(rejection.fields(self.request.pretty(), self.state.options.spelling, id))
            }
            Err(failure) => return Err(malformed_body(failure)),
        };
        let (Ok(fields) | Err(fields)) = &response;
        // it is copied into the response of the batch
        let reserved = self.reserved.lock().add(fields.len().saturating_mul(2));
        reserved.map_err(|BudgetExceeded| ApiError::from(Rejection::Busy))?;
        Ok(response)
    }

    /// Returns the results in the order of the inputs, and the part of the memory budget that they use.
    ///
    /// # Errors
    /// Fails the whole batch if an input is malformed, the results exceed the memory budget, or the client has gone.
    pub fn answers(self: Arc<Self>) -> Result<(Vec<BatchResponse>, Reservation), ApiError> {
        // threads that helped have dropped their references
        let Some(batch) = Arc::into_inner(self) else {
            return Err(ApiError::internal(
                "internal error: a batch is still shared",
            ));
        };
        if let Some(error) = batch.error.into_inner() {
            return Err(error);
        }
        if batch.request.info().cancel.is_cancelled() {
            return Err(ApiError::cancelled());
        }
        let slots = batch.answers.into_iter().map(OnceLock::into_inner);
        // an input has no result only after a panic
        let missing = || ApiError::internal("internal error: an input has no answer");
        let responses = slots.map(|response| response.ok_or_else(missing));
        Ok((
            responses.collect::<Result<_, _>>()?,
            batch.reserved.into_inner(),
        ))
    }
}
