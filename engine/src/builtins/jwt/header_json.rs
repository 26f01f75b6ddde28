//! Parser for the header of a token to be signed. As lenient as OPA's library: numbers and escapes are not validated,
//! and of two equal fields the first counts.

use std::borrow::Cow;

use crate::bug::Within;
use crate::value::display;

/// Maximum nesting depth of a header.
const NESTING: usize = 300;

/// A JSON value, partially decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum HeaderValue<'t> {
    /// String with its escapes.
    Text(&'t str),
    /// Fields, names with their escapes.
    Object(Vec<(&'t str, HeaderValue<'t>)>),
    /// Any other value, by the name of its kind.
    Other(&'static str),
}

impl HeaderValue<'_> {
    /// Returns a field of an object, or `None` if it is missing.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else {
            return None;
        };
        let field = fields
            .iter()
            .find(|(field_name, _)| unescaped(field_name) == name);
        field.map(|(_, value)| value)
    }

    /// Returns the name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Object(_) => "object",
            Self::Other(kind) => kind,
        }
    }
}

/// A message and the rest of the text.
struct HeaderError<'t>(Cow<'static, str>, &'t str);

impl HeaderError<'_> {
    fn within(self, context: &str) -> Self {
        Self(format!("{context}: {}", self.0).into(), self.1)
    }
}

fn fail<T>(message: impl Into<Cow<'static, str>>, rest: &str) -> Result<T, HeaderError<'_>> {
    Err(HeaderError(message.into(), rest))
}

/// Parses a header. The error is the message.
pub fn read(text: &str) -> Result<HeaderValue<'_>, String> {
    let (value, rest) = value(skip(text), 0).map_err(|HeaderError(message, rest)| {
        format!(
            "cannot parse JSON: {message}; unparsed tail: {}",
            quote_text(&ends(rest))
        )
    })?;
    match skip(rest) {
        "" => Ok(value),
        rest => Err(format!("unexpected tail: {}", quote_text(&ends(rest)))),
    }
}

type HeaderResult<'t, T> = Result<(T, &'t str), HeaderError<'t>>;

fn skip(text: &str) -> &str {
    text.trim_start_matches([' ', '\n', '\t', '\r'])
}

fn value(text: &str, depth: usize) -> HeaderResult<'_, HeaderValue<'_>> {
    let Some(first) = text.chars().next() else {
        return fail("cannot parse empty string", text);
    };
    let depth = depth + 1;
    if depth > NESTING {
        let message = format!("too big depth for the nested JSON; it exceeds {NESTING}");
        return fail(message, text);
    }
    let rest = text.within(first.len_utf8()..);
    match first {
        '{' => object(rest, depth).map_err(|fail| fail.within("cannot parse object")),
        '[' => array(rest, depth).map_err(|fail| fail.within("cannot parse array")),
        '"' => match string(rest) {
            Ok((text, rest)) => Ok((HeaderValue::Text(text), rest)),
            Err(fail) => Err(fail.within("cannot parse string")),
        },
        't' => literal(text, "true", "true"),
        'f' => literal(text, "false", "false"),
        'n' => match text.strip_prefix("null") {
            Some(rest) => Ok((HeaderValue::Other("null"), rest)),
            None if text
                .get(..3)
                .is_some_and(|nan| nan.eq_ignore_ascii_case("nan")) =>
            {
                Ok((HeaderValue::Other("number"), text.within(3..)))
            }
            None => fail(
                format!("unexpected value found: {}", quote_text(text)),
                text,
            ),
        },
        _ => match number(text) {
            Ok(rest) => Ok((HeaderValue::Other("number"), rest)),
            Err(fail) => Err(fail.within("cannot parse number")),
        },
    }
}

fn literal<'t>(
    text: &'t str,
    literal: &str,
    kind: &'static str,
) -> HeaderResult<'t, HeaderValue<'t>> {
    match text.strip_prefix(literal) {
        Some(rest) => Ok((HeaderValue::Other(kind), rest)),
        None => fail(
            format!("unexpected value found: {}", quote_text(text)),
            text,
        ),
    }
}

fn object(text: &str, depth: usize) -> HeaderResult<'_, HeaderValue<'_>> {
    let mut rest = skip(text);
    if rest.is_empty() {
        return fail("missing '}'", rest);
    }
    let mut fields = Vec::new();
    if let Some(rest) = rest.strip_prefix('}') {
        return Ok((HeaderValue::Object(fields), rest));
    }
    loop {
        let name;
        rest = skip(rest);
        let Some(key) = rest.strip_prefix('"') else {
            return fail("cannot find opening '\"\" for object key", rest);
        };
        (name, rest) = string(key).map_err(|fail| fail.within("cannot parse object key"))?;
        rest = skip(rest);
        let Some(after) = rest.strip_prefix(':') else {
            return fail("missing ':' after object key", rest);
        };
        let field;
        (field, rest) =
            value(skip(after), depth).map_err(|fail| fail.within("cannot parse object value"))?;
        fields.push((name, field));
        rest = skip(rest);
        if rest.is_empty() {
            return fail("unexpected end of object", rest);
        }
        if let Some(rest) = rest.strip_prefix('}') {
            return Ok((HeaderValue::Object(fields), rest));
        }
        let Some(after) = rest.strip_prefix(',') else {
            return fail("missing ',' after object value", rest);
        };
        rest = after;
    }
}

fn array(text: &str, depth: usize) -> HeaderResult<'_, HeaderValue<'_>> {
    let mut rest = skip(text);
    if rest.is_empty() {
        return fail("missing ']'", rest);
    }
    if let Some(rest) = rest.strip_prefix(']') {
        return Ok((HeaderValue::Other("array"), rest));
    }
    loop {
        (_, rest) =
            value(skip(rest), depth).map_err(|fail| fail.within("cannot parse array value"))?;
        rest = skip(rest);
        if rest.is_empty() {
            return fail("unexpected end of array", rest);
        }
        if let Some(rest) = rest.strip_prefix(']') {
            return Ok((HeaderValue::Other("array"), rest));
        }
        let Some(after) = rest.strip_prefix(',') else {
            return fail("missing ',' after array value", rest);
        };
        rest = after;
    }
}

/// Parses up to the next unescaped quote.
fn string(text: &str) -> HeaderResult<'_, &str> {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => {
                let (text, rest) = text.split_at(index);
                return Ok((text, rest.within(1..)));
            }
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    fail("missing closing '\"'", "")
}

fn number(text: &str) -> Result<&str, HeaderError<'_>> {
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | 'E' | '+')))
        .unwrap_or(text.len());
    let is_special = |index: usize| {
        text.get(index..index + 3).is_some_and(|text_at_index| {
            text_at_index.eq_ignore_ascii_case("inf") || text_at_index.eq_ignore_ascii_case("nan")
        })
    };
    let signed = digits == 1 && text.starts_with(['-', '+']);
    let end = if (digits == 0 || signed) && is_special(digits) {
        digits + 3
    } else {
        digits
    };
    match text.get(end..) {
        Some(rest) if end > 0 => Ok(rest),
        _ => {
            let first: String = text.chars().take(1).collect();
            fail(format!("unexpected char: {}", quote_text(&first)), text)
        }
    }
}

/// Decodes the escapes of a string. Invalid escapes stay unchanged.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let escape = chars.next();
        rest = chars.as_str();
        match escape {
            Some(literal @ ('"' | '\\' | '/')) => out.push(literal),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => match code(rest) {
                Some((unit @ 0xd800..=0xdbff, after)) => {
                    let low = after.strip_prefix("\\u").and_then(code);
                    let (low, after) = match low {
                        Some((low @ 0xdc00..=0xdfff, after)) => (low, after),
                        _ => (0, after),
                    };
                    let pair = 0x1_0000 + ((unit - 0xd800) << 10) + low.saturating_sub(0xdc00);
                    let pair = if low == 0 { 0xfffd } else { pair };
                    out.push(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
                    rest = after;
                }
                Some((unit, after)) => {
                    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                    rest = after;
                }
                None => out.push_str("\\u"),
            },
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn code(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((code, rest))
}

/// Abbreviates a long text to its start and end.
fn ends(text: &str) -> Cow<'_, str> {
    const WHOLE: usize = 80;
    if text.len() <= WHOLE {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let start = bytes.within(..WHOLE / 2);
    let end = bytes.within(bytes.len() - WHOLE / 2..);
    let text = [start, b"...", end].concat();
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// Quotes a text as Go does.
fn quote_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    // writing to a string does not fail
    let _ = display::quote(text.as_bytes(), &mut quoted);
    quoted
}
