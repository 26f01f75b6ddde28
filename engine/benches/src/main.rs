//! `bench [--json MANIFEST.json] [--seconds S] [NAME…]`: the table of all workloads, or Solon alone as JSON lines.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people at a terminal"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use solon_bench::counts::{self, Counts};
use solon_bench::engines::{Contender, Engine};
use solon_bench::manifest::{self, Workload};
use solon_bench::oracle::{self, Timing};
use solon_bench::table::{self, Row};
use solon_bench::threads;
use solon_bench::timing::{Figure, interleaved};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
Times policies on Solon and its peers, in one process with one allocator, rounds interleaved.

Usage: ./bench [--seconds S] [--manifest FILE] [NAME…]
       ./bench --json MANIFEST.json [NAME…]
       ./bench --threads [--seconds S] [NAME…]

  --seconds S       time spent on each figure (0.3)
  --manifest FILE   workloads (all below engine/benches/workloads, and ../shared/workloads/manifest.json if there)
  --json FILE       Solon alone, one JSON line a workload
  --threads         Solon alone, two threads that share a prepared document against two that share nothing

The reference engine is timed by the binary named in SOLON_ORACLE, when it is set.";

struct Arguments {
    manifests: Vec<PathBuf>,
    json: bool,
    threads: bool,
    seconds: f64,
    names: Vec<String>,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let mut found = Arguments {
        manifests: Vec::new(),
        json: false,
        threads: false,
        seconds: 0.3,
        names: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "-h" | "--help" => return Ok(None),
            "--json" => {
                found.manifests.push(value()?.into());
                found.json = true;
            }
            "--threads" => found.threads = true,
            "--manifest" => found.manifests.push(value()?.into()),
            "--seconds" => {
                found.seconds = value()?.parse().map_err(|_| "--seconds needs a number")?
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
            name => found.names.push(name.to_owned()),
        }
    }
    if found.manifests.is_empty() {
        found.manifests = manifest::known();
    }
    Ok(Some(found))
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("bench: {message}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.threads {
        return compare_threads(arguments);
    }
    let workloads = manifest::read(&arguments.manifests, &arguments.names)?;
    if arguments.json {
        for workload in &workloads {
            alone(arguments, workload)?;
        }
        return Ok(());
    }
    let timings = match std::env::var("SOLON_ORACLE") {
        Ok(binary) if !binary.is_empty() => oracle::time(&binary, &workloads)?,
        _ => std::collections::HashMap::new(),
    };
    table::head();
    let mut rows = Vec::new();
    for workload in &workloads {
        let row = compare(arguments, workload, timings.get(&workload.name).copied())?;
        table::row(&row);
        rows.push(row);
    }
    if arguments.names.is_empty() {
        growth(arguments)?;
    }
    let eval = table::mean(rows.iter().filter_map(|row| row.ratios().0));
    let json = table::mean(rows.iter().filter_map(|row| row.ratios().1));
    println!(
        "geometric mean against the faster of regorus's modes: {eval:.1} parsed, {json:.1} text to text"
    );
    let eval = table::mean(rows.iter().filter_map(|row| row.oracle_ratios().0));
    let json = table::mean(rows.iter().filter_map(|row| row.oracle_ratios().1));
    if eval > 0.0 {
        println!("geometric mean against opa: {eval:.1} parsed, {json:.1} text to text");
    }
    Ok(())
}

/// How a decision costs more with more rules that cannot match.
fn growth(arguments: &Arguments) -> Result<(), String> {
    let mut contenders = Vec::new();
    for count in [10, 1_000, 100_000] {
        let workload = manifest::rules(count);
        contenders.push((count, Engine::Solon.load(&workload)?));
    }
    let sizes: Vec<(usize, f64)> = contenders
        .iter()
        .map(|(count, one)| (*count, one.prepare_ms()))
        .collect();
    let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for (_, contender) in &mut contenders {
        calls.push(Box::new(move || contender.decide()));
    }
    let mut calls: Vec<&mut dyn FnMut()> = calls
        .iter_mut()
        .map(|call| &mut **call as &mut dyn FnMut())
        .collect();
    let figures = interleaved(&mut calls, Duration::from_secs_f64(arguments.seconds));
    for ((count, prepare_ms), figure) in sizes.into_iter().zip(figures) {
        println!(
            "{count:>7} rules, the last matches: {:.1} ns, prepared in {prepare_ms:.1} ms",
            figure.median
        );
    }
    Ok(())
}

/// Threads that share a document against threads that share nothing.
fn compare_threads(arguments: &Arguments) -> Result<(), String> {
    let mut names = arguments.names.clone();
    if names.is_empty() {
        names.extend(threads::NAMES.map(str::to_owned));
    }
    println!("million decisions a second  1 thread  2 sharing  2 apart  sharing/apart");
    for workload in manifest::read(&arguments.manifests, &names)? {
        let budget = Duration::from_secs_f64(arguments.seconds);
        let found = threads::measure(&workload, budget)?;
        println!(
            "{:<26}{:>10.3}{:>11.3}{:>9.3}{:>13.1} %",
            workload.name,
            found.alone,
            found.sharing,
            found.apart,
            100.0 * found.sharing / found.apart
        );
        if !found.ran_together() {
            println!(
                "  the two threads hardly ran at once, so this ratio says little: the machine is busy"
            );
        }
    }
    Ok(())
}

fn is_correct(workload: &Workload, contender: &mut dyn Contender) -> bool {
    let answer = contender
        .decide_json()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    workload.expect.is_none() || answer == workload.expect
}

/// Solon alone, one JSON line.
fn alone(arguments: &Arguments, workload: &Workload) -> Result<(), String> {
    let contender = &mut *Engine::Solon.load(workload)?;
    let correct = is_correct(workload, contender);
    let prepare_ms = contender.prepare_ms();
    let budget = Duration::from_secs_f64(arguments.seconds);
    let eval_ns = interleaved(&mut [&mut || contender.decide()], budget)
        .first()
        .map(|figure| figure.median);
    let json = &mut || drop(std::hint::black_box(contender.decide_json()));
    let json_ns = interleaved(&mut [json], budget)
        .first()
        .map(|figure| figure.median);
    let counts = counts::count(workload, Engine::Solon).unwrap_or_default();
    let line = serde_json::json!({
        "name": workload.name, "correct": correct, "eval_ns": eval_ns, "json_ns": json_ns,
        "prepare_ms": prepare_ms, "allocs": counts.allocs,
    });
    println!("{line}");
    Ok(())
}

/// All contenders on one workload.
fn compare(
    arguments: &Arguments,
    workload: &Workload,
    oracle: Option<Timing>,
) -> Result<Row, String> {
    let mut contenders: Vec<(usize, Box<dyn Contender>)> = Vec::new();
    for (column, engine) in Engine::ALL.into_iter().enumerate() {
        match engine.load(workload) {
            Ok(mut contender) => {
                // a peer that answers something else, or nothing, has done less
                if engine == Engine::Solon || is_correct(workload, &mut *contender) {
                    contenders.push((column, contender));
                } else {
                    eprintln!("{}: {} answers wrongly", workload.name, engine.name());
                }
            }
            Err(message) if engine == Engine::Solon => {
                return Err(format!("{}: {message}", workload.name));
            }
            Err(message) => eprintln!(
                "{}: {} cannot run it: {}",
                workload.name,
                engine.name(),
                message.trim().lines().last().unwrap_or_default()
            ),
        }
    }
    let (mut correct, mut prepare_ms) = (false, 0.0);
    if let Some((_, own)) = contenders.first_mut() {
        correct = is_correct(workload, &mut **own);
        prepare_ms = own.prepare_ms();
    }
    let budget = Duration::from_secs_f64(arguments.seconds);
    let eval = measure(&mut contenders, budget, |contender| contender.decide());
    let json = measure(&mut contenders, budget, |contender| {
        drop(std::hint::black_box(contender.decide_json()))
    });
    let count = |engine| counts::count(workload, engine).unwrap_or_default();
    let own: Counts = count(Engine::Solon);
    let peers = [count(Engine::Interpreter), count(Engine::RegisterVm)];
    let peer_allocs = peers
        .iter()
        .map(|counts| counts.allocs)
        .reduce(f64::min)
        .unwrap_or_default();
    Ok(Row {
        name: workload.name.clone(),
        correct,
        eval,
        json,
        oracle,
        counts: own,
        peer_allocs,
        prepare_ms,
    })
}

fn measure(
    contenders: &mut [(usize, Box<dyn Contender>)],
    budget: Duration,
    call: impl Fn(&mut dyn Contender) + Copy,
) -> [Option<Figure>; 3] {
    let columns: Vec<usize> = contenders.iter().map(|(column, _)| *column).collect();
    let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for (_, contender) in contenders {
        calls.push(Box::new(move || call(&mut **contender)));
    }
    let mut calls: Vec<&mut dyn FnMut()> = calls
        .iter_mut()
        .map(|call| &mut **call as &mut dyn FnMut())
        .collect();
    let mut figures = [None; 3];
    for (column, figure) in columns.into_iter().zip(interleaved(&mut calls, budget)) {
        if let Some(place) = figures.get_mut(column) {
            *place = Some(figure);
        }
    }
    figures
}
