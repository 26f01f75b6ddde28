//! Figures for the size of a machine: requests per second of a core by the kind of policy, memory by the size of the data, and the
//! costs of decision logs, TLS and checks of Envoy.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rcgen::{CertifiedKey, generate_simple_self_signed};

use super::process::{Process, Who};
use super::wrk::{Load, Round};
use super::{DATA, POLICY, SMALL_REQUEST, envoy};
use crate::generate::documents;
use crate::manifest::{self, Workload};
use crate::timing::median;
use crate::usage;

/// Kinds of policies by their workloads.
const CLASSES: [(&str, &str); 6] = [
    ("ABAC: look-ups in 10 MB of data", "lookups_10m"),
    ("10,000 rules, of which the last applies", "gateway_10k"),
    ("a path against 500 patterns in the data", "routes_500"),
    ("a signed token, verified in the policy", "api_claims_10"),
    ("review of a pod, 20 KB of input", "admission_20k"),
    ("plan of changes, 100 KB of input", "terraform_100k"),
];

/// Sizes of the data in megabytes, and the number of users of a megabyte.
const SIZES: [usize; 3] = [1, 10, 100];
const USERS: usize = 3_600;

/// Number of connections of the throughput.
const CONNECTIONS: usize = 16;

/// Rounds of each figure. The median is printed.
const ROUNDS: usize = 3;

/// Time after which a wait without success is abandoned.
const PATIENCE: Duration = Duration::from_mins(2);

/// Prints all figures. `budget` is the time of each round.
///
/// # Errors
/// A server does not start or respond, or `wrk` is not installed.
pub fn print(manifests: &[PathBuf], budget: Duration) -> Result<(), String> {
    let seconds = budget.as_secs().max(1);
    println!("{}", usage::machine());
    println!(
        "\n{:<42} {:>9} {:>12} {:>8} {:>8} {:>8}",
        "kind of policy", "input KB", "req/s a core", "p50 ms", "p99 ms", "MB"
    );
    let files = [("authz.rego", POLICY), ("data.json", DATA)];
    let server = Process::start_with(Who::Solon, 1, &files, "{}")?;
    class(
        "RBAC: roles of a user, grants of a role",
        &server,
        SMALL_REQUEST,
        seconds,
    )?;
    drop(server);
    for (name, workload) in CLASSES {
        let workloads = manifest::read(manifests, &[workload.to_owned()])?;
        if let Some(workload) = workloads.first() {
            let server = start(workload)?;
            let input = workload.input.as_deref().unwrap_or("null");
            let body = format!("{{\"input\": {input}}}");
            let path = workload.entrypoint.replacen("data.", "/v1/data/", 1);
            class(name, &server, (&path.replace('.', "/"), &body), seconds)?;
        }
    }
    println!("\ndata MB   resident MB   times the data   peak MB while it is replaced");
    for megabytes in SIZES {
        memory(megabytes)?;
    }
    println!("\n{:<42} {:>9} {:>12}", "request", "µs", "req/s a core");
    costs(seconds)?;
    let (processor, _) = envoy::cost_of_check(1, Duration::from_secs(seconds))?;
    cost("check of Envoy over gRPC", processor);
    Ok(())
}

fn start(workload: &Workload) -> Result<Process, String> {
    let mut files: Vec<(&str, &str)> = workload.modules().collect();
    if let Some(data) = &workload.data {
        files.push(("data.json", data));
    }
    Process::start_with(Who::Solon, 1, &files, "{}")
}

/// Prints throughput, latency without load, and memory of one kind of policy.
#[expect(
    clippy::cast_precision_loss,
    reason = "a size in kilobytes, for people"
)]
fn class(name: &str, server: &Process, request: (&str, &str), seconds: u64) -> Result<(), String> {
    let load = |connections| Load {
        threads: 1,
        connections,
        seconds,
        request,
        is_secure: false,
        reconnects: false,
    };
    // fills caches
    load(1).run(server)?;
    let busy = rounds(server, &load(CONNECTIONS))?;
    let calm = rounds(server, &load(1))?;
    println!(
        "{name:<42} {:9.1} {:12.0} {:8.2} {:8.2} {:8.0}",
        request.1.len() as f64 / 1e3,
        1e6 / of(&busy, |round| round.processor),
        of(&calm, |round| round.half),
        of(&calm, |round| round.late),
        server.resident()
    );
    Ok(())
}

fn rounds(server: &Process, load: &Load<'_>) -> Result<Vec<Round>, String> {
    (0..ROUNDS).map(|_| load.run(server)).collect()
}

fn of(rounds: &[Round], figure: fn(&Round) -> f64) -> f64 {
    median(rounds.iter().map(figure).collect())
}

/// Prints the memory of a server with documents, and while they are replaced.
#[expect(
    clippy::cast_precision_loss,
    reason = "a size in megabytes, for people"
)]
fn memory(megabytes: usize) -> Result<(), String> {
    let users = documents::users(USERS * megabytes);
    let text = |version: u32| format!("{{\"version\": {version}, \"users\": {users}}}");
    let size = users.len() as f64 / 1e6;
    let first = text(0);
    let files = [("data.json", first.as_str())];
    let server = Process::start_by(Who::Solon, 2, &files, "{}", &["--watch"])?;
    drop(first);
    // memory that only the start needs is released soon after it
    std::thread::sleep(Duration::from_secs(1));
    let resident = server.resident();
    let (new, file) = (
        server.folder().join("new"),
        server.folder().join("data.json"),
    );
    let replaced = std::fs::write(&new, text(1)).and_then(|()| std::fs::rename(new, file));
    replaced.map_err(|error| error.to_string())?;
    let begun = Instant::now();
    while !version(server.address())?.contains("\"result\":1") {
        if begun.elapsed() > PATIENCE {
            return Err("the documents are not replaced".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{size:7.1}   {resident:11.1}   {:14.2}   {:28.1}",
        resident / size,
        server.peak()
    );
    Ok(())
}

/// Returns the response to a request for the version of the documents.
fn version(address: &str) -> Result<String, String> {
    let ask = || {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(
            b"GET /v1/data/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    ask().map_err(|error: std::io::Error| error.to_string())
}

/// Prints the processor time of a request of the RBAC policy with decision logs, TLS and new connections, in alternating rounds.
fn costs(seconds: u64) -> Result<(), String> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])
            .map_err(|error| error.to_string())?;
    let (certificate, key) = (cert.pem(), signing_key.serialize_pem());
    let sink = Process::start(Who::Nothing, 1, "", "")?;
    let logs = format!(
        r#"{{"services": {{"sink": {{"url": "http://{}"}}}}, "decision_logs": {{"service": "sink",
            "reporting": {{"min_delay_seconds": 1, "max_delay_seconds": 1}}}}}}"#,
        sink.address()
    );
    let files = [
        ("authz.rego", POLICY),
        ("data.json", DATA),
        ("server.pem", certificate.as_str()),
        ("key.pem", key.as_str()),
    ];
    let tls = [
        "--tls-cert-file",
        "server.pem",
        "--tls-private-key-file",
        "key.pem",
    ];
    let plain = Process::start_with(Who::Solon, 1, &files, "{}")?;
    let logged = Process::start_with(Who::Solon, 1, &files, &logs)?;
    let secure = Process::start_by(Who::Solon, 1, &files, "{}", &tls)?;
    let kinds = [
        ("HTTP", &plain, false, false),
        (
            "HTTP with decision logs to a service",
            &logged,
            false,
            false,
        ),
        ("HTTP, a connection for each request", &plain, false, true),
        ("HTTPS", &secure, true, false),
        ("HTTPS, a connection for each request", &secure, true, true),
    ];
    let mut measured = [(); 5].map(|()| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, server, is_secure, reconnects), measured) in kinds.iter().zip(&mut measured) {
            let load = Load {
                threads: 1,
                connections: CONNECTIONS,
                seconds,
                request: SMALL_REQUEST,
                is_secure: *is_secure,
                reconnects: *reconnects,
            };
            measured.push(load.run(server)?);
        }
    }
    for ((name, ..), rounds) in kinds.iter().zip(&measured) {
        cost(name, of(rounds, |round| round.processor));
    }
    Ok(())
}

fn cost(name: &str, processor: f64) {
    println!("{name:<42} {processor:9.1} {:12.0}", 1e6 / processor);
}
