//! SQL Server text parses as intended. No SQL Server runs it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use solon::{Engine, FilterOptions, FilterTarget, Request, json as values};

use crate::databases::{answer, condition};
use crate::draw::Draw;
use crate::injection;
use crate::policies::policy;
use crate::random_policies::shape;
use crate::servers::program;

/// Number of policies of each sort, and of names and values.
const TRIED: u64 = if cfg!(debug_assertions) { 150 } else { 1_000 };
/// Tested version of the parser.
const PACKAGE: &str = "sqlglot==30.30.0";
/// Expected nodes of conditions.
const NODES: [&str; 28] = [
    "Where",
    "And",
    "Or",
    "Not",
    "Paren",
    "EQ",
    "NEQ",
    "LT",
    "LTE",
    "GT",
    "GTE",
    "In",
    "Is",
    "Null",
    "Like",
    "Escape",
    "Column",
    "Identifier",
    "Literal",
    "National",
    "Neg",
    "Collate",
    "Cast",
    "DataType",
    "DataTypeParam",
    "Var",
    "Anonymous",
    "ByteLength",
];

/// Returns Python with the parser; `None` if it is not available.
fn python() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sqlglot");
    let python = folder.join("bin/python");
    let has = |python: &PathBuf| {
        let asked = Command::new(python).args(["-c", "import sqlglot"]).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    if !has(&python) {
        let made = Command::new(program("python3")?)
            .args(["-m", "venv"])
            .arg(&folder)
            .output();
        made.ok().filter(|made| made.status.success())?;
        let installed = Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                PACKAGE,
            ])
            .output();
        installed.ok().filter(|it| it.status.success())?;
    }
    has(&python).then_some(python)
}

#[test]
fn sql_server_reads_what_is_meant() {
    let Some(python) = python() else {
        println!("skipped: sqlglot needs python3 with venv and pip");
        return;
    };
    let options = FilterOptions::new([FilterTarget::Sqlserver])
        .unknowns(["input.fruits", "input.baskets"])
        .extensions(true);
    let mut script = String::new();
    let mut wanted: Vec<Option<(String, String)>> = Vec::new();
    let mut ask = |engine: &Engine, rule: &str, options: &FilterOptions, input: &Value| {
        let input = values::read(input.to_string().as_bytes()).unwrap();
        let rule = format!("data.filters.{rule}");
        let made = engine.filters(&rule, options, &Request::new().input(&input));
        made.ok().map(|made| {
            script.push_str(&format!("{}\n", json!(condition(made))));
        })
    };
    for seed in 0..TRIED {
        for drawn in [policy(seed, true), shape(seed, true)] {
            let engine = Engine::new();
            if engine.set_module("filters.rego", &drawn.text).is_ok()
                && ask(&engine, "include", &options, &drawn.input).is_some()
            {
                wanted.push(None);
            }
        }
    }
    let engine = Engine::new();
    engine
        .set_module("filters.rego", injection::POLICY)
        .unwrap();
    for seed in 0..TRIED {
        let mut draw = Draw::new(seed ^ 0x75_91);
        let column = format!("c{}", injection::text(&mut draw));
        let value = injection::text(&mut draw);
        let input = json!({"column": column, "value": value});
        for rule in ["include", "listed"] {
            for exact in [false, true] {
                let declared =
                    json!({"$self": "c.x", "kind": "text", "nullable": true, "collation": "any"});
                let mappings = json!({"fruits": {column.as_str(): declared}}).to_string();
                let mappings = values::read(mappings.as_bytes()).unwrap();
                let options = if exact {
                    options.clone().exact(true).mappings(mappings)
                } else {
                    options.clone()
                };
                ask(&engine, rule, &options, &input).unwrap();
                let name = if exact { "c" } else { &column };
                wanted.push(Some((name.to_owned(), value.clone())));
            }
        }
    }
    let parser = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tsql.py");
    std::fs::write(&parser, include_str!("databases/tsql.py")).unwrap();
    let (said, errors) = answer(Command::new(python).arg(parser), &script);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), wanted.len(), "{errors}");
    for ((line, wanted), text) in lines.iter().zip(&wanted).zip(script.lines()) {
        let told: Value = serde_json::from_str(line).unwrap();
        assert!(told.get("error").is_none(), "{text}\n{line}");
        assert_eq!(told["rest"], json!([]), "{text}");
        for node in told["nodes"].as_array().unwrap() {
            assert!(NODES.contains(&node.as_str().unwrap()), "{node} in {text}");
        }
        if let Some((column, value)) = wanted {
            let columns = told["columns"].as_array().unwrap();
            let named = |it: &Value| it[1] == json!(column) || it[0] == json!("c");
            assert!(columns.iter().all(named), "{text}\n{line}");
            let texts = told["texts"].as_array().unwrap();
            let known = [json!(value), json!("other")];
            assert!(texts.iter().all(|it| known.contains(it)), "{text}\n{line}");
        }
    }
    println!("sql+sqlserver: {} conditions parsed", lines.len());
}
