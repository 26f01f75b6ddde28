//! Counts the allocations of one engine on one workload: `count MANIFEST WORKLOAD ENGINE`.

#![expect(clippy::print_stdout, reason = "prints its one line")]

use std::process::ExitCode;

use solon_bench::{counts, engines::Engine, manifest};
use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const DECISIONS: u32 = 20;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(name), Some(engine)) = (args.next(), args.next(), args.next()) else {
        return ExitCode::from(2);
    };
    let Some(engine) = Engine::ALL.into_iter().find(|known| known.name() == engine) else {
        return ExitCode::from(2);
    };
    let Ok(workloads) = manifest::read(&[file.into()], &[name]) else {
        return ExitCode::FAILURE;
    };
    let loading = Region::new(ALLOCATOR);
    let Some(Ok(mut contender)) = workloads.first().map(|workload| engine.load(workload)) else {
        return ExitCode::FAILURE;
    };
    let held = loading.change();
    let held = held.bytes_allocated.saturating_sub(held.bytes_deallocated);
    contender.decide();
    contender.decide();
    let region = Region::new(ALLOCATOR);
    for _ in 0..DECISIONS {
        contender.decide();
    }
    let allocations = region.change().allocations + region.change().reallocations;
    let each = f64::from(u32::try_from(allocations).unwrap_or(u32::MAX)) / f64::from(DECISIONS);
    let heap_mib = f64::from(u32::try_from(held >> 10).unwrap_or(u32::MAX)) / 1024.0;
    println!("{each} {} {heap_mib}", counts::peak_mib());
    ExitCode::SUCCESS
}
