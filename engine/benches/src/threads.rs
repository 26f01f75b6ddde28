//! Scaling: contention between threads that share a prepared document.
//!
//! Three arrangements run in alternating rounds:
//!
//! - one thread alone,
//! - two threads that evaluate the same prepared document,
//! - two threads with separate engines, which share only the allocator and the machine.
//!
//! The ratio of the second to the third is the cost of sharing: counters, locks, pools, or cache lines that move between cores. It
//! should be at least 97 %.
//!
//! The first arrangement shows if two cores were free: unless the third is clearly faster than it, the threads alternated on one
//! core, and a ratio near 100 % has no meaning.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use solon::{PreparedDocument, Request, Value};

use crate::engines::Solon;
use crate::manifest::Workload;

/// Workloads that are measured if none is named.
pub const NAMES: [&str; 3] = ["a0_floor", "a2_rbac_grant", "b1_scan_hit"];

/// Throughput in million decisions per second.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// One thread.
    pub alone: f64,
    /// Two threads that share one prepared document.
    pub sharing: f64,
    /// Two threads with separate engines.
    pub apart: f64,
}

impl Throughput {
    /// Returns `true` if threads with separate engines were faster together than one alone, as on free cores. Otherwise contention
    /// cannot be observed, because threads alternate on one core.
    pub fn ran_together(&self) -> bool {
        self.apart > 1.6 * self.alone
    }
}

/// Prints how workloads scale, and how much a writer slows down a reader.
///
/// # Errors
/// Returns the error of the engine.
pub fn print(workloads: &[Workload], budget: Duration) -> Result<(), String> {
    println!(
        "million decisions a second  1 thread  2 sharing  2 apart  sharing/apart  with a writer"
    );
    for workload in workloads {
        let found = measure(workload, budget)?;
        let (calm, swapping) = beside_writer(workload, budget)?;
        println!(
            "{:<26}{:>10.3}{:>11.3}{:>9.3}{:>13.1} %{:>13.1} %",
            workload.name,
            found.alone,
            found.sharing,
            found.apart,
            100.0 * found.sharing / found.apart,
            100.0 * swapping / calm
        );
        if !found.ran_together() {
            println!(
                "  the two threads hardly ran at once, so this ratio says little: the machine is busy"
            );
        }
    }
    Ok(())
}

/// Measures a reader that always uses the current program, in million decisions per second. The first figure is with an idle
/// writer, the second with a writer that compiles the policy and publishes it a hundred times per second.
fn beside_writer(workload: &Workload, budget: Duration) -> Result<(f64, f64), String> {
    let solon = Solon::load(workload)?;
    let current = ArcSwap::from_pointee(solon.prepare()?);
    let input = solon.prepared().1.cloned();
    let (mut calm, mut swapping) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while start.elapsed() < 3 * budget || calm.len() < 5 {
        for (swaps, rates) in [(false, &mut calm), (true, &mut swapping)] {
            let stop = AtomicBool::new(false);
            let rate = thread::scope(|scope| {
                let writer = || {
                    while !stop.load(Relaxed) {
                        let turn = Instant::now();
                        if swaps && let Ok(next) = solon.compile_again(workload) {
                            current.store(Arc::new(next));
                        }
                        thread::sleep(Duration::from_millis(10).saturating_sub(turn.elapsed()));
                    }
                };
                scope.spawn(writer);
                let request = input
                    .as_ref()
                    .map_or_else(Request::new, |input| Request::new().input(input));
                let rate = decisions(ROUND * 5, || {
                    drop(std::hint::black_box(current.load().evaluate(&request)));
                });
                stop.store(true, Relaxed);
                rate
            });
            rates.push(rate);
        }
    }
    Ok((undisturbed(calm), undisturbed(swapping)))
}

/// Returns the throughput in million decisions per second.
fn decisions(time: Duration, mut decide: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut decisions = 0_u32;
    while start.elapsed() < time {
        for _ in 0..BETWEEN_LOOKS {
            decide();
        }
        decisions += BETWEEN_LOOKS;
    }
    f64::from(decisions) / start.elapsed().as_secs_f64() / 1e6
}

/// Duration of one round of one arrangement.
const ROUND: Duration = Duration::from_millis(20);

/// Measures a workload in all arrangements, in alternating rounds.
///
/// # Errors
/// Returns the error of the engine.
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

/// Returns the 90th percentile of the rounds. On a shared machine slow rounds are caused by other processes, and fast ones show the
/// speed of the engine.
fn undisturbed(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    let at = rounds.len() * 9 / 10;
    rounds.get(at).copied().unwrap_or_default()
}

/// Returns the total throughput of threads that evaluate at the same time, in million decisions per second.
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
                decisions(ROUND, decide)
            })
        });
        let running: Vec<_> = running.collect();
        let rates = running.into_iter().map(thread::ScopedJoinHandle::join);
        rates.map(Result::unwrap_or_default).sum()
    })
}

/// Decisions between two reads of the clock.
const BETWEEN_LOOKS: u32 = 64;
