//! The record of the oracle's results: `tests/cases/agreement/THEME.jsonl`, one case a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::compare::{self, Answer};
use crate::generate::{self, Theme};
use solon_lines::Process;

/// Seed of the record; other seeds give other programs.
pub const SEED: u64 = 1;

/// Maximum length of a recorded result in bytes; longer ones are no more informative.
const LONGEST: usize = 4000;

/// Results shorter than this contain one scalar, or empty collections.
const SHORT: usize = 64;

/// One recorded case.
#[derive(Deserialize)]
pub struct Case<'a> {
    /// `THEME/INDEX`, from which the generator writes the program again.
    #[serde(rename = "case")]
    pub name: &'a str,
    #[serde(borrow)]
    pub request: &'a RawValue,
    #[serde(borrow)]
    pub answer: &'a RawValue,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/agreement")
}

pub fn file(theme: Theme) -> PathBuf {
    folder().join(format!("{}.jsonl", theme.name()))
}

/// Returns the file of programs with earlier differences, as found or reduced.
pub fn earlier_differences() -> PathBuf {
    folder().join("found.jsonl")
}

/// Returns the cases with known differences between Solon and the oracle, with the reason: one a line, `THEME/INDEX
/// reason`.
pub fn exceptions() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("exceptions.txt")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(case, reason)| (case.to_string(), reason.to_string()))
        .collect()
}

/// Returns the number of programs of a theme, and the maximum percentages that may fail or not depend on documents.
fn share(theme: Theme) -> (usize, usize, usize) {
    // programs, failing, plain
    match theme {
        Theme::Values => (160, 4, 20),
        Theme::Iteration => (220, 4, 15),
        Theme::Comprehensions => (180, 4, 20),
        Theme::Functions => (180, 5, 25),
        Theme::Chains => (110, 4, 25),
        Theme::Heads => (160, 5, 20),
        Theme::Merging => (170, 4, 20),
        Theme::With => (180, 6, 30),
        Theme::Conflicts => (120, 40, 20),
        Theme::Builtins => (150, 18, 30),
        Theme::Queries => (120, 6, 25),
        Theme::Packages => (100, 5, 20),
        Theme::Dialects => (100, 10, 20),
        Theme::Logic => (80, 6, 20),
        Theme::Mistakes => (240, 100, 8),
        Theme::Forms => (200, 55, 25),
        Theme::Joins => (160, 15, 15),
        Theme::Tables => (240, 15, 35),
        Theme::Layouts => (120, 20, 35),
        Theme::Keys => (200, 15, 35),
        Theme::Scopes => (160, 20, 30),
    }
}

/// Information content of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failing,
    /// Defined, and different without input and data.
    Telling,
    /// Informative, but a single word.
    Short,
    /// Undefined, or the same without input and data.
    Plain,
}

/// Draws programs, queries the oracle, and writes a new record.
pub fn write(oracle: &str) -> Result<(), String> {
    fs::create_dir_all(folder()).map_err(|error| error.to_string())?;
    let mut oracles = [Process::new(oracle), Process::new(oracle)];
    let (mut total, mut failing, mut telling) = (0, 0, 0);
    let mut files = Vec::new();
    for theme in Theme::ALL {
        let mut kept = String::new();
        let mut counts = [0_usize; 4];
        let mut seen = BTreeSet::new();
        let (wanted, failing_share, plain_share) = share(theme);
        let limits = [
            wanted * failing_share / 100,
            wanted,
            wanted / 5,
            wanted * plain_share / 100,
        ];
        let mut index = 0;
        while counts.iter().sum::<usize>() < wanted {
            let request = generate::program(SEED, theme, index);
            let line = request.json();
            index += 1;
            if index > 40 * wanted as u64 {
                return Err(format!(
                    "{}: too few programs are worth keeping: {counts:?}",
                    theme.name()
                ));
            }
            if !seen.insert(line.clone()) {
                continue;
            }
            let Some(answer) = stable_answer(&mut oracles, &line) else {
                continue;
            };
            let bare = oracles[0].request(&request.without_documents().json())?;
            let kind = judge(&answer, &bare)?;
            if answer.len() > LONGEST || counts[kind as usize] >= limits[kind as usize] {
                continue;
            }
            counts[kind as usize] += 1;
            kept += &format!(
                "{{\"case\":\"{}/{}\",\"request\":{line},\"answer\":{answer}}}\n",
                theme.name(),
                index - 1
            );
        }
        files.push((file(theme), kept));
        let [refused, rich, short, plain] = counts;
        println!(
            "{}: {refused} failing, {rich} telling, {short} telling little, {plain} plain",
            theme.name()
        );
        total += wanted;
        failing += refused;
        telling += rich + short;
    }
    files.push((
        earlier_differences(),
        record_earlier_differences(&mut oracles[0])?,
    ));
    // all or nothing: a partial record would be hard to notice
    for (path, text) in files {
        fs::write(path, text).map_err(|error| error.to_string())?;
    }
    println!(
        "{total} programs recorded: {failing} fail, {telling} of the others depend on input or data"
    );
    Ok(())
}

/// Records the programs with earlier differences again.
fn record_earlier_differences(oracle: &mut Process) -> Result<String, String> {
    let text = fs::read_to_string(earlier_differences()).map_err(|error| error.to_string())?;
    let mut kept = String::new();
    for line in text.lines() {
        let case: Case<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let (name, request) = (case.name, case.request.get());
        let answer = oracle.request(request)?;
        kept += &format!("{{\"case\":\"{name}\",\"request\":{request},\"answer\":{answer}}}\n");
    }
    Ok(kept)
}

/// Returns the oracle's result if it is the same every time; a result that varies is not part of the contract.
fn stable_answer(oracles: &mut [Process; 2], request: &str) -> Option<String> {
    let answer = oracles[0].request(request).ok()?;
    for oracle in oracles {
        let again = oracle.request(request).ok()?;
        if compare::difference(&answer, &again).is_some() {
            return None;
        }
    }
    Some(answer)
}

fn judge(answer: &str, bare: &str) -> Result<Kind, String> {
    let parsed = Answer::parse(answer).map_err(|error| format!("{error} in {answer}"))?;
    Ok(if !parsed.errors.is_empty() {
        Kind::Failing
    } else if parsed.bindings.is_some() && compare::difference(answer, bare).is_some() {
        if answer.len() < SHORT {
            Kind::Short
        } else {
            Kind::Telling
        }
    } else {
        Kind::Plain
    })
}
