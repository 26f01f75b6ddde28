//! Instruction counts of ten workloads, which must stay within 3 % of the record.
//!
//! Times depend on the machine and its load, instruction counts hardly do. Valgrind counts them in a new process of
//! this program. The record applies to one compiler and one kind of machine: otherwise, without valgrind, and in debug
//! builds nothing is compared, and a message says so. `./bless` records again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test program"
)]

mod workloads;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use workloads::WORKLOADS;

/// Number of counted calls for each workload.
const CALLS: u32 = 10;

/// Allowed deviation from the record, in percent.
const TOLERANCE: f64 = 3.0;

/// Argument that runs the counted workloads: all, or the one named after it.
const COUNTED: &str = "--counted";

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// Version of the compiler.
    toolchain: String,
    /// CPU features that determine the instructions chosen by libraries.
    machine: String,
    /// Instructions of one call.
    counts: BTreeMap<String, u64>,
}

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == COUNTED) {
        let only = std::env::args().nth(2);
        let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
        for (_, prepare) in WORKLOADS.iter().filter(|(name, _)| is_wanted(name)) {
            let mut call = prepare();
            call();
            call();
            counted(&mut *call, CALLS);
        }
        return ExitCode::SUCCESS;
    }
    let skipped = |reason: &str| {
        println!("instructions: not counted: {reason}");
        ExitCode::SUCCESS
    };
    if cfg!(debug_assertions) {
        return skipped("this is a debug build");
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skipped("valgrind is not installed");
    }
    let (toolchain, machine) = (toolchain(), machine());
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/instructions.json");
    let bless = std::env::var_os("BLESS").is_some();
    let record: Record = std::fs::read_to_string(&file)
        .map(|text| serde_json::from_str(&text).expect("the record is JSON of its own form"))
        .unwrap_or_default();
    if !bless && (&record.toolchain, &record.machine) != (&toolchain, &machine) {
        return skipped(&format!(
            "the record is of {} on {}, this is {toolchain} on {machine}",
            record.toolchain, record.machine
        ));
    }
    let found = Record {
        toolchain,
        machine,
        counts: fewest(&record),
    };
    if bless {
        let text = serde_json::to_string_pretty(&found).expect("a record is JSON");
        std::fs::write(&file, text + "\n").expect("the record can be written");
        return ExitCode::SUCCESS;
    }
    compare(&record, &found)
}

/// Runs the counted calls; valgrind identifies them by this function's name.
#[inline(never)]
fn counted(call: &mut dyn FnMut(), times: u32) {
    for _ in 0..times {
        call();
    }
}

/// Number of counts before a deviation from the record is reported.
const COUNTINGS: usize = 3;

/// Returns the minimum for each workload over several counts: on a busy machine, the cleanup of another thread may be
/// counted with a call, which only increases a count.
fn fewest(record: &Record) -> BTreeMap<String, u64> {
    let mut fewest = count();
    for _ in 1..COUNTINGS {
        let mut known = fewest
            .iter()
            .map(|(name, count)| change(record, name, *count));
        if known.all(|change| !is_beyond(change)) {
            break;
        }
        for (name, count) in count() {
            let known = fewest.entry(name).or_insert(count);
            *known = count.min(*known);
        }
    }
    fewest
}

/// Returns the deviation of a count from its record, in percent.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn change(record: &Record, name: &str, count: u64) -> f64 {
    let recorded = record.counts.get(name).copied().unwrap_or_default();
    100.0 * (count as f64 / recorded as f64 - 1.0)
}

fn is_beyond(change: f64) -> bool {
    change.is_nan() || change.abs() > TOLERANCE
}

/// Counts the instructions of one call of each workload.
fn count() -> BTreeMap<String, u64> {
    let folder = std::env::temp_dir().join(format!("solon-instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the counts");
    let out = folder.join("out");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg("--toggle-collect=instructions::counted")
        .arg("--dump-after=instructions::counted")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().expect("this program has a file"))
        .arg(COUNTED)
        .output()
        .expect("valgrind runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let total = |number: usize| -> u64 {
        let text = std::fs::read_to_string(folder.join(format!("out.{number}")));
        let text = text.expect("one file of counts for each workload");
        let line = text.lines().find_map(|line| line.strip_prefix("totals: "));
        line.expect("a total").trim().parse().expect("a number")
    };
    let counts = (1..)
        .zip(WORKLOADS)
        .map(|(number, (name, _))| (name.to_owned(), total(number) / u64::from(CALLS)));
    let counts = counts.collect();
    let _ = std::fs::remove_dir_all(&folder);
    counts
}

fn compare(record: &Record, found: &Record) -> ExitCode {
    let mut failed = 0;
    for (name, count) in &found.counts {
        let change = change(record, name, *count);
        let beyond = is_beyond(change);
        failed += u32::from(beyond);
        println!(
            "{name:<10} {count:>10} instructions, {change:+.2} %{}",
            if beyond { "  FAILED" } else { "" }
        );
    }
    println!(
        "instructions: {} counted, {failed} beyond {TOLERANCE} %",
        found.counts.len()
    );
    if failed > 0 {
        println!("`./bless` records them, if that is how it shall be");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn toolchain() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|_| "an unknown compiler".to_owned())
}

fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let vectors = if std::arch::is_x86_feature_detected!("avx2") {
        " with avx2"
    } else {
        ""
    };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "";
    format!("{}{vectors}", std::env::consts::ARCH)
}
