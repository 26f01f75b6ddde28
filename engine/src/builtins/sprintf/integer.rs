//! Verbs of integers: digits in other bases, characters, padding.

use num_bigint::{BigInt, Sign};

use super::printer::Printer;
use super::text::ascii_escape;
use crate::bug::bug;
use crate::builtins::BuiltinError;
use crate::value::display;

/// Prints an `int64`. Returns `false` if it does not support the verb.
pub fn print(printer: &mut Printer<'_, '_>, i: i64, verb: char) -> Result<bool, BuiltinError> {
    let magnitude = i.unsigned_abs();
    let (mut decimal, mut other) = (itoa::Buffer::new(), DigitBuffer::new());
    let digits = match verb {
        'd' | 'v' => {
            let spec = &printer.spec;
            if spec.width.is_none() && spec.precision.is_none() && !spec.plus && !spec.space {
                printer.raw(decimal.format(i).as_bytes())?;
                return Ok(true);
            }
            decimal.format(magnitude)
        }
        'b' => other.format(magnitude, 1, b'a'),
        'o' | 'O' => other.format(magnitude, 3, b'a'),
        'x' => other.format(magnitude, 4, b'a'),
        'X' => other.format(magnitude, 4, b'A'),
        'c' => {
            printer.padded(character(i).encode_utf8(&mut [0; 4]).as_bytes())?;
            return Ok(true);
        }
        'q' => {
            let quoted_char = quote_char(character(i), printer.spec.plus);
            printer.padded(quoted_char.as_bytes())?;
            return Ok(true);
        }
        'U' => {
            code_point(printer, i)?;
            return Ok(true);
        }
        _ => return Ok(false),
    };
    print_signed(printer, i < 0, digits, verb)?;
    Ok(true)
}

/// Buffer for the digits of a number in a base that is a power of two.
pub struct DigitBuffer([u8; 64]);

impl DigitBuffer {
    pub fn new() -> Self {
        Self([b'0'; 64])
    }

    /// Formats a number in digits of `bits` bits. `letter` is the digit ten.
    pub fn format(&mut self, number: u64, bits: u32, letter: u8) -> &str {
        let (mut remaining, mut count) = (number, 0);
        for digit_place in self.0.iter_mut().rev() {
            let digit = u8::try_from(remaining & ((1 << bits) - 1))
                .ok()
                .unwrap_or_else(|| bug!("a digit of more than a byte"));
            *digit_place = match digit {
                0..10 => b'0' + digit,
                _ => letter + (digit - 10),
            };
            count += 1;
            remaining >>= bits;
            if remaining == 0 {
                break;
            }
        }
        let (_, digits) = self.0.split_at(self.0.len() - count);
        let digits = std::str::from_utf8(digits).ok();
        digits.unwrap_or_else(|| bug!("digits are not UTF-8"))
    }
}

/// Returns the character for a code point, or U+FFFD if it is invalid.
fn character(i: i64) -> char {
    u32::try_from(i)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn quote_char(c: char, ascii: bool) -> String {
    let mut text = String::from("'");
    match c {
        '\'' | '\\' => text.extend(['\\', c]),
        _ if ascii && !c.is_ascii() => text.push_str(&ascii_escape(c)),
        _ => {
            // writing to a string does not fail
            let _ = display::write_escaped(c, &mut text);
        }
    }
    text.push('\'');
    text
}

fn code_point(printer: &mut Printer<'_, '_>, i: i64) -> Result<(), BuiltinError> {
    let digits = printer.spec.precision.unwrap_or(0).max(4);
    printer.reserve(digits)?;
    let number = format!("{i:X}");
    let zeros = "0".repeat(digits.saturating_sub(number.len()));
    let mut text = format!("U+{zeros}{number}");
    if printer.spec.sharp
        && let Some(c) = u32::try_from(i).ok().and_then(char::from_u32)
        && display::is_print(c)
    {
        text.extend([' ', '\'', c, '\'']);
    }
    printer.without_zero(|printer| printer.padded(text.as_bytes()))
}

/// Writes digits with sign, prefix and leading zeros.
fn print_signed(
    printer: &mut Printer<'_, '_>,
    negative: bool,
    digits: &str,
    verb: char,
) -> Result<(), BuiltinError> {
    let spec = printer.spec;
    let sign = match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    };
    // the number of leading zeros comes from the precision or else from the width
    let min_digits = match (spec.precision, spec.width) {
        (Some(0), _) if digits == "0" => {
            return printer.without_zero(|printer| printer.padded(b""));
        }
        (Some(precision), _) => precision,
        (None, Some(width)) if spec.zero && !spec.minus => width.saturating_sub(sign.len()),
        _ => 0,
    };
    let zeros = min_digits.saturating_sub(digits.len());
    let leads_with_zero = zeros > 0 || digits.starts_with('0');
    let prefix = match verb {
        'O' if spec.sharp && !leads_with_zero => "0o0",
        'O' => "0o",
        'b' if spec.sharp => "0b",
        'o' if spec.sharp && !leads_with_zero => "0",
        'x' if spec.sharp => "0x",
        'X' if spec.sharp => "0X",
        _ => "",
    };
    let length = sign.len() + prefix.len() + zeros + digits.len();
    let missing = spec.width.unwrap_or(0).saturating_sub(length);
    if !spec.minus {
        printer.fill(b' ', missing)?;
    }
    printer.raw(sign.as_bytes())?;
    printer.raw(prefix.as_bytes())?;
    printer.fill(b'0', zeros)?;
    printer.raw(digits.as_bytes())?;
    if spec.minus {
        printer.fill(b' ', missing)?;
    }
    Ok(())
}

/// Prints a `*big.Int`, which has rules of its own.
pub fn print_big(
    printer: &mut Printer<'_, '_>,
    big: &BigInt,
    verb: char,
) -> Result<(), BuiltinError> {
    let spec = printer.spec;
    let magnitude = big.magnitude();
    let digits = match verb {
        'b' => magnitude.to_str_radix(2),
        'o' | 'O' => magnitude.to_str_radix(8),
        'd' | 's' | 'v' => magnitude.to_str_radix(10),
        'x' => magnitude.to_str_radix(16),
        'X' => magnitude.to_str_radix(16).to_uppercase(),
        _ => return printer.raw(format!("%!{verb}(big.Int={big})").as_bytes()),
    };
    let sign = match (big.sign() == Sign::Minus, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    };
    let prefix = match verb {
        'O' => "0o",
        'b' if spec.sharp => "0b",
        'o' if spec.sharp => "0",
        'x' if spec.sharp => "0x",
        'X' if spec.sharp => "0X",
        _ => "",
    };
    let mut zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    let length = sign.len() + prefix.len() + zeros + digits.len();
    let missing = spec.width.unwrap_or(0).saturating_sub(length);
    let (mut left, mut right) = (0, 0);
    if spec.minus {
        right = missing;
    } else if spec.zero && spec.precision.is_none() {
        zeros = missing;
    } else {
        left = missing;
    }
    printer.fill(b' ', left)?;
    printer.raw(sign.as_bytes())?;
    printer.raw(prefix.as_bytes())?;
    printer.fill(b'0', zeros)?;
    printer.raw(digits.as_bytes())?;
    printer.fill(b' ', right)
}
