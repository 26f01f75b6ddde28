//! Text of values as in messages, `print` and `sprintf`: `[1, "a"]`, `{"a": 1}`, `{1, 2}`, `set()`.

use std::fmt::{self, Write};

use solon_syntax::stack;

use super::{RefRepr, Value, ValueRef, json, text};
use crate::limits::POLL_BYTES;

/// A value that is displayed in the notation of `print` and of messages. Made by [`Value::rego_text`].
#[derive(Clone, Copy, Debug)]
pub struct RegoText<'e>(ValueRef<'e>);

impl fmt::Display for RegoText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self.0, f)
    }
}

impl Value {
    /// Returns the value in the notation of `print`, of traces and of messages, where sets differ from arrays.
    ///
    /// ```
    /// use solon::Value;
    ///
    /// let ports = Value::set(vec![443.into(), 80.into()]);
    /// assert_eq!(ports.rego_text().to_string(), "{80, 443}");
    /// assert_eq!(ports.to_string(), "[80,443]");
    /// ```
    pub fn rego_text(&self) -> RegoText<'_> {
        RegoText(self.borrow())
    }
}

impl<'e> ValueRef<'e> {
    /// Returns the value in the notation of `print`, as [`Value::rego_text`] does.
    pub fn rego_text(self) -> RegoText<'e> {
        RegoText(self)
    }
}

/// Writes compact JSON.
impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&json::text(*self))
    }
}

impl fmt::Debug for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(*self, f)
    }
}

/// Returns the text, or `None` if it is longer than `limit` bytes: values share nodes, but their texts do not.
/// `goes_on` is called every few megabytes and stops the conversion by `false`.
pub fn show_while(value: ValueRef<'_>, limit: usize, goes_on: &dyn Fn() -> bool) -> Option<String> {
    let mut out = Bounded {
        text: String::new(),
        limit,
        next_poll: POLL_BYTES,
        goes_on,
    };
    write_value(value, &mut out).ok()?;
    Some(out.text)
}

struct Bounded<'g> {
    text: String,
    limit: usize,
    /// Length at which `goes_on` is called next.
    next_poll: usize,
    goes_on: &'g dyn Fn() -> bool,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let length = self.text.len() + text.len();
        if length > self.limit {
            return Err(fmt::Error);
        }
        if length > self.next_poll {
            self.next_poll = length + POLL_BYTES;
            if !(self.goes_on)() {
                return Err(fmt::Error);
            }
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Writes the text without the overhead of `fmt::Formatter`.
pub fn write_value(value: ValueRef<'_>, f: &mut impl Write) -> fmt::Result {
    match value {
        ValueRef(RefRepr::Null) => f.write_str("null"),
        ValueRef(RefRepr::Bool(b)) => f.write_str(if b { "true" } else { "false" }),
        ValueRef(
            RefRepr::Int(_) | RefRepr::Decimal(..) | RefRepr::Number(_) | RefRepr::ArenaNumber(_),
        ) => write_number(value, f),
        ValueRef(
            RefRepr::Short(_) | RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_),
        ) => quote(value.text_or_empty().as_bytes(), f),
        _ if value.exceeds_traversal_limit() => f.write_char('…'),
        ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
            stack::level(|| write_array(value, f))
        }
        ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
            stack::level(|| write_object(value, f))
        }
        ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => stack::level(|| write_set(value, f)),
    }
}

fn write_number(value: ValueRef<'_>, f: &mut impl Write) -> fmt::Result {
    match value.as_number() {
        Some(number) => number.write(f),
        None => Ok(()),
    }
}

fn write_array(value: ValueRef<'_>, f: &mut impl Write) -> fmt::Result {
    f.write_str("[")?;
    let mut first = true;
    if let Some(items) = value.as_array() {
        for item in items.iter() {
            separate(&mut first, f)?;
            write_value(item, f)?;
        }
    }
    f.write_str("]")
}

fn write_object(value: ValueRef<'_>, f: &mut impl Write) -> fmt::Result {
    f.write_str("{")?;
    let mut first = true;
    if let Some(object) = value.as_object() {
        for (key, value) in object.iter() {
            separate(&mut first, f)?;
            write_value(key, f)?;
            f.write_str(": ")?;
            write_value(value, f)?;
        }
    }
    f.write_str("}")
}

fn write_set(value: ValueRef<'_>, f: &mut impl Write) -> fmt::Result {
    let mut first = true;
    if let Some(set) = value.as_set() {
        for item in set.iter() {
            if first {
                f.write_str("{")?;
            }
            separate(&mut first, f)?;
            write_value(item, f)?;
        }
    }
    f.write_str(if first { "set()" } else { "}" })
}

fn separate(first: &mut bool, f: &mut impl Write) -> fmt::Result {
    if std::mem::take(first) {
        Ok(())
    } else {
        f.write_str(", ")
    }
}

/// Writes a string in quotes, escaped as by Go's `strconv.Quote`.
pub fn quote(text: &[u8], f: &mut impl Write) -> fmt::Result {
    f.write_str("\"")?;
    if is_plain(text)
        && let Ok(text) = std::str::from_utf8(text)
    {
        f.write_str(text)?;
        return f.write_str("\"");
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c => write_escaped(c, f)?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    f.write_str("\"")
}

/// Returns `true` if a text consists of printable ASCII characters and contains none to escape.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let escaped = |word| text::flags_of(word, b'"') | text::flags_of(word, b'\\');
    text::all_chunks(text, |word| text::is_printable(word) && escaped(word) == 0)
}

/// Writes a character as in Go's quoted strings and characters, except for the quotes themselves.
pub fn write_escaped(c: char, f: &mut impl Write) -> fmt::Result {
    match c {
        ' '..='~' => f.write_char(c),
        '\x07' => f.write_str("\\a"),
        '\x08' => f.write_str("\\b"),
        '\x0c' => f.write_str("\\f"),
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        '\x0b' => f.write_str("\\v"),
        '\0'..='\x1f' | '\x7f' => write!(f, "\\x{:02x}", u32::from(c)),
        c if is_print(c) => f.write_char(c),
        '\u{80}'..='\u{ffff}' => write!(f, "\\u{:04x}", u32::from(c)),
        c => write!(f, "\\U{:08x}", u32::from(c)),
    }
}

/// Returns `true` if a character is a letter, mark, number, punctuation or symbol.
pub fn is_print(c: char) -> bool {
    // Rust leaves printable characters unescaped; another character precedes it, so that combining marks count as
    // printable
    let mut buffer = [b'a'; 5];
    let len = match buffer.split_first_mut() {
        Some((_, rest)) => 1 + c.encode_utf8(rest).len(),
        None => return false,
    };
    let text = buffer
        .get(..len)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.is_some_and(|text| text.escape_debug().nth(1) == Some(c))
}

#[cfg(test)]
mod tests {
    use crate::value::{Repr, Value, ValueRef};

    #[test]
    fn compounds() {
        let list = Value::array(vec![
            1.into(),
            "a".into(),
            Value(Repr::Null),
            true.into(),
            Value(Repr::Decimal(2, 150)),
        ]);
        assert_eq!(
            list.rego_text().to_string(),
            r#"[1, "a", null, true, 1.50]"#
        );
        let object = Value::object(vec![
            ("w".into(), Value::array(vec![])),
            ("z".into(), Value::set(vec![])),
            (2.into(), Value::set(vec![3.into(), 1.into()])),
            ("y".into(), Value::object(vec![])),
        ]);
        assert_eq!(
            object.rego_text().to_string(),
            r#"{2: {1, 3}, "w": [], "y": {}, "z": set()}"#
        );
        assert_eq!(format!("{object:?}"), object.rego_text().to_string());
    }

    #[test]
    fn display_is_json() {
        let value = Value::object(vec![
            (2.into(), Value::set(vec![3.into(), 1.into()])),
            ("y".into(), Value::string("\u{7}<")),
        ]);
        assert_eq!(value.to_string(), r#"{"2":[1,3],"y":"\u0007<"}"#);
        assert_eq!(value.to_string(), value.to_json());
        assert_eq!(value.borrow().to_string(), value.to_json());
        // bytes that are not UTF-8 become replacement characters
        assert_eq!(Value::bytes(b"a\xff").to_string(), r#""a\ufffd""#);
    }

    #[test]
    fn values_are_compared_with_primitives() {
        assert_eq!(Value::from(1), 1);
        assert_eq!(Value::from(1.0), 1);
        assert_eq!(Value::from(0.5), 0.5);
        assert_eq!(Value::from(true), true);
        assert_eq!(Value::from("a"), "a");
        assert_eq!("a", Value::from("a"));
        assert_eq!(Value::from("a"), "a".to_owned());
        assert_ne!(Value::from("1"), 1);
        assert_ne!(Value::from(1), true);
        assert_ne!(Value::NULL, false);
        assert_ne!(Value::from(u64::MAX), i64::MAX);
        assert_eq!(Value::from(u64::MAX), u64::MAX);
        assert_ne!(Value::from(0.5), f64::NAN);
        assert_eq!(ValueRef::from(true), true);
    }

    #[test]
    fn strings_are_quoted_as_go_quotes() {
        let text = "\0\x01\x07\x08\x0c\n\r\t\x0b\"\\'/\x7f\u{80}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}\u{fffd}\u{e000}é漢😀\u{e0001}e\u{301}\u{378}\u{3000}\u{600}";
        let expected = r#""\x00\x01\a\b\f\n\r\t\v\"\\'/\x7f\u0080\u00a0\u00ad\u200b\u2028\ufeff�\ue000é漢😀\U000e0001é\u0378\u3000\u0600""#;
        assert_eq!(
            Value::string(text).rego_text().to_string(),
            expected
                .replace('é', "e\u{301}")
                .replacen("e\u{301}", "é", 1)
        );
        assert_eq!(
            Value::bytes(b"ab\xff\x80").rego_text().to_string(),
            r#""ab\xff\x80""#
        );
    }
}
