//! Interleaved rounds, so that noise affects all engines equally.

use std::time::{Duration, Instant};

/// Nanoseconds per call: the median over rounds, and the interquartile range.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// Third quartile minus first.
    pub spread: f64,
}

/// Measures calls in alternating rounds until `budget` is spent on each.
pub fn interleaved(calls: &mut [&mut dyn FnMut()], budget: Duration) -> Vec<Figure> {
    let batches: Vec<u32> = calls.iter_mut().map(|call| batch(call)).collect();
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); calls.len()];
    let mut spent = Duration::ZERO;
    let count = u32::try_from(calls.len()).unwrap_or(1);
    // calls that take seconds get only a few rounds
    let enough = |rounds: usize, spent: Duration| {
        rounds >= 5 || (rounds >= 3 && spent > 10 * budget * count)
    };
    while spent < budget * count || !enough(rounds.first().map_or(5, Vec::len), spent) {
        for ((call, batch), figures) in calls.iter_mut().zip(&batches).zip(&mut rounds) {
            let start = Instant::now();
            for _ in 0..*batch {
                call();
            }
            let time = start.elapsed();
            spent += time;
            figures.push(time.as_secs_f64() * 1e9 / f64::from(*batch));
        }
    }
    rounds.into_iter().map(figure).collect()
}

/// Duration of a batch of calls. It is long enough for each engine to refill the processor caches, as for OPA, which is timed in a
/// separate process without pauses.
const BATCH: Duration = Duration::from_millis(10);

/// Returns the number of calls in a batch.
fn batch(call: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    loop {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        let time = start.elapsed().max(Duration::from_nanos(20));
        if time >= BATCH / 2 || calls > u32::MAX / 2 {
            let batches = BATCH.as_secs_f64() / time.as_secs_f64();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most twice the calls"
            )]
            return ((f64::from(calls) * batches) as u32).max(1);
        }
        calls *= 2;
    }
}

/// Returns the median.
pub fn median(figures: Vec<f64>) -> f64 {
    figure(figures).median
}

/// Returns the median and the interquartile range.
pub fn figure(mut rounds: Vec<f64>) -> Figure {
    rounds.sort_by(f64::total_cmp);
    let at = |part: usize| {
        rounds
            .get(rounds.len() * part / 4)
            .copied()
            .unwrap_or_default()
    };
    Figure {
        median: at(2),
        spread: at(3) - at(1),
    }
}
