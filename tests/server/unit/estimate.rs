//! Latency estimates of documents.

use std::time::Duration;

use super::{LatencyEstimate, PENALTY};

const HANG: Duration = Duration::from_mins(2);

#[test]
fn estimates_follow_the_decisions() {
    let estimate = LatencyEstimate::default();
    assert!(!estimate.is_measured() && !estimate.is_long());
    assert!(!estimate.is_under(1, HANG));
    let (quick, slow) = (Duration::from_micros(40), Duration::from_millis(100));
    estimate.note(1, quick);
    assert!(estimate.is_under(1, quick * 2) && !estimate.is_under(1, quick));
    // at another generation the decisions may take longer.
    assert!(!estimate.is_under(2, quick * 2));
    // one slow decision of several classifies the document as long for a while.
    estimate.note(1, slow);
    assert!(!estimate.is_under(1, quick * 2));
    assert!(estimate.is_long());
    let notes = (0..100).take_while(|_| {
        estimate.note(1, quick);
        !estimate.is_under(1, quick * 2)
    });
    assert!((5..60).contains(&notes.count()));
    // a decision that took too long for a reactor is not run there for a while.
    estimate.misjudged(1);
    assert!(!estimate.is_under(1, HANG));
    let penalty = u64::try_from(PENALTY.as_millis()).unwrap();
    let recorded = estimate.age_ms();
    assert!(!estimate.is_penalty_over(0));
    assert!(estimate.is_penalty_over(recorded + penalty));
    estimate.note(2, quick);
    assert!(estimate.is_under(2, HANG));
    // no duration overflows the average
    for _ in 0..10 {
        estimate.note(1, Duration::MAX);
    }
    assert!(estimate.is_long());
}
