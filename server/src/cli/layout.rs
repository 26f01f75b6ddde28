//! JSON text on several lines, its members in the order they have.

/// Writes compact JSON text on several lines as Go does, `<`, `>` and `&` escaped; all lines but the first begin at a
/// level.
pub fn laid_out(text: &str, level: usize, out: &mut Vec<u8>) {
    let mut level = level;
    let mut bytes = text.bytes().peekable();
    let (mut quoted, mut escaped) = (false, false);
    while let Some(byte) = bytes.next() {
        if quoted {
            match byte {
                b'<' => out.extend_from_slice(b"\\u003c"),
                b'>' => out.extend_from_slice(b"\\u003e"),
                b'&' => out.extend_from_slice(b"\\u0026"),
                _ => out.push(byte),
            }
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if let Some(end) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(end);
                } else {
                    level += 1;
                    new_line(level, out);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                new_line(level, out);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(level, out);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                quoted = byte == b'"';
                out.push(byte);
            }
        }
    }
}

fn new_line(level: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 2 * level));
}

#[cfg(test)]
mod tests {
    use super::laid_out;

    #[test]
    fn members_keep_their_order() {
        let mut out = Vec::new();
        laid_out(r#"{"b":[1,{}],"a":"<,\"\\","c":[]}"#, 1, &mut out);
        let want = "{\n    \"b\": [\n      1,\n      {}\n    ],\n    \"a\": \"\\u003c,\\\"\\\\\",\n    \"c\": []\n  }";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
