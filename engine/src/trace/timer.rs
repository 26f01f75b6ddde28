//! Observer of the stages of a compilation.

use std::fmt;
use std::time::{Duration, Instant};

/// Callback that receives the duration of each stage under OPA's name. Without one, nothing is measured.
///
/// ```
/// use std::cell::RefCell;
/// use solon::trace::Timer;
/// use solon::{Change, Engine, Error};
///
/// let stages = RefCell::new(Vec::new());
/// let observe = |name: &str, _| stages.borrow_mut().push(name.to_owned());
/// let mut change = Change::default();
/// change.set_module("p.rego", "package p\nallow := true");
/// Engine::new().apply_with::<Error>(|_| Ok(change), Timer::new(&observe))?;
/// assert!(stages.borrow().iter().any(|name| name == "rego_module_parse"));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Timer<'t>(Option<StageObserver<'t>>);

/// Callback that receives the name of a stage and its duration.
type StageObserver<'t> = &'t dyn Fn(&str, Duration);

impl fmt::Debug for Timer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Timer"
        } else {
            "no timer"
        })
    }
}

impl<'t> Timer<'t> {
    /// Creates a timer that calls `observe`.
    pub fn new(observe: &'t dyn Fn(&str, Duration)) -> Self {
        Self(Some(observe))
    }

    /// Reports the duration of a stage. Does nothing without an observer.
    pub(crate) fn report(self, name: &str, took: Duration) {
        if let Some(observe) = self.0 {
            observe(name, took);
        }
    }

    /// Starts the first of several consecutive stages.
    pub(crate) fn start(self) -> Laps<'t> {
        Laps {
            timer: self,
            since: self.0.map(|_| Instant::now()),
        }
    }
}

/// Consecutive stages.
pub(crate) struct Laps<'t> {
    timer: Timer<'t>,
    since: Option<Instant>,
}

impl Laps<'_> {
    /// Ends a stage and starts the next.
    pub(crate) fn end(&mut self, name: impl FnOnce() -> String) {
        if let (Some(since), Some(observe)) = (self.since, self.timer.0) {
            observe(&name(), since.elapsed());
            self.since = Some(Instant::now());
        }
    }
}
