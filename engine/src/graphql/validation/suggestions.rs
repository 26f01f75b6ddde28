//! What may have been meant by a name that does not exist.

use super::super::ast::Position;
use super::super::parser::Parsed;
use super::Validator;

/// Most names that a message proposes.
const MAX_SUGGESTIONS: usize = 5;

/// What introduces names.
pub(super) const HINT: &str = "Did you mean";

impl Validator<'_> {
    /// ` Did you mean "a" or "b"?` for the names near to what was written; empty when none is.
    pub(super) fn near_names<'n>(
        &mut self,
        words: &str,
        written: &str,
        names: impl Iterator<Item = &'n str>,
        position: Position,
    ) -> Parsed<String> {
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

/// Proposes names in their order.
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

/// The number of edits between two names if it is allowed; any change of case is one edit.
fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    if a == b {
        return Some(0);
    }
    let [a, b] = [a, b].map(str::to_lowercase);
    if a == b {
        return Some(1);
    }
    let [a, b]: [Vec<char>; 2] = [a, b].map(|name| name.chars().collect());
    // one row of the table of distances between prefixes; a row's value never shrinks below its minimum
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
