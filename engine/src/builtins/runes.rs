//! Characters of strings that may contain invalid UTF-8. Each invalid byte counts as one U+FFFD.

/// Returns the first character and its width in bytes, or `None` for an empty text.
#[inline]
pub fn first(bytes: &[u8]) -> Option<(char, usize)> {
    let byte = *bytes.first()?;
    if byte.is_ascii() {
        return Some((char::from(byte), 1));
    }
    let head = bytes.get(..4).unwrap_or(bytes);
    let valid = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    Some(valid.chars().next().map_or(INVALID, |c| (c, c.len_utf8())))
}

/// Returns the last character and its width in bytes, or `None` for an empty text.
pub fn last(bytes: &[u8]) -> Option<(char, usize)> {
    let byte = *bytes.last()?;
    if byte.is_ascii() {
        return Some((char::from(byte), 1));
    }
    (2..=4_usize)
        .filter_map(|width| bytes.get(bytes.len().checked_sub(width)?..))
        .find_map(|tail| {
            let mut chars = std::str::from_utf8(tail).ok()?.chars();
            let c = chars.next()?;
            chars.next().is_none().then_some((c, tail.len()))
        })
        .or(Some(INVALID))
}

const INVALID: (char, usize) = (char::REPLACEMENT_CHARACTER, 1);

/// Iterates over all characters with their widths in bytes.
pub fn all(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (c, width) = first(rest)?;
        rest = rest.get(width..)?;
        Some((c, width))
    })
}

/// Counts the characters. Each invalid byte of UTF-8 counts as one.
pub fn count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => bytes
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum(),
    }
}

/// Returns the byte position of the character at `index`, or the length if there are fewer.
pub fn offset(bytes: &[u8], index: usize) -> usize {
    // a character has at least one byte, so the position in ASCII text is the index
    match bytes.get(..index) {
        None => bytes.len(),
        Some(head) if head.is_ascii() => index,
        Some(_) => all(bytes).take(index).map(|(_, width)| width).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::{all, count, first, last, offset};

    #[test]
    fn invalid_bytes_count_one_each() {
        let bytes = b"\xffa\xe2\x82\xf0\x9f\x98\x80";
        let runes: Vec<_> = all(bytes).collect();
        let bad = ('\u{fffd}', 1);
        assert_eq!(runes, [bad, ('a', 1), bad, bad, ('😀', 4)]);
        assert_eq!(count(bytes), 5);
        assert_eq!(first(bytes), Some(bad));
        assert_eq!(last(bytes), Some(('😀', 4)));
        assert_eq!(last(b"a\x98\x80"), Some(bad));
        assert_eq!(last(b""), None);
    }

    #[test]
    fn offsets_are_bytes() {
        assert_eq!(offset("a€b".as_bytes(), 2), 4);
        assert_eq!(offset("abc".as_bytes(), 2), 2);
        assert_eq!(offset("a€b".as_bytes(), 9), 5);
        assert_eq!(offset("€€€".as_bytes(), 4), 9);
    }
}
