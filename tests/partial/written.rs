//! Hand-written programs whose rules are evaluated with a part of the input unknown: residuals must have the results of
//! the whole rule.

use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cases::folder;
use crate::generate::Request;
use crate::programs::Drawn;
use crate::soundness::{Comparison, compare_one};

/// Unknown member of the input.
const UNKNOWN: &str = "fruits";

#[derive(Deserialize)]
struct Written {
    note: String,
    /// Lines of the module.
    module: Vec<String>,
    rules: Vec<String>,
    /// Known members of the input.
    #[serde(rename = "known")]
    input: Map<String, Value>,
    /// Base documents.
    #[serde(default)]
    data: Map<String, Value>,
    /// Documents that are not inlined.
    #[serde(default)]
    disabled: Vec<String>,
    /// Possible values of the unknown member.
    unknown: Vec<Value>,
}

/// Compares all programs and returns the number of differences and failures.
pub fn compare(filter: &str) -> usize {
    let text = fs::read_to_string(folder().join("sound.json")).expect("written programs");
    let (mut passed, mut failed) = (0, 0);
    for program in serde_json::from_str::<Vec<Written>>(&text).expect("programs") {
        for rule in &program.rules {
            let note = format!("{}, {rule}", program.note);
            if !note.contains(filter) {
                continue;
            }
            for unknown in &program.unknown {
                match compare_one(&draw(&program, rule, unknown)) {
                    Comparison::Same => passed += 1,
                    Comparison::Nothing(reason) => {
                        failed += 1;
                        println!("{note}: not compared, {reason}");
                    }
                    Comparison::Differs(how) => {
                        failed += 1;
                        println!("{note}: {how}");
                    }
                }
            }
        }
    }
    println!("written programs: {passed} passed, {failed} failed");
    failed
}

fn draw(program: &Written, rule: &str, unknown: &Value) -> Drawn {
    let members = |all: &Map<String, Value>| -> Vec<(String, String)> {
        let members = all.iter();
        members
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    };
    let mut input = members(&program.input);
    input.push((UNKNOWN.to_owned(), unknown.to_string()));
    let request = Request {
        modules: vec![("p.rego".to_owned(), program.module.join("\n"))],
        data: members(&program.data),
        input,
        query: format!("data.p.{rule}"),
        v0: false,
        strict: false,
        strict_builtin_errors: false,
    };
    Drawn {
        name: rule.to_owned(),
        request,
        unknowns: vec![format!("input[\"{UNKNOWN}\"]")],
        disabled: program.disabled.clone(),
        captured: true,
    }
}
