//! YAML writing: block style, two blanks per level, lists indented below their key, keys in natural order.

use std::cmp::Ordering;

use solon_syntax::stack;

use super::error::YamlError;
use super::resolve::{Scalar, resolve, rfc3339};
use crate::limits::POLL_BYTES;
use crate::value::json::{TooLong, text_keys};
use crate::value::text::lossy;
use crate::value::{ArrayView, Kind, NumberBuf, ObjectView, SetView, ValueRef};

/// Writes a value like `yaml.marshal`.
///
/// ```
/// let value = solon::yaml::read(b"roles: [admin, reader]")?;
/// let mut text = String::new();
/// solon::yaml::write(value.borrow(), &mut text)?;
/// assert_eq!(text, "roles:\n  - admin\n  - reader\n");
/// # Ok::<(), solon::yaml::YamlError>(())
/// ```
pub fn write(value: ValueRef<'_>, out: &mut String) -> Result<(), YamlError> {
    write_while(value, usize::MAX, &|| true, out)
}

/// Writes a value with at most `limit` bytes. A longer text is cut soon after that. `goes_on` is called every few
/// megabytes and stops the writer by `false`.
pub fn write_while(
    value: ValueRef<'_>,
    limit: usize,
    goes_on: &dyn Fn() -> bool,
    out: &mut String,
) -> Result<(), YamlError> {
    let limit = out.len().saturating_add(limit);
    let mut writer = YamlWriter {
        next_poll: limit.min(out.len().saturating_add(POLL_BYTES)),
        out,
        limit,
        goes_on,
    };
    writer.start(value, 0)?;
    writer.check_limits()?;
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    Ok(())
}

struct YamlWriter<'o> {
    out: &'o mut String,
    limit: usize,
    /// Length at which `goes_on` is called next.
    next_poll: usize,
    goes_on: &'o dyn Fn() -> bool,
}

/// Maximum length of a key that is written before its colon, in bytes.
const SIMPLE_KEY: usize = 128;

impl YamlWriter<'_> {
    /// Writes a value at its start. `indent` is that of its further lines.
    fn start(&mut self, value: ValueRef<'_>, indent: usize) -> Result<(), YamlError> {
        match value.kind() {
            _ if value.exceeds_traversal_limit() => Err(YamlError::too_long()),
            Kind::Array | Kind::Set if !is_empty(value) => {
                stack::level(|| self.list(value, indent))
            }
            Kind::Object if !is_empty(value) => stack::level(|| self.mapping(value, indent)),
            _ => self.scalar(value, indent),
        }
    }

    fn list(&mut self, value: ValueRef<'_>, indent: usize) -> Result<(), YamlError> {
        if let Some(items) = value.as_array() {
            for (i, item) in items.iter().enumerate() {
                self.item(i, item, indent)?;
            }
        }
        if let Some(items) = value.as_set() {
            for (i, item) in items.iter().enumerate() {
                self.item(i, item, indent)?;
            }
        }
        Ok(())
    }

    fn item(&mut self, i: usize, item: ValueRef<'_>, indent: usize) -> Result<(), YamlError> {
        self.check_limits()?;
        self.line(i, indent);
        self.out.push_str("- ");
        self.start(item, indent + 2)
    }

    fn mapping(&mut self, value: ValueRef<'_>, indent: usize) -> Result<(), YamlError> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        let remaining = self.limit.saturating_sub(self.out.len());
        for (i, (key, value)) in sorted_pairs(object, remaining)?.into_iter().enumerate() {
            self.check_limits()?;
            self.line(i, indent);
            if key.len() > SIMPLE_KEY || key.contains(is_break) {
                self.out.push_str("? ");
                self.text(&key, indent + 2, true)?;
                self.line(1, indent);
                self.out.push_str(": ");
                self.start(value, indent + 2)?;
                continue;
            }
            self.text(&key, indent + 2, false)?;
            self.out.push(':');
            if is_empty(value) || !matches!(value.kind(), Kind::Array | Kind::Set | Kind::Object) {
                self.out.push(' ');
                self.scalar(value, indent + 2)?;
            } else {
                self.line(1, indent + 2);
                self.start(value, indent + 2)?;
            }
        }
        Ok(())
    }

    fn check_limits(&mut self) -> Result<(), YamlError> {
        if self.out.len() <= self.next_poll {
            return Ok(());
        }
        self.next_poll = self.limit.min(self.out.len().saturating_add(POLL_BYTES));
        if self.out.len() > self.limit || !(self.goes_on)() {
            return Err(YamlError::too_long());
        }
        Ok(())
    }

    /// Starts a line, except before the first member of a collection.
    fn line(&mut self, i: usize, indent: usize) {
        if i == 0 {
            return;
        }
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.pad(indent);
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn scalar(&mut self, value: ValueRef<'_>, indent: usize) -> Result<(), YamlError> {
        match value.kind() {
            Kind::Null => self.out.push_str("null"),
            Kind::Boolean => self
                .out
                .push_str(if value.is_truthy() { "true" } else { "false" }),
            Kind::Array | Kind::Set => self.out.push_str("[]"),
            Kind::Object => self.out.push_str("{}"),
            Kind::Number => self.number(&value.rego_text().to_string()),
            Kind::String => {
                let text = value.text_or_empty();
                return self.text(&text.to_str(), indent, true);
            }
        }
        Ok(())
    }

    /// Writes a number like one that was parsed from YAML: as an integer or with the shortest digits.
    fn number(&mut self, text: &str) {
        match resolve(text) {
            Scalar::Int(i) => self.out.push_str(&i.to_string()),
            Scalar::Float(f) => self
                .out
                .push_str(&NumberBuf::general_f64(f).unwrap_or_default()),
            _ => self.out.push_str(text),
        }
    }

    fn text(&mut self, text: &str, indent: usize, block: bool) -> Result<(), YamlError> {
        // Go converts the text to JSON and parses that as YAML
        if text.contains(|c: char| matches!(c, '\u{7f}'..='\u{9f}') && c != '\u{85}') {
            return Err(YamlError::yaml("control characters are not allowed"));
        }
        let styles = TextStyles::allowed(text);
        if text.contains('\n') && block && styles.block {
            self.literal(text, indent.max(2));
        } else if text.contains('\n')
            || !styles.quotable
            || !(means_itself(text) || text.contains('\n'))
        {
            self.double_quoted(text);
        } else if styles.plain {
            self.out.push_str(text);
        } else {
            self.out.push('\'');
            self.out.push_str(&text.replace('\'', "''"));
            self.out.push('\'');
        }
        Ok(())
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        match text.strip_suffix('\n') {
            None => self.out.push('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => self.out.push('+'),
            Some(_) => {}
        }
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.pad(indent);
                self.out.push_str(line);
            }
        }
        self.out.push('\n');
    }

    fn double_quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            let escape = match c {
                '\0' => "\\0",
                '\x07' => "\\a",
                '\x08' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\x0b' => "\\v",
                '\x0c' => "\\f",
                '\r' => "\\r",
                '\x1b' => "\\e",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\u{85}' => "\\N",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                c if is_printable(c) => {
                    self.out.push(c);
                    continue;
                }
                c => {
                    let code = u32::from(c);
                    let escape = match code {
                        0..=0xff => format!("\\x{code:02X}"),
                        0x100..=0xffff => format!("\\u{code:04X}"),
                        _ => format!("\\U{code:08X}"),
                    };
                    self.out.push_str(&escape);
                    continue;
                }
            };
            self.out.push_str(escape);
        }
        self.out.push('"');
    }
}

fn is_empty(value: ValueRef<'_>) -> bool {
    match value.kind() {
        Kind::Array => value.as_array().is_none_or(ArrayView::is_empty),
        Kind::Object => value.as_object().is_none_or(ObjectView::is_empty),
        Kind::Set => value.as_set().is_none_or(SetView::is_empty),
        _ => false,
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
}

/// Returns `true` for U+2028 and U+2029. They end a line in YAML 1.1 only, where the text after them could start a new
/// key.
fn is_old_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns `true` if a plain scalar is parsed as this string, also by YAML 1.1.
fn means_itself(text: &str) -> bool {
    let old_bool = matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
    );
    !old_bool && resolve(text) == Scalar::Str && rfc3339(text).is_none() && !is_sexagesimal(text)
}

/// Returns `true` for `190:20:30`, a number in YAML 1.1.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let mut parts = text.split(':');
    let lead = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let sixtieth =
        |part: &&str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    lead.starts_with(|c: char| c.is_ascii_digit())
        && digits(lead)
        && digits(fraction)
        && !rest.is_empty()
        && rest.iter().all(sixtieth)
}

/// Styles that can represent a text without changing it.
struct TextStyles {
    plain: bool,
    /// Single quotes.
    quotable: bool,
    /// A literal block, with `|`.
    block: bool,
}

impl TextStyles {
    fn allowed(text: &str) -> Self {
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let mut before = ' ';
        let (mut special, mut tab, mut breaks, mut space_break, mut break_space) =
            (false, false, false, false, false);
        let mut old_break = false;
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let blank_follows = chars
                .peek()
                .is_none_or(|next| matches!(next, ' ' | '\t') || is_break(*next));
            indicators |= match c {
                '#' if first => true,
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`' => first,
                '?' | '-' => first && blank_follows,
                ':' => blank_follows,
                '#' => matches!(before, ' ' | '\t') || is_break(before),
                _ => false,
            };
            tab |= c == '\t';
            special |= c != '\t' && !is_printable(c);
            special |= is_old_break(c) && chars.peek().is_some();
            old_break |= is_old_break(c);
            breaks |= is_break(c);
            space_break |= before == ' ' && is_break(c) && !first;
            break_space |= is_break(before) && c == ' ';
            before = c;
            first = false;
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let quotable = !(special || tab || space_break || break_space);
        Self {
            plain: quotable
                && !breaks
                && !indicators
                && !text.starts_with(edge)
                && !text.ends_with(edge),
            quotable,
            block: !(special || old_break || space_break || text.ends_with(' ')),
        }
    }
}

/// Returns the pairs with their JSON keys, in natural order: `a2` before `a10`.
fn sorted_pairs(
    object: ObjectView<'_>,
    limit: usize,
) -> Result<Vec<(String, ValueRef<'_>)>, YamlError> {
    let pairs = text_keys(object, limit).map_err(|TooLong| YamlError::too_long())?;
    let text = |(key, value): (Vec<u8>, _)| (lossy(&key).into_owned(), value);
    Ok(merge_sort(pairs.into_iter().map(text).collect()))
}

/// Sorts with a merge sort: the standard sorts may panic if the order is not total, and natural order is not.
fn merge_sort(mut pairs: Vec<(String, ValueRef<'_>)>) -> Vec<(String, ValueRef<'_>)> {
    if pairs.len() < 2 {
        return pairs;
    }
    let right = merge_sort(pairs.split_off(pairs.len() / 2));
    let left = merge_sort(pairs);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let from = if natural(&b.0, &a.0) == Ordering::Less {
            &mut right
        } else {
            &mut left
        };
        merged.extend(from.next());
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

/// Compares in natural order: letters after other characters, numbers by their value, but letters before digits after a
/// digit.
fn natural(a: &str, b: &str) -> Ordering {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    let offset: usize = common.clone().map(|(c, _)| c.len_utf8()).sum();
    let last = common.map(|(c, _)| c).last();
    let (rest, other) = (a.get(offset..).unwrap_or(""), b.get(offset..).unwrap_or(""));
    let (Some(x), Some(y)) = (rest.chars().next(), other.chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (false, false) => {}
        (letter, _) => {
            let after_digit = last.is_some_and(|c| c.is_ascii_digit());
            return if letter == after_digit {
                Ordering::Less
            } else {
                Ordering::Greater
            };
        }
    }
    // leading zeros are digits of a number that continues
    let goes_on = x == '0' || y == '0';
    let before = a.get(..offset).unwrap_or("");
    let digits_before = before.bytes().rev().take_while(u8::is_ascii_digit);
    let base = i64::from(goes_on && digits_before.clone().any(|digit| digit != b'0'));
    let number = |text: &str| {
        text.bytes()
            .take_while(u8::is_ascii_digit)
            .fold((base, 0_usize), |(sum, len), digit| {
                (
                    sum.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')),
                    len + 1,
                )
            })
    };
    number(rest).cmp(&number(other)).then(x.cmp(&y))
}
