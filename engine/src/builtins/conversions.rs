//! Conversions between numbers and strings.

use num_bigint::BigUint;

use super::builtin_error::BuiltinErrorDetail;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::bug::bug;
use crate::value::{Kind, Number, NumberBuf, RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "to_number",
        "value: any<null, boolean, number, string> => num: number",
        "The number in a string; 1 for `true`, 0 for `false` and null.",
        to_number,
    )
    .listed(&["conversions"]),
    Builtin::new(
        "format_int",
        "number: number, base: number => output: string",
        "An integer's digits in base 2, 8, 10 or 16.",
        format_int,
    )
    .listed(&["strings"]),
];

fn format_int<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let number = operands.number(0)?;
    let base = match operands.number(1)? {
        Number::Int(base @ (2 | 8 | 10 | 16)) => base.unsigned_abs(),
        _ => {
            return Err(BuiltinError::type_error(
                "operand 2 must be one of {2, 8, 10, 16}",
            ));
        }
    };
    if let (Number::Int(i), 10) = (number, base) {
        return Ok(call.arena.text(itoa::Buffer::new().format(i)));
    }
    let base = u32::try_from(base).unwrap_or_else(|_| bug!("a base that is none of four"));
    Ok(call.arena.text(&number.truncate().to_str_radix(base)))
}

fn to_number<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operand = operands.operand(0);
    match operand.kind() {
        Kind::Null => Ok(ValueRef(RefRepr::Int(0))),
        Kind::Boolean => Ok(ValueRef(RefRepr::Int(operand.is_truthy().into()))),
        Kind::Number => Ok(operand),
        Kind::String => {
            let text = operands.text(0)?;
            if let Some(number) = text.as_utf8().and_then(NumberBuf::parse)
                && in_range(number.as_number())
            {
                return Ok(call.arena.number(number));
            }
            let number = read(text.as_bytes(), operand)?;
            Ok(call.arena.number(number))
        }
        _ => Err(BuiltinError::operand(
            1,
            &["null", "boolean", "number", "string"],
            operand,
        )),
    }
}

/// Returns `true` if a number is in the range of `f64`.
fn in_range(number: Number<'_>) -> bool {
    matches!(number, Number::Int(_) | Number::Decimal(..)) || number.to_f64().is_finite()
}

/// Parses floats that Go accepts and JSON does not: with a plus sign, leading zeros, no digit on one side of the
/// decimal point, underscores between digits, or hexadecimal. The result is in JSON syntax.
fn read(text: &[u8], operand: ValueRef<'_>) -> Result<NumberBuf, BuiltinError> {
    let reject = |reason| {
        BuiltinError::error(format!(
            "strconv.ParseFloat: parsing {operand}: {reason}",
            operand = operand.rego_text()
        ))
    };
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if [&b"inf"[..], b"infinity", b"nan"]
        .iter()
        .any(|name| unsigned.eq_ignore_ascii_case(name))
    {
        return Err(BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
            position: 1,
            want: &["valid number string"],
            got: "string".into(),
        })));
    }
    let sign = if negative { "-" } else { "" };
    let decimal = match unsigned {
        [b'0', b'x' | b'X', digits @ ..] => {
            let number = Spelled::scan(digits, true).ok_or_else(|| reject("invalid syntax"))?;
            format!(
                "{sign}{}",
                number
                    .hexadecimal()
                    .ok_or_else(|| reject("value out of range"))?
            )
        }
        digits => {
            let number = Spelled::scan(digits, false).ok_or_else(|| reject("invalid syntax"))?;
            format!("{sign}{}", number.decimal())
        }
    };
    if decimal.parse::<f64>().is_ok_and(f64::is_infinite) {
        return Err(reject("value out of range"));
    }
    NumberBuf::read(&decimal)
        .map_err(|error| BuiltinError::error(format!("invalid number: {error}")))
}

/// A float's digits, without underscores.
struct Spelled {
    whole: String,
    fraction: String,
    exponent: Option<String>,
}

impl Spelled {
    fn scan(text: &[u8], hexadecimal: bool) -> Option<Self> {
        // An underscore is valid between digits, and between the prefix `0x` and a digit.
        let mut digits_and_signs = String::with_capacity(text.len());
        let mut before = hexadecimal;
        for (index, byte) in text.iter().enumerate() {
            let digit = |b: &u8| b.is_ascii_digit() || (hexadecimal && b.is_ascii_hexdigit());
            if *byte == b'_' {
                if !before || !text.get(index + 1).is_some_and(digit) {
                    return None;
                }
                before = false;
            } else {
                digits_and_signs.push(char::from(*byte));
                before = digit(byte);
            }
        }
        let exponent_letters = if hexadecimal { ['p', 'P'] } else { ['e', 'E'] };
        let (mantissa, exponent) = match digits_and_signs.split_once(exponent_letters) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            // a hexadecimal mantissa needs an exponent
            None if hexadecimal => return None,
            None => (digits_and_signs.as_str(), None),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| {
            text.bytes()
                .all(|b| b.is_ascii_digit() || (hexadecimal && b.is_ascii_hexdigit()))
        };
        let power = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
        let valid = digits(integer)
            && digits(fraction)
            && !(integer.is_empty() && fraction.is_empty())
            && power
                .is_none_or(|power| !power.is_empty() && power.bytes().all(|b| b.is_ascii_digit()));
        valid.then(|| Self {
            whole: integer.trim_start_matches('0').to_owned(),
            fraction: fraction.to_owned(),
            exponent: exponent.map(str::to_owned),
        })
    }

    fn decimal(&self) -> String {
        let integer = if self.whole.is_empty() {
            "0"
        } else {
            &self.whole
        };
        let mut text = integer.to_owned();
        if !self.fraction.is_empty() {
            text.push('.');
            text.push_str(&self.fraction);
        }
        if let Some(exponent) = &self.exponent {
            text.push('e');
            text.push_str(exponent);
        }
        text
    }

    /// Returns the value in decimal digits, or `None` if it is beyond the range of floats.
    fn hexadecimal(&self) -> Option<String> {
        let digits = format!("{}{}", self.whole, self.fraction);
        // the digits are empty if the value is zero
        let mantissa = BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default();
        if mantissa == BigUint::ZERO {
            return Some("0".to_owned());
        }
        let exponent = self.exponent.as_deref().unwrap_or("0");
        let exponent_value: i64 = match exponent.parse() {
            Ok(value) => value,
            Err(_) if exponent.starts_with('-') => i64::MIN,
            Err(_) => return None,
        };
        let fraction_bits = i64::try_from(self.fraction.len()).ok()?.checked_mul(4)?;
        let twos = mantissa.trailing_zeros().unwrap_or(0);
        let mantissa = mantissa >> twos;
        let power = exponent_value
            .saturating_sub(fraction_bits)
            .saturating_add_unsigned(twos);
        if i64::try_from(mantissa.bits()).ok()?.saturating_add(power) > F64_BITS {
            return None;
        }
        match u32::try_from(power.unsigned_abs()) {
            Ok(power_of_two) if power >= 0 => Some((mantissa << power_of_two).to_string()),
            Ok(shift) if power >= -SMALLEST => {
                // m / 2^k = m * 5^k / 10^k
                Some(format!(
                    "{}e-{shift}",
                    mantissa * BigUint::from(5_u8).pow(shift)
                ))
            }
            // smaller than every representable number; parsing the result reports that
            _ => Some(format!("1e-{}", i32::MAX)),
        }
    }
}

/// Bits of the integer part of the largest `f64`.
const F64_BITS: i64 = 1024;

/// Exponent of two below which no number is representable.
const SMALLEST: i64 = crate::limits::NUMBER_EXPONENT;
