//! The order of changes and the limit of waiting ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{ChangeWriter, NotRun};

#[tokio::test]
async fn changes_run_in_order_and_are_bounded() {
    let writer = ChangeWriter::new(2);
    let (began, begin) = std::sync::mpsc::channel::<()>();
    let made = Arc::<parking_lot::Mutex<Vec<u32>>>::default();
    let first = made.clone();
    let slow = writer.run(move || {
        let _ = begin.recv();
        first.lock().push(1);
    });
    let second = made.clone();
    let next = writer.run(move || second.lock().push(2));
    let checked = async {
        // the first one has begun, the second one waits
        while writer.waiting.load(Ordering::SeqCst) != 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // both arrive before the first one ends
        let go_on = async { began.send(()) };
        let (third, fourth, _) = tokio::join!(writer.run(|| ()), writer.run(|| ()), go_on);
        assert_eq!((third, fourth), (Ok(()), Err(NotRun::Full)));
    };
    let (slow, next, ()) = tokio::join!(slow, next, checked);
    assert_eq!((slow, next), (Ok(()), Ok(())));
    assert_eq!(*made.lock(), [1, 2]);
}

#[tokio::test]
async fn a_panic_is_lost_and_frees_the_turn() {
    let writer = ChangeWriter::new(2);
    let lost = writer.run(|| -> u32 { std::process::id().checked_sub(u32::MAX).unwrap() });
    assert_eq!(lost.await, Err(NotRun::Panicked));
    assert_eq!(writer.run(|| 7).await, Ok(7));
    assert_eq!(writer.waiting.load(Ordering::SeqCst), 0);
}
