//! Compares the formatter with OPA's, and checks the invariants of every result.
//!
//! `tests/cases/format` contains a case per line: a module, the mode, and the result. If OPA's result differs, the case
//! contains it as `opa`, with the reason in `why`. `./bless --oracle` records the results of OPA again.

mod programs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};
use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{FormatOptions, ParseOptions, format, parse_module};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format")
}

/// Returns the options of a mode, and OPA's flags for it.
fn mode(name: &str) -> (FormatOptions, &'static [&'static str]) {
    let options = |read, target, drop_v0_imports| FormatOptions {
        parse: ParseOptions::from_version(read),
        target,
        drop_v0_imports,
    };
    match name {
        "v1" => (options(Version::V1, Version::V1, false), &[]),
        "v0" => (
            options(Version::V0, Version::V0, false),
            &["--v0-compatible"],
        ),
        "v0v1" => (
            options(Version::V0, Version::V0CompatV1, false),
            &["--v0-v1"],
        ),
        "drop" => (
            options(Version::V1, Version::V1, true),
            &["--drop-v0-imports"],
        ),
        other => panic!("unknown mode {other}"),
    }
}

fn parsed(text: &str, options: &ParseOptions) -> Result<Module, String> {
    let source = Source::new(SourceId(0), "case.rego", text);
    let options = ParseOptions {
        annotations: false,
        ..*options
    };
    parse_module(&source, &options).map_err(|errors| errors.to_string())
}

fn formatted(text: &str, options: &FormatOptions) -> Result<String, String> {
    let source = Source::new(SourceId(0), "case.rego", text);
    format(&source, options).map_err(|errors| errors.to_string())
}

fn comments(module: &Module) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for comment in &module.comments {
        *counts.entry(comment.text.trim_end()).or_default() += 1;
    }
    counts
}

/// Checks that a result has the tree and the comments of its source, and that formatting it again changes nothing.
fn check(text: &str, options: &FormatOptions, result: &str) {
    let again = FormatOptions {
        parse: ParseOptions {
            version: options.target,
            ..options.parse
        },
        ..*options
    };
    let before = parsed(text, &options.parse).unwrap();
    let after =
        parsed(result, &again.parse).unwrap_or_else(|error| panic!("{error}\n{text}\n{result}"));
    assert!(before.rules == after.rules, "{text}\nbecame\n{result}");
    let (wanted, found) = (comments(&before), comments(&after));
    for (comment, count) in wanted {
        let kept = found.get(comment).copied().unwrap_or(0);
        assert!(
            kept >= count,
            "#{comment} is lost from\n{text}\nin\n{result}"
        );
    }
    assert_eq!(
        formatted(result, &again).as_deref(),
        Ok(result),
        "of\n{text}"
    );
}

#[test]
fn results_are_those_of_opa() {
    let recorder = std::env::var("SOLON_RECORD").ok();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut cases: Vec<Map<String, Value>> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        if let Some(program) = &recorder {
            for case in &mut cases {
                record(program, case);
            }
            let lines: Vec<String> = cases
                .iter()
                .map(|case| serde_json::to_string(case).unwrap() + "\n")
                .collect();
            std::fs::write(&file, lines.concat()).unwrap();
        }
        for case in &cases {
            let text = case["module"].as_str().unwrap();
            let (options, _) = mode(case["mode"].as_str().unwrap());
            let result = formatted(text, &options);
            let result = result.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(result, case["want"].as_str().unwrap(), "of\n{text}");
            check(text, &options, &result);
            assert_eq!(
                case.contains_key("opa"),
                case.contains_key("why"),
                "a difference from OPA has a reason:\n{text}"
            );
            count += 1;
        }
    }
    assert!(count > 300, "{count} cases");
}

/// Records OPA's result of a case if it differs from ours.
fn record(program: &str, case: &mut Map<String, Value>) {
    let text = case["module"].as_str().unwrap();
    let (options, flags) = mode(case["mode"].as_str().unwrap());
    let file = std::env::temp_dir().join(format!("solon-format-{}.rego", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let output = Command::new(program)
        .arg("fmt")
        .arg("--check-result=false")
        .args(flags)
        .arg(&file)
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let theirs = String::from_utf8(output.stdout).unwrap();
    let ours = formatted(text, &options).unwrap();
    if ours == theirs {
        case.remove("opa");
        case.remove("why");
    } else {
        case.insert("opa".to_owned(), Value::String(theirs));
    }
    case.insert("want".to_owned(), Value::String(ours));
}

/// `SOLON_FORMAT_PROGRAMS` sets the number of programs.
#[test]
fn generated_programs_keep_tree_and_comments() {
    let count = std::env::var("SOLON_FORMAT_PROGRAMS");
    let count: u64 = count.map_or(400, |count| count.parse().unwrap());
    let (options, _) = mode("v1");
    let mut accepted = 0;
    for seed in 0..count {
        let text = programs::module(seed);
        if parsed(&text, &options.parse).is_ok() {
            accepted += 1;
            let result = formatted(&text, &options).unwrap();
            check(&text, &options, &result);
        }
    }
    assert!(accepted * 10 > count * 7, "{accepted} of {count} parse");
}

#[test]
fn texts_that_do_not_parse_are_errors() {
    let (options, _) = mode("v1");
    for (text, want) in [
        (
            "",
            "1 error occurred: case.rego:0: rego_parse_error: empty module",
        ),
        (
            "package p\na { true }",
            "1 error occurred: case.rego:2: rego_parse_error: `if` keyword is required before rule body",
        ),
    ] {
        assert_eq!(formatted(text, &options), Err(want.to_owned()));
    }
}
