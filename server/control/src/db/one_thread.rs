//! Several transactions on one thread that may block.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::DbError;
use crate::trace::TraceContext;

tokio::task_local! {
    static MAY_BLOCK: ();
}

/// Returns `true` if the current future runs on a thread that may block.
pub(super) fn may_block() -> bool {
    MAY_BLOCK.try_with(|()| ()).is_ok()
}

/// Runs a future on a thread that may block, in the trace of the caller. If the returned future is dropped, `work` still ends.
pub(super) async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, DbError> {
    let work = TraceContext::current().scope(MAY_BLOCK.scope((), work));
    let runtime = Handle::current();
    let running = spawn_blocking(move || runtime.block_on(work));
    Ok(running.await?)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{may_block, run};

    #[tokio::test]
    async fn only_the_work_itself_may_block() {
        assert!(!may_block());
        let caller = thread::current().id();
        let work = run(async move {
            tokio::task::yield_now().await;
            let started = tokio::spawn(async { may_block() }).await.unwrap();
            (may_block(), thread::current().id() == caller, started)
        });
        assert_eq!(work.await, Ok((true, false, false)));
        assert!(!may_block());
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let work = run(async { panic!("of the work") });
        assert!(work.await.is_err());
    }
}
