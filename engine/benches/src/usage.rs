//! Processor time and memory of processes, as the system reports them.

use std::time::Duration;

/// Returns the processor time that a process has used so far. One tick is a hundredth of a second.
pub fn processor_time(process: u32) -> Duration {
    times(process, 2)
}

/// Returns the processor time that a process and its ended children have used so far.
pub fn processor_time_with_children(process: u32) -> Duration {
    times(process, 4)
}

/// Sums the first `count` of the times of a process: user and system mode, and the same of its ended children.
fn times(process: u32, count: usize) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // the name of the program is in parentheses and may contain spaces
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: u64 = fields
        .skip(11)
        .take(count)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// Returns the resident memory, in megabytes.
pub fn resident(process: u32) -> f64 {
    memory(process, "VmRSS:")
}

/// Returns the peak resident memory, in megabytes.
pub fn peak(process: u32) -> f64 {
    memory(process, "VmHWM:")
}

fn memory(process: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

/// Returns a line about the processors and the memory of this machine.
pub fn machine() -> String {
    let value = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_once(':'));
        value.map(|(_, value)| value.trim().to_owned())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = value("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory = value("/proc/meminfo", "MemTotal").unwrap_or_default();
    format!("{threads} threads of {model}, {memory} of memory")
}
