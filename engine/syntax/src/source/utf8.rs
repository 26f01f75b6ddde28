//! Bytes as text.

/// A text that was made of bytes which are none.
pub struct Repaired {
    /// The text, with U+FFFD in the place of each byte that belongs to no character.
    pub text: String,
    /// Where these stand, in order.
    pub positions: Vec<usize>,
}

/// Reads bytes as text, whatever they are.
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
