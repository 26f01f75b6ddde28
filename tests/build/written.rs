//! Policies written by hand.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::answers;
use crate::cases::{Program, Want, difference, folder};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    /// Lines of modules by name.
    modules: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    data: Json,
    entry_points: Vec<String>,
    /// Why Solon writes something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    differs: Option<String>,
    #[serde(default)]
    want: Want,
}

impl Case {
    fn program(&self) -> Program {
        let modules = self.modules.iter();
        Program {
            modules: modules
                .map(|(name, lines)| (name.clone(), lines.join("\n") + "\n"))
                .collect(),
            data: if self.data.is_null() {
                json!({})
            } else {
                self.data.clone()
            },
            entry_points: self.entry_points.clone(),
        }
    }
}

#[test]
fn policies_are_optimised_as_by_opa() {
    let path = folder().join("policies.json");
    let mut cases: Vec<Case> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        for case in &mut cases {
            case.want = Want::recorded(&oracle, &case.program());
        }
        std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
    }
    let (mut failures, mut same, mut defined) = (Vec::new(), 0, 0);
    for case in &cases {
        let program = case.program();
        let mut is_same = true;
        for level in [1, 2] {
            let (want, got) = (case.want.of_level(level).unwrap(), program.built(level));
            if *want != got {
                is_same = false;
                if case.differs.is_none() {
                    let difference = difference(want, &got);
                    failures.push(format!("{} -O{level}\n{difference}", case.note));
                }
            }
            if let Ok(bundle) = program.bundle(level) {
                match answers::compare(&program, &bundle, level.unsigned_abs()) {
                    Ok(count) => defined += count,
                    Err(what) => failures.push(format!("{} -O{level}: {what}", case.note)),
                }
            }
        }
        if is_same && case.differs.is_some() {
            failures.push(format!("{}: there is no difference any more", case.note));
        }
        same += usize::from(is_same);
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
    eprintln!(
        "{same} of {} policies as by OPA, {defined} defined answers",
        cases.len()
    );
}
