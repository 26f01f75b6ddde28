//! Location of an event: file and row.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use solon_syntax::source::SourceId;

use super::event::Event;
use crate::limits;

/// Length in bytes above which locations are shortened.
const LONGEST: usize = 64;
/// Replacement for an omitted part of a name.
const ELLIPSIS: &str = "...";

/// Returns the location of each event: `FILE:ROW`, or `query:ROW`. If one exceeds the length limit, a part that all
/// names share is omitted.
pub fn locations(events: &[Event], files: &HashMap<SourceId, Arc<str>>) -> Vec<String> {
    let locations: Vec<(&str, u32)> = events
        .iter()
        .map(|event| match files.get(&event.span.source) {
            _ if !event.span.is_somewhere() => ("", 0),
            Some(file) => (&**file, event.span.row),
            None => ("", event.span.row),
        })
        .collect();
    let full = |(file, row): &(&str, u32)| match (*file, row) {
        (_, 0) => String::new(),
        ("", row) => format!("query:{row}"),
        (file, row) => format!("{file}:{row}"),
    };
    let longest = locations.iter().map(|location| full(location).len()).max();
    let names: BTreeSet<&str> = locations.iter().map(|(file, _)| *file).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let left_out = longest.and_then(|longest| shared_part(&names, longest));
    locations
        .iter()
        .map(|location| match left_out {
            Some(part) => full(&(&location.0.replacen(part, ELLIPSIS, 1), location.1)),
            None => full(location),
        })
        .collect()
}

/// Returns the part of the names to omit, if the longest location has `longest` bytes.
fn shared_part<'n>(names: &[&'n str], longest: usize) -> Option<&'n str> {
    let size: usize = names.iter().map(|name| name.len()).sum();
    if longest <= LONGEST || size > limits::SHORTENED_NAMES {
        return None;
    }
    let folders: Vec<&str> = names.iter().map(|name| inner_folders(name)).collect();
    let shared = longest_common(&folders)?;
    // omit no more than necessary; the right end of the name is more specific
    let kept_length = (LONGEST + shared.len()).saturating_sub(longest + ELLIPSIS.len());
    let mut end = shared.len().checked_sub(kept_length)?;
    while !shared.is_char_boundary(end) {
        end += 1;
    }
    shared.get(..end).filter(|part| part.len() > ELLIPSIS.len())
}

/// Returns the folders of a file without the first one, or the only one.
fn inner_folders(name: &str) -> &str {
    let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let folder = folder.strip_prefix('/').unwrap_or(folder);
    match folder.split_once('/') {
        Some((first, rest)) if !first.is_empty() => rest,
        _ => folder,
    }
}

/// Returns the longest common substring of all texts; the first one of several.
fn longest_common<'n>(texts: &[&'n str]) -> Option<&'n str> {
    let (first, rest) = texts.split_first()?;
    let of_length = |length: usize| {
        let starts = first.char_indices().map(|(start, _)| start);
        let mut parts = starts.filter_map(|start| first.get(start..start + length));
        parts.find(|part| rest.iter().all(|text| text.contains(part)))
    };
    // a common substring contains common substrings of each smaller length, so binary search applies
    let (mut low, mut high) = (0, first.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        let has_common = (middle..=high.min(middle + 3)).any(|length| of_length(length).is_some());
        if has_common {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (low..=first.len().min(low + 3)).rev().find_map(of_length)
}

#[cfg(test)]
mod tests {
    use super::{longest_common, shared_part};

    #[test]
    fn names_lose_as_much_as_they_share_and_must() {
        let first =
            "n/a/very/long/directory/name/that/goes/on/and/on/for/a/while/and/longer/policy.rego";
        let second =
            "n/a/very/long/directory/name/that/goes/elsewhere/for/a/while/and/longer/other.rego";
        let names = [first, second];
        assert_eq!(
            shared_part(&names, first.len() + 2),
            Some("a/very/long/directory/na")
        );
        assert_eq!(shared_part(&names, 64), None);
        assert_eq!(shared_part(&["p.rego", first], first.len() + 2), None);
        let long = format!("{}/p.rego", "é".repeat(1 << 16));
        assert_eq!(shared_part(&[&long], long.len()), None);
    }

    #[test]
    fn the_longest_common_part() {
        assert_eq!(longest_common(&["abcab", "xabc", "cabcx"]), Some("abc"));
        assert_eq!(longest_common(&["éab", "xéa"]), Some("éa"));
        assert_eq!(longest_common(&["a", "b"]), Some(""));
        assert_eq!(longest_common(&[]), None);
    }
}
