//! Cost of activations: decisions at half of the peak load while bundles are polled each second, with and without a change.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::Load;
use super::process::{Process, Who};
use super::{DATA, POLICY, SMALL_REQUEST};
use crate::timing::median;

/// Number of bundles.
const BUNDLES: usize = 10;

/// Number of modules of a bundle.
const MODULES: usize = 100;

/// Size in bytes of the documents of a bundle.
const DOCUMENTS: usize = 10 << 20;

/// Number of connections. Each sends half of the time.
const CONNECTIONS: usize = 4;

/// Rounds of each kind.
const ROUNDS: usize = 5;

/// Prints percentiles of the latency with and without activations, and the memory after each round. `budget` is the time of all rounds.
///
/// # Errors
/// Fails if the server does not start or respond, or a bundle is not activated.
pub fn print(budget: Duration) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let folder = std::env::temp_dir().join(format!("solon-activations-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(text)?;
    let names: Vec<String> = (0..BUNDLES).map(|number| format!("b{number}")).collect();
    let program = super::process::own_program()?;
    for name in &names {
        for version in [1, 0] {
            write(&folder, name, version)?;
            pack(&program, &folder, name, version)?;
        }
        publish(&folder, name, 0)?;
    }
    let bundles: Vec<String> = names
        .iter()
        .map(|name| {
            let file = folder.join(format!("{name}.tar.gz"));
            format!(
                r#""{name}": {{"resource": "file://{}", "polling": {{"min_delay_seconds": 1, "max_delay_seconds": 1}}}}"#,
                file.display()
            )
        })
        .collect();
    let config = format!(r#"{{"bundles": {{{}}}}}"#, bundles.join(", "));
    // the policies of the bundles own other paths than this one
    let files = [("authz.rego", POLICY), ("data.json", DATA)];
    let server = Process::start_with(Who::Solon, 2, &files, &config)?;
    std::thread::sleep(Duration::from_secs(10));
    let peak = Load::run(
        server.address(),
        CONNECTIONS,
        Duration::from_secs(2),
        &|_| SMALL_REQUEST,
    )?;
    let pause = Duration::from_secs_f64(peak.percentile(0.5) / 1e3);
    let time = (budget / (2 * u32::try_from(ROUNDS).unwrap_or(1))).max(Duration::from_secs(2));
    let mut late = [Vec::new(), Vec::new()];
    let mut version = BUNDLES - 1;
    println!("activations   p50 ms   p99 ms   p99.9 ms   longest ms   decisions   resident MB");
    for round in 0..2 * ROUNDS {
        let is_changing = round % 2 == 1;
        let end = Instant::now() + time;
        let load = std::thread::scope(|scope| {
            let address = server.address();
            let load = scope
                .spawn(move || Load::run_spaced(address, CONNECTIONS, time, pause, SMALL_REQUEST));
            let mut changed = 0;
            while is_changing && Instant::now() + Duration::from_secs(1) < end {
                let start = Instant::now();
                version += 1;
                let name = names.get(version % BUNDLES).map_or("b0", String::as_str);
                publish(&folder, name, version / BUNDLES % 2)?;
                changed += 1;
                std::thread::sleep(Duration::from_secs(1).saturating_sub(start.elapsed()));
            }
            let load = load.join().map_err(|_| "a client panicked".to_owned())??;
            Ok::<_, String>((load, changed))
        });
        let (load, changed) = load?;
        if load.failed() > 0 {
            return Err(format!("{} decisions failed", load.failed()));
        }
        let p999 = load.percentile(0.999);
        if let Some(late) = late.get_mut(usize::from(is_changing)) {
            late.push(p999);
        }
        println!(
            "{changed:11}  {:7.3}  {:7.3}  {p999:9.3}  {:11.3}  {:10}  {:12.1}",
            load.percentile(0.5),
            load.percentile(0.99),
            load.percentile(1.0),
            load.answered(),
            server.resident()
        );
    }
    let [without, with] = late.map(median);
    println!(
        "p99.9 {with:.3} ms with activations, {without:.3} ms without: {:.2} times",
        with / without
    );
    std::fs::remove_dir_all(&folder).map_err(text)
}

/// Writes the files of a bundle.
fn write(folder: &Path, name: &str, version: usize) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let own = folder.join(name);
    std::fs::create_dir_all(own.join(name)).map_err(text)?;
    let manifest = format!(r#"{{"revision": "{version}", "roots": ["{name}"]}}"#);
    std::fs::write(own.join(".manifest"), manifest).map_err(text)?;
    let mut data = String::from("{");
    let mut number = 0;
    while data.len() < DOCUMENTS {
        let comma = if number == 0 { "" } else { "," };
        let written = write!(
            data,
            r#"{comma}"user{number}": {{"roles": ["reader", "writer"], "team": "t{}", "version": {version}}}"#,
            number % 97
        );
        written.map_err(|error| error.to_string())?;
        number += 1;
    }
    data.push('}');
    std::fs::write(
        own.join(name).join("data.json"),
        format!(r#"{{"users": {data}}}"#),
    )
    .map_err(text)?;
    for module in 0..MODULES {
        let policy = format!(
            "package {name}.m{module}\n\ndefault allow := false\n\nallow if {{\n\tuser := data.{name}.users[input.user]\n\t\"reader\" in user.roles\n\tinput.number == {version}\n}}\n"
        );
        std::fs::write(own.join(format!("m{module}.rego")), policy).map_err(text)?;
    }
    Ok(())
}

/// Builds the archive of a version of a bundle. All are built beforehand, because that takes processor time from the server.
fn pack(program: &Path, folder: &Path, name: &str, version: usize) -> Result<(), String> {
    let archive = folder.join(format!("{name}.{version}"));
    let built = std::process::Command::new(program)
        .args(["build", "-b", name, "-o"])
        .arg(&archive)
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    Ok(())
}

/// Replaces the archive that the server polls by a version of it.
fn publish(folder: &Path, name: &str, version: usize) -> Result<(), String> {
    let new = folder.join(format!("{name}.new"));
    let copied = std::fs::copy(folder.join(format!("{name}.{version}")), &new);
    copied.map_err(|error| error.to_string())?;
    std::fs::rename(new, folder.join(format!("{name}.tar.gz"))).map_err(|error| error.to_string())
}
