//! The reference engine, in its own process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::manifest::Workload;

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

/// Times workloads with the binary at `oracle`.
///
/// # Errors
/// When it does not run, or prints something else than its lines.
pub fn time(oracle: &str, workloads: &[Workload]) -> Result<HashMap<String, Timing>, String> {
    let folder = Folder::new()?;
    let manifest = folder.write(workloads)?;
    let output = Command::new(oracle)
        .arg("time")
        .arg(manifest)
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

/// A folder of plain files, which the oracle reads, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("solon-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// Writes all texts, and the manifest that names them.
    fn write(&self, workloads: &[Workload]) -> Result<PathBuf, String> {
        let put = |name: String, text: &str| {
            let path = self.0.join(&name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(name)
        };
        let mut list = Vec::new();
        for one in workloads {
            let name = &one.name;
            let optional = |kind: &str, text: &Option<String>| {
                let text = text.as_deref();
                text.map(|text| put(format!("{name}.{kind}.json"), text))
                    .transpose()
            };
            list.push(serde_json::json!({
                "name": name,
                "policy": put(format!("{name}.rego"), &one.policy)?,
                "data": optional("data", &one.data)?,
                "input": optional("input", &one.input)?,
                "entrypoint": one.entrypoint,
                "expect": one.expect,
            }));
        }
        let manifest = put("manifest.json".to_owned(), &Value::Array(list).to_string())?;
        Ok(Path::new(&self.0).join(manifest))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
