//! Bundles: activating and building large ones, as whole processes next to OPA's, and changing one of many policies.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use solon::Engine;
use solon::bundle::BundleFile;

use crate::generate::documents;
use crate::oracle;
use crate::timing::median;

/// Number of policies of the bundle of policies.
const POLICIES: usize = 10_000;

/// Number of policies of a package.
const PACKAGE: usize = 100;

/// Megabytes of the bundle of documents.
const MEGABYTES: usize = 500;

/// Time within which a server with the bundle of documents is ready.
const READY: Duration = Duration::from_secs(60);

/// Number of rounds. The programs take turns.
const ROUNDS: usize = 3;

/// Time and memory of a process.
struct ProcessFigures {
    milliseconds: f64,
    peak_megabytes: f64,
}

/// Prints time and memory of bundles. `program` is the command line of Solon.
///
/// # Errors
/// A program that does not run, or a file that cannot be written.
pub fn print(program: &Path) -> Result<(), String> {
    let folder = Folder::new()?;
    let policies = folder.write("policies", &policies())?;
    let text = documents::users(3_600 * MEGABYTES);
    let text_megabytes = mega(text.len());
    let data = folder.write(
        "data",
        &[("data.json".to_owned(), format!("{{\"d\": {text}}}"))],
    )?;
    drop(text);
    println!(
        "{:<28} {:>11} {:>11} {:>6} {:>9} {:>9}",
        "bundle", "solon ms", "OPA ms", "x", "solon MB", "OPA MB"
    );
    let out = folder.0.join("built.tar.gz");
    let (policies, data, out) = (text_of(&policies), text_of(&data), text_of(&out));
    let tasks: [(&str, Vec<&str>); 3] = [
        (
            "activate 10,000 policies",
            vec!["eval", "-b", &policies, "1"],
        ),
        (
            "activate 500 MB of documents",
            vec!["eval", "-b", &data, "1"],
        ),
        (
            "build 10,000 policies",
            vec!["build", "-b", &policies, "-o", &out],
        ),
    ];
    let other = oracle::binary();
    for (name, arguments) in tasks {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            own.push(measure(program, &arguments)?);
            if let Some(other) = &other {
                others.push(measure(Path::new(other), &arguments)?);
            }
        }
        let (own, others) = (Medians::of_runs(&own), Medians::of_runs(&others));
        println!(
            "{name:<28} {:>11.0} {:>11.0} {:>6.1} {:>9.0} {:>9.0}",
            own.0,
            others.0,
            others.0 / own.0,
            own.1,
            others.1
        );
        if name.contains("documents") {
            let serving = resident_of_server(program, &data)?;
            for (name, megabytes) in [("  peak memory", own.1), ("  memory when served", serving)] {
                let times = megabytes / text_megabytes;
                println!("{name:<28} {times:>11.2} times the text");
            }
        }
    }
    change_one()
}

/// Median of milliseconds and of peak megabytes.
struct Medians(f64, f64);

impl Medians {
    fn of_runs(runs: &[ProcessFigures]) -> Self {
        Self(
            median(runs.iter().map(|run| run.milliseconds).collect()),
            median(runs.iter().map(|run| run.peak_megabytes).collect()),
        )
    }
}

fn mega(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns policies of packages of 100, which refer to each other.
fn policies() -> Vec<(String, String)> {
    let policy = |number: usize| {
        let package = number / PACKAGE;
        let first = package * PACKAGE;
        let text = format!(
            "package g{package}.m{number}\n\ndefault allow := false\n\nallow if {{\n\tinput.user == \"u{number}\"\n\tinput.level >= \
             data.g{package}.m{first}.limit\n\tsome role in input.roles\n\trole in {{\"a\", \"b{number}\"}}\n}}\n\nlimit := {number}\n\ndeny \
             contains msg if {{\n\tnot allow\n\tmsg := sprintf(\"no access to %v\", [input.user])\n}}\n"
        );
        (format!("g{package}/m{number}.rego"), text)
    };
    (0..POLICIES).map(policy).collect()
}

/// Prints how long one changed policy of many takes to read and to activate, next to all of them.
fn change_one() -> Result<(), String> {
    let files: Vec<BundleFile> = policies()
        .into_iter()
        .map(|(path, text)| BundleFile {
            path,
            bytes: text.into_bytes(),
        })
        .collect();
    let engine = Engine::new();
    let load = |rules: &str| -> Result<(f64, f64), String> {
        let mut files = files.clone();
        if let Some(file) = files.get_mut(POLICIES / 2) {
            file.bytes.extend(rules.as_bytes());
        }
        let reader = engine.bundle_reader("b");
        let reader = reader.map_err(|error| error.to_string())?;
        let start = Instant::now();
        let bundle = reader.read_files(files);
        let bundle = bundle.map_err(|error| error.to_string())?;
        let read = start.elapsed();
        let start = Instant::now();
        let activated = engine.activate_bundle("b", &bundle);
        activated.map_err(|error| error.to_string())?;
        Ok((
            read.as_secs_f64() * 1e3,
            start.elapsed().as_secs_f64() * 1e3,
        ))
    };
    let all = load("\nround := 0\n")?;
    let body = |round| format!("\nround := {round}\n");
    let rule = |round| format!("\nround{round} := {round}\n");
    let changes: [(&str, &dyn Fn(usize) -> String); 2] = [
        ("change 1 of 10,000 policies", &body),
        ("change rules of 1 of 10,000", &rule),
    ];
    for (name, rules) in changes {
        let times: Result<Vec<_>, String> = (1..=ROUNDS).map(|round| load(&rules(round))).collect();
        let (read, activated): (Vec<f64>, Vec<f64>) = times?.into_iter().unzip();
        let (read, activated) = (median(read), median(activated));
        println!(
            "{name:<28} {activated:>11.1} {:>11} {:>6.1} ({:.0} ms for all; read in {read:.0} ms, all in {:.0} ms)",
            "",
            all.1 / activated,
            all.1,
            all.0
        );
    }
    Ok(())
}

/// Runs a process to its end.
fn measure(program: &Path, arguments: &[&str]) -> Result<ProcessFigures, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut peak = 0.0;
    let status = loop {
        if let Some(found) = peak_of(child.id()) {
            peak = found;
        }
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if !status.success() {
        return Err(format!(
            "{} {}: {status}",
            program.display(),
            arguments.join(" ")
        ));
    }
    Ok(ProcessFigures {
        milliseconds,
        peak_megabytes: peak,
    })
}

/// Starts a server with a bundle and returns its resident memory once it accepts connections, in megabytes.
fn resident_of_server(program: &Path, bundle: &str) -> Result<f64, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let probe = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let address = probe.local_addr().map_err(failed)?.to_string();
    drop(probe);
    let mut server = Command::new(program)
        .args(["run", "--server", "-b", bundle, "--addr", &address])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let start = Instant::now();
    let mut is_ready = false;
    while !is_ready && start.elapsed() < READY {
        std::thread::sleep(Duration::from_millis(50));
        is_ready = TcpStream::connect(&address).is_ok();
    }
    let resident = memory_of(server.id(), "VmRSS:").filter(|_| is_ready);
    server.kill().and_then(|()| server.wait()).map_err(failed)?;
    resident.ok_or_else(|| format!("{}: the server is not ready", program.display()))
}

/// Returns the largest resident memory of a running process, in megabytes.
fn peak_of(process: u32) -> Option<f64> {
    memory_of(process, "VmHWM:")
}

/// Returns a figure of the memory of a running process, in megabytes.
fn memory_of(process: u32, figure: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(figure))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// A folder that is removed with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("solon-bundling-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Self(folder))
    }

    /// Writes files below a folder, and returns its path.
    fn write(&self, name: &str, files: &[(String, String)]) -> Result<PathBuf, String> {
        let folder = self.0.join(name);
        for (path, text) in files {
            let path = folder.join(path);
            let parent = path.parent().unwrap_or(&folder);
            std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
            std::fs::write(&path, text).map_err(|error| error.to_string())?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
