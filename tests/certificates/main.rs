//! Irregular certificates, keys and requests, for which Solon must return the results of OPA.
//!
//! `cargo test --test certificates [-- NUMBER]` compares with the recorded results; a number shows one case.
//! `SOLON_RECORD=ORACLE` records them again; `./bless --oracle` calls it so. `SOLON_ORACLE=ORACLE SOLON_SEED=7
//! SOLON_COUNT=5000` generates new cases and compares them with a running OPA.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_push_string,
    reason = "a test program: it talks on the terminal, and a panic in it is a failing test"
)]
#![allow(
    clippy::explicit_auto_deref,
    clippy::items_after_statements,
    reason = "types of generated values are inferred; test texts are next to their generators"
)]

mod asn1;
mod cases;
mod chains;
mod extensions;
mod fixtures;
mod names;
mod opinions;
mod outlines;
mod plan;
#[path = "../agreement/generate/random.rs"]
#[allow(dead_code, reason = "its other users draw in more ways")]
mod random;
mod strictness;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use cases::Case;
use opinions::Opinions;
use solon_lines::Process;
use verdicts::Solon;

/// Seed of the record. Other seeds generate other cases.
const SEED: u64 = 1;

/// OPA's results for each case.
const VERDICTS: &str = "verdicts.txt";

/// Results of the other libraries, with their frequency.
const OPINIONS: &str = "opinions.txt";

/// OPA's results for structures that stricter parsers reject.
const STRICT: &str = "strict.txt";

/// Number of recorded cases.
const COUNT: u64 = 5000;

fn main() -> ExitCode {
    let chosen = env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let number = |name| env::var(name).ok().and_then(|text| text.parse().ok());
    let found = if let Ok(oracle) = env::var("SOLON_RECORD") {
        record(&oracle)
    } else if let Ok(oracle) = env::var("SOLON_ORACLE") {
        let (seed, count) = (
            number("SOLON_SEED").unwrap_or(SEED),
            number("SOLON_COUNT").unwrap_or(COUNT),
        );
        compare_live(&oracle, seed, count, chosen)
    } else {
        compare_with_record(chosen)
    };
    match found {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(failures) => {
            eprintln!("{failures}");
            ExitCode::FAILURE
        }
    }
}

fn file(name: &str) -> PathBuf {
    fixtures::folder().join(name)
}

fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(file(name)).map_err(|error| format!("{name}: {error}"))
}

/// Records the results of OPA for all cases, and of the other libraries for chains.
fn record(oracle: &str) -> Result<String, String> {
    let mut lines = Process::new(oracle);
    let (mut text, mut opinions) = (String::new(), Opinions::default());
    for number in 0..COUNT {
        let case = cases::case(SEED, number);
        let verdicts = verdicts::of_oracle(&mut lines, &case)?;
        opinions.compare(number, &case, &verdicts);
        text += &format!("{number}\t{}\n", verdicts.join("\t"));
    }
    let mut strict = String::new();
    for row in strictness::rows() {
        let verdict = verdicts::of_call(&mut lines, &row.call)?;
        strict += &format!("{}\t{verdict}\n", row.name);
    }
    let write = |name, text: &str| fs::write(file(name), text).map_err(|error| error.to_string());
    write(VERDICTS, &text)?;
    write(OPINIONS, &opinions.text())?;
    write(STRICT, &strict)?;
    Ok(format!("{COUNT} cases recorded"))
}

fn compare_live(
    oracle: &str,
    seed: u64,
    count: u64,
    chosen: Option<u64>,
) -> Result<String, String> {
    let (mut lines, mut solon) = (Process::new(oracle), Solon::new());
    let mut differences = Vec::new();
    for number in (0..count).filter(|number| chosen.is_none_or(|chosen| chosen == *number)) {
        let case = cases::case(seed, number);
        let expected = verdicts::of_oracle(&mut lines, &case)?;
        let show = chosen.is_some();
        differences.extend(compare(&mut solon, number, &case, &expected, show));
    }
    conclude(count, &differences)
}

fn compare_with_record(chosen: Option<u64>) -> Result<String, String> {
    let (mut solon, mut opinions) = (Solon::new(), Opinions::default());
    let mut known = exceptions()?;
    let (mut differences, mut count) = (Vec::new(), 0);
    for line in read(VERDICTS)?.lines() {
        let mut fields = line.split('\t').map(str::to_owned);
        let number = fields.next().and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| format!("`{line}` has no number"))?;
        if chosen.is_some_and(|chosen| chosen != number) {
            continue;
        }
        let expected: Vec<String> = fields.collect();
        let case = cases::case(SEED, number);
        let found = compare(&mut solon, number, &case, &expected, chosen.is_some());
        if !known.remove(&number) {
            differences.extend(found);
        } else if found.is_empty() {
            differences.push(format!("{number} agrees and is no exception any more"));
        }
        opinions.compare(number, &case, &expected);
        count += 1;
    }
    if chosen.is_none() {
        let unused = known.iter();
        differences.extend(unused.map(|number| format!("{number} is an exception, but no case")));
        differences.extend(difference(&read(OPINIONS)?, &opinions.text()));
        differences.extend(strict(&mut solon)?);
    }
    conclude(count, &differences)
}

/// Cases with known differences: a number and the reason in each line.
fn exceptions() -> Result<BTreeSet<u64>, String> {
    let text = read("exceptions.txt")?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let number = line
                .split_once(' ')
                .and_then(|(number, _)| number.parse().ok());
            number.ok_or_else(|| format!("exceptions.txt: `{line}` is not a number with a reason"))
        })
        .collect()
}

/// Returns the failures of the rows that stricter parsers reject.
fn strict(solon: &mut Solon) -> Result<Vec<String>, String> {
    let text = read(STRICT)?;
    let recorded: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let mut problems = Vec::new();
    for row in strictness::rows() {
        let (name, found) = (&row.name, solon.verdict(&row.call));
        match recorded.get(name.as_str()) {
            None => problems.push(format!("{name} is not recorded")),
            Some(expected) if found != *expected || expected.starts_with("error") => {
                problems.push(format!("{name}\n  OPA   {expected}\n  Solon {found}"));
            }
            Some(_) if !row.rejected => problems.push(format!("{name} is read by the crate")),
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Returns the lines that are in one of two texts only.
fn difference(expected: &str, found: &str) -> Vec<String> {
    let [expected, found] = [expected, found].map(|text| text.lines().collect::<BTreeSet<_>>());
    let missing = expected
        .difference(&found)
        .map(|line| format!("{OPINIONS} - {line}"));
    let new = found
        .difference(&expected)
        .map(|line| format!("{OPINIONS} + {line}"));
    missing.chain(new).collect()
}

/// Returns the differences between Solon's results and the expected ones.
fn compare(
    solon: &mut Solon,
    number: u64,
    case: &Case,
    expected: &[String],
    show: bool,
) -> Vec<String> {
    let mut differences = Vec::new();
    for (call, expected) in case.calls.iter().zip(expected) {
        let found = solon.verdict(call);
        let function = call.function;
        if show {
            let operands = serde_json::json!(call.operands);
            println!("{function} {operands}\n  {expected}\n  {found}");
        }
        if found != *expected {
            differences.push(format!(
                "{number} {function}\n  OPA   {expected}\n  Solon {found}"
            ));
        }
    }
    differences
}

fn conclude(count: u64, differences: &[String]) -> Result<String, String> {
    if differences.is_empty() {
        return Ok(format!(
            "test result: ok. {count} cases of certificates and keys agree"
        ));
    }
    Err(format!(
        "{}\ntest result: FAILED. {} differences in {count} cases",
        differences.join("\n"),
        differences.len()
    ))
}
