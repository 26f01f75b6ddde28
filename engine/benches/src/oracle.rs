//! Runs OPA in a separate process.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::manifest::Workload;

/// Timings of one workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Nanoseconds per decision with parsed input.
    pub eval_ns: f64,
    /// Nanoseconds from input text to result text, if available.
    pub json_ns: Option<f64>,
    /// Milliseconds for compiling and preparing, if available.
    pub prepare_ms: Option<f64>,
    /// `true` if the result is the expected one, if it is known.
    pub correct: Option<bool>,
}

/// Returns the binary that `SOLON_ORACLE` names.
pub fn binary() -> Option<String> {
    std::env::var("SOLON_ORACLE")
        .ok()
        .filter(|binary| !binary.is_empty())
}

/// Times a workload with the binary `oracle`.
///
/// # Errors
/// Fails if the binary does not run or prints unexpected output.
pub fn time(oracle: &str, workload: &Workload, seconds: f64) -> Result<Timing, String> {
    let folder = Folder::new()?;
    if !workload.more.is_empty() {
        return bench(oracle, workload, &folder);
    }
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
    let number = |name: &str| line.get(name).and_then(Value::as_f64);
    Ok(Timing {
        eval_ns: number("eval_ns").unwrap_or_default(),
        json_ns: number("json_ns"),
        prepare_ms: number("prepare_ms"),
        correct: line.get("correct").and_then(Value::as_bool),
    })
}

/// Times a workload by `opa bench`, which loads folders and measures only decisions with parsed input.
fn bench(oracle: &str, workload: &Workload, folder: &Folder) -> Result<Timing, String> {
    let mut command = Command::new(oracle);
    command.args(["bench", "--metrics=false", "--benchmem=false"]);
    command.args(["--format", "json", "--data"]);
    command.arg(folder.write_modules(workload)?);
    for (flag, text) in [("data", &workload.data), ("input", &workload.input)] {
        if let Some(text) = text {
            let path = folder.0.join(folder.put(&format!("{flag}.json"), text)?);
            command.arg(format!("--{flag}")).arg(path);
        }
    }
    let output = command
        .arg(&workload.entrypoint)
        .output()
        .map_err(|error| format!("{oracle}: {error}"))?;
    let figures: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("{oracle}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let number = |name: &str| figures.get(name).and_then(Value::as_f64);
    let (Some(nanoseconds), Some(times)) = (number("T"), number("N")) else {
        return Err(format!("{oracle}: {figures}"));
    };
    Ok(Timing {
        eval_ns: nanoseconds / times.max(1.0),
        json_ns: None,
        prepare_ms: None,
        correct: None,
    })
}

/// A folder of plain files for OPA, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("solon-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    fn put(&self, name: &str, text: &str) -> Result<String, String> {
        let path = self.0.join(name);
        let failed = |error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(&path, text).map_err(failed)?;
        Ok(name.to_owned())
    }

    /// Writes the modules into a separate folder.
    fn write_modules(&self, one: &Workload) -> Result<PathBuf, String> {
        for (at, (name, text)) in one.modules().enumerate() {
            let ending = name.rsplit('/').next().unwrap_or(name);
            self.put(&format!("modules/{at}_{ending}"), text)?;
        }
        Ok(self.0.join("modules"))
    }

    /// Writes all texts and a manifest that names them.
    fn write(&self, one: &Workload) -> Result<PathBuf, String> {
        let put = |name: &str, text: &str| self.put(name, text);
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
