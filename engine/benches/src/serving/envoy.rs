//! External authorization for Envoy over gRPC, compared with a server of the same messages that allows everything, in alternating
//! rounds.

use std::net::TcpListener;
use std::time::Duration;

use super::checks::{Checks, Measured};
use super::process::{Process, Who};
use super::{ROUNDS, backend};
use crate::timing::median;

/// A typical decision of a gateway, and one that waits for a backend.
const POLICY: &str = r#"package envoy.authz

default allow := false

allow if {
	input.attributes.request.http.method == "GET"
	input.parsed_path[0] == "items"
	some role in data.roles[input.attributes.request.http.headers["x-user"]]
	some grant in data.grants[role]
	grant.action == "read"
	grant.type == input.parsed_path[0]
}

allow if {
	input.parsed_path[0] == "waiting"
	http.send({"method": "get", "url": data.backend, "timeout": "50s"}).status_code == 204
}
"#;

/// Path of a check that is decided without waiting.
pub const PATH: &str = "/items/17?fields=name";

/// Path of a check that waits for the backend.
const WAITING_PATH: &str = "/waiting";

/// Time after which the backend responds.
const DELAY: Duration = Duration::from_secs(2);

/// Number of server threads.
const THREADS: usize = 2;

/// Number of connections. Envoy opens one for each of its threads.
const CONNECTIONS: usize = 4;

/// Number of open streams of the throughput.
const STREAMS: usize = 64;

/// Number of concurrent streams of the memory.
const MANY: usize = 1_000;

/// Lower bound of the part of the throughput, in per cent, and upper bounds of latency and memory.
const PART: f64 = 70.0;
const LATE_MILLISECONDS: f64 = 2.0;
const MANY_MEGABYTES: f64 = 100.0;

/// A server of checks.
pub struct CheckServer {
    /// The process.
    pub process: Process,
    /// The address of the service.
    pub address: String,
}

impl CheckServer {
    /// Starts Solon with the policy of this benchmark.
    ///
    /// # Errors
    /// The server does not start.
    pub fn start(threads: usize) -> Result<Self, String> {
        let backend = backend::start(DELAY)?;
        let data = format!(
            r#"{{"roles": {{"alice": ["reader"]}}, "grants": {{"reader": [{{"action": "read", "type": "items"}}]}}, "backend": "{backend}"}}"#
        );
        let probe = TcpListener::bind("127.0.0.1:0").and_then(|probe| probe.local_addr());
        let address = probe.map_err(|error| error.to_string())?.to_string();
        let config =
            format!(r#"{{"plugins": {{"envoy_ext_authz_grpc": {{"addr": "{address}"}}}}}}"#);
        let files = [("authz.rego", POLICY), ("data.json", data.as_str())];
        let process = Process::start_with(Who::Solon, threads, &files, &config)?;
        Ok(Self { process, address })
    }

    /// Starts the server that allows everything.
    fn start_allow_all(threads: usize) -> Result<Self, String> {
        let process = Process::start(Who::AllowAll, threads, "", "")?;
        let address = process.address().to_owned();
        Ok(Self { process, address })
    }
}

/// A round: checks per second, and processor time per check in microseconds.
#[derive(Clone, Copy)]
struct Round {
    rate: f64,
    processor: f64,
}

/// Prints throughput, latency at half of it, and memory.
///
/// # Errors
/// A server does not start, or a check is not allowed.
pub fn print(budget: Duration) -> Result<(), String> {
    let time = budget.max(Duration::from_secs(1));
    let servers = [
        CheckServer::start_allow_all(THREADS)?,
        CheckServer::start(THREADS)?,
    ];
    let clients = servers
        .iter()
        .map(|server| Checks::connect(&server.address, CONNECTIONS))
        .collect::<Result<Vec<_>, _>>()?;
    let mut measured: [Vec<Round>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let mut order: Vec<_> = servers.iter().zip(&clients).zip(&mut measured).collect();
        // The order alternates, so that each server runs first equally often.
        if round % 2 == 1 {
            order.reverse();
        }
        for ((server, client), measured) in order {
            let found = of_round(&server.process, || client.run(STREAMS, time, PATH))?;
            // the first round warms up
            if round > 0 {
                measured.push(found);
            }
        }
    }
    let [nothing, own] = &measured;
    let of =
        |rounds: &[Round], figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    println!(
        "server        checks/s   µs of processor   ({THREADS} threads, {CONNECTIONS} connections, {STREAMS} streams)"
    );
    for (name, rounds) in [("nothing", nothing), ("solon", own)] {
        println!(
            "{name:12} {:9.0} {:17.1}",
            of(rounds, |round| round.rate),
            of(rounds, |round| round.processor)
        );
    }
    let pairs = own.iter().zip(nothing);
    let part = median(
        pairs
            .map(|(own, nothing)| own.rate * 100.0 / nothing.rate)
            .collect(),
    );
    bar("checks per second, % of nothing", part, PART, part >= PART);
    let [_, server] = &servers;
    let Some(client) = clients.get(1) else {
        return Ok(());
    };
    let half = of(own, |round| round.rate) / 2.0;
    let paced = client.run_at(half, 3 * time, PATH)?;
    let late = paced.percentile(0.99);
    println!(
        "half of the peak: {:.0} of {half:.0} checks/s, p50 {:.2} ms, p99.9 {:.2} ms",
        paced.rate,
        paced.percentile(0.5),
        paced.percentile(0.999)
    );
    bar(
        "p99 at half of the peak, ms",
        late,
        LATE_MILLISECONDS,
        late < LATE_MILLISECONDS,
    );
    many(server, time)
}

/// Prints the memory of a fresh server with many concurrent streams.
fn many(warm: &CheckServer, time: Duration) -> Result<(), String> {
    let server = CheckServer::start(THREADS)?;
    let client = Checks::connect(&server.address, CONNECTIONS)?;
    let rest = server.process.resident();
    let busy = client.run(MANY, time, PATH)?;
    let peak = server.process.peak();
    println!(
        "{MANY} streams: {:.0} checks/s, p99 {:.1} ms; {rest:.1} MB before them, {:.1} MB of the warm server",
        busy.rate,
        busy.percentile(0.99),
        warm.process.resident()
    );
    bar(
        "peak memory with 1,000 streams, MB",
        peak,
        MANY_MEGABYTES,
        peak < MANY_MEGABYTES,
    );
    let waiting = client.once(MANY, WAITING_PATH)?;
    println!(
        "{} of them wait for a backend for {} s: p99 {:.2} s, peak {:.1} MB",
        waiting.count,
        DELAY.as_secs(),
        waiting.percentile(0.99) / 1e3,
        server.process.peak()
    );
    Ok(())
}

/// Runs a load and returns its rate and the processor time of the server.
#[expect(clippy::cast_precision_loss, reason = "a number of checks, for people")]
fn of_round(
    server: &Process,
    load: impl FnOnce() -> Result<Measured, String>,
) -> Result<Round, String> {
    let before = server.processor_time();
    let found = load()?;
    let spent = server.processor_time().saturating_sub(before);
    Ok(Round {
        rate: found.rate,
        processor: spent.as_secs_f64() * 1e6 / found.count.max(1) as f64,
    })
}

/// Returns the processor time of a check, in microseconds, and the number of checks per second.
///
/// # Errors
/// The server does not start, or a check is not allowed.
pub fn cost_of_check(threads: usize, time: Duration) -> Result<(f64, f64), String> {
    let server = CheckServer::start(threads)?;
    let client = Checks::connect(&server.address, CONNECTIONS)?;
    client.run(STREAMS, time, PATH)?;
    let round = of_round(&server.process, || client.run(STREAMS, time, PATH))?;
    Ok((round.processor, round.rate))
}

fn bar(name: &str, figure: f64, bar: f64, is_met: bool) {
    let verdict = if is_met { "met" } else { "MISSED" };
    println!("{name:<40} {figure:9.2}   bar {bar:.0}  {verdict}");
}
