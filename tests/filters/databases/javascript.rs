//! Rows in JavaScript, filtered by the UCAST interpreter of npm.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use solon::FilterTarget;

use super::{Database, RowPairs, pair};
use crate::servers::program;
use crate::tables::Kind;

/// Tested versions of the packages.
const PACKAGES: [&str; 2] = ["@ucast/js@4.0.1", "@ucast/core@2.0.0"];

pub struct Javascript {
    node: PathBuf,
    folder: PathBuf,
    /// Statements so far; they represent the tables.
    rows: Vec<String>,
}

impl Javascript {
    /// Returns `None` if the packages are not available.
    pub fn start() -> Option<Self> {
        static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
        Some(Self {
            node: program("node")?,
            folder: FOLDER.get_or_init(installed_packages).clone()?,
            rows: Vec::new(),
        })
    }
}

/// Returns the folder of the packages, which are installed first if they are not there.
fn installed_packages() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ucast");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rows.mjs"), include_str!("rows.mjs")).unwrap();
    // a folder of packages may be left by an installation that was interrupted
    let complete = folder.join("node_modules/.complete");
    if complete.exists() {
        return Some(folder);
    }
    let status = Command::new(program("npm")?)
        .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .args(PACKAGES)
        .status();
    status.ok().filter(std::process::ExitStatus::success)?;
    std::fs::write(complete, "").unwrap();
    Some(folder)
}

impl Database for Javascript {
    fn target(&self) -> FilterTarget {
        FilterTarget::UcastAll
    }

    fn column_type(&self, _: Kind) -> &'static str {
        ""
    }

    fn folding(&self) -> &'static str {
        ""
    }

    fn literal(&self, value: &Value) -> String {
        value.to_string()
    }

    /// Numbers are floats, and texts are ordered by UTF-16 code units.
    fn fits(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_none_or(|it| it.abs() < 9e15),
            Value::String(text) => text.chars().all(|one| one < '\u{10000}'),
            _ => true,
        }
    }

    /// Texts with characters beyond U+FFFF are not ordered by code point: nothing fits such a filter.
    fn interprets(&self, tree: &str) -> bool {
        let orders = ["\"lt\"", "\"lte\"", "\"gt\"", "\"gte\""];
        !(tree.chars().any(|c| c > '\u{ffff}')
            && orders.iter().any(|operator| tree.contains(operator)))
    }

    fn run(&mut self, statements: &[String]) {
        self.rows = statements.to_vec();
    }

    fn matching_rows(&mut self, conditions: &[String]) -> Vec<Result<RowPairs, String>> {
        let mut child = Command::new(&self.node)
            .arg(self.folder.join("rows.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = String::new();
        for line in self.rows.iter().map(String::as_str).chain(["=="]) {
            writeln!(text, "{}", line.replace('\n', " ")).unwrap();
        }
        for condition in conditions {
            writeln!(text, "{condition}").unwrap();
        }
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stdout).unwrap();
        let mut kept: Vec<Result<RowPairs, String>> = Vec::new();
        for line in said.lines() {
            match (pair(line, ' '), kept.last_mut()) {
                (None, _) => kept.push(Ok(Vec::new())),
                (Some(pair), Some(Ok(kept))) => kept.push(pair),
                (Some(_), _) => panic!("{said}"),
            }
        }
        assert_eq!(kept.len(), conditions.len());
        kept
    }
}
