//! Files of a control plane with many bundles: folders, Git repositories and a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// Number of bundles.
pub const BUNDLES: usize = 1_000;

/// Number of sources of a bundle: its own, whose files the configuration contains, and shared ones.
pub const SOURCES: usize = 20;

/// Number of sources that bundles share.
pub const SHARED: usize = 200;

/// Each source with a number that this one divides is a Git repository. The others are folders.
const REPOSITORIES: usize = 20;

/// Key of the administrator.
pub const KEY: &str = "bench-0123456789abcdef0123456789abcdef";

/// A folder with the sources and the configuration. It is removed with this value.
pub struct Fixture(PathBuf);

impl Fixture {
    /// Writes all files.
    ///
    /// # Errors
    /// A file cannot be written, or `git` cannot be run.
    pub fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("solon-control-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let fixture = Self(folder);
        for number in 0..SHARED {
            for (path, text) in files(&format!("s{number}")) {
                fixture.write(&format!("s{number}/{path}"), &text)?;
            }
            if is_repository(number) {
                let folder = fixture.0.join(format!("s{number}"));
                git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
                commit(&folder)?;
            }
        }
        let configuration = fixture.configuration().to_string();
        fixture.write("config.json", &configuration)?;
        Ok(fixture)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Changes one file of a shared source.
    ///
    /// # Errors
    /// The file cannot be written or committed.
    pub fn change(&self, number: usize, limit: usize) -> Result<(), String> {
        let name = format!("s{number}");
        self.write(&format!("{name}/{name}/data.json"), &documents(limit))?;
        if is_repository(number) {
            commit(&self.0.join(name))?;
        }
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.0.join(path);
        let parent = path.parent().unwrap_or(&self.0);
        let written =
            std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text.as_bytes()));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    fn configuration(&self) -> Value {
        let (mut bundles, mut sources) = (Map::new(), Map::new());
        for number in 0..SHARED {
            let folder = self.0.join(format!("s{number}"));
            let source = if is_repository(number) {
                json!({"git": {"repo": folder, "reference": "refs/heads/main"}})
            } else {
                json!({"directory": folder})
            };
            sources.insert(format!("s{number}"), source);
        }
        for number in 0..BUNDLES {
            let own = format!("own{number}");
            let contents: BTreeMap<String, String> = files(&own)
                .into_iter()
                .map(|(path, text)| (path, STANDARD.encode(text)))
                .collect();
            sources.insert(own.clone(), json!({ "files": contents }));
            let shared = shared_sources(number).map(|source| format!("s{source}"));
            let names = std::iter::once(own).chain(shared);
            let requirements: Vec<Value> = names.map(|name| json!({"source": name})).collect();
            bundles.insert(bundle(number), json!({ "requirements": requirements }));
        }
        json!({
            "bundles": bundles,
            "sources": sources,
            "tokens": {"bench": {"api_key": KEY, "scopes": [{"role": "administrator"}]}},
        })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the name of a bundle.
pub fn bundle(number: usize) -> String {
    format!("b{number}")
}

/// Returns the names of the bundles that contain a shared source.
pub fn bundles_with(source: usize) -> BTreeSet<String> {
    let with = (0..BUNDLES).filter(|number| shared_sources(*number).any(|other| other == source));
    with.map(bundle).collect()
}

/// Returns `true` if a shared source is a Git repository.
fn is_repository(number: usize) -> bool {
    number.is_multiple_of(REPOSITORIES)
}

/// Returns the numbers of the shared sources of a bundle. Each shared source is in as many bundles as every other one.
fn shared_sources(bundle: usize) -> impl Iterator<Item = usize> {
    // 7 and 11 have no common divisor with the number of sources
    (1..SOURCES).map(move |step| (bundle * 7 + step * 11) % SHARED)
}

/// Returns the files of a source: two policies and a document.
fn files(name: &str) -> Vec<(String, String)> {
    let authz = format!(
        "package {name}.authz

import data.{name}.helpers

default allow := false

allow if {{
	helpers.is_member(input.user, input.team)
	input.amount <= data.{name}.limit
	some grant in data.{name}.grants
	grant.action == input.action
	grant.type == input.type
}}

deny contains message if {{
	input.amount > data.{name}.limit
	message := sprintf(\"%v is above the limit of {name}\", [input.amount])
}}
"
    );
    let helpers = format!(
        "package {name}.helpers

is_member(user, team) if {{
	some member in data.{name}.teams[team]
	lower(member) == lower(user)
}}
"
    );
    vec![
        (format!("{name}/authz.rego"), authz),
        (format!("{name}/helpers.rego"), helpers),
        (format!("{name}/data.json"), documents(100)),
    ]
}

fn documents(limit: usize) -> String {
    let members: Vec<String> = (0..40).map(|number| format!("user-{number}")).collect();
    let grants: Vec<Value> = (0..10)
        .map(|number| json!({"action": format!("action-{number}"), "type": "document"}))
        .collect();
    json!({"limit": limit, "grants": grants, "teams": {"red": members}}).to_string()
}

fn commit(folder: &Path) -> Result<(), String> {
    git(folder, &["add", "."])?;
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    let commit = ["commit", "--quiet", "--message", "a change"];
    git(folder, &[author.as_slice(), commit.as_slice()].concat())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let run = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output();
    let run = run.map_err(|error| format!("git cannot be run: {error}"))?;
    if run.status.success() {
        return Ok(());
    }
    Err(format!("git: {}", String::from_utf8_lossy(&run.stderr)))
}
