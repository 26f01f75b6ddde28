//! Programs written by hand, of which each rule is asked with part of the input unknown: what is left answers as the whole
//! does.

use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cases::folder;
use crate::generate::Request;
use crate::programs::Drawn;
use crate::soundness::{Comparison, compare_one};

/// The member of the input that is unknown.
const UNKNOWN: &str = "fruits";

#[derive(Deserialize)]
struct Written {
    note: String,
    /// The lines of the module.
    module: Vec<String>,
    rules: Vec<String>,
    /// Members of the input that are known.
    known: Map<String, Value>,
    /// The base documents.
    #[serde(default)]
    data: Map<String, Value>,
    /// The documents that are not inlined.
    #[serde(default)]
    disabled: Vec<String>,
    /// What the unknown one may turn out to be.
    unknown: Vec<Value>,
}

/// Compares all programs; how many answers differ, or could not be compared.
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
                match compare_one(&asked(&program, rule, unknown)) {
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

fn asked(program: &Written, rule: &str, unknown: &Value) -> Drawn {
    let members = |all: &Map<String, Value>| -> Vec<(String, String)> {
        let members = all.iter();
        members
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    };
    let mut input = members(&program.known);
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
