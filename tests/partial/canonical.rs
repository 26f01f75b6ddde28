//! Residuals as text, independent of the numbering of variables and of the order of bodies and rules.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

/// A response of the JSON lines protocol to a request with `partial`.
#[derive(Debug, Default, Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub queries: Vec<String>,
    #[serde(default)]
    pub support: Vec<String>,
    #[serde(default)]
    pub errors: Vec<serde_json::Value>,
}

/// Returns queries, and modules with their rules, sorted, with generated variables renamed; `None` for an error.
pub fn canonical(answer: &str, query: &str) -> Option<BTreeMap<&'static str, Vec<String>>> {
    let answer: Answer = serde_json::from_str(answer).ok()?;
    if !answer.errors.is_empty() {
        return None;
    }
    let canonical = |texts: Vec<String>| {
        let lines = texts.iter().map(|text| {
            let lines = text.lines().map(|line| renamed(line, query));
            let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
            lines.sort();
            lines.join("\n")
        });
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    };
    Some(BTreeMap::from([
        ("queries", canonical(answer.queries)),
        ("support", canonical(answer.support)),
    ]))
}

/// Returns the same as [`canonical`], independent of the order of the expressions in a body.
pub fn unordered(answer: &str, query: &str) -> Option<Vec<Vec<String>>> {
    let canonical = canonical(answer, query)?;
    let lines = canonical.values().flatten().flat_map(|text| text.lines());
    let mut lines: Vec<Vec<String>> = lines
        .map(|line| {
            // numbers are assigned in order
            let mut words: Vec<String> = tokens(line)
                .map(|word| {
                    let kind = word.trim_end_matches(|c: char| c.is_ascii_digit());
                    let generated = matches!(kind, "v" | "__not") && kind != word;
                    if generated { kind } else { word }.to_owned()
                })
                .collect();
            words.sort();
            words
        })
        .collect();
    lines.sort();
    Some(lines)
}

/// Renumbers the generated variables of a line (those with digits) in order of occurrence.
fn renamed(line: &str, query: &str) -> String {
    let own: Vec<&str> = tokens(query).collect();
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut text = String::new();
    for word in tokens(line) {
        let generated = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.contains(|c: char| c.is_ascii_digit())
            && !own.contains(&word);
        if generated {
            let next = names.len();
            let number = *names.entry(word).or_insert(next);
            // support functions of negations are identified by their first and last letters
            let kind = if word.starts_with("__not") {
                "__not"
            } else {
                "v"
            };
            text.push_str(&format!("{kind}{number}"));
        } else {
            text.push_str(word);
        }
    }
    text
}

/// Iterates over names and the text between them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}
