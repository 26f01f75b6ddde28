//! Builds of bundles: files of `tests/cases/builds`, each a list of cases.
//!
//! A case has a `note`, a `bundle`, `sources` and `stacks` as their API bodies, the `trees` of each source, and optionally
//! `facts` of sources, `env`, `signing` and `compat` (OCP's). It expects the entries of the archive in their order, the
//! revision and the notes, or the status and the message of a failure. `BLESS=1` records the expectations.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

mod libraries;
mod properties;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use solon_control::builder::{Built, Input, Plan, Signing, build};
use solon_control::model::{
    Bundle, Compat, Failure, FieldPath, Origin, Reader, Resource, Source, Stack,
};
use solon_control::tree::{Content, Facts, Fetched, Tree};
use zeroize::Zeroizing;

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    compat: bool,
    bundle: Value,
    sources: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    trees: BTreeMap<String, Vec<BTreeMap<String, String>>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    facts: BTreeMap<String, FactsCase>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signing: Option<SigningCase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    want: Option<Want>,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct FactsCase {
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    http: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    s3: BTreeMap<String, String>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SigningCase {
    key: String,
    algorithm: String,
    #[serde(default)]
    keyid: String,
    #[serde(default)]
    scope: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Want {
    Failed {
        status: String,
        message: String,
    },
    Built {
        revision: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        entries: Vec<(String, String)>,
    },
}

fn read<R: Resource>(name: &str, value: &Value) -> R {
    let mut reader = Reader::new(Compat::Strict, Origin::File);
    let mut item = R::read(&mut reader, &FieldPath::Root, value);
    item.set_name(name);
    match reader.finish(item) {
        Ok(item) => item,
        Err(problems) => panic!("{name}: {:?}", problems.iter().collect::<Vec<_>>()),
    }
}

/// Resources and fetched sources of a case.
struct World {
    bundle: Bundle,
    sources: BTreeMap<String, Source>,
    stacks: Vec<Stack>,
    fetched: BTreeMap<String, Arc<Fetched>>,
    compat: Compat,
    env: BTreeMap<String, String>,
}

impl World {
    fn from_case(case: &Case) -> Self {
        let name = case.bundle.get("name").and_then(Value::as_str);
        let tree = |files: &BTreeMap<String, String>| {
            let mut tree = Tree::default();
            for (path, text) in files {
                tree.insert(path.as_str(), Content::Inline(Bytes::from(text.clone())));
            }
            tree
        };
        let fetched = case.sources.keys().map(|name| {
            let facts = case.facts.get(name).cloned().unwrap_or_default();
            let facts = Facts {
                git_commit: facts.git,
                sql_digest: facts.sql,
                http: facts.http,
                s3: facts.s3,
            };
            let trees = case.trees.get(name).into_iter().flatten().map(tree);
            let fetched = Fetched::new(trees.collect(), facts);
            (name.clone(), Arc::new(fetched))
        });
        let stacks = case.stacks.iter().map(|stack| {
            let name = stack.get("name").and_then(Value::as_str).unwrap();
            read(name, stack)
        });
        let sources = case.sources.iter();
        Self {
            bundle: read(name.unwrap_or("system"), &case.bundle),
            sources: sources
                .map(|(name, body)| (name.clone(), read(name, body)))
                .collect(),
            stacks: stacks.collect(),
            fetched: fetched.collect(),
            compat: if case.compat {
                Compat::Ocp
            } else {
                Compat::Strict
            },
            env: case.env.clone(),
        }
    }

    fn plan(&self) -> Result<Plan, Failure> {
        Plan::new(&self.bundle, &self.sources, &self.stacks)
    }

    fn input<'a>(&'a self, plan: &'a Plan, signing: Option<Signing>) -> Input<'a> {
        Input {
            bundle: &self.bundle,
            plan,
            sources: &self.fetched,
            compat: self.compat,
            environment: self.env.clone(),
            signing,
        }
    }
}

fn run(case: &Case) -> Result<Built, Failure> {
    let world = World::from_case(case);
    let signing = case.signing.as_ref().map(|signing| Signing {
        key: Zeroizing::new(signing.key.clone().into_bytes()),
        algorithm: signing.algorithm.clone(),
        keyid: signing.keyid.clone(),
        scope: signing.scope.clone(),
    });
    let plan = world.plan()?;
    build(&world.input(&plan, signing))
}

/// Returns the entries of an archive, each with its path and text.
fn entries(archive: &[u8]) -> Vec<(String, String)> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(archive)
        .read_to_end(&mut text)
        .unwrap();
    let mut archive = tar::Archive::new(text.as_slice());
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        assert_eq!(entry.header().mtime().unwrap(), 0);
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (path, text)
    });
    entries.collect()
}

fn outcome(case: &Case) -> Want {
    match run(case) {
        Ok(built) => {
            let again = run(case).unwrap();
            assert_eq!(
                built.archive, again.archive,
                "{}: not deterministic",
                case.note
            );
            assert_eq!(built.digest, again.digest);
            Want::Built {
                revision: built.revision,
                notes: built.notes,
                entries: entries(&built.archive),
            }
        }
        Err(failure) => {
            assert_eq!(failure.phase.as_str(), "BUILD");
            Want::Failed {
                status: failure.status.as_str().to_owned(),
                message: failure.message,
            }
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/builds")
}

fn files() -> Vec<(PathBuf, Vec<Case>)> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let load = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let cases = serde_json::from_str(&text);
        let cases = cases.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, cases)
    };
    paths.into_iter().map(load).collect()
}

#[test]
fn bundles_are_built_as_recorded() {
    let bless = std::env::var_os("BLESS").is_some();
    let only = std::env::var("CASE").unwrap_or_default();
    let (mut failed, mut count) = (Vec::new(), 0);
    for (path, mut cases) in files() {
        for case in &mut cases {
            if !case.note.contains(&only) {
                continue;
            }
            count += 1;
            let got = outcome(case);
            if bless {
                case.want = Some(got);
            } else if case.want.as_ref() != Some(&got) {
                failed.push(format!(
                    "{}\n  want {:?}\n  got  {got:?}",
                    case.note, case.want
                ));
            }
        }
        if bless {
            std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    println!("{count} cases");
}
