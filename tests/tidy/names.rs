//! Names of types, functions, modules and fields: each has a word of the field, and one meaning in a crate.
//!
//! The table `names.txt` lists the words, the exceptions with their reasons, and the bounds on findings, which may only shrink.

use std::collections::{BTreeMap, BTreeSet};

use crate::source;

/// Words, bare function names, exceptions and bounds.
const TABLE: &str = include_str!("names.txt");

/// Number of findings in a message.
const REPORTED: usize = 40;

/// Folders of the crates in which a type name belongs to one module.
const CRATES: [&str; 10] = [
    "engine/src/",
    "engine/syntax/src/",
    "engine/host/src/",
    "engine/tower/src/",
    "ffi/src/",
    "python/src/",
    "server/src/",
    "server/common/src/",
    "server/control/src/",
    "server/outbound/src/",
];

/// Returns the rows of one kind, without the kind.
fn rows(kind: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(move |row| row.first() == Some(&kind))
        .map(|row| row[1..].to_vec())
}

/// Returns the first cells of the rows of one kind.
fn names(kind: &'static str) -> BTreeSet<&'static str> {
    rows(kind).map(|row| row[0]).collect()
}

/// Returns the number of findings that a rule allows.
fn bound(rule: &str) -> usize {
    let row = rows("bound").find(|row| row[0] == rule);
    let number = row.and_then(|row| row[1].parse().ok());
    number.unwrap_or_else(|| panic!("tests/tidy/names.txt has no bound of {rule}"))
}

/// Returns the definitions of a line of code: the keyword and the name. A field has the keyword `field`.
fn definitions(line: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = line
        .split(|c: char| !(c == '_' || c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found: Vec<(&str, &str)> = words
        .windows(2)
        .filter(|pair| matches!(pair[0], "fn" | "struct" | "enum" | "trait" | "type" | "mod"))
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let field = line.trim_start();
    let field = field.strip_prefix("pub ").unwrap_or(field);
    let field = match field.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ").map_or(rest, |(_, field)| field),
        None => field,
    };
    if let Some((name, rest)) = field.split_once(": ")
        && name
            .chars()
            .all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
        && line.trim_end().ends_with(',')
        && rest.starts_with(|c: char| c.is_ascii_uppercase() || "&[(".contains(c))
        && line.starts_with("    ")
        && !line.starts_with("     ")
    {
        found.push(("field", name));
    }
    found
}

/// Returns the segments of a name in lower case: `read_only` and `ReadOnly` have `read` and `only`.
fn segments(name: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut segment = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && !before.is_uppercase() {
            segments.push(std::mem::take(&mut segment));
        }
        if c != '_' {
            segment.extend(c.to_lowercase());
        }
        before = c;
    }
    segments.push(segment);
    segments.retain(|segment| !segment.is_empty());
    segments
}

/// Fails if a rule has more findings than its bound.
fn check(rule: &str, findings: &BTreeSet<String>) {
    let (count, bound) = (findings.len(), bound(rule));
    let first: Vec<&str> = findings.iter().take(REPORTED).map(String::as_str).collect();
    assert!(
        count <= bound,
        "{rule}: {count} findings, at most {bound} are allowed by tests/tidy/names.txt; the first of them:\n  {}\n",
        first.join("\n  ")
    );
}

#[test]
fn a_type_name_belongs_to_one_module() {
    let shared = names("shared");
    assert!(shared.len() <= 15, "at most 15 exceptions");
    let mut findings = BTreeSet::new();
    for krate in CRATES {
        let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in source::files_in(krate) {
            if !file.has_extension(&["rs"]) || file.path.ends_with("tests.rs") {
                continue;
            }
            let code = source::code(&file.text);
            for line in source::without_tests(&code).lines() {
                // an associated type of an implementation is indented
                let is_nested = line.starts_with(' ');
                for (keyword, name) in definitions(line) {
                    let is_type = matches!(keyword, "struct" | "enum" | "trait")
                        || keyword == "type" && !is_nested;
                    if is_type {
                        modules
                            .entry(name.to_owned())
                            .or_default()
                            .insert(file.path.clone());
                    }
                }
            }
        }
        for (name, modules) in modules {
            if modules.len() > 1 && !shared.contains(name.as_str()) {
                let modules: Vec<String> = modules.into_iter().collect();
                findings.insert(format!("{name}: {}", modules.join(", ")));
            }
        }
    }
    check("shared type names", &findings);
}

/// `of`, `at` and the like say nothing at the call without an object: `of_kind`, `value_at`.
#[test]
fn functions_have_more_than_a_preposition() {
    let bare = names("bare");
    let mut findings = BTreeSet::new();
    for (path, keyword, name) in all_definitions() {
        if keyword == "fn" && bare.contains(name.as_str()) {
            findings.insert(format!("{path}: {name}"));
        }
    }
    check("bare function names", &findings);
}

/// Returns every definition outside of unit tests with its path.
fn all_definitions() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for file in source::files() {
        let is_exempt = rows("exempt").any(|row| file.path.starts_with(row[0]));
        if !file.has_extension(&["rs"]) || is_exempt {
            continue;
        }
        let code = source::code(&file.text);
        for line in source::without_tests(&code).lines() {
            for (keyword, name) in definitions(line) {
                found.push((file.path.clone(), keyword.to_owned(), name.to_owned()));
            }
        }
    }
    found
}

#[test]
fn names_avoid_private_vocabulary() {
    let words = names("word");
    let exceptions = names("except");
    assert!(exceptions.len() <= 30, "at most 30 exceptions");
    let mut findings = BTreeSet::new();
    for (path, keyword, name) in all_definitions() {
        if exceptions.contains(name.as_str()) {
            continue;
        }
        for segment in segments(&name) {
            if words.contains(segment.as_str()) {
                findings.insert(format!("{path}: {keyword} {name}"));
            }
        }
    }
    check("private words", &findings);
}

#[test]
fn names_have_segments() {
    assert_eq!(segments("read_only"), ["read", "only"]);
    assert_eq!(segments("TlsOptions"), ["tls", "options"]);
    assert_eq!(
        definitions("    pub(crate) held: Vec<u8>,"),
        [("field", "held")]
    );
    assert_eq!(definitions("pub const fn of(x: u8) -> Y {"), [("fn", "of")]);
}
