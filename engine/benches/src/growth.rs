//! Growth of cost with size: each workload that a manifest lists at two sizes, one ten times the other, in interleaved rounds.

use std::time::Duration;

use crate::engines::{Contender, Solon};
use crate::manifest::{self, Workload};
use crate::timing::{Figure, interleaved};

/// Maximum ratio of the costs at ten times the size.
pub const BAR: f64 = 12.0;

/// A workload at two sizes.
pub struct Growth {
    /// Name of the larger workload.
    pub name: String,
    /// Cost of one decision at the smaller size.
    pub small: Figure,
    /// Cost of one decision at the larger size.
    pub large: Figure,
    /// Time to load and prepare at both sizes, in milliseconds.
    pub ready_ms: (f64, f64),
}

impl Growth {
    /// Returns the ratio of the costs of the larger and the smaller workload.
    pub fn times(&self) -> f64 {
        self.large.median / self.small.median
    }
}

/// Returns the pairs of workloads of which the second is the larger version of the first.
pub fn pairs(workloads: &[Workload]) -> impl Iterator<Item = (&Workload, &Workload)> {
    workloads.iter().filter_map(|large| {
        let from = large.grows_from.as_ref()?;
        let small = workloads.iter().find(|small| small.name == *from)?;
        Some((small, large))
    })
}

/// Measures a pair.
///
/// # Errors
/// Returns the error of the engine.
pub fn measure(small: &Workload, large: &Workload, budget: Duration) -> Result<Growth, String> {
    let name = large.name.clone();
    let (mut small, mut large) = (Solon::load(small)?, Solon::load(large)?);
    let ready = |one: &Solon| one.load_ms() + one.prepare_ms();
    let ready_ms = (ready(&small), ready(&large));
    let calls: &mut [&mut dyn FnMut()] = &mut [&mut || small.decide(), &mut || large.decide()];
    let figures = interleaved(calls, budget);
    let [small, large] = figures.as_slice() else {
        return Err("not measured".to_owned());
    };
    Ok(Growth {
        name,
        small: *small,
        large: *large,
        ready_ms,
    })
}

/// Prints all pairs, and how many exceed [`BAR`].
///
/// # Errors
/// Returns the error of the engine.
pub fn print(workloads: &[Workload], budget: Duration) -> Result<(), String> {
    println!(
        "{:<18} {:>12} {:>12} {:>8} {:>11} {:>11}",
        "ten times the size", "small ns", "large ns", "times", "ready ms", "ready ms"
    );
    let mut beyond = 0;
    for (small, large) in pairs(workloads) {
        let growth = measure(small, large, budget)?;
        let times = growth.times();
        beyond += u32::from(times > BAR);
        println!(
            "{:<18} {:>12.0} {:>12.0} {:>8.2} {:>11.1} {:>11.1}{}",
            growth.name,
            growth.small.median,
            growth.large.median,
            times,
            growth.ready_ms.0,
            growth.ready_ms.1,
            if times > BAR { "  MORE" } else { "" }
        );
    }
    println!("{beyond} cost more than {BAR} times");
    Ok(())
}

/// Prints how the cost of a decision grows with the number of rules that cannot match.
///
/// # Errors
/// Returns the error of the engine.
pub fn print_rules(budget: Duration) -> Result<(), String> {
    let counts = [10, 1_000, 100_000];
    let mut engines = Vec::new();
    for count in counts {
        engines.push(Solon::load(&manifest::rules(count))?);
    }
    let ready: Vec<f64> = engines.iter().map(Contender::prepare_ms).collect();
    let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for engine in &mut engines {
        calls.push(Box::new(|| engine.decide()));
    }
    let mut calls: Vec<&mut dyn FnMut()> = calls
        .iter_mut()
        .map(|call| &mut **call as &mut dyn FnMut())
        .collect();
    let figures = interleaved(&mut calls, budget);
    for ((count, ready), figure) in counts.into_iter().zip(ready).zip(figures) {
        println!(
            "{count:>7} rules, the last matches: {:.1} ns, prepared in {ready:.1} ms",
            figure.median
        );
    }
    Ok(())
}
