//! Types of plain scalars.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::value::{NumberBuf, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// A 64-bit integer, signed or unsigned.
    Int(i128),
    Float(f64),
    /// `<<`: a merge key in the position of a key, otherwise a string.
    Merge,
    Str,
}

impl Scalar {
    /// Returns the tag as in messages of Go's decoder.
    fn tag(&self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Merge => "!!merge",
            Self::Str => "!!str",
        }
    }
}

/// Returns the type and value of a scalar without quotes and tag.
pub(super) fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Scalar::Float(f64::INFINITY);
        }
        "<<" => return Scalar::Merge,
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match text.as_bytes().first() {
        // Go's own floats have underscores only between digits
        Some(b'.') => {
            let mut parts = text.split('_').peekable();
            let digit_at = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            while let Some(part) = parts.next() {
                let next = parts.peek();
                if next.is_some_and(|next| {
                    !digit_at(part.chars().last()) || !digit_at(next.chars().next())
                }) {
                    return Scalar::Str;
                }
            }
            float(&text.replace('_', "")).map_or(Scalar::Str, Scalar::Float)
        }
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let plain = text.replace('_', "");
            let number = int(&plain).map(Scalar::Int);
            number
                .or_else(|| float(&plain).map(Scalar::Float))
                .unwrap_or(Scalar::Str)
        }
        _ => Scalar::Str,
    }
}

/// Returns the value of a scalar with a tag. `tag` is without its handle.
pub(super) fn resolve_tagged(tag: &str, text: &str) -> Result<TaggedScalar, String> {
    let scalar = resolve(text);
    let wrong = |scalar: &Scalar| {
        Err(format!(
            "cannot decode {} `{text}` as a !!{tag}",
            scalar.tag()
        ))
    };
    Ok(TaggedScalar::Scalar(match (tag, scalar) {
        ("null", Scalar::Null) => Scalar::Null,
        ("bool", Scalar::Bool(b)) => Scalar::Bool(b),
        ("int", Scalar::Int(i)) => Scalar::Int(i),
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is wanted")]
        ("float", Scalar::Int(i)) => Scalar::Float(i as f64),
        ("float", Scalar::Float(f)) => Scalar::Float(f),
        ("timestamp", scalar) => match rfc3339(text) {
            Some(time) => return Ok(TaggedScalar::Text(time.into_bytes())),
            None => return wrong(&scalar),
        },
        ("binary", _) => {
            let packed: String = text.split_ascii_whitespace().collect();
            let bytes = STANDARD.decode(packed);
            let bytes =
                bytes.map_err(|_| "!!binary value contains invalid base64 data".to_owned())?;
            return Ok(TaggedScalar::Text(bytes));
        }
        ("null" | "bool" | "int" | "float", scalar) => return wrong(&scalar),
        _ => Scalar::Str,
    }))
}

pub(super) enum TaggedScalar {
    Scalar(Scalar),
    Text(Vec<u8>),
}

/// Parses an integer like Go's `ParseInt` and `ParseUint` with base 0.
fn int(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    // with a sign it is a signed integer
    let signed = value != magnitude || text.starts_with('+');
    (!signed || i64::try_from(value).is_ok()).then_some(value)
}

/// Parses a decimal float within the range of 64 bits.
fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next()?;
    if !mantissa
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return None;
    }
    text.parse().ok().filter(|f: &f64| f.is_finite())
}

/// Returns `true` if a plain scalar is a decimal number that is out of the range of 64-bit floats. [`resolve`] returns
/// it as a string, as Go's library does.
pub(super) fn is_out_of_range(text: &str) -> bool {
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let begins_as_number = digits.starts_with(|c: char| c == '.' || c.is_ascii_digit());
    begins_as_number && plain.parse().is_ok_and(|f: f64| f.is_infinite())
}

/// Returns the value of a float, or an error if it has no JSON form.
pub(super) fn float_value(f: f64) -> Result<Value, &'static str> {
    match NumberBuf::from_f64(f) {
        Some(number) => Ok(Value::number(number)),
        None if f.is_nan() => Err("NaN"),
        None if f > 0.0 => Err("+Inf"),
        None => Err("-Inf"),
    }
}

/// Splits a timestamp: year, month, day and the rest.
fn date(text: &str) -> Option<(u32, u32, u32, &str)> {
    let (year, rest) = text.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (day, rest) = rest.split_at_checked(end)?;
    let number = |text: &str, max_digits: usize| {
        let good = (1..=max_digits).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| good)
    };
    let year = number(year, 4).filter(|_| year.len() == 4)?;
    let (month, day) = (number(month, 2)?, number(day, 2)?);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days)
        .contains(&day)
        .then_some((year, month, day, rest))
}

/// Converts a timestamp to its JSON form.
pub(super) fn rfc3339(text: &str) -> Option<String> {
    let (year, month, day, rest) = date(text)?;
    let day = format!("{year:04}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(format!("{day}T00:00:00Z"));
    }
    let zoned = rest.starts_with(['T', 't']);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.'))
        .unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(end)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock
        .split(':')
        .map(|part| part.parse::<u32>().ok().filter(|_| part.len() <= 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let zone = match zone {
        "Z" if zoned => "Z",
        "" if !zoned => "Z",
        zone if zoned && is_offset(zone) => zone,
        _ => return None,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = fraction.get(..9).unwrap_or(fraction).trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let zone = if matches!(zone, "+00:00" | "-00:00") {
        "Z"
    } else {
        zone
    };
    Some(format!(
        "{day}T{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}"
    ))
}

fn is_offset(zone: &str) -> bool {
    match zone.as_bytes() {
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
