//! JSON text, formatted for humans as it is: in its order, with its numbers.

/// Two blanks for each level, a line for each member. The text is known to be JSON without blanks between tokens.
pub fn pretty(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if in_string {
            out.push(byte);
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                let end = if byte == b'{' { b'}' } else { b']' };
                if rest.peek() == Some(&end) {
                    rest.next();
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'"' => {
                in_string = true;
                out.push(byte);
            }
            _ => out.push(byte),
        }
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 2 * depth));
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn members_have_lines() {
        let text = r#"{"b":[1.0,{}],"a":"x\"{,\\","c":[],"d":1e400}"#;
        let written = String::from_utf8(pretty(text.as_bytes())).unwrap();
        assert_eq!(
            written,
            "{\n  \"b\": [\n    1.0,\n    {}\n  ],\n  \"a\": \"x\\\"{,\\\\\",\n  \"c\": [],\n  \"d\": 1e400\n}"
        );
    }
}
