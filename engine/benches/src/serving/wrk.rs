//! The load of one request again and again, by `wrk`: a client that others' numbers come from too, and that sleeps less than
//! one written here did, for whose wakes the servers paid.

use std::process::Command;

use super::client::Ask;
use super::process::Process;

/// What one round came to.
#[derive(Clone)]
pub struct Round {
    /// Requests a second.
    pub rate: f64,
    /// Microseconds of processor for each.
    pub processor: f64,
    /// The 99th percentile of their times, in milliseconds.
    pub late: f64,
}

/// Keeps connections busy for so many seconds.
///
/// # Errors
/// When `wrk` is not there or an answer is no 200.
pub fn round(
    server: &Process,
    threads: usize,
    connections: usize,
    seconds: u64,
    (path, body): Ask,
) -> Result<Round, String> {
    let script = server.folder().join("request.lua");
    let lines = format!(
        "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.body = [[{body}]]\n"
    );
    std::fs::write(&script, lines).map_err(|error| error.to_string())?;
    let before = server.processor_time();
    let run = Command::new("wrk")
        .arg("--latency")
        .arg(format!("-t{threads}"))
        .arg(format!("-c{connections}"))
        .arg(format!("-d{seconds}s"))
        .arg("-s")
        .arg(script)
        .arg(format!("http://{}{path}", server.address()))
        .output()
        .map_err(|error| format!("wrk, which makes the load, cannot be run: {error}"))?;
    let spent = server.processor_time().saturating_sub(before);
    let text = String::from_utf8_lossy(&run.stdout);
    if !run.status.success() || text.contains("Non-2xx") || text.contains("Socket errors") {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{} under wrk: {text}{errors}", server.name()));
    }
    let found = || {
        let mut words = text.split_whitespace();
        let late = milliseconds(words.by_ref().skip_while(|word| *word != "99%").nth(1)?)?;
        // `12345 requests in 1.00s, 3.2MB read`
        let count: f64 = text
            .split(" requests in ")
            .next()?
            .rsplit(' ')
            .next()?
            .parse()
            .ok()?;
        let rate = words
            .skip_while(|word| *word != "Requests/sec:")
            .nth(1)?
            .parse()
            .ok()?;
        Some(Round {
            rate,
            processor: spent.as_secs_f64() * 1e6 / count.max(1.0),
            late,
        })
    };
    found().ok_or_else(|| format!("wrk printed something else: {text}"))
}

/// Times as `wrk` writes them: `812.00us`, `1.27ms`, `1.02s`.
fn milliseconds(time: &str) -> Option<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((time.strip_suffix(unit)?, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}
