//! Documents that were asked for, prepared for the next time, and where they are evaluated.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use solon::V;
use solon::json::Style;
use solon::store::Path;
use solon::{Error, Limits, PreparedDocument};

use super::ApiError;
use super::prints::Prints;
use super::state::State;
use crate::http::{Place, Request};

/// Most documents that are kept.
const KEPT: usize = 100;
/// What an evaluation may take on a reactor.
const AT_ONCE: Duration = Duration::from_micros(300);
/// Largest body that is read on a reactor.
const SMALL_BODY: usize = 64 << 10;

/// Why a document was not evaluated.
pub enum Failure {
    /// The input is malformed.
    Input(String),
    /// Anything else.
    Other(ApiError),
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

/// Prepared documents by path. Readers take no lock; a newcomer copies the table.
#[derive(Default)]
pub struct Documents {
    table: ArcSwap<Table>,
}

#[derive(Clone, Default)]
struct Table {
    /// Counts the changes of policies, so that nothing prepared before one is kept after it.
    generation: u64,
    prepared: HashMap<Path, Arc<Document>>,
}

/// A prepared document.
pub struct Document {
    prepared: PreparedDocument,
    /// Nanoseconds of the last evaluation; of the first one nothing is known, so it counts as slow.
    pace: AtomicU64,
    /// What bounds an evaluation on the reactor.
    brief: Limits,
}

impl Documents {
    /// The document that a request asks for, and whether it was prepared before. Preparing is for the pool.
    pub fn get(
        &self,
        state: &State,
        request: &Request,
        path: &Path,
    ) -> Result<(Arc<Document>, bool), ApiError> {
        let table = self.table.load();
        if let Some(known) = table.prepared.get(path) {
            return Ok((known.clone(), true));
        }
        if request.place == Place::Reactor {
            return Err(ApiError::Elsewhere);
        }
        let generation = table.generation;
        let document = Arc::new(Document {
            prepared: state.engine.prepare_document_at(path)?,
            pace: AtomicU64::new(u64::MAX),
            brief: state.engine.limits().clone().time(Some(AT_ONCE)),
        });
        self.table.rcu(|table| {
            let mut next = Table::clone(table);
            if next.generation == generation {
                if next.prepared.len() >= KEPT {
                    next.prepared.clear();
                }
                next.prepared.insert(path.clone(), document.clone());
            }
            next
        });
        Ok((document, false))
    }

    /// Forgets all of them: policies have changed.
    pub fn forget(&self) {
        self.table.rcu(|table| Table {
            generation: table.generation + 1,
            prepared: HashMap::new(),
        });
    }
}

impl Document {
    /// Whether rules make it, or something within it.
    pub fn has_rules(&self) -> bool {
        self.prepared.has_rules()
    }

    /// What `read` makes of the document.
    pub fn evaluate<R>(
        &self,
        request: &Request,
        asked: solon::Request<'_>,
        read: impl FnOnce(V<'_>) -> R,
    ) -> Result<Option<R>, Failure> {
        self.ask(request, asked, |asked| {
            self.prepared.evaluate_with(asked, read)
        })
    }

    /// The document as JSON text.
    pub fn evaluate_text(
        &self,
        request: &Request,
        asked: solon::Request<'_>,
        style: Style<'_>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        self.ask(request, asked, |asked| {
            self.prepared.evaluate_text(asked, style)
        })
    }

    /// Evaluates, here if it is known to be quick enough for here.
    fn ask<R>(
        &self,
        request: &Request,
        asked: solon::Request<'_>,
        evaluate: impl FnOnce(&solon::Request<'_>) -> Result<Option<R>, Error>,
    ) -> Result<Option<R>, Failure> {
        let here = request.place == Place::Reactor;
        // what asks the outside would ask twice
        let slow =
            self.prepared.may_block() || self.pace.load(Ordering::Relaxed) > nanoseconds(AT_ONCE);
        if here && (slow || request.body.len() > SMALL_BODY) {
            return Err(ApiError::Elsewhere.into());
        }
        let prints = Prints::default();
        let print = |line: &str| prints.add(line);
        let asked = if here {
            asked.limits(&self.brief)
        } else {
            asked
        };
        let asked = asked.print(&print).cancel(&request.cancel);
        let start = Instant::now();
        let answer = evaluate(&asked);
        self.pace
            .store(nanoseconds(start.elapsed()), Ordering::Relaxed);
        match answer {
            // there is more time elsewhere, to find out which queries were running too
            Err(Error::Eval(error)) if here && error.stack.is_empty() => {
                Err(ApiError::Elsewhere.into())
            }
            answer => {
                prints.log();
                Ok(answer?)
            }
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
