//! Decodes string tokens.

use std::borrow::Cow;

/// An invalid escape sequence or character in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextError;

/// Decodes a quoted string, without its quotes. Escapes follow JSON. An unpaired surrogate becomes U+FFFD.
pub(crate) fn decode_string(inner: &str) -> Result<Cow<'_, str>, TextError> {
    if inner.contains('\\') {
        unescape(inner, false).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(inner))
    }
}

/// Decodes a part of a template string. Raw parts have one escape, `\{`.
pub(crate) fn decode_template(inner: &str, raw: bool) -> Result<Cow<'_, str>, TextError> {
    if !inner.contains('\\') {
        Ok(Cow::Borrowed(inner))
    } else if raw {
        Ok(Cow::Owned(inner.replace("\\{", "{")))
    } else {
        unescape(inner, true).map(Cow::Owned)
    }
}

fn unescape(inner: &str, template: bool) -> Result<String, TextError> {
    let mut text = String::with_capacity(inner.len());
    // a template without JSON's escapes is used verbatim
    let strict = !template || has_json_escape(inner);
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => text.push(match rest.next().ok_or(TextError)? {
                c @ ('\\' | '"' | '/') => c,
                '{' if template => '{',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => unicode_escape(&mut rest)?,
                _ => return Err(TextError),
            }),
            '"' | '\0'..'\u{20}' if strict => return Err(TextError),
            c => text.push(c),
        }
    }
    Ok(text)
}

/// Returns `true` if a backslash precedes any character other than a brace.
fn has_json_escape(inner: &str) -> bool {
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c == '\\' && rest.next() != Some('{') {
            return true;
        }
    }
    false
}

fn unicode_escape(rest: &mut std::str::Chars<'_>) -> Result<char, TextError> {
    let first = four_digits(rest)?;
    if let Some(c) = char::from_u32(first) {
        return Ok(c);
    }
    let mut ahead = rest.clone();
    if first < 0xDC00
        && ahead.next() == Some('\\')
        && ahead.next() == Some('u')
        && let Ok(second @ 0xDC00..0xE000) = four_digits(&mut ahead)
    {
        *rest = ahead;
        return Ok(
            char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
                .unwrap_or('\u{fffd}'),
        );
    }
    Ok('\u{fffd}')
}

fn four_digits(rest: &mut std::str::Chars<'_>) -> Result<u32, TextError> {
    let mut value = 0;
    for _ in 0..4 {
        value = value * 16 + rest.next().and_then(|c| c.to_digit(16)).ok_or(TextError)?;
    }
    Ok(value)
}
