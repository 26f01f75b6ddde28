//! The pool: where what may take long is worked out. As many evaluations run at once as there are slots; one that runs for
//! long gives its slot away at a look at its budget and queues behind newcomers, so that many heavy ones hold nobody up.

mod crew;
mod pace;

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

pub use self::crew::Work;
pub use self::pace::{Pace, Stopwatch};
use crate::config::Bounds;
use crate::system::Priority;

/// What an evaluation may take before it gives its slot to others that wait.
const TURN: Duration = Duration::from_millis(10);
/// How long an evaluation keeps a processor before threads that wait for it, like those that read and answer, have their turn
/// there: by itself the system lets a thread run for milliseconds.
const SLICE: Duration = Duration::from_micros(200);
/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);
/// Of this many grants one goes to what has run before, however many newcomers there are.
const FAIR: u32 = 8;
/// Stack of a thread; what needs more grows it.
const STACK: usize = 4 << 20;

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// Too much waits already.
    Full,
    /// It ended without a result.
    Lost,
}

struct Job {
    work: Box<dyn FnOnce(&Turn) + Send>,
    pace: Option<Arc<Pace>>,
}

/// Something that has run, or is known to run, for long.
enum Slow {
    Job(Job),
    Parked(Arc<Parked>),
}

/// An evaluation that gave its slot away.
struct Parked {
    granted: AtomicBool,
    thread: std::thread::Thread,
}

/// Where long work is done. Clones are the same pool.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Tells threads without work that there is some.
    work: Condvar,
    slots: usize,
    threads: usize,
    waiting: usize,
    /// Most threads that may be held by evaluations which gave their slots away; the others are for newcomers.
    parked: usize,
    /// That of the thread that made the pool.
    priority: Priority,
    refused: AtomicU64,
    yielded: AtomicU64,
}

struct State {
    /// Slots that nobody has.
    free: usize,
    threads: usize,
    /// Threads that wait for work, or are about to.
    sleeping: usize,
    /// Threads of evaluations that gave their slots away.
    parked: usize,
    grants: u32,
    quick: VecDeque<Job>,
    unknown: VecDeque<Job>,
    slow: VecDeque<Slow>,
    /// Jobs among the slow.
    slow_jobs: usize,
    /// What has a slot and waits for a thread to take it.
    ready: VecDeque<Job>,
}

impl State {
    fn waiting(&self) -> usize {
        self.quick.len() + self.unknown.len() + self.slow_jobs
    }

    fn is_wanted(&self) -> bool {
        !(self.quick.is_empty() && self.unknown.is_empty() && self.slow.is_empty())
    }
}

impl Pool {
    /// A pool of its own.
    pub fn new(bounds: &Bounds) -> Self {
        let threads = bounds.threads.max(1);
        // a slot that no thread can take would always be free, and nothing ever wait
        let slots = bounds.slots.clamp(1, threads);
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                free: slots,
                threads: 0,
                sleeping: 0,
                parked: 0,
                grants: 0,
                quick: VecDeque::new(),
                unknown: VecDeque::new(),
                slow: VecDeque::new(),
                slow_jobs: 0,
                ready: VecDeque::new(),
            }),
            work: Condvar::new(),
            slots,
            threads,
            waiting: bounds.waiting,
            parked: threads - threads / 4,
            priority: Priority::of_this_thread(),
            refused: AtomicU64::new(0),
            yielded: AtomicU64::new(0),
        }))
    }

    /// Does work when a slot is free; `pace` tells how long it is thought to take.
    pub async fn run<T: Send + 'static>(
        &self,
        pace: Option<Arc<Pace>>,
        work: impl FnOnce(&Turn) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move |turn: &Turn| {
            // who asked may have gone
            let _ = sender.send(work(turn));
        });
        self.0.add(Job { work, pace })?;
        receiver.await.map_err(|_| NotRun::Lost)
    }

    /// How often work was refused since too much waited.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// How often an evaluation gave its slot away.
    pub fn yielded(&self) -> u64 {
        self.0.yielded.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn add(self: &Arc<Self>, job: Job) -> Result<(), NotRun> {
        let mut state = self.state.lock();
        if state.free == 0 && state.waiting() >= self.waiting {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(NotRun::Full);
        }
        let pace = job.pace.as_deref();
        if pace.is_some_and(Pace::is_slow) {
            state.slow_jobs += 1;
            state.slow.push_back(Slow::Job(job));
        } else if pace.is_some_and(Pace::is_quick) {
            state.quick.push_back(job);
        } else {
            state.unknown.push_back(job);
        }
        self.grant(&mut state, false);
        Ok(())
    }

    /// Adds work that nobody misses where too much waits.
    fn offer(self: &Arc<Self>, work: Box<dyn FnOnce(&Turn) + Send>) {
        let mut state = self.state.lock();
        if state.free > 0 || state.waiting() < self.waiting / 2 {
            let pace = None;
            state.unknown.push_back(Job { work, pace });
            self.grant(&mut state, false);
        }
    }

    /// Puts this thread, whose slot was given away, behind those that wait.
    fn queue_up(self: &Arc<Self>, state: &mut State) -> Arc<Parked> {
        let parked = Arc::new(Parked {
            granted: AtomicBool::new(false),
            thread: std::thread::current(),
        });
        state.slow.push_back(Slow::Parked(parked.clone()));
        self.grant(state, false);
        parked
    }

    /// Gives free slots to those that wait. `own` is the thread of the caller, which takes a job itself.
    fn grant(self: &Arc<Self>, state: &mut State, mut own: bool) {
        while state.free > 0 {
            match self.next(state) {
                None => return,
                Some(Slow::Parked(parked)) => {
                    state.free -= 1;
                    state.parked -= 1;
                    parked.granted.store(true, Ordering::Release);
                    parked.thread.unpark();
                }
                Some(Slow::Job(job)) => {
                    state.free -= 1;
                    state.ready.push_back(job);
                    if state.sleeping < state.ready.len() {
                        self.spawn(state);
                    } else if !std::mem::take(&mut own) {
                        self.work.notify_one();
                    }
                }
            }
        }
    }

    /// Whose turn it is.
    fn next(&self, state: &mut State) -> Option<Slow> {
        let thread_is_free = state.sleeping > state.ready.len() || state.threads < self.threads;
        state.grants = state.grants.wrapping_add(1);
        if state.grants.is_multiple_of(FAIR)
            && let Some(slow) = self.next_slow(state, thread_is_free)
        {
            return Some(slow);
        }
        if thread_is_free {
            if let Some(job) = state.quick.pop_front() {
                return Some(Slow::Job(job));
            }
            while let Some(job) = state.unknown.pop_front() {
                // others that ask for the same may have shown meanwhile what it is
                if job.pace.as_deref().is_some_and(Pace::is_slow) {
                    state.slow_jobs += 1;
                    state.slow.push_back(Slow::Job(job));
                } else {
                    return Some(Slow::Job(job));
                }
            }
        }
        self.next_slow(state, thread_is_free)
    }

    fn next_slow(&self, state: &mut State, thread_is_free: bool) -> Option<Slow> {
        let may_begin = thread_is_free && state.parked < self.parked;
        let at = state
            .slow
            .iter()
            .position(|slow| may_begin || matches!(slow, Slow::Parked(_)))?;
        let slow = state.slow.remove(at)?;
        if matches!(slow, Slow::Job(_)) {
            state.slow_jobs -= 1;
        }
        Some(slow)
    }

    fn spawn(self: &Arc<Self>, state: &mut State) {
        let shared = self.clone();
        let thread = std::thread::Builder::new()
            .name("pool".into())
            .stack_size(STACK)
            .spawn(move || shared.serve());
        if thread.is_ok() {
            state.threads += 1;
            state.sleeping += 1;
        } else {
            // no thread, no work: who asked is told that it was lost
            state.free += 1;
            state.ready.pop_back();
        }
    }

    fn serve(self: Arc<Self>) {
        self.priority.stand_back();
        while let Some(job) = self.take() {
            let now = Instant::now();
            let turn = Turn {
                pool: self.clone(),
                since: Cell::new(now),
                slice: Cell::new(now),
                pace: job.pace,
            };
            // whoever asked is told that it was lost
            let _ = catch_unwind(AssertUnwindSafe(|| (job.work)(&turn)));
            let mut state = self.state.lock();
            state.free += 1;
            state.sleeping += 1;
            self.grant(&mut state, true);
        }
    }

    /// The next job of this thread, which counts as sleeping; none when there was none for long.
    fn take(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.ready.pop_front() {
                state.sleeping -= 1;
                return Some(job);
            }
            let timed_out = self.work.wait_for(&mut state, IDLE).timed_out();
            if timed_out && state.ready.is_empty() {
                state.sleeping -= 1;
                state.threads -= 1;
                return None;
            }
        }
    }
}

/// A slot that work has.
pub struct Turn {
    pool: Arc<Shared>,
    since: Cell<Instant>,
    /// When it last let others have the processor.
    slice: Cell<Instant>,
    pace: Option<Arc<Pace>>,
}

impl Turn {
    /// To be called now and then by work that takes long: lets others have the processor after a slice, and the slot after a
    /// turn.
    pub fn look(&self) {
        let now = Instant::now();
        if now.duration_since(self.slice.get()) < SLICE {
            return;
        }
        std::thread::yield_now();
        self.slice.set(Instant::now());
        if now.duration_since(self.since.get()) < TURN {
            return;
        }
        if let Some(pace) = &self.pace {
            // whoever asks for the same now is not let in ahead of others
            pace.is_long();
        }
        self.give_way();
        self.since.set(Instant::now());
    }

    fn give_way(&self) {
        let parked = {
            let mut state = self.pool.state.lock();
            if !state.is_wanted() {
                return;
            }
            state.parked += 1;
            state.free += 1;
            self.pool.queue_up(&mut state)
        };
        if !parked.granted.load(Ordering::Acquire) {
            self.pool.yielded.fetch_add(1, Ordering::Relaxed);
        }
        parked.wait();
    }
}

impl Parked {
    fn wait(&self) {
        while !self.granted.load(Ordering::Acquire) {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests;
