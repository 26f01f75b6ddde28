//! Wakes of a connection, of which one in two is for nothing: hyper wakes a connection when the last part of a body is taken,
//! though it has read all of it, and a connection that is woken looks for a request that cannot be there yet. Such wakes are
//! held back.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// The waker that a connection is polled with, in place of its task's own.
#[derive(Default)]
pub struct ConnectionWaker(Option<(Waker, Waker)>);

impl ConnectionWaker {
    /// The waker that stands for the task's.
    pub fn of(&mut self, task: &Waker) -> &Waker {
        let known = self.0.take().filter(|(of, _)| of.will_wake(task));
        let made = known.unwrap_or_else(|| (task.clone(), Arc::new(Passing(task.clone())).into()));
        &self.0.insert(made).1
    }
}

/// Passes wakes on, unless they are held back where they come from.
struct Passing(Waker);

impl Wake for Passing {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if HELD.get() == Held::Passes {
            self.0.wake_by_ref();
        } else {
            HELD.set(Held::Came);
        }
    }
}

/// What becomes of wakes of this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// They pass.
    Passes,
    /// They are held back; none came yet.
    Waits,
    /// They are held back, and one came.
    Came,
}

thread_local! {
    static HELD: Cell<Held> = const { Cell::new(Held::Passes) };
}

/// Polls, and passes a wake on that this thread makes meanwhile where `is_needed` says so of what came. What is polled must
/// wake no other connection; wakes by other threads pass as ever.
pub fn poll_holding<T>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> T,
    is_needed: impl FnOnce(&T) -> bool,
) -> T {
    /// Wakes pass again, after a panic too.
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            HELD.set(Held::Passes);
        }
    }
    HELD.set(Held::Waits);
    let ends = Ends;
    let polled = poll(context);
    let came = HELD.get() == Held::Came;
    drop(ends);
    if came && is_needed(&polled) {
        context.waker().wake_by_ref();
    }
    polled
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::{ConnectionWaker, poll_holding};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn wakes_are_held_back_that_nobody_needs() {
        let count = Arc::new(Count::default());
        let woken = || count.0.load(Ordering::Relaxed);
        let mut connection = ConnectionWaker::default();
        let ours = connection.of(&Waker::from(count.clone())).clone();
        let mut context = Context::from_waker(&ours);
        let wake = |context: &mut Context<'_>| context.waker().wake_by_ref();

        wake(&mut context);
        assert_eq!(woken(), 1);
        poll_holding(&mut context, wake, |()| false);
        assert_eq!(woken(), 1);
        poll_holding(&mut context, wake, |()| true);
        assert_eq!(woken(), 2);
        poll_holding(&mut context, |_| (), |()| true);
        assert_eq!(woken(), 2);
        // other threads are not held back
        let apart = |context: &mut Context<'_>| {
            let waker = context.waker().clone();
            std::thread::spawn(move || waker.wake())
                .join()
                .expect("no panic");
        };
        poll_holding(&mut context, apart, |()| false);
        assert_eq!(woken(), 3);
        // nor is what comes after a panic
        let panics = catch_unwind(AssertUnwindSafe(|| {
            poll_holding(&mut context, |_| panic!("as a test"), |()| false);
        }));
        assert!(panics.is_err());
        wake(&mut Context::from_waker(&ours));
        assert_eq!(woken(), 4);
    }

    #[test]
    fn a_connection_that_moves_to_another_task_is_woken_there() {
        let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let mut connection = ConnectionWaker::default();
        let one = connection.of(&first.clone().into()).clone();
        assert!(one.will_wake(connection.of(&first.clone().into())));
        connection.of(&second.clone().into()).wake_by_ref();
        let woken = (&first, &second);
        assert_eq!(woken.0.0.load(Ordering::Relaxed), 0);
        assert_eq!(woken.1.0.load(Ordering::Relaxed), 1);
    }
}
