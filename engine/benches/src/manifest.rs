//! Workloads: what is measured.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A workload with its texts.
pub struct Workload {
    /// Name of the row.
    pub name: String,
    /// The policy's file name.
    pub file: String,
    /// The policy.
    pub policy: String,
    /// Base data as JSON text.
    pub data: Option<String>,
    /// Input as JSON text.
    pub input: Option<String>,
    /// The document asked for, `data.a.p`.
    pub entrypoint: String,
    /// What it must be.
    pub expect: Option<Value>,
}

/// Reads the workloads of a manifest; with names, only those.
///
/// # Errors
/// A text that says which file cannot be read and why.
pub fn read(manifest: &Path, names: &[String]) -> Result<Vec<Workload>, String> {
    let root = manifest
        .parent()
        .map_or_else(PathBuf::new, Path::to_path_buf);
    let list: Vec<Value> = serde_json::from_str(&text(manifest)?)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let mut workloads = Vec::new();
    for entry in &list {
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        let name = field("name").unwrap_or_default().to_owned();
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let file = field("policy").unwrap_or_default().to_owned();
        workloads.push(Workload {
            name,
            policy: text(&root.join(&file))?,
            file,
            data: field("data")
                .map(|file| text(&root.join(file)))
                .transpose()?,
            input: field("input")
                .map(|file| text(&root.join(file)))
                .transpose()?,
            entrypoint: field("entrypoint").unwrap_or_default().to_owned(),
            expect: entry.get("expect").cloned(),
        });
    }
    Ok(workloads)
}

fn text(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Policies of many rules that differ in one constant, the last of which matches: what an index must not feel.
pub fn rules(count: usize) -> Workload {
    let mut policy = String::from("package routes\n\ndefault allow := false\n");
    for rule in 0..count {
        policy.push_str(&format!(
            "\nallow if {{\n\tinput.path == \"/api/v1/resource/{rule}\"\n\tinput.method == \"GET\"\n}}\n"
        ));
    }
    let last = count.saturating_sub(1);
    Workload {
        name: format!("rules_{count}"),
        file: "routes.rego".to_owned(),
        policy,
        data: None,
        input: Some(format!(
            "{{\"method\": \"GET\", \"path\": \"/api/v1/resource/{last}\"}}"
        )),
        entrypoint: "data.routes.allow".to_owned(),
        expect: Some(Value::Bool(true)),
    }
}
