//! Workloads and the manifests that list them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::generate;

/// A workload with its texts.
pub struct Workload {
    /// Row name.
    pub name: String,
    /// The manifest that lists it.
    pub manifest: PathBuf,
    /// The policy's file name.
    pub file: String,
    /// The policy.
    pub policy: String,
    /// Further modules: file names and texts.
    pub more: Vec<(String, String)>,
    /// Base data as JSON text.
    pub data: Option<String>,
    /// Input as JSON text.
    pub input: Option<String>,
    /// Evaluated document, for example `data.a.p`.
    pub entrypoint: String,
    /// Expected result.
    pub expect: Option<Value>,
    /// Name of the workload that is a tenth of the size of this one.
    pub grows_from: Option<String>,
}

impl Workload {
    /// Returns all modules: file names and texts.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        let more = self.more.iter().map(|(name, text)| (&**name, &**text));
        more.chain([(&*self.file, &*self.policy)])
    }
}

/// Returns the manifests below `workloads`, and the one next to the checkout if it exists.
pub fn known() -> Vec<PathBuf> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    below(&crate_root.join("workloads"), &mut found);
    found.sort();
    let beside = crate_root.join("../../../shared/workloads/manifest.json");
    found.extend(beside.is_file().then_some(beside));
    found
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, found);
        } else if path.file_name().is_some_and(|name| name == "manifest.json") {
            found.push(path);
        }
    }
}

/// Reads the workloads of some manifests. If `names` is not empty, only those workloads.
///
/// # Errors
/// Returns a message that names the file that cannot be read, or the workload that no manifest lists.
pub fn read(manifests: &[PathBuf], names: &[String]) -> Result<Vec<Workload>, String> {
    let mut workloads = Vec::new();
    for manifest in manifests {
        read_one(manifest, names, &mut workloads)?;
    }
    let listed = |name: &&String| workloads.iter().any(|one: &Workload| one.name == **name);
    match names.iter().find(|name| !listed(name)) {
        Some(unknown) => Err(format!("no workload is named `{unknown}`")),
        None => Ok(workloads),
    }
}

fn read_one(
    manifest: &Path,
    names: &[String],
    workloads: &mut Vec<Workload>,
) -> Result<(), String> {
    let root = manifest.parent().unwrap_or(Path::new("."));
    let list: Vec<Value> = serde_json::from_str(&text(manifest)?)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    for entry in &list {
        let word = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = word("name").to_owned();
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let content = |field: &str| content(root, entry.get(field).unwrap_or(&Value::Null));
        let mut more = match entry.get("policy").and_then(generated) {
            Some((name, size)) => generate::modules(name, size).unwrap_or_default(),
            None => folder(root, entry.get("policy").and_then(Value::as_str))?,
        };
        let written = entry.get("policy").and_then(Value::as_str);
        let (file, policy) = match more.pop() {
            Some((file, text)) if written.is_some() => (file, Some(text)),
            Some((_, text)) => ("policy.rego".to_owned(), Some(text)),
            None => (
                written.unwrap_or("policy.rego").to_owned(),
                content("policy")?,
            ),
        };
        workloads.push(Workload {
            policy: policy.ok_or_else(|| format!("{name} has no policy"))?,
            more,
            data: content("data")?,
            input: content("input")?,
            file,
            entrypoint: word("entrypoint").to_owned(),
            expect: entry.get("expect").cloned(),
            grows_from: entry
                .get("grows_from")
                .and_then(Value::as_str)
                .map(str::to_owned),
            manifest: manifest.to_owned(),
            name,
        });
    }
    Ok(())
}

/// Returns the modules of a folder, at any depth, sorted by name. Returns no modules if `name` is not a folder.
fn folder(root: &Path, name: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let Some(name) = name.filter(|name| root.join(name).is_dir()) else {
        return Ok(Vec::new());
    };
    let (mut folders, mut files) = (vec![PathBuf::from(name)], Vec::new());
    while let Some(folder) = folders.pop() {
        let refused = |error| format!("{}: {error}", root.join(&folder).display());
        for entry in std::fs::read_dir(root.join(&folder)).map_err(refused)? {
            let path = folder.join(entry.map_err(refused)?.file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "rego")
            {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        return Err(format!("{} holds no module", root.join(name).display()));
    }
    files.sort();
    let module = |path: &PathBuf| Ok((path.display().to_string(), text(&root.join(path))?));
    files.iter().map(module).collect()
}

/// Returns the text that a field refers to: none, a file next to the manifest, or `{"generator": NAME, "size": N}`.
fn content(root: &Path, field: &Value) -> Result<Option<String>, String> {
    if field.is_null() {
        return Ok(None);
    }
    if let Some(file) = field.as_str() {
        return text(&root.join(file)).map(Some);
    }
    let made = generated(field).and_then(|(name, size)| generate::text(name, size));
    made.map(Some)
        .ok_or_else(|| format!("{field} is no generator with a size"))
}

/// Returns the name of a generator and its size.
fn generated(field: &Value) -> Option<(&str, usize)> {
    let name = field.get("generator")?.as_str()?;
    Some((name, usize::try_from(field.get("size")?.as_u64()?).ok()?))
}

fn text(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns a policy of rules that differ in one constant, of which the last matches. An index should make its cost independent of
/// `count`.
pub fn rules(count: usize) -> Workload {
    let last = count.saturating_sub(1);
    Workload {
        name: format!("rules_{count}"),
        manifest: PathBuf::new(),
        file: "routes.rego".to_owned(),
        policy: generate::rules(count),
        more: Vec::new(),
        data: None,
        input: Some(format!(
            "{{\"method\": \"GET\", \"path\": \"/api/v1/resource/{last}\"}}"
        )),
        entrypoint: "data.routes.allow".to_owned(),
        expect: Some(Value::Bool(true)),
        grows_from: None,
    }
}
