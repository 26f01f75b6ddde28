//! Suggestions for unknown names.

use super::super::ast::SourcePosition;
use super::super::parser::ParseResult;
use super::DocumentValidator;

/// Maximum number of suggestions in a message.
const MAX_SUGGESTIONS: usize = 5;

/// Text before the suggestions.
pub(super) const HINT: &str = "Did you mean";

impl DocumentValidator<'_> {
    /// Returns ` Did you mean "a" or "b"?` for similar names, or an empty text if there are none.
    pub(super) fn near_names<'n>(
        &mut self,
        words: &str,
        written: &str,
        names: impl Iterator<Item = &'n str>,
        position: SourcePosition,
    ) -> ParseResult<String> {
        if self.first_only {
            return Ok(String::new());
        }
        let allowed = written.len() * 2 / 5 + 1;
        let mut near = Vec::new();
        for name in names {
            self.spend(1, position)?;
            if name.len().abs_diff(written.len()) <= 4 * allowed {
                self.spend(name.len().saturating_mul(written.len()) / 64, position)?;
                near.extend(distance(written, name, allowed).map(|distance| (distance, name)));
            }
        }
        near.sort_by_key(|(distance, _)| *distance);
        let near = near.into_iter().map(|(_, name)| name).collect();
        Ok(propose(words, near))
    }
}

/// Formats suggestions in the given order.
pub(super) fn propose(words: &str, names: Vec<&str>) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(" {words} {}?", alternatives(names))
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
