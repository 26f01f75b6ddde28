//! Threads of the pool, started on demand.

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use crate::system::lower_thread_priority;

/// Stack size of a thread in bytes. Only used pages take memory, and the engine grows the stack if necessary.
const STACK: usize = 2 << 20;

/// Scheduling priority of threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// The priority of the process.
    Normal,
    /// A lower one: other threads preempt them.
    Low,
}

/// Blocking threads of a separate runtime. The caller's runtime may allow too few threads for decisions that wait, and its limit is
/// unknown.
pub struct Workers {
    /// `None` if the runtime cannot be created: then the caller's runtime is used.
    runtime: Option<Runtime>,
}

impl Workers {
    /// Allows up to `threads` threads. They start when they are needed, and end after 10 s without work.
    pub fn new(threads: usize, priority: Priority) -> Self {
        let mut builder = Builder::new_current_thread();
        builder
            .max_blocking_threads(threads)
            .thread_stack_size(STACK);
        match priority {
            Priority::Normal => builder.thread_name("worker"),
            Priority::Low => builder
                .thread_name("long-worker")
                .on_thread_start(lower_thread_priority),
        };
        Self {
            runtime: builder.build().ok(),
        }
    }

    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        match &self.runtime {
            Some(runtime) => runtime.spawn_blocking(work),
            None => Handle::current().spawn_blocking(work),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // the drop may run in async code, which must not wait for threads
            runtime.shutdown_background();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "../../../../tests/server/unit/workers.rs"]
mod tests;
