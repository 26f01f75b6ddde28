//! Many concurrent decisions that wait for an HTTP backend, and the latency of cheap decisions meanwhile.

#![allow(clippy::cast_precision_loss, reason = "counts of requests, for people")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::backend;
use super::client::Load;
use super::process::{Process, Who};
use crate::timing::median;

const POLICY: &str = r#"package waiting

remote if http.send({"method": "get", "url": data.backend, "timeout": "50s"}).status_code == 204

cheap := input.n + 1
"#;

/// Time after which the backend responds.
const DELAY: Duration = Duration::from_secs(1);

/// Numbers of concurrent waiting decisions.
const COUNTS: [usize; 2] = [200, 2_000];

/// Connections that request cheap decisions.
const CHEAP: usize = 4;

/// Rounds of each server. The median is printed.
const ROUNDS: usize = 3;

/// Time after which a decision without a response is abandoned, which bounds a round.
const PATIENCE: Duration = Duration::from_mins(1);

const WAITING_REQUEST: (&str, &str) = ("/v1/data/waiting/remote", "{}");
const CHEAP_REQUEST: (&str, &str) = ("/v1/data/waiting/cheap", r#"{"input": {"n": 1}}"#);

struct Round {
    /// Waiting decisions per second, from the first request to the last response.
    rate: f64,
    /// 99th percentile of waiting decisions, in milliseconds.
    late: f64,
    failed: f64,
    /// Cheap decisions per second.
    cheap_rate: f64,
    /// 99th percentile of cheap decisions, in milliseconds.
    cheap_late: f64,
}

/// Prints throughput, latency and memory, by the number of waiting decisions and the server.
///
/// # Errors
/// Fails if a server does not start or closes connections.
pub fn print() -> Result<(), String> {
    let data = format!(r#"{{"backend": "{}"}}"#, backend::start(DELAY)?);
    println!(
        "waiting  server     waiting/s   p99 ms  failed  cheap/s  cheap p99 ms  alone p99 ms  peak MB"
    );
    for count in COUNTS {
        let servers = Who::all().into_iter().filter(|who| *who != Who::Nothing);
        let servers = servers.map(|who| Process::start(who, 2, POLICY, &data));
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        let mut alone = Vec::new();
        for server in &servers {
            let load = Load::run(server.address(), CHEAP, DELAY, &|_| CHEAP_REQUEST)?;
            alone.push(load.percentile(0.99));
        }
        let mut measured: Vec<Vec<Round>> = servers.iter().map(|_| Vec::new()).collect();
        for at in 0..ROUNDS {
            let mut order: Vec<_> = servers.iter().zip(&mut measured).collect();
            // the order alternates, so that each server runs first equally often
            if at % 2 == 1 {
                order.reverse();
            }
            for (server, rounds) in order {
                rounds.push(round(server, count)?);
            }
        }
        for ((server, rounds), alone) in servers.iter().zip(&measured).zip(alone) {
            let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
            println!(
                "{count:7}  {:9} {:10.0} {:8.0} {:7.0} {:8.0} {:13.2} {alone:13.2} {:8.1}",
                server.name(),
                of(|round| round.rate),
                of(|round| round.late),
                of(|round| round.failed),
                of(|round| round.cheap_rate),
                of(|round| round.cheap_late),
                server.peak()
            );
        }
    }
    Ok(())
}

fn round(server: &Process, count: usize) -> Result<Round, String> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (address, end) = (server.address().to_owned(), is_over.clone());
    let start = Instant::now();
    let cheap = std::thread::spawn(move || Load::run_until(&address, CHEAP, CHEAP_REQUEST, &end));
    let waiting = Load::once_within(server.address(), count, WAITING_REQUEST, PATIENCE);
    let seconds = start.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    let cheap = cheap.join().map_err(|_| "a client panicked")??;
    let waiting = waiting?;
    Ok(Round {
        rate: waiting.answered() as f64 / seconds,
        late: waiting.percentile(0.99),
        failed: waiting.failed() as f64,
        cheap_rate: cheap.answered() as f64 / seconds,
        cheap_late: cheap.percentile(0.99),
    })
}
