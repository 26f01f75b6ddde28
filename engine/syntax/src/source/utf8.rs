//! Decodes bytes that may not be valid UTF-8.

/// A text decoded from invalid UTF-8.
pub struct Repaired {
    /// Text, with U+FFFD for each byte that is not part of a character.
    pub text: String,
    /// Byte offsets of the replacement characters, in order.
    pub positions: Vec<usize>,
}

/// Decodes bytes, replacing invalid ones.
pub fn repaired(bytes: &[u8]) -> Repaired {
    let mut text = String::with_capacity(bytes.len());
    let mut positions = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            positions.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Repaired { text, positions }
}

#[cfg(test)]
mod tests {
    use super::repaired;

    #[test]
    fn each_invalid_byte_has_a_position() {
        let repaired = repaired(b"\xffa\xe2\x82b\xef\xbf\xbd");
        assert_eq!(repaired.text, "\u{fffd}a\u{fffd}\u{fffd}b\u{fffd}");
        assert_eq!(repaired.positions, [0, 4, 7]);
    }
}
