//! The reference engine, in its own process.

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
    /// Milliseconds that compiling and preparing took.
    pub prepare_ms: f64,
    /// Whether its answer is the expected one.
    pub correct: Option<bool>,
}

/// The binary that SOLON_ORACLE names.
pub fn binary() -> Option<String> {
    std::env::var("SOLON_ORACLE")
        .ok()
        .filter(|binary| !binary.is_empty())
}

/// Times a workload with the binary at `oracle`; `None` when it has several modules, which that cannot load.
///
/// # Errors
/// When it does not run, or prints something else than its line.
pub fn time(oracle: &str, workload: &Workload, seconds: f64) -> Result<Option<Timing>, String> {
    if !workload.more.is_empty() {
        return Ok(None);
    }
    let folder = Folder::new()?;
    let manifest = folder.write(workload)?;
    let output = Command::new(oracle)
        .arg("time")
        .arg(manifest)
        .args(["--seconds", &seconds.to_string()])
        .output()
        .map_err(|error| format!("{oracle}: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "{oracle}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let line: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let number = |name: &str| line.get(name).and_then(Value::as_f64).unwrap_or_default();
    Ok(Some(Timing {
        eval_ns: number("eval_ns"),
        json_ns: number("json_ns"),
        allocs: number("allocs"),
        prepare_ms: number("prepare_ms"),
        correct: line.get("correct").and_then(Value::as_bool),
    }))
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
    fn write(&self, one: &Workload) -> Result<PathBuf, String> {
        let put = |name: &str, text: &str| {
            let path = self.0.join(name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(name.to_owned())
        };
        let optional = |name: &str, text: &Option<String>| {
            text.as_deref().map(|text| put(name, text)).transpose()
        };
        let mut entry = serde_json::json!({
            "name": one.name,
            "policy": put("policy.rego", &one.policy)?,
            "data": optional("data.json", &one.data)?,
            "input": optional("input.json", &one.input)?,
            "entrypoint": one.entrypoint,
        });
        if let (Some(entry), Some(expect)) = (entry.as_object_mut(), &one.expect) {
            entry.insert("expect".to_owned(), expect.clone());
        }
        let manifest = put("manifest.json", &Value::Array(vec![entry]).to_string())?;
        Ok(Path::new(&self.0).join(manifest))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
