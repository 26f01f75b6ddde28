//! Finds a sequence in another.

/// Calls `report` with the start of each occurrence of `part`, including overlapping ones, until it returns `false`.
/// Linear in both lengths (Knuth, Morris and Pratt). An empty part does not occur.
pub fn each<T: PartialEq>(elements: &[T], part: &[T], mut report: impl FnMut(usize) -> bool) {
    // `borders[n]` is the length of the longest proper border of the first n elements
    let mut borders = vec![0_usize; 2];
    let step = |borders: &[usize], mut matched: usize, element: &T| {
        while part.get(matched) != Some(element) {
            if matched == 0 {
                return 0;
            }
            matched = borders.get(matched).copied().unwrap_or(0);
        }
        matched + 1
    };
    let mut matched = 0;
    for element in part.iter().skip(1) {
        matched = step(&borders, matched, element);
        borders.push(matched);
    }
    matched = 0;
    for (index, element) in elements.iter().enumerate() {
        matched = step(&borders, matched, element);
        if matched == part.len() && !report(index + 1 - matched) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::each;

    fn all(text: &str, part: &str) -> Vec<usize> {
        let mut positions = Vec::new();
        each(text.as_bytes(), part.as_bytes(), |position| {
            positions.push(position);
            true
        });
        positions
    }

    #[test]
    fn overlapping_occurrences() {
        assert_eq!(all("aaaa", "aa"), [0, 1, 2]);
        assert_eq!(all("abababcabab", "abab"), [0, 2, 7]);
        assert_eq!(all("aabaaabaaaab", "aab"), [0, 4, 9]);
        assert_eq!(all("abc", "abcd"), [0_usize; 0]);
        assert_eq!(all("abc", "c"), [2]);
        assert_eq!(all("", "c"), [0_usize; 0]);
    }
}
