//! `bench [--seconds S] [NAME…]` prints the table of all workloads. `bench --help` lists the other benchmarks.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people at a terminal"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use solon_bench::profile::Part;
use solon_bench::{
    bindings, bundling, compiling, control, filtering, growth, loading, manifest, profile, serving,
    side_by_side, threads,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
Times policies on Solon and its peers, in one process with one allocator, rounds interleaved.

Usage: ./bench [--seconds S] [--manifest FILE] [NAME…]
       ./bench --json MANIFEST.json [NAME…]
       ./bench --growth | --load | --compile [NAME…] | --threads [--seconds S]
       ./bench --bindings [NAME…]
       ./bench --server [--seconds S]
       ./bench --logs [--seconds S]
       ./bench --activations [--seconds S]
       ./bench --waiting
       ./bench --envoy [--seconds S]
       ./bench --sizing [--seconds S]
       ./bench --filters [NAME…]
       ./bench --bundles
       ./bench --control
       ./bench --profile NAME [--part decide|json|prepare]

  --seconds S       time spent on each figure (0.3)
  --manifest FILE   workloads (all below engine/benches/workloads, and ../shared/workloads/manifest.json if there)
  --json FILE       Solon alone, one JSON line a workload
  --growth          Solon alone, workloads at ten times the size against themselves
  --load [MB]       reading documents of so many megabytes (100) beside serde_json, and changing large ones
  --compile         compiling policies of up to 600,000 lines, and changing one module of 500
  --threads         two threads that share a prepared document against two that share nothing, and a reader beside a
                    writer that swaps programs
  --bindings        calls from C and Python beside the same in Rust, and beside peers; SOLON_ORACLE_PYTHON names a folder
                    with the reference engine's Python package
  --server          the policy server under load, beside one that does nothing and the reference engine's; by `wrk`, which must
                    be installed; the server is the program `solon` beside this one, or the one that SOLON_SERVER names
  --logs            decisions with and without decision logs that are uploaded, on the server and on the reference engine's; by `wrk`
  --activations     decisions at half of the peak load while 10 bundles of 100 modules and 10 MB are polled each second, with one of
                    them changed each second and without a change; --seconds is the time of all rounds
  --waiting         200 and 2,000 decisions at once that wait for an HTTP backend for a second, with cheap decisions at
                    the same time, on the server and on the reference engine's; takes a few minutes at most
  --envoy           external authorization for Envoy over gRPC beside a server that allows everything: throughput, latency at half
                    of it, and the memory of 1,000 concurrent streams
  --sizing          what a machine of this kind can do: requests per second of a core by the kind of policy, memory by the size of
                    the data, costs of decision logs, TLS and Envoy; by `wrk`
  --filters         rules that become filters of rows, beside the reference engine's server
  --bundles         activating and building large bundles as whole processes, beside the reference engine, and changing one of 10,000
                    policies; the program is the one of --server
  --control         a control plane with 1,000 bundles of 20 sources each: the first build, checks without a change, which bundles a
                    change builds again, and 1,000 policy servers that wait; takes some minutes
  --profile NAME    instructions of each function, counted by valgrind

The reference engine is timed by the binary named in SOLON_ORACLE, when it is set.";

/// Selected benchmark.
enum Task {
    Table,
    Json,
    Growth,
    Load(usize),
    Compile,
    Threads,
    Bindings,
    Server,
    Logs,
    Activations,
    Waiting,
    Envoy,
    Sizing,
    Filters,
    Bundles,
    Control,
    /// Server that `--server` compares with.
    Nothing(String),
    /// Server that `--envoy` compares with.
    AllowAll(String),
    Profile(Part),
    /// Part that `--profile` counts.
    Run(Part),
    /// File and parser that `--load` measures.
    Resident(String, String),
}

struct Arguments {
    manifests: Vec<PathBuf>,
    task: Task,
    seconds: f64,
    names: Vec<String>,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let mut found = Arguments {
        manifests: Vec::new(),
        task: Task::Table,
        seconds: 0.3,
        names: Vec::new(),
    };
    let part = |name: &str| Part::of(name).ok_or_else(|| format!("`{name}` is no part"));
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "-h" | "--help" => return Ok(None),
            "--json" => {
                found.manifests.push(value()?.into());
                found.task = Task::Json;
            }
            "--growth" => found.task = Task::Growth,
            "--load" => found.task = Task::Load(100),
            "--compile" => found.task = Task::Compile,
            "--threads" => found.task = Task::Threads,
            "--bindings" => found.task = Task::Bindings,
            "--server" => found.task = Task::Server,
            "--logs" => found.task = Task::Logs,
            "--activations" => found.task = Task::Activations,
            "--waiting" => found.task = Task::Waiting,
            "--envoy" => found.task = Task::Envoy,
            "--sizing" => found.task = Task::Sizing,
            "--allow-all" => found.task = Task::AllowAll(value()?),
            "--filters" => found.task = Task::Filters,
            "--bundles" => found.task = Task::Bundles,
            "--control" => found.task = Task::Control,
            "--nothing" => found.task = Task::Nothing(value()?),
            "--profile" => {
                found.names.push(value()?);
                found.task = Task::Profile(Part::Decide);
            }
            "--part" => found.task = Task::Profile(part(&value()?)?),
            "--run" => {
                found.task = Task::Run(part(&value()?)?);
                found.names.push(value()?);
            }
            "--resident" => found.task = Task::Resident(value()?, value()?),
            "--manifest" => found.manifests.push(value()?.into()),
            "--seconds" => {
                found.seconds = value()?.parse().map_err(|_| "--seconds needs a number")?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
            name => match (&mut found.task, name.parse()) {
                (Task::Load(megabytes), Ok(number)) => *megabytes = number,
                _ => found.names.push(name.to_owned()),
            },
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
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), String> {
    let budget = Duration::from_secs_f64(arguments.seconds);
    let workloads = |names: &[String]| manifest::read(&arguments.manifests, names);
    match arguments.task {
        Task::Table => side_by_side::print(&workloads(&arguments.names)?, budget),
        Task::Json => {
            let workloads = workloads(&arguments.names)?;
            workloads
                .iter()
                .try_for_each(|workload| side_by_side::alone(workload, budget))
        }
        Task::Growth => {
            growth::print(&workloads(&arguments.names)?, budget)?;
            if arguments.names.is_empty() {
                growth::print_rules(budget)?;
            }
            Ok(())
        }
        Task::Load(megabytes) => loading::print(megabytes, budget),
        Task::Compile => compiling::print(budget, &arguments.names),
        Task::Threads => {
            let mut names = arguments.names.clone();
            if names.is_empty() {
                names.extend(threads::NAMES.map(str::to_owned));
            }
            threads::print(&workloads(&names)?, budget)
        }
        Task::Bindings => {
            let mut names = arguments.names.clone();
            if names.is_empty() {
                names.extend(bindings::NAMES.map(str::to_owned));
            }
            bindings::print(&workloads(&names)?, budget)
        }
        Task::Server => serving::print(budget),
        Task::Logs => serving::print_logs(budget),
        Task::Activations => serving::print_activations(budget),
        Task::Waiting => serving::print_waiting(),
        Task::Envoy => serving::print_envoy(budget),
        Task::Sizing => serving::print_sizing(&arguments.manifests, budget),
        Task::AllowAll(address) => serving::serve_allow_all(&address),
        Task::Filters => filtering::print(budget, &arguments.names),
        Task::Bundles => bundling::print(&serving::own_program()?),
        Task::Control => control::print(),
        Task::Nothing(address) => serving::serve_nothing(&address),
        Task::Profile(part) => workloads(&arguments.names)?
            .iter()
            .try_for_each(|workload| profile::print(workload, part)),
        Task::Run(part) => workloads(&arguments.names)?
            .iter()
            .try_for_each(|workload| profile::run(workload, part)),
        Task::Resident(file, reader) => {
            loading::print_resident(&file, &reader);
            Ok(())
        }
    }
}
