//! Load of one repeated request by `wrk`. Its figures are comparable with published ones. It also sleeps less than the earlier Rust
//! client, whose wakeups cost the servers processor time.

use std::process::Command;

use super::process::Process;

/// Result of one round.
#[derive(Clone)]
pub struct Round {
    /// Requests per second.
    pub rate: f64,
    /// Processor time per request, in microseconds.
    pub processor: f64,
    /// Median of the latency, in milliseconds.
    pub half: f64,
    /// 99th percentile of the latency, in milliseconds.
    pub late: f64,
}

/// A load.
pub struct Load<'l> {
    /// Number of client threads.
    pub threads: usize,
    /// Number of connections.
    pub connections: usize,
    /// Duration in seconds.
    pub seconds: u64,
    /// Path and body of the request.
    pub request: (&'l str, &'l str),
    /// `true` for requests over TLS.
    pub is_secure: bool,
    /// `true` if each request has a connection of its own.
    pub reconnects: bool,
}

/// Keeps connections busy for the given number of seconds.
///
/// # Errors
/// Fails if `wrk` is not installed or a response is not 200.
pub fn round(
    server: &Process,
    threads: usize,
    connections: usize,
    seconds: u64,
    request: (&str, &str),
) -> Result<Round, String> {
    Load {
        threads,
        connections,
        seconds,
        request,
        is_secure: false,
        reconnects: false,
    }
    .run(server)
}

impl Load<'_> {
    /// Runs the load.
    ///
    /// # Errors
    /// Fails if `wrk` is not installed or a response is not 200.
    pub fn run(&self, server: &Process) -> Result<Round, String> {
        let (path, body) = self.request;
        let scheme = if self.is_secure { "https" } else { "http" };
        let script = server.folder().join("request.lua");
        let mut lines = format!(
            "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.body = [====[{body}]====]\n"
        );
        if self.reconnects {
            lines += "wrk.headers[\"Connection\"] = \"close\"\n";
        }
        std::fs::write(&script, lines).map_err(|error| error.to_string())?;
        let before = server.processor_time();
        let run = Command::new("wrk")
            .arg("--latency")
            .arg(format!("-t{}", self.threads))
            .arg(format!("-c{}", self.connections))
            .arg(format!("-d{}s", self.seconds))
            .arg("-s")
            .arg(script)
            .arg(format!("{scheme}://{}{path}", server.address()))
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
            let half = milliseconds(words.by_ref().skip_while(|word| *word != "50%").nth(1)?)?;
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
                half,
                late,
            })
        };
        found().ok_or_else(|| format!("wrk printed something else: {text}"))
    }
}

/// Parses a duration as `wrk` writes it: `812.00us`, `1.27ms`, `1.02s`.
fn milliseconds(time: &str) -> Option<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((time.strip_suffix(unit)?, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}
