//! Reads, records and compares cases.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use serde_json::value::RawValue;

/// A module and the expected result.
#[derive(Clone, Default)]
pub struct Case {
    pub note: String,
    pub module: String,
    /// `true` if the module is v0.
    pub v0: bool,
    /// `true` if the result contains locations.
    pub located: bool,
    /// AST JSON, or an object with `errors`. Numbers keep their spelling.
    pub answer: Option<Box<RawValue>>,
}

type Members = BTreeMap<String, Box<RawValue>>;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/syntax")
        .join(name)
}

/// Reads the cases of a file.
pub fn load(name: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let cases: Vec<Members> = serde_json::from_str(&text).unwrap();
    let mut cases: Vec<Case> = cases.into_iter().map(from_members).collect();
    if let Ok(program) = std::env::var("SOLON_RECORD") {
        record(&program, name, &mut cases);
    }
    cases
}

fn from_members(mut members: Members) -> Case {
    let flag =
        |members: &Members, key: &str| members.get(key).is_some_and(|value| value.get() == "true");
    let text = |members: &Members, key: &str| serde_json::from_str(members[key].get()).unwrap();
    Case {
        note: text(&members, "note"),
        module: text(&members, "module"),
        v0: flag(&members, "v0"),
        located: flag(&members, "located"),
        answer: members.remove("answer"),
    }
}

fn record(program: &str, name: &str, cases: &mut [Case]) {
    let folder = std::env::temp_dir().join(format!("solon-syntax-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut out = String::from("[\n");
    for (at, case) in cases.iter_mut().enumerate() {
        std::fs::write(folder.join("a.rego"), &case.module).unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(&folder)
            .args(["parse", "a.rego", "--format", "json"]);
        if case.v0 {
            command.arg("--v0-compatible");
        }
        if case.located {
            command.args(["--json-include", "locations"]);
        }
        let output = command.output().unwrap();
        let answer = if output.stdout.is_empty() {
            output.stderr
        } else {
            output.stdout
        };
        let answer: Box<RawValue> = serde_json::from_slice(&answer).unwrap();
        let answer = canonical(&answer);
        let _ = write!(
            out,
            "{}{{\"note\": {},",
            if at > 0 { ",\n" } else { "" },
            Value::from(case.note.as_str())
        );
        let _ = write!(out, " \"module\": {},", Value::from(case.module.as_str()));
        out.push_str(if case.v0 { " \"v0\": true," } else { "" });
        out.push_str(if case.located {
            " \"located\": true,"
        } else {
            ""
        });
        let _ = write!(out, " \"answer\": {answer}}}");
        case.answer = Some(serde_json::from_str(&answer).unwrap());
    }
    out.push_str("\n]\n");
    std::fs::write(path(name), out).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// Formats JSON in one line with sorted keys and uniform strings. Numbers keep their spelling.
pub fn canonical(json: &RawValue) -> String {
    let text = json.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: Members = serde_json::from_str(text).unwrap();
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Some(b'[') => {
            let elements: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
            let elements: Vec<String> = elements.iter().map(|element| canonical(element)).collect();
            format!("[{}]", elements.join(","))
        }
        Some(b'"') => serde_json::from_str::<Value>(text).unwrap().to_string(),
        _ => text.to_owned(),
    }
}

/// Checks the cases of a file, and fails with all failures.
pub fn check_all(name: &str, check: impl Fn(&Case) -> Result<(), String>) {
    let cases = load(name);
    let failures = cases.iter().filter_map(|case| {
        let problem = check(case).err()?;
        Some(format!("  {}:\n{problem}", case.note))
    });
    report(name, cases.len(), &failures.collect::<Vec<_>>());
}

/// Fails with all failures.
pub fn report(name: &str, total: usize, failures: &[String]) {
    assert!(total > 0, "{name} holds no case");
    assert!(
        failures.is_empty(),
        "{} of {total} cases of {name} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Shows two long texts, starting shortly before their first difference.
pub fn difference(want: &str, have: &str) -> String {
    let same = want
        .chars()
        .zip(have.chars())
        .take_while(|(want, have)| want == have)
        .count();
    let show = |text: &str| {
        text.chars()
            .skip(same.saturating_sub(80))
            .take(240)
            .collect::<String>()
    };
    format!("    want …{}\n    have …{}", show(want), show(have))
}
