//! Policies with entry points, and what is built of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use solon::bundle::{Bundle, Loader, MemoryFiles};
use solon::{BundleBuilder, Version};
use solon_syntax::ParseOptions;

/// A policy to optimise.
#[derive(Clone, Debug)]
pub struct Program {
    pub modules: BTreeMap<String, String>,
    pub data: Json,
    pub entry_points: Vec<String>,
}

/// Result of a build.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Built {
    /// Texts of policies by path, and the manifest.
    Files(BTreeMap<String, String>),
    Error(String),
}

/// The recorded results of both levels.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Want {
    pub o1: Option<Built>,
    pub o2: Option<Built>,
}

impl Want {
    pub fn of_level(&self, level: i64) -> Option<&Built> {
        match level {
            1 => self.o1.as_ref(),
            _ => self.o2.as_ref(),
        }
    }

    /// Builds by an oracle.
    pub fn recorded(oracle: &str, program: &Program) -> Self {
        Self {
            o1: Some(oracle_build(oracle, program, 1)),
            o2: Some(oracle_build(oracle, program, 2)),
        }
    }
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/build")
}

impl Program {
    pub fn files(&self) -> MemoryFiles {
        let mut files = MemoryFiles::default();
        for (name, text) in &self.modules {
            files.insert(name, text.as_str());
        }
        files.insert("data.json", self.data.to_string());
        files
    }

    fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.modules.keys().cloned().collect();
        paths.push("data.json".to_owned());
        paths
    }

    /// Builds the program as Solon does.
    pub fn bundle(&self, level: i64) -> Result<Bundle, String> {
        let files = self.files();
        let loaded = Loader::new(&files).load(&self.paths());
        let loaded = loaded.map_err(|error| error.to_string())?;
        let bundle = Bundle::from_files(&loaded, &ParseOptions::from_version(Version::V1));
        let bundle = bundle.map_err(|error| error.to_string())?;
        let builder = BundleBuilder::new(Version::V1)
            .optimize(level)
            .entry_points(self.entry_points.clone());
        builder.build(bundle).map_err(|error| error.to_string())
    }

    pub fn built(&self, level: i64) -> Built {
        match self.bundle(level) {
            Ok(bundle) => Built::Files(texts(
                bundle
                    .to_files()
                    .into_iter()
                    .map(|file| (file.path, String::from_utf8(file.bytes).unwrap())),
            )),
            Err(error) => Built::Error(error),
        }
    }
}

/// The files without documents, which are the same.
fn texts(files: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    files.filter(|(path, _)| path != "/data.json").collect()
}

fn oracle_build(oracle: &str, program: &Program, level: i64) -> Built {
    let folder = std::env::temp_dir().join(format!(
        "solon-build-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in &program.modules {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(folder.join("data.json"), program.data.to_string()).unwrap();
    let mut command = Command::new("timeout");
    command
        .arg("20")
        .arg(oracle)
        .arg("build")
        .arg(format!("-O{level}"))
        .args(program.paths());
    for entry_point in &program.entry_points {
        command.args(["-e", entry_point]);
    }
    let output = command.current_dir(&folder).output().unwrap();
    let built = if output.status.success() {
        let archive = std::fs::read(folder.join("bundle.tar.gz")).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&archive[..]));
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            let mut text = String::new();
            std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
            (path, text)
        });
        Built::Files(texts(entries))
    } else {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text.trim_end().trim_start_matches("error: ").to_owned();
        Built::Error(text)
    };
    let _ = std::fs::remove_dir_all(&folder);
    built
}

/// The difference of two results, for messages.
pub fn difference(want: &Built, got: &Built) -> String {
    match (want, got) {
        (Built::Files(want), Built::Files(got)) => {
            let mut text = String::new();
            let names: std::collections::BTreeSet<_> = want.keys().chain(got.keys()).collect();
            for name in names {
                let (want, got) = (want.get(name), got.get(name));
                if want != got {
                    let absent = "(absent)".to_owned();
                    text += &format!(
                        "--- {name}\n{}\n+++\n{}\n",
                        want.unwrap_or(&absent),
                        got.unwrap_or(&absent)
                    );
                }
            }
            text
        }
        _ => format!("want {want:?}\ngot  {got:?}"),
    }
}
