//! Responses as JSON text, as Go's encoder writes it: `<`, `>` and `&` escaped, with a trailing line break.

use serde::Serialize;

/// A response object, written field by field in insertion order.
pub struct JsonFields {
    out: Vec<u8>,
    pretty: bool,
}

impl JsonFields {
    /// Creates an object without fields.
    pub fn new(pretty: bool) -> Self {
        Self::with_capacity(pretty, 64)
    }

    /// Creates an object without fields, whose text will have about `capacity` bytes.
    pub fn with_capacity(pretty: bool, capacity: usize) -> Self {
        let mut out = Vec::with_capacity(capacity);
        out.push(b'{');
        Self { out, pretty }
    }

    /// Adds a field with a value that is JSON text. The value must be indented for the second level if the object is indented.
    pub fn text(&mut self, name: &str, json: &[u8]) -> &mut Self {
        self.name(name);
        self.out.extend_from_slice(json);
        self
    }

    fn name(&mut self, name: &str) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        if self.pretty {
            self.out.extend_from_slice(b"\n  ");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.bytes().all(is_plain) {
            self.out.push(b'"');
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b'"');
        } else {
            self.out.extend_from_slice(&to_text(&name, false));
        }
        self.out
            .extend_from_slice(if self.pretty { b": " } else { b":" });
    }

    pub fn object(&mut self, name: &str, fields: Self) -> &mut Self {
        let text = fields.finish();
        let text = text.trim_ascii_end();
        if self.pretty {
            self.text(name, &indent(text, 1))
        } else {
            self.text(name, text)
        }
    }

    /// Returns the length so far, in bytes.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Adds a field with a value as JSON, in which `<`, `>` and `&` are escaped.
    pub fn typed<T: Serialize>(&mut self, name: &str, value: &T) -> &mut Self {
        if self.pretty {
            return self.text(name, &indent(&to_text(value, true), 1));
        }
        self.name(name);
        append(value, &mut self.out);
        self
    }

    /// Returns the object with a trailing line break.
    pub fn finish(mut self) -> Vec<u8> {
        if self.pretty && self.out.len() > 1 {
            self.out.push(b'\n');
        }
        self.out.extend_from_slice(b"}\n");
        self.out
    }
}

/// Returns a value with a trailing line break.
pub fn answer_text<T: Serialize>(value: &T, pretty: bool) -> Vec<u8> {
    let mut text = to_text(value, pretty);
    text.push(b'\n');
    text
}

/// Returns a value on one line, without a trailing line break.
pub fn text_of<T: Serialize>(value: &T) -> Vec<u8> {
    to_text(value, false)
}

fn to_text<T: Serialize>(value: &T, pretty: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    if !pretty {
        append(value, &mut out);
        return out;
    }
    let text = serde_json::to_vec_pretty(value);
    escape_html(text.unwrap_or_else(|_| NULL.to_vec()))
}

/// Appends a value on one line, or `null` if it cannot be serialized. Escapes HTML as Go does.
fn append<T: Serialize>(value: &T, out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(NULL);
    }
    let text = out.get(start..).unwrap_or_default();
    if text.iter().any(|&byte| may_need_escape(byte)) {
        let escaped = escape_html(out.split_off(start));
        out.extend_from_slice(&escaped);
    }
}

/// Text of a value that cannot be serialized: a map with keys that are not strings, which responses do not contain.
const NULL: &[u8] = b"null";

/// Indents all lines of a text by some levels.
pub fn indent(text: &[u8], levels: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 4);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        out.extend_from_slice(line);
        if line.ends_with(b"\n") {
            out.extend(std::iter::repeat_n(b' ', 2 * levels));
        }
    }
    out
}

/// Escapes characters that JSON allows and HTML does not. These bytes occur only inside strings.
pub fn escape_html(text: Vec<u8>) -> Vec<u8> {
    if !text.iter().any(|&byte| may_need_escape(byte)) {
        return text;
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut rest = text.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        let escape: &[u8] = match (byte, after) {
            (b'<', _) => b"\\u003c",
            (b'>', _) => b"\\u003e",
            (b'&', _) => b"\\u0026",
            (0xe2, [0x80, 0xa8, ..]) => b"\\u2028",
            (0xe2, [0x80, 0xa9, ..]) => b"\\u2029",
            _ => {
                out.push(byte);
                rest = after;
                continue;
            }
        };
        out.extend_from_slice(escape);
        rest = if byte == 0xe2 {
            after.get(2..).unwrap_or(&[])
        } else {
            after
        };
    }
    out
}

/// Returns `true` if a character that is escaped for HTML may begin with this byte.
fn may_need_escape(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | 0xe2)
}

#[cfg(test)]
mod tests {
    use super::{JsonFields, answer_text, escape_html};

    #[test]
    fn fields_keep_their_order() {
        let write = |pretty| {
            let mut fields = JsonFields::new(pretty);
            fields.typed("b", &[1, 2]).text("a", b"true");
            String::from_utf8(fields.finish()).unwrap()
        };
        assert_eq!(write(false), "{\"b\":[1,2],\"a\":true}\n");
        assert_eq!(
            write(true),
            "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": true\n}\n"
        );
        assert_eq!(JsonFields::new(true).finish(), b"{}\n");
        let nested = |pretty| {
            let (mut inner, mut outer) = (JsonFields::new(pretty), JsonFields::new(pretty));
            inner.typed("a", &[1]);
            outer.object("<\"é\"", inner);
            outer.object("none", JsonFields::new(pretty));
            String::from_utf8(outer.finish()).unwrap()
        };
        assert_eq!(
            nested(false),
            "{\"\\u003c\\\"é\\\"\":{\"a\":[1]},\"none\":{}}\n"
        );
        assert_eq!(
            nested(true),
            "{\n  \"\\u003c\\\"é\\\"\": {\n    \"a\": [\n      1\n    ]\n  },\n  \"none\": {}\n}\n"
        );
    }

    #[test]
    fn html_is_escaped() {
        let text = answer_text(&"<a&b>\u{2028}é…", false);
        assert_eq!(text, "\"\\u003ca\\u0026b\\u003e\\u2028é…\"\n".as_bytes());
        assert_eq!(escape_html(b"[1]".to_vec()), b"[1]");
        let mut fields = JsonFields::new(false);
        fields.text("a", b"\"<\"").typed("b", &"<").typed("<", &"c");
        let expected = r#"{"a":"<","b":"\u003c","\u003c":"c"}"#;
        assert_eq!(fields.finish(), format!("{expected}\n").as_bytes());
        // keys that are not strings
        let odd = std::collections::BTreeMap::from([(vec![1], 2)]);
        assert_eq!(answer_text(&[odd], false), b"null\n");
    }
}
