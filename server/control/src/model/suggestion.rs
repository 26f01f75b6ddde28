//! Suggestions for misspelled names.

use strsim::levenshtein;

/// Returns the known name nearest to an unknown one: equal except for case and separators, or within a few edits.
pub fn nearest<'k>(unknown: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(64).collect()
    };
    let wanted = plain(unknown);
    let near = known
        .iter()
        .map(|&name| (levenshtein(&wanted, &plain(name)), name));
    let (distance, name) = near.min_by_key(|&(distance, _)| distance)?;
    // the limit is smaller for short names
    (distance <= 2 && distance * 3 <= wanted.len().max(3)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn names_that_were_meant() {
        let known = ["labels", "object_storage", "requirements", "excluded_files"];
        assert_eq!(nearest("labelz", &known), Some("labels"));
        assert_eq!(nearest("objectStorage", &known), Some("object_storage"));
        assert_eq!(nearest("requirement", &known), Some("requirements"));
        assert_eq!(nearest("x", &known), None);
        assert_eq!(nearest("anything", &[]), None);
    }
}
