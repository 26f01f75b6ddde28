//! Threads that do parts of the work of another one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::{TURN, Turn};

/// What several threads may do parts of.
pub type Work = dyn Fn(&Turn) + Send + Sync;

impl Turn {
    /// Does work of many parts here and, where slots are free meanwhile, on further threads as well. Each of them calls
    /// `work`, which does part after part until none is left. What has begun is waited for.
    pub fn share(&self, work: &Arc<Work>) {
        let crew = Arc::new(Crew::default());
        for _ in 1..self.pool.slots {
            // who comes too late does not keep it
            let (crew, work) = (crew.clone(), Arc::downgrade(work));
            self.pool.offer(Box::new(move |turn| {
                // who joins is waited for until it has let go of the work
                if let Some(member) = crew.join() {
                    if let Some(work) = work.upgrade() {
                        work(turn);
                    }
                    drop(member);
                }
            }));
        }
        work(self);
        // most often the others are as good as done
        if crew.wait(Some(TURN)) {
            return;
        }
        {
            let mut state = self.pool.state.lock();
            state.parked += 1;
            state.free += 1;
            self.pool.grant(&mut state, false);
        }
        crew.wait(None);
        let parked = self.pool.queue_up(&mut self.pool.state.lock());
        parked.wait();
        self.since.set(Instant::now());
    }
}

/// The further threads that do parts of one work.
#[derive(Default)]
struct Crew {
    members: Mutex<Members>,
    left: Condvar,
}

#[derive(Default)]
struct Members {
    working: usize,
    /// Whether nothing is left to do for those that come now.
    is_late: bool,
}

/// A thread that does parts.
struct Member<'a>(&'a Crew);

impl Crew {
    /// Counts a thread in, unless it comes too late.
    fn join(&self) -> Option<Member<'_>> {
        let mut members = self.members.lock();
        if members.is_late {
            return None;
        }
        members.working += 1;
        Some(Member(self))
    }

    /// Waits until nobody works any more, for some time at most; whether that is so.
    fn wait(&self, within: Option<Duration>) -> bool {
        let mut members = self.members.lock();
        members.is_late = true;
        let is_working = |members: &mut Members| members.working > 0;
        match within {
            Some(within) => {
                let waited = self.left.wait_while_for(&mut members, is_working, within);
                !waited.timed_out()
            }
            None => {
                self.left.wait_while(&mut members, is_working);
                true
            }
        }
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.members.lock().working -= 1;
        self.0.left.notify_one();
    }
}
