//! Suggestions for unknown names.

use super::super::ast::SourcePosition;
use super::super::parser::ParseResult;
use super::DocumentValidator;

/// Maximum number of suggestions in a message.
const MAX_SUGGESTIONS: usize = 5;

pub(super) const HINT: &str = "Did you mean";

impl DocumentValidator<'_> {
    /// Returns ` Did you mean "a" or "b"?` for similar names, or an empty text if there are none.
    pub(super) fn near_names<'n>(
        &mut self,
        question: &str,
        misspelled: &str,
        names: impl Iterator<Item = &'n str>,
        position: SourcePosition,
    ) -> ParseResult<String> {
        if self.first_only {
            return Ok(String::new());
        }
        let allowed = misspelled.len() * 2 / 5 + 1;
        let mut candidates = Vec::new();
        for name in names {
            self.spend(1, position)?;
            if name.len().abs_diff(misspelled.len()) <= 4 * allowed {
                self.spend(name.len().saturating_mul(misspelled.len()) / 64, position)?;
                candidates
                    .extend(distance(misspelled, name, allowed).map(|distance| (distance, name)));
            }
        }
        candidates.sort_by_key(|(distance, _)| *distance);
        let names_by_distance = candidates.into_iter().map(|(_, name)| name).collect();
        Ok(propose(question, names_by_distance))
    }
}

/// Formats suggestions in the given order.
pub(super) fn propose(question: &str, names: Vec<&str>) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(" {question} {}?", alternatives(names))
}

fn alternatives(mut names: Vec<&str>) -> String {
    names.truncate(MAX_SUGGESTIONS);
    let several = names.len() > 2;
    let last = names.len() - 1;
    let mut text = String::new();
    for (index, name) in names.into_iter().enumerate() {
        text.push_str(match (index, several) {
            (0, _) => "",
            (_, true) if index == last => ", or ",
            (_, true) => ", ",
            (_, false) => " or ",
        });
        text.extend(["\"", name, "\""]);
    }
    text
}

/// Returns the edit distance of two names if it is at most `allowed`. Any change of case counts as one edit.
fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    if a == b {
        return Some(0);
    }
    let [a, b] = [a, b].map(str::to_lowercase);
    if a == b {
        return Some(1);
    }
    let [a, b]: [Vec<char>; 2] = [a, b].map(|name| name.chars().collect());
    // one row of the Levenshtein matrix; the minimum of a row never decreases
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, left) in a.iter().enumerate() {
        let mut diagonal = index;
        let mut previous = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(&b) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            previous = replaced.min(previous + 1).min(diagonal + 1);
            *cell = previous;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
        if row.iter().all(|&cell| cell > allowed) {
            return None;
        }
    }
    row.last().copied().filter(|&distance| distance <= allowed)
}
