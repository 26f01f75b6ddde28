//! Cost of decision logs: decisions with and without them, uploaded to a service, on Solon and on OPA, in alternating rounds.

use std::time::Duration;

use super::process::{Process, Who};
use super::wrk::{self, Round};
use super::{DATA, POLICY, ROUNDS, SMALL_REQUEST};
use crate::timing::median;

/// Number of connections.
const CONNECTIONS: usize = 16;

/// Prints the processor time and the latency of decisions with and without logs.
///
/// # Errors
/// Fails if a server does not start or respond.
pub fn print(budget: Duration) -> Result<(), String> {
    let sink = Process::start(Who::Nothing, 1, "", "")?;
    let config = format!(
        r#"{{"services": {{"sink": {{"url": "http://{}"}}}}, "decision_logs": {{"service": "sink",
            "reporting": {{"min_delay_seconds": 1, "max_delay_seconds": 1}}}}}}"#,
        sink.address()
    );
    let files = [("authz.rego", POLICY), ("data.json", DATA)];
    let mut servers = Vec::new();
    for who in Who::all() {
        if who != Who::Nothing {
            let plain = Process::start(who, 2, POLICY, DATA)?;
            servers.push((plain, Process::start_with(who, 2, &files, &config)?));
        }
    }
    let seconds = budget.as_secs().max(1);
    let mut measured: Vec<Vec<(Round, Round)>> = vec![Vec::new(); servers.len()];
    for round in 0..ROUNDS {
        for ((plain, logged), measured) in servers.iter().zip(&mut measured) {
            let load = |server| wrk::round(server, 1, CONNECTIONS, seconds, SMALL_REQUEST);
            // the order alternates, so that each server runs first equally often
            measured.push(if round % 2 == 0 {
                let plain = load(plain)?;
                (plain, load(logged)?)
            } else {
                let logged = load(logged)?;
                (load(plain)?, logged)
            });
        }
    }
    println!("server        µs of processor    logged   difference    p99 ms    logged    ratio");
    for ((plain, _), measured) in servers.iter().zip(measured) {
        let of =
            |value: &dyn Fn(&(Round, Round)) -> f64| median(measured.iter().map(value).collect());
        println!(
            "{:12} {:16.2}  {:8.2}  {:11.2}  {:8.2}  {:8.2}  {:7.2}",
            plain.name(),
            of(&|(plain, _)| plain.processor),
            of(&|(_, logged)| logged.processor),
            of(&|(plain, logged)| logged.processor - plain.processor),
            of(&|(plain, _)| plain.late),
            of(&|(_, logged)| logged.late),
            of(&|(plain, logged)| logged.late / plain.late),
        );
    }
    Ok(())
}
