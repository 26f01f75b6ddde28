//! Escaping for HTML, JavaScript and URLs.

use std::fmt::Write;

use crate::bug::bug;
use crate::builtins::runes;
use crate::value::display::is_print;

/// The function `html` of Go's templates. NUL becomes U+FFFD.
pub fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
    out
}

/// The function `js` of Go's templates. Characters that are not printable become `\u` escapes.
pub fn js(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len() + 16);
    for (c, _) in runes::all(text) {
        match c {
            '\\' | '\'' | '"' => out.extend(['\\', c]),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => {
                // writing to a string does not fail
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c if c.is_ascii() || is_print(c) => out.push(c),
            c => {
                // writing to a string does not fail
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
        }
    }
    out.into_bytes()
}

/// The function `urlquery` of Go's templates. A space becomes `+`.
pub fn url(text: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| {
        DIGITS
            .get(usize::from(nibble))
            .copied()
            .unwrap_or_else(|| bug!("a digit of more than four bits"))
    };
    let mut out = Vec::with_capacity(text.len() + 16);
    for byte in text {
        match byte {
            b' ' => out.push(b'+'),
            b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            byte if byte.is_ascii_alphanumeric() => out.push(*byte),
            byte => out.extend([b'%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    out
}
