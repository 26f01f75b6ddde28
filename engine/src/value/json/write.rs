//! Values as JSON text.

use std::fmt;

use solon_syntax::stack;

use super::style::{JsonLayout, Style};
use crate::bug::Within as _;
use crate::limits::POLL_BYTES;
use crate::value::{ObjectView, RefRepr, ValueRef, text};

/// A text would exceed its maximum length: values share nodes, but their texts do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Writes a value with at most `limit` bytes. A longer text is an error, and is cut soon after that.
pub fn write_within(
    value: ValueRef<'_>,
    style: Style<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), TooLong> {
    write_while(value, style, limit, &|| true, out)
}

/// Writes a value with at most `limit` bytes; a longer text is an error. `goes_on` is called every few megabytes and stops
/// the writer by `false`.
pub fn write_while(
    value: ValueRef<'_>,
    style: Style<'_>,
    limit: usize,
    goes_on: &dyn Fn() -> bool,
    out: &mut Vec<u8>,
) -> Result<(), TooLong> {
    let limit = out.len().saturating_add(limit);
    let mut writer = JsonWriter {
        limit,
        next_poll: limit.min(out.len().saturating_add(POLL_BYTES)),
        goes_on: Some(goes_on),
        ..JsonWriter::new(out, style.html, style.layout)
    };
    writer.value(value);
    if writer.is_full() {
        Err(TooLong)
    } else {
        Ok(())
    }
}

/// Writes compact text, as in responses.
pub fn write(value: ValueRef<'_>, out: &mut Vec<u8>) {
    JsonWriter::new(out, false, None).value(value);
}

/// Writes a value in a style, without a limit.
///
/// ```
/// use solon::Value;
/// use solon::json::{self, Style};
///
/// let (value, mut text) = (Value::string("a < b"), Vec::new());
/// json::write_styled(value.borrow(), Style::new().html(true), &mut text);
/// assert_eq!(text, b"\"a \\u003c b\"");
/// ```
pub fn write_styled(value: ValueRef<'_>, style: Style<'_>, out: &mut Vec<u8>) {
    JsonWriter::new(out, style.html, style.layout).value(value);
}

/// Appends text indented by two blanks, as in pretty responses. `<`, `>` and `&` are not escaped, and no line feed follows.
pub fn write_pretty(value: ValueRef<'_>, out: &mut Vec<u8>) {
    let layout = JsonLayout {
        prefix: "",
        indent: "  ",
    };
    JsonWriter::new(out, false, Some(layout)).value(value);
}

/// Writes compact text as `json.marshal`: `<`, `>` and `&` are escaped.
pub fn write_go(value: ValueRef<'_>, out: &mut Vec<u8>) {
    JsonWriter::new(out, true, None).value(value);
}

/// Writes text as `json.marshal_with_options`: the first line has no prefix.
pub fn write_go_layout(value: ValueRef<'_>, layout: JsonLayout<'_>, out: &mut Vec<u8>) {
    JsonWriter::new(out, true, Some(layout)).value(value);
}

struct JsonWriter<'o, 'l> {
    out: &'o mut Vec<u8>,
    html: bool,
    layout: Option<JsonLayout<'l>>,
    depth: usize,
    /// Length of `out` at which writing stops.
    limit: usize,
    /// Length of `out` at which `goes_on` is called next.
    next_poll: usize,
    /// Returns `false` to stop the writer, whose text is then incomplete.
    goes_on: Option<&'l dyn Fn() -> bool>,
    /// `true` if the text is incomplete.
    full: bool,
}

impl<'o, 'l> JsonWriter<'o, 'l> {
    fn new(out: &'o mut Vec<u8>, html: bool, layout: Option<JsonLayout<'l>>) -> Self {
        Self {
            out,
            html,
            layout,
            depth: 0,
            limit: usize::MAX,
            next_poll: usize::MAX,
            goes_on: None,
            full: false,
        }
    }

    #[inline]
    fn is_full(&mut self) -> bool {
        self.full || self.out.len() > self.next_poll && self.ends_here()
    }

    #[cold]
    fn ends_here(&mut self) -> bool {
        self.next_poll = self.limit.min(self.out.len().saturating_add(POLL_BYTES));
        self.full = self.out.len() > self.limit || !self.goes_on.is_none_or(|goes_on| goes_on());
        self.full
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef(RefRepr::Null) => self.out.extend_from_slice(b"null"),
            ValueRef(RefRepr::Bool(true)) => self.out.extend_from_slice(b"true"),
            ValueRef(RefRepr::Bool(false)) => self.out.extend_from_slice(b"false"),
            ValueRef(RefRepr::Int(i)) => self
                .out
                .extend_from_slice(itoa::Buffer::new().format(i).as_bytes()),
            ValueRef(RefRepr::Decimal(..) | RefRepr::Number(_) | RefRepr::ArenaNumber(_)) => {
                self.number(value);
            }
            ValueRef(
                RefRepr::Short(_) | RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_),
            ) => {
                self.string(value.text_or_empty().as_bytes());
            }
            _ if value.exceeds_traversal_limit() => self.full = true,
            ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
                stack::level(|| self.array(value));
            }
            ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => stack::level(|| self.set(value)),
            ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
                stack::level(|| self.object(value));
            }
        }
    }

    #[inline(never)]
    fn number(&mut self, value: ValueRef<'_>) {
        if let Some(number) = value.as_number() {
            // writing to a vector cannot fail
            let _ = number.write(&mut ByteSink(self.out));
        }
    }

    // these functions recurse: plain loops keep their stack frames small

    #[inline(never)]
    fn array(&mut self, value: ValueRef<'_>) {
        self.open(b'[');
        let mut first = true;
        if let Some(items) = value.as_array() {
            for item in items.iter() {
                if self.is_full() {
                    break;
                }
                self.separate(&mut first);
                self.value(item);
            }
        }
        self.close(b']', first);
    }

    #[inline(never)]
    fn set(&mut self, value: ValueRef<'_>) {
        self.open(b'[');
        let mut first = true;
        if let Some(items) = value.as_set() {
            for item in items.iter() {
                if self.is_full() {
                    break;
                }
                self.separate(&mut first);
                self.value(item);
            }
        }
        self.close(b']', first);
    }

    #[inline(never)]
    fn object(&mut self, value: ValueRef<'_>) {
        let Some(object) = value.as_object() else {
            return;
        };
        // checked first: starting again at a late key would double the work at each level
        if !object.has_text_keys() {
            return self.mixed_object(object);
        }
        self.open(b'{');
        let mut first = true;
        for (key, value) in object.iter() {
            if self.is_full() {
                break;
            }
            self.separate(&mut first);
            self.key(key.text_or_empty().as_bytes());
            self.value(value);
        }
        self.close(b'}', first);
    }

    /// Writes an object with keys that are not strings.
    #[inline(never)]
    fn mixed_object(&mut self, object: ObjectView<'_>) {
        let Ok(pairs) = text_keys(object, self.limit.saturating_sub(self.out.len())) else {
            self.full = true;
            return;
        };
        self.open(b'{');
        let mut first = true;
        for (key, value) in pairs {
            if self.is_full() {
                break;
            }
            self.separate(&mut first);
            self.key(&key);
            self.value(value);
        }
        self.close(b'}', first);
    }

    #[inline]
    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.depth += 1;
    }

    #[inline]
    fn close(&mut self, bracket: u8, empty: bool) {
        self.depth -= 1;
        if !empty {
            self.break_line();
        }
        self.out.push(bracket);
    }

    #[inline]
    fn separate(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.out.push(b',');
        }
        self.break_line();
    }

    #[inline]
    fn key(&mut self, key: &[u8]) {
        self.string(key);
        self.out.push(b':');
        if self.layout.is_some() {
            self.out.push(b' ');
        }
    }

    #[inline]
    fn break_line(&mut self) {
        if let Some(layout) = self.layout {
            self.out.push(b'\n');
            self.out.extend_from_slice(layout.prefix.as_bytes());
            for _ in 0..self.depth {
                self.out.extend_from_slice(layout.indent.as_bytes());
            }
        }
    }

    #[inline(never)]
    fn string(&mut self, text: &[u8]) {
        self.out.reserve(text.len() + 9);
        self.out.push(b'"');
        if is_plain(text, self.html) {
            self.copy(text);
        } else {
            self.careful(text);
        }
        self.out.push(b'"');
    }

    /// Copies bytes. Fewer than eight are written as one word, and the excess is removed.
    #[inline]
    fn copy(&mut self, text: &[u8]) {
        if text.len() < 8 {
            let end = self.out.len() + text.len();
            let word = text::padded(text, b' ');
            self.out.extend_from_slice(&word.to_le_bytes());
            self.out.truncate(end);
        } else {
            self.out.extend_from_slice(text);
        }
    }

    #[inline(never)]
    fn careful(&mut self, text: &[u8]) {
        if std::str::from_utf8(text).is_ok() {
            return self.write_escaped(text);
        }
        for chunk in text.utf8_chunks() {
            self.write_escaped(chunk.valid().as_bytes());
            for _ in chunk.invalid() {
                self.out.extend_from_slice(b"\\ufffd");
            }
        }
    }

    fn write_escaped(&mut self, text: &[u8]) {
        let mut copied_to = 0;
        for (index, byte) in text.iter().enumerate() {
            let escape = ESCAPES.get(usize::from(*byte)).copied();
            let escape = escape.unwrap_or(Escape::None);
            if matches!(escape, Escape::None) || matches!(escape, Escape::Html) && !self.html {
                continue;
            }
            let rest = text.within(index + 1..);
            let length = match (escape, rest) {
                // U+2028 and U+2029, which are line ends in JavaScript
                (Escape::Line, [0x80, 0xa8 | 0xa9, ..]) => 3,
                (Escape::Line, _) => continue,
                _ => 1,
            };
            self.out.extend_from_slice(text.within(copied_to..index));
            copied_to = index + length;
            match (escape, rest) {
                (Escape::Letter(letter), _) => self.out.extend_from_slice(&[b'\\', letter]),
                (Escape::Line, [_, 0xa8, ..]) => self.out.extend_from_slice(b"\\u2028"),
                (Escape::Line, _) => self.out.extend_from_slice(b"\\u2029"),
                _ => {
                    let digit =
                        |half: u8| char::from_digit(half.into(), 16).map_or(b'0', |c| c as u8);
                    let [high, low] = [digit(byte >> 4), digit(byte & 15)];
                    self.out
                        .extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
                }
            }
        }
        self.out.extend_from_slice(text.within(copied_to..));
    }
}

#[derive(Clone, Copy)]
enum Escape {
    None,
    Letter(u8),
    /// `\u` and four digits.
    Number,
    /// `\u` and four digits, if HTML is escaped.
    Html,
    /// Together with the next two bytes, if they complete a line separator.
    Line,
}

/// Escapes by byte.
#[expect(
    clippy::indexing_slicing,
    reason = "a place beyond the end would not compile"
)]
static ESCAPES: [Escape; 256] = {
    let mut escapes = [Escape::None; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let escape = Escape::of_byte(byte as u8);
        escapes[byte] = escape;
        byte += 1;
    }
    escapes
};

impl Escape {
    const fn of_byte(byte: u8) -> Self {
        match byte {
            b'"' | b'\\' => Self::Letter(byte),
            b'\n' => Self::Letter(b'n'),
            b'\r' => Self::Letter(b'r'),
            b'\t' => Self::Letter(b't'),
            0x08 => Self::Letter(b'b'),
            0x0c => Self::Letter(b'f'),
            0..b' ' => Self::Number,
            b'<' | b'>' | b'&' => Self::Html,
            0xe2 => Self::Line,
            _ => Self::None,
        }
    }
}

/// Appends formatted text to bytes.
struct ByteSink<'o>(&'o mut Vec<u8>);

impl fmt::Write for ByteSink<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns `true` if a text is ASCII without characters to escape.
#[inline]
fn is_plain(text: &[u8], html: bool) -> bool {
    text::all_chunks(text, |word| {
        (word & text::HIGHS) | escape_flags(word, html) == 0
    })
}

/// Sets the highest bit of each ASCII byte that must be escaped. Bits above the lowest one may be false positives.
#[inline]
fn escape_flags(word: u64, html: bool) -> u64 {
    let escape_flags =
        text::flags_below(word, b' ') | text::flags_of(word, b'"') | text::flags_of(word, b'\\');
    if html {
        // `<` and `>` differ in one bit
        let without_difference = word & !u64::from_le_bytes([2; 8]);
        escape_flags | text::flags_of(without_difference, b'<') | text::flags_of(word, b'&')
    } else {
        escape_flags
    }
}

/// Returns the pairs with the JSON texts of keys that are not strings, sorted by these. The last of equal texts wins.
/// The texts may have `limit` bytes in total.
pub(in crate::value) fn text_keys(
    object: ObjectView<'_>,
    limit: usize,
) -> Result<Vec<(Vec<u8>, ValueRef<'_>)>, TooLong> {
    let style = Style {
        html: true,
        layout: None,
    };
    let mut remaining = limit;
    let mut pairs: Vec<(Vec<u8>, ValueRef<'_>)> = Vec::with_capacity(object.len());
    for (key, value) in object.iter() {
        let mut text = Vec::new();
        match key.as_text() {
            Some(key) => text.extend_from_slice(key.as_bytes()),
            None => write_within(key, style, remaining, &mut text)?,
        }
        remaining = remaining.checked_sub(text.len()).ok_or(TooLong)?;
        pairs.push((text, value));
    }
    pairs.reverse();
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs.dedup_by(|earlier, last| earlier.0 == last.0);
    Ok(pairs)
}
