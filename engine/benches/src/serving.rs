//! Load tests of the policy server, compared with a server that does nothing and with OPA's, in alternating rounds.

mod activations;
mod backend;
mod checks;
mod client;
mod envoy;
mod logs;
mod nothing;
pub mod process;
mod sizing;
mod waiting;
mod wrk;

use std::time::Duration;

pub use activations::print as print_activations;
pub use checks::serve_allow_all;
pub use envoy::print as print_envoy;
pub use logs::print as print_logs;
pub use nothing::serve_nothing;
pub use process::own_program;
pub use sizing::print as print_sizing;
pub use waiting::print as print_waiting;

use client::{Load, ask};
use process::{Process, Who};

use crate::timing::median;

/// A typical decision of a web service.
const POLICY: &str = "package authz

default allow := false

allow if {
	some role in data.roles[input.user]
	some grant in data.grants[role]
	grant.action == input.action
	grant.type == input.type
}

heavy := count([1 |
	some a in numbers.range(1, 200)
	some b in numbers.range(1, 200)
	some c in numbers.range(1, 20)
	a + b + c == 0
])
";

const DATA: &str = r#"{"roles": {"alice": ["reader", "writer"]}, "grants": {"reader": [{"action": "read", "type": "doc"}], "writer": [{"action": "write", "type": "doc"}]}}"#;

const SMALL: &str = r#"{"input": {"user": "alice", "action": "write", "type": "doc"}}"#;

/// Returns the percentile `part` of durations, in milliseconds.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in a list"
)]
fn percentile(mut times: Vec<Duration>, part: f64) -> f64 {
    times.sort_unstable();
    let at = (times.len() as f64 * part).ceil() as usize;
    let time = times.get(at.saturating_sub(1));
    time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Rounds of each cell. The median is printed.
const ROUNDS: usize = 9;

/// Prints requests per second and processor time per request, by the number of server threads and connections.
///
/// # Errors
/// Fails if a server does not start or respond.
pub fn print(budget: Duration) -> Result<(), String> {
    let budget = budget.max(Duration::from_secs(1));
    println!(
        "threads  connections  server        requests/s   of nothing   µs of processor   p99 ms"
    );
    for threads in [1, 2] {
        for connections in [16, 128] {
            cell(threads, connections, budget)?;
        }
    }
    heavy(budget)?;
    rest()
}

fn cell(threads: usize, connections: usize, budget: Duration) -> Result<(), String> {
    let servers = Who::all()
        .into_iter()
        .map(|who| Process::start(who, threads, POLICY, DATA));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    // wrk counts in whole seconds
    let seconds = budget.as_secs().max(1);
    let mut measured: Vec<Vec<wrk::Round>> = vec![Vec::new(); servers.len()];
    for round in 0..ROUNDS {
        let mut order: Vec<_> = servers.iter().zip(&mut measured).collect();
        // the order alternates, so that each server runs first equally often
        if round % 2 == 1 {
            order.reverse();
        }
        for (server, measured) in order {
            measured.push(wrk::round(
                server,
                threads,
                connections,
                seconds,
                SMALL_REQUEST,
            )?);
        }
    }
    let nothing = measured.first().cloned().unwrap_or_default();
    for (server, measured) in servers.iter().zip(measured) {
        let name = server.name();
        let rate = median(measured.iter().map(|round| round.rate).collect());
        let rounds = measured.iter().zip(&nothing);
        let part = median(
            rounds
                .map(|(round, nothing)| round.rate * 100.0 / nothing.rate)
                .collect(),
        );
        let processor = median(measured.iter().map(|round| round.processor).collect());
        let late = median(measured.iter().map(|round| round.late).collect());
        println!(
            "{threads:7}  {connections:11}  {name:12} {rate:11.0}  {part:10.1} %  {processor:16.1}  {late:7.2}"
        );
    }
    Ok(())
}

const SMALL_REQUEST: (&str, &str) = ("/v1/data/authz/allow", SMALL);
const HEAVY_REQUEST: (&str, &str) = ("/v1/data/authz/heavy", "{}");

/// Prints how expensive decisions delay cheap ones.
fn heavy(budget: Duration) -> Result<(), String> {
    let server = Process::start(Who::Solon, 2, POLICY, DATA)?;
    let alone = Load::run(server.address(), 16, budget, &|_| SMALL_REQUEST)?;
    let mixed = Load::run(server.address(), 16, budget, &|at| {
        if at % 100 == 99 {
            HEAVY_REQUEST
        } else {
            SMALL_REQUEST
        }
    })?;
    let small = mixed.percentile_of(0.99, |at| at % 100 != 99);
    println!(
        "one heavy of a hundred: p99 of small ones {small:.2} ms, without {:.2} ms",
        alone.percentile(0.99)
    );
    let address = server.address().to_owned();
    let heavy = std::thread::spawn(move || {
        Load::once(&address, 200, HEAVY_REQUEST).map(|load| load.percentile(1.0))
    });
    std::thread::sleep(Duration::from_millis(200));
    let mut longest = Duration::ZERO;
    for _ in 0..100 {
        longest = longest.max(ask(server.address(), SMALL_REQUEST)?);
        std::thread::sleep(Duration::from_millis(5));
    }
    println!(
        "200 heavy at once: longest of 100 small ones {:.1} ms",
        longest.as_secs_f64() * 1e3
    );
    let last = heavy.join().map_err(|_| "a client panicked")??;
    println!("                   last heavy one after {last:.0} ms");
    Ok(())
}

/// Prints the memory and processor time of a server with little load.
fn rest() -> Result<(), String> {
    let server = Process::start(Who::Solon, 2, POLICY, DATA)?;
    // memory that only the start needs is released soon after it
    std::thread::sleep(Duration::from_secs(1));
    println!("idle: {:.1} MB", server.resident());
    let before = server.resident();
    let open = client::idle(server.address(), 10_000)?;
    let taken = server.resident() - before;
    println!("{} idle connections: {taken:.1} MB", open.len());
    Ok(())
}
