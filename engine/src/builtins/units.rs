//! Amounts with units: `10Ki`, `500m`, `1.5GB`.

use num_bigint::{BigInt, Sign};

use super::strings::simple_lower;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::bug::bug;
use crate::limits::NUMBER_EXPONENT;
use crate::value::text::lossy;
use crate::value::{Number, NumberBuf, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "units.parse",
        "x: string => y: number",
        "The number of an amount with a decimal or binary unit. `m` is a thousandth.",
        parse,
    ),
    Builtin::new(
        "units.parse_bytes",
        "x: string => y: number",
        "The number of bytes of an amount with a unit.",
        parse_bytes,
    ),
];

const EXPONENT_DIGITS: usize = 6;

/// Decimal places of amounts that are not integers.
const PLACES: u32 = 10;

struct Amount<'a> {
    number: &'a [u8],
    unit: &'a [u8],
}

/// Splits an amount. An `e` belongs to the number if a digit or a sign follows, and otherwise to the unit.
fn split(text: &[u8]) -> Amount<'_> {
    let digit_or_sign = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_digit() || b"+-".contains(b));
    let end = text
        .iter()
        .enumerate()
        .position(|(index, byte)| match byte {
            b'0'..=b'9' | b'.' | b'+' | b'-' => false,
            b'e' | b'E' => !digit_or_sign(text.get(index + 1)),
            _ => true,
        });
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Amount { number, unit }
}

/// Returns the factor of a unit, a power of ten or two, given its lower-case prefix.
fn factor(prefix: &[u8]) -> Option<u64> {
    let (letter, binary) = match prefix {
        [letter] => (letter, false),
        [letter, b'i'] => (letter, true),
        _ => return None,
    };
    let (decimal, power) = match letter {
        b'k' => (1_000, 1),
        b'm' => (1_000_000, 2),
        b'g' => (1_000_000_000, 3),
        b't' => (1_000_000_000_000, 4),
        b'p' => (1_000_000_000_000_000, 5),
        b'e' => (1_000_000_000_000_000_000, 6),
        _ => return None,
    };
    Some(if binary { 1 << (10 * power) } else { decimal })
}

/// Parses a number as an integer and a power of ten.
fn decimal(number: &[u8]) -> Option<(BigInt, i64)> {
    let text = std::str::from_utf8(number).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
        None => (text, 0_i64),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (integer, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{integer}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let sign = if mantissa.starts_with('-') {
        Sign::Minus
    } else {
        Sign::Plus
    };
    let magnitude = digits.parse().ok()?;
    let fraction_digits = i64::try_from(fraction.len()).ok()?;
    Some((
        BigInt::from_biguint(sign, magnitude),
        exponent - fraction_digits,
    ))
}

/// Removes quotes and rejects blanks. Messages contain the function's name.
fn unquote(name: &str, text: &[u8]) -> Result<Vec<u8>, BuiltinError> {
    if text.contains(&b' ') {
        return Err(BuiltinError::error(format!(
            "{name}: spaces not allowed in resource strings"
        )));
    }
    Ok(text.iter().copied().filter(|b| *b != b'"').collect())
}

/// Returns `true` if the exponent has too many digits.
fn exponent_is_long(number: &[u8]) -> bool {
    let mut parts = number.splitn(2, |b| b.eq_ignore_ascii_case(&b'e'));
    let exponent = parts.nth(1).unwrap_or_default();
    exponent.iter().filter(|b| b.is_ascii_digit()).count() > EXPONENT_DIGITS
}

fn parse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let reject = |problem: &str| BuiltinError::error(format!("units.parse: {problem}"));
    let text = unquote("units.parse", text.as_bytes())?;
    let Amount { number, unit } = split(&text);
    if number.is_empty() {
        return Err(reject("no amount provided"));
    }
    if exponent_is_long(number) {
        return Err(reject("exponent too large"));
    }
    // the case of the first letter distinguishes milli from mega; the case of the others is ignored
    let (first, letters_after_first) = unit.split_at(usize::from(!unit.is_empty()));
    let letters_after_first: String = lossy(letters_after_first)
        .chars()
        .map(simple_lower)
        .collect();
    let unit = [
        first.to_ascii_lowercase().as_slice(),
        letters_after_first.as_bytes(),
    ]
    .concat();
    let (factor, milli) = match unit.as_slice() {
        b"" => (1, false),
        b"m" if first == b"m" => (1, true),
        prefix => {
            let unknown = || {
                reject(&format!(
                    "unit {}{letters_after_first} not recognized",
                    lossy(first)
                ))
            };
            (factor(prefix).ok_or_else(unknown)?, false)
        }
    };
    let (amount, mut power) =
        decimal(number).ok_or_else(|| reject("could not parse amount to a number"))?;
    power -= if milli { 3 } else { 0 };
    let amount = amount * factor;
    if power > NUMBER_EXPONENT {
        return Err(BuiltinError::error("number too big"));
    }
    let number = if power >= 0 {
        let power = u32::try_from(power).unwrap_or_else(|_| bug!("a power beyond its bound"));
        NumberBuf::from(amount * BigInt::from(10).pow(power))
    } else {
        fraction(&amount, power.unsigned_abs())
    };
    Ok(call.arena.number(number))
}

/// Returns `amount / 10^power` as an integer or with a fixed number of decimal places, rounded half away from zero.
fn fraction(amount: &BigInt, power: u64) -> NumberBuf {
    let digits = amount.magnitude().to_str_radix(10);
    let length = u64::try_from(digits.len()).unwrap_or(u64::MAX);
    if *amount == BigInt::ZERO {
        return NumberBuf::Int(0);
    }
    let ten = |power: u64| BigInt::from(10).pow(u32::try_from(power).unwrap_or(u32::MAX));
    // rounds to zero
    if power > length + u64::from(PLACES) + 1 {
        return if amount.sign() == Sign::Minus {
            NumberBuf::Text("-0.0000000000".to_owned())
        } else {
            NumberBuf::Decimal(10, 0)
        };
    }
    let divisor = ten(power);
    if amount % &divisor == BigInt::ZERO {
        return NumberBuf::from(amount / divisor);
    }
    let scaled: BigInt = amount * ten(PLACES.into()) * 2;
    let half = if scaled.sign() == Sign::Minus {
        -&divisor
    } else {
        divisor.clone()
    };
    let rounded: BigInt = (scaled + half) / (divisor * 2);
    let sign = if amount.sign() == Sign::Minus {
        "-"
    } else {
        ""
    };
    let digits = format!("{:0>11}", rounded.magnitude().to_str_radix(10));
    let (integer, fraction_digits) = digits.split_at(digits.len() - PLACES as usize);
    let text = format!("{sign}{integer}.{fraction_digits}");
    NumberBuf::parse(&text).unwrap_or(NumberBuf::Text(text))
}

/// Fast path for amounts with few digits and a unit.
fn plain_bytes(text: &[u8]) -> Option<i64> {
    /// Number of digits that always fit 64 bits.
    const DIGITS: usize = 18;
    let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, unit) = text
        .split_at_checked(count)
        .filter(|_| (1..=DIGITS).contains(&count))?;
    let amount = digits
        .iter()
        .fold(0_i64, |amount, digit| amount * 10 + i64::from(digit - b'0'));
    let factor = match *unit {
        [] => 1,
        [letter] => factor(&[letter.to_ascii_lowercase()])?,
        [letter, second] => match [letter, second].map(|b: u8| b.to_ascii_lowercase()) {
            [letter, b'b'] => factor(&[letter])?,
            prefix => factor(&prefix)?,
        },
        [letter, second, b'b' | b'B'] => {
            factor(&[letter, second].map(|b: u8| b.to_ascii_lowercase()))?
        }
        _ => return None,
    };
    amount.checked_mul(i64::try_from(factor).ok()?)
}

fn parse_bytes<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    if let Some(bytes) = plain_bytes(text.as_bytes()) {
        return Ok(ValueRef(RefRepr::Int(bytes)));
    }
    let reject = |problem: &str| BuiltinError::error(format!("units.parse_bytes: {problem}"));
    let lower: String = text.to_str().chars().map(simple_lower).collect();
    let lower = unquote("units.parse_bytes", lower.as_bytes())?;
    let Amount { number, unit } = split(&lower);
    if number.is_empty() {
        return Err(reject("no byte amount provided"));
    }
    if exponent_is_long(number) {
        return Err(reject("exponent too large"));
    }
    let factor = match unit {
        b"" => Some(1),
        _ => factor(unit.strip_suffix(b"b").unwrap_or(unit)),
    };
    let factor =
        factor.ok_or_else(|| reject(&format!("byte unit {} not recognized", lossy(unit))))?;
    let (amount, power) =
        decimal(number).ok_or_else(|| reject("could not parse byte amount to a number"))?;
    if power > NUMBER_EXPONENT {
        return Err(BuiltinError::error("number too big"));
    }
    let number = format!("{amount}e{power}");
    let bytes = Number::Text(&number).scaled(factor);
    Ok(call.arena.number(NumberBuf::from(bytes)))
}
