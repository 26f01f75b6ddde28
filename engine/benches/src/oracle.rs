//! The reference engine, in its own process.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What it says of a workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Nanoseconds per decision, input parsed.
    pub eval_ns: f64,
    /// Nanoseconds from text to text.
    pub json_ns: f64,
    /// Allocations per decision.
    pub allocs: f64,
}

/// Times workloads of a manifest with the binary at `oracle`.
///
/// # Errors
/// When it does not run, or prints something else than its lines.
pub fn time(
    oracle: &str,
    manifest: &Path,
    names: &[String],
) -> Result<HashMap<String, Timing>, String> {
    let output = Command::new(oracle)
        .arg("time")
        .arg(manifest)
        .args(names)
        .args(["--seconds", "0.4"])
        .output()
        .map_err(|error| format!("{oracle}: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "{oracle}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let mut timings = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let number = |name: &str| line.get(name).and_then(Value::as_f64).unwrap_or_default();
        let name = line.get("name").and_then(Value::as_str).unwrap_or_default();
        let timing = Timing {
            eval_ns: number("eval_ns"),
            json_ns: number("json_ns"),
            allocs: number("allocs"),
        };
        timings.insert(name.to_owned(), timing);
    }
    Ok(timings)
}
