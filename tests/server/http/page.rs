//! `docs/http.md` lists exactly the existing errors and limits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/http.md")).unwrap()
}

/// Returns the first cells of the rows in the tables of a section.
fn rows(page: &str, section: &str) -> BTreeSet<String> {
    let (_, rest) = page.split_once(&format!("## {section}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let firsts = section.lines().filter_map(|line| line.strip_prefix("| `"));
    firsts
        .filter_map(|line| Some(line.split_once('`')?.0.to_owned()))
        .collect()
}

/// Collects the codes of a response.
fn codes(answer: &Value, found: &mut BTreeSet<String>) {
    found.extend(answer["code"].as_str().map(str::to_owned));
    for error in answer["errors"].as_array().into_iter().flatten() {
        codes(error, found);
    }
}

/// Appends the text of all Rust files below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// S-406
#[test]
fn the_list_of_codes_is_complete() {
    let told = rows(&page(), "Errors");
    let mut recorded = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("tests/cases/server")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
        let standard = cases
            .iter()
            .filter(|case| !case["flags"].to_string().contains("--compat"));
        for request in standard.flat_map(|case| case["requests"].as_array().unwrap()) {
            codes(&request["want"]["json"], &mut recorded);
        }
    }
    assert!(recorded.len() > 15, "{recorded:?}");
    let missing: Vec<_> = recorded.difference(&told).collect();
    assert!(
        missing.is_empty(),
        "docs/http.md does not describe {missing:?}"
    );
    let mut text = String::new();
    for folder in [
        "server/src/api",
        "server/src/http",
        "engine/src",
        "engine/syntax/src",
    ] {
        sources(&root().join(folder), &mut text);
    }
    let unknown: Vec<_> = told
        .iter()
        .filter(|code| !text.contains(&format!("\"{}\"", code.replacen("lang_", "rego_", 1))))
        .collect();
    assert!(unknown.is_empty(), "nothing answers {unknown:?}");
}

/// `docs/error-codes.md` explains each code of `docs/http.md` and of the control plane.
#[test]
fn each_code_is_explained() {
    let codes = std::fs::read_to_string(root().join("docs/error-codes.md")).unwrap();
    let (_, server) = codes.split_once("## Engine").unwrap();
    let (server, control) = server.split_once("## Control plane").unwrap();
    for code in rows(&page(), "Errors") {
        let row = format!("\n| `{}` |", code.replacen("lang_", "rego_", 1));
        assert!(server.contains(&row), "docs/error-codes.md has no {code}");
    }
    let source = std::fs::read_to_string(root().join("server/control/src/api/error.rs")).unwrap();
    let answered = source.split("StatusCode::").skip(1);
    let answered = answered.filter_map(|rest| {
        let (_, rest) = rest.split_once(", \"")?;
        Some(rest.split_once("\")")?.0)
    });
    let is_code =
        |code: &&str| !code.is_empty() && code.chars().all(|c| c == '_' || c.is_ascii_lowercase());
    let answered: BTreeSet<&str> = answered.filter(is_code).collect();
    assert!(answered.len() >= 9, "{answered:?}");
    for code in answered {
        assert!(
            control.contains(&format!("\n| `{code}` |")),
            "docs/error-codes.md has no {code}"
        );
    }
}

/// S-408
#[test]
fn the_list_of_bounds_is_complete() {
    let help = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["run", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let words = help.split_whitespace();
    let flags: BTreeSet<&str> = words
        .filter(|word| {
            word.starts_with("--max-") || word.ends_with("timeout") || *word == "--memory"
        })
        .filter(|word| word.starts_with("--"))
        .filter(|flag| !matches!(*flag, "--max-errors" | "--ready-timeout"))
        .collect();
    assert!(flags.len() >= 10, "{flags:?}");
    let page = page();
    for flag in flags {
        assert!(
            page.contains(&format!("`{flag}`")),
            "docs/http.md does not describe {flag}"
        );
    }
}
