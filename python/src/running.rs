//! Evaluating beside an interpreter: when its lock is released, how its signals are heard, and what its functions raise.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::engine::Cancel;
use pyo3::prelude::*;

use crate::error::from_engine;
use crate::guard::caught;
use crate::stack;

thread_local! {
    /// A handle that stops what this thread evaluates next, while it evaluates nothing.
    static CANCEL: Cell<Option<Cancel>> = const { Cell::new(None) };
    /// What ended an evaluation of this thread: a signal's handler, or a function of the host.
    static RAISED: Cell<Option<Box<PyErr>>> = const { Cell::new(None) };
}

/// How long signals may wait to be heard.
const HEARD_WITHIN: Duration = Duration::from_millis(20);

/// Keeps what a function of the host raised, which is more than an error of a built-in; the evaluation is over then.
pub fn raise(error: PyErr) {
    RAISED.set(Some(Box::new(error)));
}

/// Whether a document is worth releasing the interpreter's lock for: once one of its evaluations was long enough to look at
/// its budget, it is.
#[derive(Default)]
pub struct Pace(AtomicBool);

impl Pace {
    /// Of what certainly takes long, or may wait.
    pub fn slow() -> Self {
        Self(AtomicBool::new(true))
    }

    /// Runs an evaluation. `stop` is a handle that the caller gave; there is another one where it gave none.
    ///
    /// # Errors
    /// What a signal's handler, or a function of the host, raised.
    pub fn run<R: Send>(
        &self,
        py: Python<'_>,
        is_large: bool,
        stop: Option<&Cancel>,
        evaluate: impl FnOnce(&Cancel, &dyn Fn()) -> R + Send,
    ) -> PyResult<R> {
        let is_slow = is_large || self.0.load(Ordering::Relaxed);
        let own = match stop {
            Some(stop) => stop.clone(),
            None => CANCEL.take().unwrap_or_default(),
        };
        let watched = || {
            let watch = Watch::new(&own, is_slow);
            let result = stack::begin(|| caught(|| evaluate(&own, &|| watch.look())));
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
        if stop.is_none() && !own.is_cancelled() {
            CANCEL.set(Some(own));
        }
        if let Some(raised) = RAISED.take() {
            return Err(*raised);
        }
        result.map_err(|error| from_engine(py, &error))
    }
}

/// How long a thread goes on with many short evaluations before others have their turn. A thread that waits for the lock asks
/// for it after five milliseconds, and only who was asked hands it over: a lock that is released sooner is back with its holder
/// before the other has woken.
const TURN: Duration = Duration::from_millis(10);

/// The turn of a thread that makes many short evaluations, each of which is over before it would look after the interpreter.
pub struct Turn(Instant);

impl Turn {
    pub fn begin() -> Self {
        Self(Instant::now())
    }

    /// Whether it was long, and the next evaluation is to release the lock. Signals are heard then.
    ///
    /// # Errors
    /// What a signal's handler raised.
    pub fn is_long(&mut self, py: Python<'_>) -> PyResult<bool> {
        let is_long = self.0.elapsed() >= TURN;
        if is_long {
            *self = Self::begin();
            py.check_signals()?;
        }
        Ok(is_long)
    }
}

/// Looks after the interpreter while an evaluation runs.
struct Watch<'c> {
    cancel: &'c Cancel,
    is_detached: bool,
    /// Whether signals are this thread's to hear; it is not known before it matters.
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
            // nobody attends to an interpreter for what is over soon
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
                // it is soon back on its own
                return;
            }
            // a handler may run, and raise, wherever code of Python does
            let heard = match self.is_main.get() {
                Some(_) => Ok(()),
                None => is_main(py).map(|is_main| self.is_main.set(Some(is_main))),
            };
            if let Err(error) = heard.and_then(|()| py.check_signals()) {
                raise(error);
                self.cancel.cancel();
            } else if !self.is_detached {
                // others may have waited for the lock
                py.detach(std::thread::yield_now);
            }
        });
        if attended.is_none() {
            // the interpreter is gone, and nobody will read the answer
            self.cancel.cancel();
        }
    }
}

/// Whether this is the thread that hears signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
