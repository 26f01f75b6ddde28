//! Wording of comments and pages: the number of phrases that the table `wording.txt` lists may only shrink.

use crate::source::{self, File};

/// Phrases by kind, exempt paths and the bound on findings.
const TABLE: &str = include_str!("wording.txt");

/// Number of findings in a message; there may be thousands.
const REPORTED: usize = 20;

/// Returns the entries of one kind.
fn entries(kind: &'static str) -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .filter(move |(own, _)| *own == kind)
        .map(|(_, phrase)| phrase)
}

/// Returns the prose of a file with its line numbers: comments of Rust, and pages outside of code blocks.
fn prose(file: &File) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let lines = file.text.lines().zip(1..);
    if file.has_extension(&["md"]) {
        return lines
            .filter(|(line, _)| {
                let is_fence = line.trim_start().starts_with("```");
                in_code ^= is_fence;
                !in_code && !is_fence
            })
            .map(|(line, at)| (at, line))
            .collect();
    }
    lines
        .filter_map(|(line, at)| {
            let trimmed = line.trim_start();
            let start = if trimmed.starts_with("//") {
                line.len() - trimmed.len()
            } else {
                line.find(" // ")? + 1
            };
            Some((at, &line[start..]))
        })
        .collect()
}

/// Returns the texts after each whole-word occurrence of a phrase.
fn after<'t>(text: &'t str, phrase: &str) -> Vec<&'t str> {
    let in_word = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(phrase)
        .map(|(at, _)| (&text[..at], &text[at + phrase.len()..]))
        .filter(|(before, rest)| !before.ends_with(in_word) && !rest.starts_with(in_word))
        .map(|(_, rest)| rest)
        .collect()
}

/// Returns the phrases of the table that a line of prose contains, once for each occurrence.
fn phrases(line: &str) -> Vec<&'static str> {
    let lower = line.to_lowercase();
    let mut found = Vec::new();
    for kind in ["person", "figure", "preposition", "private"] {
        for phrase in entries(kind) {
            found.extend(after(&lower, phrase).iter().map(|_| phrase));
        }
    }
    for phrase in entries("negation") {
        let rest = after(&lower, phrase).into_iter().filter(|rest| {
            let word = rest.trim_start();
            word.starts_with(|c: char| c.is_alphabetic() || c == '`')
                && entries("unless").all(|fine| !word.starts_with(fine))
        });
        found.extend(rest.map(|_| phrase));
    }
    let doc = line
        .trim_start()
        .strip_prefix("///")
        .or_else(|| line.trim_start().strip_prefix("//!"));
    if let Some(doc) = doc {
        let opens = |phrase: &&str| {
            after(doc, phrase)
                .iter()
                .any(|rest| doc.trim_start() == format!("{phrase}{rest}"))
        };
        found.extend(entries("opening").filter(opens));
    }
    found
}

#[test]
fn wording_improves() {
    let bound: usize = entries("bound").next().unwrap().parse().unwrap();
    let mut findings = Vec::new();
    for file in source::files() {
        let is_exempt = entries("exempt").any(|folder| file.path.starts_with(folder));
        if is_exempt || !file.has_extension(&["rs", "md"]) {
            continue;
        }
        for (at, line) in prose(&file) {
            let found = phrases(line).into_iter();
            findings.extend(found.map(|phrase| format!("{}:{at}: {phrase}", file.path)));
        }
    }
    let count = findings.len();
    println!("{count} of at most {bound} phrases");
    findings.truncate(REPORTED);
    assert!(
        count <= bound,
        "{count} phrases of tests/tidy/wording.txt, at most {bound} are allowed; the first of them:\n  {}\n",
        findings.join("\n  ")
    );
}

#[test]
fn phrases_match_entire_terms() {
    assert_eq!(phrases("/// What a caller tells it."), ["tells", "What"]);
    assert_eq!(
        phrases("//! Whatever it retells is no longer here."),
        [""; 0]
    );
    assert_eq!(phrases("// the key is no string"), ["is no"]);
    assert_eq!(phrases("// what comes behind `x`"), ["behind"]);
}
