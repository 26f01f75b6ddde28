//! Threads of the pool.

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// Stack of a thread in bytes, of which it takes what it touches. The engine grows it where it needs more.
const STACK: usize = 2 << 20;

/// Blocking threads of a runtime of their own. The number of threads that the runtime of the caller allows may be too small for
/// decisions that wait, and is not known.
pub struct Workers {
    /// `None` if it cannot be had: the runtime of the caller is used.
    runtime: Option<Runtime>,
}

impl Workers {
    /// Allows at most so many threads at a time. They start when they are needed, and end after 10 s without work.
    pub fn new(threads: usize) -> Self {
        let mut builder = Builder::new_current_thread();
        builder
            .max_blocking_threads(threads)
            .thread_stack_size(STACK)
            .thread_name("worker");
        Self {
            runtime: builder.build().ok(),
        }
    }

    /// Runs work on one of the threads.
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
            // waiting for threads is not allowed where this may run
            runtime.shutdown_background();
        }
    }
}
