//! Whether threads that share a prepared document stand in one another's way.
//!
//! Three arrangements take turns, round by round: one thread alone; two threads that ask one prepared document; two
//! threads with an engine each, which share nothing but the allocator and the machine. What the second loses against
//! the third is what sharing costs: counters, locks, pools or caches whose lines the cores pass to and fro. The bar is
//! 97 % of the third. The first tells whether two cores were free at all: unless the third clearly beats it, threads
//! took turns, and a ratio near 100 % says nothing.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use solon::{PreparedDocument, Request, Value};

use crate::engines::Solon;
use crate::manifest::Workload;

/// Workloads that are measured when none is named.
pub const NAMES: [&str; 3] = ["a0_floor", "a2_rbac_grant", "b1_scan_hit"];

/// Decisions in a million per second.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// One thread.
    pub alone: f64,
    /// Two threads, one prepared document.
    pub sharing: f64,
    /// Two threads, each with an engine of its own.
    pub apart: f64,
}

impl Throughput {
    /// Whether threads that share nothing were faster together than one alone, as they are on free cores. Where
    /// they are not, threads that take turns cannot be seen to wait for one another.
    pub fn ran_together(&self) -> bool {
        self.apart > 1.6 * self.alone
    }
}

/// How long one round of one arrangement takes.
const ROUND: Duration = Duration::from_millis(20);

/// Measures a workload, the arrangements in turn, round by round.
///
/// # Errors
/// Whatever the engine says.
pub fn measure(workload: &Workload, budget: Duration) -> Result<Throughput, String> {
    let (one, other) = (Solon::load(workload)?, Solon::load(workload)?);
    let (one, other) = (one.prepared(), other.prepared());
    let arrangements = [&[one][..], &[one, one], &[one, other]];
    let mut rounds = [const { Vec::new() }; 3];
    let start = Instant::now();
    while start.elapsed() < 3 * budget || rounds.iter().any(|rounds| rounds.len() < 5) {
        for (threads, figures) in arrangements.iter().zip(&mut rounds) {
            figures.push(round(threads));
        }
    }
    let [alone, sharing, apart] = rounds.map(undisturbed);
    Ok(Throughput {
        alone,
        sharing,
        apart,
    })
}

/// What nine of ten rounds do not exceed: on a machine that others use too, a slow round tells of them, and a fast one of
/// the engine.
fn undisturbed(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    let at = rounds.len() * 9 / 10;
    rounds.get(at).copied().unwrap_or_default()
}

/// Decisions in a million per second of threads that decide at the same time.
fn round(threads: &[(&PreparedDocument, Option<&Value>)]) -> f64 {
    let together = Barrier::new(threads.len());
    thread::scope(|scope| {
        let running = threads.iter().map(|(document, input)| {
            let together = &together;
            scope.spawn(move || {
                let request = input.map_or_else(Request::new, |input| Request::new().input(input));
                let decide = || drop(std::hint::black_box(document.evaluate(&request)));
                decide();
                together.wait();
                let start = Instant::now();
                let mut decisions = 0_u32;
                while start.elapsed() < ROUND {
                    for _ in 0..BETWEEN_LOOKS {
                        decide();
                    }
                    decisions += BETWEEN_LOOKS;
                }
                f64::from(decisions) / start.elapsed().as_secs_f64() / 1e6
            })
        });
        let running: Vec<_> = running.collect();
        let rates = running.into_iter().map(thread::ScopedJoinHandle::join);
        rates.map(Result::unwrap_or_default).sum()
    })
}

/// Decisions between two looks at the clock.
const BETWEEN_LOOKS: u32 = 64;
