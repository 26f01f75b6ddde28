//! Suggestions for misspelled names.

use strsim::levenshtein;

/// Returns the known name nearest to an unknown one: equal except for case and separators, or within two edits. `None` if
/// no name is near enough.
pub fn nearest<'k>(unknown: &str, known_names: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(64).collect()
    };
    let plain_unknown = plain(unknown);
    let distances = known_names
        .iter()
        .map(|&name| (levenshtein(&plain_unknown, &plain(name)), name));
    let (distance, name) = distances.min_by_key(|&(distance, _)| distance)?;
    // the limit is smaller for short names
    (distance <= 2 && distance * 3 <= plain_unknown.len().max(3)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn similar_names_are_suggested() {
        let known_names = ["labels", "object_storage", "requirements", "excluded_files"];
        assert_eq!(nearest("labelz", &known_names), Some("labels"));
        assert_eq!(
            nearest("objectStorage", &known_names),
            Some("object_storage")
        );
        assert_eq!(nearest("requirement", &known_names), Some("requirements"));
        assert_eq!(nearest("x", &known_names), None);
        assert_eq!(nearest("anything", &[]), None);
    }
}
