//! Verbs of strings: `%s`, `%q`, `%x` and others.

use std::fmt::{self, Write};

use super::directive::Spec;
use super::printer::Printer;
use crate::bug::bug;
use crate::builtins::{BuiltinError, runes};
use crate::value::display;

/// Prints a string. Returns `false` if it does not support the verb.
pub fn print(
    printer: &mut Printer<'_, '_>,
    bytes: &[u8],
    verb: char,
) -> Result<bool, BuiltinError> {
    match verb {
        's' | 'v' => printer.padded_text(bytes)?,
        'q' => print_quoted(printer, bytes)?,
        'x' => hexadecimal(printer, bytes, b"0123456789abcdefx")?,
        'X' => hexadecimal(printer, bytes, b"0123456789ABCDEFX")?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Truncates to the number of characters that the precision allows.
pub fn cut<'b>(spec: &Spec, bytes: &'b [u8]) -> &'b [u8] {
    match spec.precision {
        Some(precision) => bytes
            .get(..runes::offset(bytes, precision))
            .unwrap_or(bytes),
        None => bytes,
    }
}

fn print_quoted(printer: &mut Printer<'_, '_>, bytes: &[u8]) -> Result<(), BuiltinError> {
    let bytes = cut(&printer.spec, bytes);
    if printer.spec.sharp && can_be_raw(bytes) {
        let raw = [b"`", bytes, b"`"].concat();
        return printer.padded(&raw);
    }
    if printer.spec.width.is_none() && !printer.spec.plus {
        return printer.show(Quoted(bytes));
    }
    let quoted_text = if printer.spec.plus {
        ascii_quoted(bytes)
    } else {
        let mut go_text = String::with_capacity(bytes.len() + 2);
        // writing to a string does not fail
        let _ = display::quote(bytes, &mut go_text);
        go_text
    };
    printer.padded(quoted_text.as_bytes())
}

struct Quoted<'b>(&'b [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::quote(self.0, f)
    }
}

/// Returns `true` if a text can be written in backquotes on one line.
fn can_be_raw(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.chars().all(|c| {
            let control = c < ' ' && c != '\t' || c == '\x7f';
            !control && c != '`' && c != '\u{feff}'
        })
    })
}

/// Quotes a text, with escapes for all characters that are not ASCII.
pub fn ascii_quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    let mut rest = bytes;
    while let Some((c, width)) = runes::first(rest) {
        let (bytes, after) = rest.split_at(width);
        rest = after;
        match bytes {
            [byte] if !byte.is_ascii() => {
                // writing to a string does not fail
                let _ = write!(text, "\\x{byte:02x}");
            }
            _ if !c.is_ascii() => text.push_str(&ascii_escape(c)),
            _ if matches!(c, '"' | '\\') => text.extend(['\\', c]),
            _ => {
                // writing to a string does not fail
                let _ = display::write_escaped(c, &mut text);
            }
        }
    }
    text.push('"');
    text
}

/// Returns the escape of a character that is not ASCII: `\u` with four digits, or `\U` with eight.
pub fn ascii_escape(c: char) -> String {
    let code = u32::from(c);
    if code > 0xffff {
        format!("\\U{code:08x}")
    } else {
        format!("\\u{code:04x}")
    }
}

fn hexadecimal(
    printer: &mut Printer<'_, '_>,
    bytes: &[u8],
    digits: &[u8; 17],
) -> Result<(), BuiltinError> {
    let spec = printer.spec;
    let bytes = match spec.precision {
        Some(precision) => bytes.get(..precision).unwrap_or(bytes),
        None => bytes,
    };
    let digit = |index: u8| {
        digits
            .get(usize::from(index))
            .copied()
            .unwrap_or_else(|| bug!("a digit of more than four bits"))
    };
    let mut text = Vec::with_capacity(bytes.len() * 2);
    for (index, byte) in bytes.iter().enumerate() {
        if spec.space && index > 0 {
            text.push(b' ');
        }
        if spec.sharp && (spec.space || index == 0) {
            text.extend([b'0', digit(16)]);
        }
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    printer.padded(&text)
}
