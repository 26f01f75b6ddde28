//! Quotes strings as Rego's messages do: printable characters verbatim, all others as Go escapes.

use std::fmt::{self, Write};

/// Writes a string between double quotes, with the escapes of Rego. Fails only if `out` fails.
pub fn write_quoted<W: Write + ?Sized>(out: &mut W, text: &str) -> fmt::Result {
    out.write_char('"')?;
    write_escaped(out, text, '"')?;
    out.write_char('"')
}

/// Returns a string between double quotes, with the escapes of Rego.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let Ok(()) = write_quoted(&mut out, text) else {
        return out;
    };
    out
}

/// Writes the inside of a quoted string. Escapes `delimiter`, too.
pub(super) fn write_escaped<W: Write + ?Sized>(
    out: &mut W,
    text: &str,
    delimiter: char,
) -> fmt::Result {
    text.chars()
        .try_for_each(|c| write_escaped_char(out, c, delimiter))
}

fn write_escaped_char<W: Write + ?Sized>(out: &mut W, c: char, delimiter: char) -> fmt::Result {
    match c {
        '\\' => out.write_str("\\\\"),
        ' '..='~' => {
            if c == delimiter {
                out.write_char('\\')?;
            }
            out.write_char(c)
        }
        '\x07' => out.write_str("\\a"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x0b' => out.write_str("\\v"),
        '\0'..='\x7f' => write!(out, "\\x{:02x}", u32::from(c)),
        _ if is_printable(c) => out.write_char(c),
        '\u{80}'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c)),
        _ => write!(out, "\\U{:08x}", u32::from(c)),
    }
}

/// Returns `true` for letters, marks, numbers, punctuation and symbols of Unicode 15, the version of Go's
/// `unicode.IsPrint`.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // Uses the table of the standard library: after the first character of a string, its debug form escapes exactly the
    // characters that are not printable.
    let mut buffer = [b'.'; 5];
    let Some(tail) = buffer.get_mut(1..) else {
        return false;
    };
    let end = 1 + c.encode_utf8(tail).len();
    let text = buffer
        .get(..end)
        .and_then(|bytes| str::from_utf8(bytes).ok())
        .unwrap_or_default();
    text.escape_debug().nth(1) == Some(c) && !is_newer_than_unicode_15(c)
}

fn is_newer_than_unicode_15(c: char) -> bool {
    let c = u32::from(c);
    let ranges_up_to_c = NEWER_THAN_UNICODE_15.partition_point(|&(first, _)| first <= c);
    ranges_up_to_c
        .checked_sub(1)
        .and_then(|index| NEWER_THAN_UNICODE_15.get(index))
        .is_some_and(|&(_, last)| c <= last)
}

/// Printable characters that Unicode 15.1, 16 and 17 added, as inclusive ranges.
#[rustfmt::skip]
const NEWER_THAN_UNICODE_15: &[(u32, u32)] = &[
    (0x88f, 0x88f), (0x897, 0x897), (0xc5c, 0xc5c), (0xcdc, 0xcdc), (0x1acf, 0x1add),
    (0x1ae0, 0x1aeb), (0x1b4e, 0x1b4f), (0x1b7f, 0x1b7f), (0x1c89, 0x1c8a), (0x20c1, 0x20c1),
    (0x2427, 0x2429), (0x2b96, 0x2b96), (0x2ffc, 0x2fff), (0x31e4, 0x31e5), (0x31ef, 0x31ef),
    (0xa7cb, 0xa7cf), (0xa7d2, 0xa7d2), (0xa7d4, 0xa7d4), (0xa7da, 0xa7dc), (0xa7f1, 0xa7f1),
    (0xfbc3, 0xfbd2), (0xfd90, 0xfd91), (0xfdc8, 0xfdce), (0x105c0, 0x105f3), (0x10940, 0x10959),
    (0x10d40, 0x10d65), (0x10d69, 0x10d85), (0x10d8e, 0x10d8f), (0x10ec2, 0x10ec7),
    (0x10ed0, 0x10ed8), (0x10efa, 0x10efc), (0x11380, 0x11389), (0x1138b, 0x1138b),
    (0x1138e, 0x1138e), (0x11390, 0x113b5), (0x113b7, 0x113c0), (0x113c2, 0x113c2),
    (0x113c5, 0x113c5), (0x113c7, 0x113ca), (0x113cc, 0x113d5), (0x113d7, 0x113d8),
    (0x113e1, 0x113e2), (0x116d0, 0x116e3), (0x11b60, 0x11b67), (0x11bc0, 0x11be1),
    (0x11bf0, 0x11bf9), (0x11db0, 0x11ddb), (0x11de0, 0x11de9), (0x11f5a, 0x11f5a),
    (0x13460, 0x143fa), (0x16100, 0x16139), (0x16d40, 0x16d79), (0x16ea0, 0x16eb8),
    (0x16ebb, 0x16ed3), (0x16ff2, 0x16ff6), (0x187f8, 0x187ff), (0x18cff, 0x18cff),
    (0x18d09, 0x18d1e), (0x18d80, 0x18df2), (0x1cc00, 0x1ccfc), (0x1cd00, 0x1ceb3),
    (0x1ceba, 0x1ced0), (0x1cee0, 0x1cef0), (0x1e5d0, 0x1e5fa), (0x1e5ff, 0x1e5ff),
    (0x1e6c0, 0x1e6de), (0x1e6e0, 0x1e6f5), (0x1e6fe, 0x1e6ff), (0x1f6d8, 0x1f6d8),
    (0x1f777, 0x1f77a), (0x1f8b2, 0x1f8bb), (0x1f8c0, 0x1f8c1), (0x1f8d0, 0x1f8d8),
    (0x1fa54, 0x1fa57), (0x1fa89, 0x1fa8a), (0x1fa8e, 0x1fa8f), (0x1fabe, 0x1fabe),
    (0x1fac6, 0x1fac6), (0x1fac8, 0x1fac8), (0x1facd, 0x1facd), (0x1fadc, 0x1fadc),
    (0x1fadf, 0x1fadf), (0x1fae9, 0x1faea), (0x1faef, 0x1faef), (0x1fbcb, 0x1fbef),
    (0x1fbfa, 0x1fbfa), (0x2b73a, 0x2b73f), (0x2cea2, 0x2cead), (0x2ebf0, 0x2ee5d),
    (0x323b0, 0x33479),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        for (text, expected) in [
            ("", r#""""#),
            ("a\"b\\'`", r#""a\"b\\'`""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\0\u{1f}\u{7f}\u{80}", r#""\x00\x1f\x7f\u0080""#),
            (
                "\u{a0}\u{ad}\u{feff}\u{2028}\u{e000}",
                r#""\u00a0\u00ad\ufeff\u2028\ue000""#,
            ),
            ("é一😀\u{301}\u{378}", "\"é一😀\u{301}\\u0378\""),
            ("\u{1ffff}\u{1fae9}", r#""\U0001ffff\U0001fae9""#),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
