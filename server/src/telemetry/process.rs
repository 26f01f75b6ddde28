//! What the system knows of this process, under Prometheus' usual names; nothing where there is no `/proc`.

use std::fs;

use super::family::Family;

/// Ticks of a second, in which Linux counts the time of a process for all to read.
const TICKS: f64 = 100.0;
/// Bytes of a page: what Linux counts memory in where it does not say otherwise.
const KIB: f64 = 1024.0;

/// What the system counts of this process.
pub fn families() -> Vec<Family> {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let boot = fs::read_to_string("/proc/stat").unwrap_or_default();
    let found = [
        (
            "process_cpu_seconds_total",
            "Total user and system CPU time spent in seconds.",
            cpu_seconds(&stat),
        ),
        (
            "process_max_fds",
            "Maximum number of open file descriptors.",
            max_files(&limits),
        ),
        (
            "process_open_fds",
            "Number of open file descriptors.",
            open_files(),
        ),
        (
            "process_resident_memory_bytes",
            "Resident memory size in bytes.",
            memory(&status, "VmRSS:"),
        ),
        (
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            start(&stat, &boot),
        ),
        (
            "process_virtual_memory_bytes",
            "Virtual memory size in bytes.",
            memory(&status, "VmSize:"),
        ),
    ];
    let known = found.into_iter();
    known
        .filter_map(|(name, help, value)| Some(Family::single(name, help, value?)))
        .collect()
}

/// Bytes of memory that this process holds.
pub fn resident_bytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    memory(&status, "VmRSS:").unwrap_or_default()
}

/// A field of `/proc/self/stat` behind the name of the program, by its number as `proc(5)` counts.
fn field(stat: &str, number: usize) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let at = number.checked_sub(3)?;
    fields.split(' ').nth(at)?.trim().parse().ok()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((field(stat, 14)? + field(stat, 15)?) / TICKS)
}

fn start(stat: &str, boot: &str) -> Option<f64> {
    let mut lines = boot.lines();
    let booted: f64 = lines
        .find_map(|line| line.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()?;
    Some(booted + field(stat, 22)? / TICKS)
}

fn memory(status: &str, name: &str) -> Option<f64> {
    let mut lines = status.lines();
    let text = lines.find_map(|line| line.strip_prefix(name))?;
    let kibibytes: f64 = text.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * KIB)
}

fn max_files(limits: &str) -> Option<f64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<f64> {
    let files = fs::read_dir("/proc/self/fd").ok()?;
    u32::try_from(files.count()).ok().map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::{cpu_seconds, max_files, memory, start};

    #[test]
    fn what_the_system_writes_is_read() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 1 0 3000 9 9 9";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(start(stat, "cpu 1\nbtime 1000\n"), Some(1030.0));
        assert_eq!(memory("VmRSS:\t     2 kB\n", "VmRSS:"), Some(2048.0));
        let limits = "Limit  Soft\nMax open files            1024   4096   files\n";
        assert_eq!(max_files(limits), Some(1024.0));
        assert_eq!(cpu_seconds(""), None);
    }
}
