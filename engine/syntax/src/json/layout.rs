//! JSON text on several lines, as it is: its members in their order, its numbers in their digits.

/// Writes compact JSON text on several lines, two blanks for each level. All lines but the first begin at a level; `inside`
/// writes the bytes of strings.
///
/// ```
/// use solon_syntax::json::lay_out;
///
/// let mut out = Vec::new();
/// lay_out(br#"{"b":1.0,"a":[]}"#, 0, &mut out, |byte, out| out.push(byte));
/// assert_eq!(out, b"{\n  \"b\": 1.0,\n  \"a\": []\n}");
/// ```
pub fn lay_out(text: &[u8], level: usize, out: &mut Vec<u8>, inside: impl Fn(u8, &mut Vec<u8>)) {
    let mut level = level;
    let mut bytes = text.iter().copied().peekable();
    let (mut quoted, mut escaped) = (false, false);
    while let Some(byte) = bytes.next() {
        if quoted {
            inside(byte, out);
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
    use super::lay_out;

    fn laid_out(text: &str, level: usize, inside: impl Fn(u8, &mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        lay_out(text.as_bytes(), level, &mut out, inside);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_have_lines() {
        let text = r#"{"b":[1.0,{}],"a":"x\"{,\\","c":[],"d":1e400}"#;
        assert_eq!(
            laid_out(text, 0, |byte, out| out.push(byte)),
            "{\n  \"b\": [\n    1.0,\n    {}\n  ],\n  \"a\": \"x\\\"{,\\\\\",\n  \"c\": [],\n  \"d\": 1e400\n}"
        );
    }

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b":[1,{}],"a":"<,\"\\","c":[]}"#;
        let inside = |byte, out: &mut Vec<u8>| match byte {
            b'<' => out.extend_from_slice(b"\\u003c"),
            _ => out.push(byte),
        };
        let want = "{\n    \"b\": [\n      1,\n      {}\n    ],\n    \"a\": \"\\u003c,\\\"\\\\\",\n    \"c\": []\n  }";
        assert_eq!(laid_out(text, 1, inside), want);
    }
}
