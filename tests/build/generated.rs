//! Generated policies. Each rule of the last module is an entry point of its own program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::answers;
use crate::cases::{Program, Want, difference, folder};
use crate::generate::{self, Theme};

/// The seed of the recorded programs.
const SEED: u64 = 42;

/// How many programs are recorded.
const COUNT: u64 = 300;

/// The recorded result of a program.
#[derive(Deserialize, Serialize)]
struct Record {
    /// Number of the program.
    number: u64,
    /// Solon writes something else: another layout, or other names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    differs: bool,
    want: Want,
}

/// Program `number` of a seed, if its query names a rule.
fn draw(seed: u64, number: u64) -> Option<Program> {
    let themes: Vec<Theme> = Theme::ALL
        .into_iter()
        // the recorded numbers were drawn without `Scopes`
        .filter(|theme| !matches!(theme, Theme::Mistakes | Theme::Scopes))
        .collect();
    let count = themes.len() as u64;
    let theme = themes[usize::try_from(number % count).unwrap()];
    let request = generate::program(seed, theme, number / count);
    if request.v0 || request.modules.is_empty() {
        return None;
    }
    let query = request
        .query
        .split(['=', ' ', '[', '(', ';', '\n'])
        .find(|part| part.starts_with("data."))?;
    let steps: Vec<&str> = query.split('.').skip(1).collect();
    if steps.len() < 2 {
        return None;
    }
    let data: Map<String, Json> = request
        .data
        .iter()
        .map(|(name, text)| (name.clone(), serde_json::from_str(text).unwrap()))
        .collect();
    let modules: BTreeMap<String, String> = request.modules.iter().cloned().collect();
    Some(Program {
        modules,
        data: Json::Object(data),
        entry_points: vec![steps.join("/")],
    })
}

fn compare(number: u64, program: &Program, want: &Want) -> (bool, Vec<String>) {
    let (mut is_same, mut failures) = (true, Vec::new());
    for level in [1, 2] {
        let (want, got) = (want.of_level(level).unwrap(), program.built(level));
        if *want != got {
            is_same = false;
            failures.push(format!("{number} -O{level}\n{}", difference(want, &got)));
        }
    }
    (is_same, failures)
}

fn wrong_answers(number: u64, program: &Program) -> Vec<String> {
    let levels = [1, 2].into_iter();
    let wrong = levels.filter_map(|level| {
        let bundle = program.bundle(level).ok()?;
        let compared = answers::compare(program, &bundle, number);
        compared
            .err()
            .map(|what| format!("{number} -O{level}: {what}"))
    });
    wrong.collect()
}

#[test]
fn generated_policies_are_optimised_as_by_opa() {
    let path = folder().join("generated.json");
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        let mut records = Vec::new();
        for number in 0..COUNT {
            let Some(program) = draw(SEED, number) else {
                continue;
            };
            let want = Want::recorded(&oracle, &program);
            let (is_same, _) = compare(number, &program, &want);
            records.push(Record {
                number,
                differs: !is_same,
                want,
            });
        }
        std::fs::write(
            &path,
            serde_json::to_string_pretty(&records).unwrap() + "\n",
        )
        .unwrap();
    }
    let records: Vec<Record> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let (mut failures, mut same) = (Vec::new(), 0);
    for record in &records {
        let program = draw(SEED, record.number).unwrap();
        let (is_same, different) = compare(record.number, &program, &record.want);
        same += usize::from(is_same);
        if is_same == record.differs {
            failures.extend(different);
            if is_same {
                failures.push(format!(
                    "{}: there is no difference any more",
                    record.number
                ));
            }
        }
        failures.extend(wrong_answers(record.number, &program));
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
    eprintln!("{same} of {} programs as by OPA", records.len());
}

/// New programs, compared with an oracle.
#[test]
fn new_policies_are_optimised_as_by_opa() {
    let number = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().unwrap());
    let (seed, count) = (number("SOLON_SEED", 5), number("SOLON_COUNT", 60));
    let oracle = std::env::var("SOLON_ORACLE").ok();
    let (mut wrong, mut different, mut compared) = (Vec::new(), Vec::new(), 0);
    for number in 0..count {
        let Some(program) = draw(seed, number) else {
            continue;
        };
        compared += 1;
        wrong.extend(wrong_answers(number, &program));
        if let Some(oracle) = &oracle {
            let (_, found) = compare(number, &program, &Want::recorded(oracle, &program));
            different.extend(found);
        }
    }
    for found in &different {
        eprintln!("{found}");
    }
    eprintln!("{compared} programs, {} results differ", different.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
