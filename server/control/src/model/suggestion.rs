//! The name that was probably meant.

/// The known name nearest to an unknown one: the same but for case and separators, or a few letters away.
pub fn nearest<'k>(unknown: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(64).collect()
    };
    let wanted = plain(unknown);
    let near = known
        .iter()
        .map(|&name| (distance(&wanted, &plain(name)), name));
    let (distance, name) = near.min_by_key(|&(distance, _)| distance)?;
    // of a short name little may differ
    (distance <= 2 && distance * 3 <= wanted.len().max(3)).then_some(name)
}

/// Letters to insert, remove, replace or swap until one text is the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, letter) in left.chars().enumerate() {
        let mut diagonal = above;
        let mut last = above + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(&right) {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = *cell;
            *cell = replaced.min(*cell + 1).min(last + 1);
            last = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn names_that_were_meant() {
        assert_eq!(distance("labelz", "labels"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        let known = ["labels", "object_storage", "requirements", "excluded_files"];
        assert_eq!(nearest("labelz", &known), Some("labels"));
        assert_eq!(nearest("objectStorage", &known), Some("object_storage"));
        assert_eq!(nearest("requirement", &known), Some("requirements"));
        assert_eq!(nearest("x", &known), None);
        assert_eq!(nearest("anything", &[]), None);
    }
}
