//! Evaluation within an interpreter: releasing its lock, handling its signals, and propagating exceptions of its functions.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::engine::Cancel;
use pyo3::prelude::*;

use crate::error::from_engine;
use crate::guard::caught;
use crate::stack;

thread_local! {
    /// A reusable handle that cancels evaluations of this thread, stored while none is running.
    static CANCEL: Cell<Option<Cancel>> = const { Cell::new(None) };
    /// Exception that ended an evaluation of this thread, of a signal handler or of a host function.
    static RAISED: Cell<Option<Box<PyErr>>> = const { Cell::new(None) };
}

/// Maximum delay until signals are handled.
const HEARD_WITHIN: Duration = Duration::from_millis(20);

/// Stores an exception of a host function that is not an error of a built-in function. It ends the evaluation.
pub fn raise(error: PyErr) {
    RAISED.set(Some(Box::new(error)));
}

/// Decides if the interpreter's lock is released for evaluations of a document. It is, once an evaluation took long enough to
/// poll its limits.
#[derive(Default)]
pub struct LatencyEstimate(AtomicBool);

impl LatencyEstimate {
    /// For evaluations that are known to take long, or that may wait.
    pub fn slow() -> Self {
        Self(AtomicBool::new(true))
    }

    /// Runs an evaluation. `stop` is a handle of the caller; without one an own handle is used.
    ///
    /// # Errors
    /// The exception of a signal handler or of a host function.
    pub fn run<R: Send>(
        &self,
        py: Python<'_>,
        is_large: bool,
        stop: Option<&Cancel>,
        evaluate: impl FnOnce(&Cancel, &dyn Fn()) -> R + Send,
    ) -> PyResult<R> {
        let is_slow = is_large || self.0.load(Ordering::Relaxed);
        let cancel = match stop {
            Some(stop) => stop.clone(),
            None => CANCEL.take().unwrap_or_default(),
        };
        let watched = || {
            let watch = Watch::new(&cancel, is_slow);
            let result = stack::begin(|| caught(|| evaluate(&cancel, &|| watch.look())));
            if watch.looked.get() {
                self.0.store(true, Ordering::Relaxed);
            }
            result
        };
        let result = if is_slow {
            py.detach(watched)
        } else {
            watched()
        };
        if stop.is_none() && !cancel.is_cancelled() {
            CANCEL.set(Some(cancel));
        }
        if let Some(exception) = RAISED.take() {
            return Err(*exception);
        }
        result.map_err(|error| from_engine(py, &error))
    }
}

/// Time after which a thread with many short evaluations releases the lock. A waiting thread requests the lock after five
/// milliseconds, and CPython switches threads only after a request: if the lock is released earlier, its holder gets it back
/// before the other thread wakes.
const TURN: Duration = Duration::from_millis(10);

/// Time quantum of a thread with many short evaluations, each of which ends before it polls the interpreter.
pub struct Turn(Instant);

impl Turn {
    pub fn begin() -> Self {
        Self(Instant::now())
    }

    /// Returns `true` if the quantum is over, so that the next evaluation must release the lock. Also handles signals.
    ///
    /// # Errors
    /// The exception of a signal handler.
    pub fn is_long(&mut self, py: Python<'_>) -> PyResult<bool> {
        let is_long = self.0.elapsed() >= TURN;
        if is_long {
            *self = Self::begin();
            py.check_signals()?;
        }
        Ok(is_long)
    }
}

/// Polls the interpreter during an evaluation.
struct Watch<'c> {
    cancel: &'c Cancel,
    is_detached: bool,
    /// `true` if this thread handles signals; determined when it is first needed.
    is_main: Cell<Option<bool>>,
    next: Cell<Option<Instant>>,
    looked: Cell<bool>,
}

impl<'c> Watch<'c> {
    fn new(cancel: &'c Cancel, is_detached: bool) -> Self {
        Self {
            cancel,
            is_detached,
            is_main: Cell::new(None),
            next: Cell::new(None),
            looked: Cell::new(false),
        }
    }

    fn look(&self) {
        self.looked.set(true);
        let now = Instant::now();
        if self.next.get().is_none_or(|next| next <= now) {
            let is_first = self.next.get().is_none();
            self.next.set(now.checked_add(HEARD_WITHIN));
            // short evaluations do not poll the interpreter
            if !is_first && (!self.is_detached || self.is_main.get() != Some(false)) {
                self.attend();
            }
        }
    }

    #[cold]
    fn attend(&self) {
        let is_own = stack::is_own();
        let attended = Python::try_attach(|py| {
            if !is_own && stack::is_looked_at(py) {
                // skip: the evaluation soon returns to its own stack
                return;
            }
            // a handler may run and raise an exception, as it may in any Python code
            let is_checked = match self.is_main.get() {
                Some(_) => Ok(()),
                None => is_main(py).map(|is_main| self.is_main.set(Some(is_main))),
            };
            if let Err(error) = is_checked.and_then(|()| py.check_signals()) {
                raise(error);
                self.cancel.cancel();
            } else if !self.is_detached {
                // other threads may be waiting for the lock
                py.detach(std::thread::yield_now);
            }
        });
        if attended.is_none() {
            // the interpreter has shut down, and the result will not be used
            self.cancel.cancel();
        }
    }
}

/// Returns `true` if this is the thread that handles signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
