//! Verbs of floats: `%e`, `%f`, `%g` and others, with Go's digits.

use super::directive::Spec;
use super::printer::Printer;
use crate::builtins::BuiltinError;

/// Prints a `float64`. Returns `false` if it does not support the verb.
pub fn print(printer: &mut Printer<'_, '_>, float: f64, verb: char) -> Result<bool, BuiltinError> {
    let precision = printer.spec.precision;
    if let Some(precision) = precision {
        printer.reserve(precision)?;
    }
    let magnitude = float.abs();
    let sign = match (float.is_sign_negative(), &printer.spec) {
        (true, _) => "-",
        (false, Spec { plus: true, .. }) => "+",
        (false, Spec { space: true, .. }) => " ",
        _ => "",
    };
    if let ('f' | 'F', None, false) = (verb, printer.spec.width, printer.spec.sharp) {
        printer.raw(sign.as_bytes())?;
        let precision = precision.unwrap_or(6);
        let digits = precision.min(DIGITS);
        printer.show(format_args!("{magnitude:.digits$}"))?;
        printer.fill(b'0', precision - digits)?;
        return Ok(true);
    }
    let text = match verb {
        'v' | 'g' => general(magnitude, precision),
        'G' => general(magnitude, precision).to_uppercase(),
        'e' => scientific(magnitude, precision.unwrap_or(6)),
        'E' => scientific(magnitude, precision.unwrap_or(6)).to_uppercase(),
        'f' | 'F' => fixed(magnitude, precision.unwrap_or(6)),
        'b' => binary(magnitude),
        'x' => hexadecimal(magnitude, precision),
        'X' => hexadecimal(magnitude, precision).to_uppercase(),
        _ => return Ok(false),
    };
    let text = if printer.spec.sharp && verb != 'b' {
        with_point(text, verb, precision)
    } else {
        text
    };
    let spec = printer.spec;
    match spec.width {
        // the sign precedes leading zeros
        Some(width) if spec.zero && !spec.minus && !sign.is_empty() => {
            printer.raw(sign.as_bytes())?;
            printer.fill(b'0', width.saturating_sub(sign.len() + text.len()))?;
            printer.raw(text.as_bytes())?;
        }
        _ if sign.is_empty() => printer.padded(text.as_bytes())?,
        _ => printer.padded(format!("{sign}{text}").as_bytes())?,
    }
    Ok(true)
}

/// Number of digits after the decimal point beyond which all digits are zeros for every float. The library limits it to
/// 16 bits.
const DIGITS: usize = 1100;

/// `%f`. Digits after the first [`DIGITS`] of the fraction are zeros.
fn fixed(float: f64, precision: usize) -> String {
    let digits = precision.min(DIGITS);
    let zeros = "0".repeat(precision - digits);
    format!("{float:.digits$}{zeros}")
}

/// Returns the significant digits without trailing zeros, and the exponent of the first.
fn digits(float: f64, precision: Option<usize>) -> (String, i32) {
    let text = match precision {
        None => format!("{float:e}"),
        Some(precision) => format!("{float:.*e}", precision.saturating_sub(1).min(DIGITS)),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

/// `%g`: the shortest or the given number of digits, with an exponent for large and small numbers.
pub(super) fn general(float: f64, precision: Option<usize>) -> String {
    const SHORTEST: usize = 6;
    let (digits, exponent) = digits(float, precision);
    let integer_digits = usize::try_from(exponent + 1).unwrap_or(0);
    let limit = match precision.map(|precision| precision.max(1)) {
        None => SHORTEST,
        Some(precision) if precision > digits.len() && digits.len() >= integer_digits => {
            digits.len()
        }
        Some(precision) => precision,
    };
    if exponent < -4 || usize::try_from(exponent).is_ok_and(|exponent| exponent >= limit) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{first}{point}{rest}{}", exponent_text('e', exponent));
    }
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    match digits.split_at_checked(integer_digits) {
        Some((digits, "")) => digits.to_owned(),
        Some((integer, fraction)) => format!("{integer}.{fraction}"),
        None => format!("{digits}{}", "0".repeat(integer_digits - digits.len())),
    }
}

/// `%e`. Digits after the first [`DIGITS`] of the fraction are zeros.
pub(super) fn scientific(float: f64, precision: usize) -> String {
    let digits = precision.min(DIGITS);
    let text = format!("{float:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(precision - digits);
    let exponent = exponent_text('e', exponent.parse().unwrap_or(0));
    format!("{mantissa}{zeros}{exponent}")
}

/// Formats an exponent with its sign and at least two digits.
fn exponent_text(letter: char, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}

/// Number of fraction bits of an `f64`.
const FRACTION: u32 = 52;

/// Returns the integer mantissa and the binary exponent.
fn decompose(float: f64) -> (u64, i32) {
    let bits = float.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let exponent = i32::try_from(bits >> FRACTION & 0x7ff).unwrap_or(0);
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << FRACTION, exponent - 1075)
    }
}

/// `%b`: mantissa and binary exponent, in decimal digits.
fn binary(float: f64) -> String {
    let (mantissa, exponent) = decompose(float);
    format!("{mantissa}p{exponent:+}")
}

/// `%x`: one digit before the point.
fn hexadecimal(float: f64, precision: Option<usize>) -> String {
    /// Bit position of the digit before the point.
    const ONE: u32 = 60;
    let (mantissa, exponent) = decompose(float);
    let mut mantissa = mantissa;
    let mut exponent = if mantissa == 0 { 0 } else { exponent + 52 };
    if mantissa != 0 {
        let shift = mantissa.leading_zeros() - (63 - ONE);
        mantissa <<= shift;
        exponent -= i32::try_from(shift).unwrap_or(0) - 8;
    }
    if let Some(digits @ 0..15) = precision {
        let dropped_bits = ONE - 4 * u32::try_from(digits).unwrap_or(0);
        let extra = mantissa & ((1 << dropped_bits) - 1);
        mantissa >>= dropped_bits;
        let half = 1_u64 << (dropped_bits - 1);
        if extra > half || (extra == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= dropped_bits;
        if mantissa >> (ONE + 1) & 1 == 1 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let fraction = format!("{:015x}", mantissa & ((1 << ONE) - 1));
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(precision) => fraction
            .chars()
            .chain(std::iter::repeat('0'))
            .take(precision)
            .collect(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent = exponent_text('p', exponent);
    format!("0x{}{point}{fraction}{exponent}", mantissa >> ONE)
}

/// Applies the flag `#`: always a decimal point and, for `%g`, all requested digits.
fn with_point(text: String, verb: char, precision: Option<usize>) -> String {
    let is_exponent_letter = |c: char| match verb {
        'x' | 'X' => matches!(c, 'p' | 'P'),
        _ => matches!(c, 'e' | 'E'),
    };
    let (mut number, exponent) = match text.find(is_exponent_letter) {
        Some(exponent_start) => {
            let (number, exponent) = text.split_at(exponent_start);
            (number.to_owned(), exponent.to_owned())
        }
        None => (text, String::new()),
    };
    let mut digits = match verb {
        'v' | 'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    };
    let significant = number
        .chars()
        .filter(|c| *c != '.')
        .skip_while(|c| *c == '0')
        .count();
    digits = digits.saturating_sub(significant);
    if !number.contains('.') {
        digits = digits.saturating_sub(usize::from(number == "0"));
        number.push('.');
    }
    number.extend(std::iter::repeat_n('0', digits));
    number + &exponent
}
