//! Allocations and peak memory, counted by the `count` binary in one process for each engine and workload.

use std::process::Command;

use crate::engines::Engine;
use crate::manifest::Workload;

/// Counts of a separate process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Allocations per decision.
    pub allocs: f64,
    /// Peak resident memory of the process in MiB, including loading.
    pub peak_mib: f64,
    /// Heap memory of the loaded workload, in MiB.
    pub heap_mib: f64,
}

/// Runs the `count` binary, which is in the same folder as this executable.
pub fn count(workload: &Workload, engine: Engine) -> Option<Counts> {
    let binary = std::env::current_exe().ok()?.with_file_name("count");
    let output = Command::new(binary)
        .arg(&workload.manifest)
        .arg(&workload.name)
        .arg(engine.name())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut figures = text.split_whitespace().map(|figure| figure.parse().ok());
    Some(Counts {
        allocs: figures.next()??,
        peak_mib: figures.next()??,
        heap_mib: figures.next()??,
    })
}

/// Returns the peak resident memory of this process, in MiB.
pub fn peak_mib() -> f64 {
    status_mib("VmHWM:")
}

/// Returns the resident memory of this process, in MiB.
pub fn resident_mib() -> f64 {
    status_mib("VmRSS:")
}

fn status_mib(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib: f64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default();
    kib / 1024.0
}
