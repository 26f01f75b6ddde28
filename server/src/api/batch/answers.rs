//! The answers of a batch, found by as many threads as there are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use solon::Moment;

use super::super::ApiError;
use super::super::body::Envelope;
use super::super::data::{Asked, Found, malformed_body};
use super::super::documents::Failure;
use super::super::metrics;
use super::super::state::State;
use super::inputs::Inputs;
use crate::http::{Fields, Head, Held, Message, Place, Request, Spent};

/// What is told of an input: its document, or what went wrong.
pub type Answer = Result<Fields, Fields>;

/// Inputs that are being answered. It owns what it needs, so that other threads of the pool can help.
pub struct Batch {
    state: Arc<State>,
    head: Arc<Head>,
    found: Found,
    moment: Moment,
    inputs: Inputs,
    /// The next input that nobody has taken.
    next: AtomicUsize,
    answers: Vec<OnceLock<Answer>>,
    /// What the answers take of that which all connections may hold.
    held: Mutex<Held>,
    /// Why nothing is answered at all.
    refused: OnceLock<ApiError>,
    is_refused: AtomicBool,
}

impl Batch {
    /// Inputs for a document, on the moment that is now.
    pub fn new(state: Arc<State>, request: &Request<'_>, found: Found, inputs: Inputs) -> Self {
        Self {
            head: request.message().head.clone(),
            moment: state.engine.moment(),
            found,
            next: AtomicUsize::new(0),
            answers: (0..inputs.len()).map(|_| OnceLock::new()).collect(),
            held: Mutex::new(request.message().held.beside()),
            refused: OnceLock::new(),
            is_refused: AtomicBool::new(false),
            inputs,
            state,
        }
    }

    /// Answers input after input until none is left.
    pub fn work(&self, place: Place<'_>) {
        let message = Message::new(self.head.clone(), self.held.lock().beside());
        let request = message.at(place);
        while !self.is_refused.load(Ordering::Relaxed) && !self.head.cancel().is_cancelled() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = self.answers.get(at) else {
                return;
            };
            match self.told(self.read(at, &request)) {
                // each position is taken once
                Ok(answer) => drop(slot.set(answer)),
                Err(error) => {
                    // one reason is enough
                    let _ = self.refused.set(error);
                    self.is_refused.store(true, Ordering::Relaxed);
                }
            }
            place.look();
        }
    }

    fn read(&self, at: usize, request: &Request<'_>) -> Result<Fields, Failure> {
        // where there is no time left, a short evaluation might not even look
        if request.time_left().is_some_and(|left| left.is_zero()) {
            return Err(ApiError::cancelled().into());
        }
        let received = Instant::now();
        let input = self.inputs.get(at).map_err(Failure::Input)?;
        let asked = Asked {
            envelope: Envelope {
                input,
                metadata: None,
            },
            warn: false,
            metrics: metrics::asked(request),
        };
        let moment = Some(&self.moment);
        asked.read(&self.state, request, &self.found, moment, received)
    }

    /// What is told of an input; a malformed one spoils the whole body.
    fn told(&self, answer: Result<Fields, Failure>) -> Result<Answer, ApiError> {
        let answer = match answer {
            Ok(fields) => Ok(fields),
            Err(Failure::Other(ApiError::Refused(refusal))) => {
                Err(refusal.fields(self.head.pretty(), self.state.options.spelling))
            }
            Err(failure) => return Err(malformed_body(failure)),
        };
        let (Ok(fields) | Err(fields)) = &answer;
        // it is copied into the answer of all
        let held = self.held.lock().add(fields.len().saturating_mul(2));
        held.map_err(|Spent| ApiError::busy())?;
        Ok(answer)
    }

    /// What was found, in the order of the inputs, and what it takes of that which all connections may hold.
    ///
    /// # Errors
    /// Nothing is answered: an input is malformed, the answers are more than may be held, nobody waits for them any more.
    pub fn answers(self: Arc<Self>) -> Result<(Vec<Answer>, Held), ApiError> {
        // whoever helped has let go of it
        let Some(batch) = Arc::into_inner(self) else {
            return Err(ApiError::internal(
                "internal error: a batch is still shared",
            ));
        };
        if let Some(error) = batch.refused.into_inner() {
            return Err(error);
        }
        if batch.head.cancel().is_cancelled() {
            return Err(ApiError::cancelled());
        }
        let answers = batch.answers.into_iter().map(OnceLock::into_inner);
        // only a panic leaves one out
        let missing = || ApiError::internal("internal error: an input has no answer");
        let answers = answers.map(|answer| answer.ok_or_else(missing));
        Ok((answers.collect::<Result<_, _>>()?, batch.held.into_inner()))
    }
}
