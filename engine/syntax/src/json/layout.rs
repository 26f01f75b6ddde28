//! Indents JSON text without changing the order of members or the spelling of numbers.

/// Writes compact JSON text on several lines, indented by two blanks for each level. All lines but the first begin at a
/// level. `write_in_string` writes the bytes of strings.
///
/// Returns `false` if the output was cut off shortly after `limit` bytes: deeply nested text becomes far longer by
/// indentation.
///
/// ```
/// use solon_syntax::json::lay_out;
///
/// let mut out = Vec::new();
/// let is_whole = lay_out(br#"{"b":1.0,"a":[]}"#, 0, &mut out, 1000, |byte, out| out.push(byte));
/// assert!(is_whole);
/// assert_eq!(out, b"{\n  \"b\": 1.0,\n  \"a\": []\n}");
/// ```
pub fn lay_out(
    text: &[u8],
    level: usize,
    out: &mut Vec<u8>,
    limit: usize,
    write_in_string: impl Fn(u8, &mut Vec<u8>),
) -> bool {
    let mut level = level;
    let mut bytes = text.iter().copied().peekable();
    let (mut in_string, mut escaped) = (false, false);
    while let Some(byte) = bytes.next() {
        if out.len() > limit {
            return false;
        }
        if in_string {
            write_in_string(byte, out);
            in_string = escaped || byte != b'"';
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
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.len() <= limit
}

fn new_line(level: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 2 * level));
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    fn laid_out(text: &str, level: usize, write_in_string: impl Fn(u8, &mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        assert!(lay_out(
            text.as_bytes(),
            level,
            &mut out,
            usize::MAX,
            write_in_string
        ));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn deep_text_ends_at_the_limit() {
        let text = ["[".repeat(1000), "]".repeat(1000)].concat();
        let mut out = Vec::new();
        let mut layout_within = |limit| {
            out.clear();
            let is_whole = lay_out(text.as_bytes(), 0, &mut out, limit, |byte, out| {
                out.push(byte);
            });
            (is_whole, out.len())
        };
        let (is_whole, length) = layout_within(usize::MAX);
        assert!(is_whole && length > 1_000_000);
        assert_eq!(layout_within(length), (true, length));
        assert!(!layout_within(length - 1).0);
        let (is_whole, length) = layout_within(10_000);
        assert!(!is_whole && length < 13_000);
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
        let write_in_string = |byte, out: &mut Vec<u8>| match byte {
            b'<' => out.extend_from_slice(b"\\u003c"),
            _ => out.push(byte),
        };
        let expected = "{\n    \"b\": [\n      1,\n      {}\n    ],\n    \"a\": \"\\u003c,\\\"\\\\\",\n    \"c\": []\n  }";
        assert_eq!(laid_out(text, 1, write_in_string), expected);
    }
}
