//! Resolves plain and tagged YAML scalars.

use super::time;
use super::yaml::BlockError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    /// Timestamp, in RFC 3339 form.
    Time(String),
    String(String),
    /// `<<`, which merges another mapping.
    Merge,
}

impl Scalar {
    /// Returns the YAML tag of the value.
    pub(super) fn tag(&self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Boolean(_) => "!!bool",
            Self::Integer(_) | Self::Unsigned(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Time(_) => "!!timestamp",
            Self::String(_) => "!!str",
            Self::Merge => "!!merge",
        }
    }
}

/// Resolves a scalar, with an explicit tag if it has one.
///
/// # Errors
/// The text does not fit the tag.
pub(super) fn resolve(text: &str, plain: bool, tag: Option<&str>) -> Result<Scalar, BlockError> {
    let tag = match tag {
        None if plain => return Ok(resolve_plain(text)),
        Some("!!binary") => return decode_binary(text),
        Some(tag @ ("!!null" | "!!bool" | "!!int" | "!!float" | "!!timestamp")) => tag,
        _ => return Ok(Scalar::String(text.to_owned())),
    };
    match (tag, resolve_plain(text)) {
        (_, value) if value.tag() == tag => Ok(value),
        #[expect(clippy::cast_precision_loss, reason = "`!!float` asks for it")]
        ("!!float", Scalar::Integer(value)) => Ok(Scalar::Float(value as f64)),
        #[expect(clippy::cast_precision_loss, reason = "`!!float` asks for it")]
        ("!!float", Scalar::Unsigned(value)) => Ok(Scalar::Float(value as f64)),
        (_, value) => Err(BlockError::new(format!(
            "cannot decode {} `{text}` as a {tag}",
            value.tag()
        ))),
    }
}

fn decode_binary(text: &str) -> Result<Scalar, BlockError> {
    use base64::Engine;
    let compact: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    match base64::engine::general_purpose::STANDARD.decode(compact) {
        Ok(bytes) => Ok(Scalar::String(String::from_utf8_lossy(&bytes).into_owned())),
        Err(_) => Err(BlockError::new(
            "!!binary value contains invalid base64 data",
        )),
    }
}

fn resolve_plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Boolean(true),
        "false" | "False" | "FALSE" => return Scalar::Boolean(false),
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Scalar::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        "<<" => return Scalar::Merge,
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Scalar::String(text.to_owned());
    }
    if let Some(time) = time::parse(text) {
        return Scalar::Time(time);
    }
    resolve_number(&text.replace('_', "")).unwrap_or_else(|| Scalar::String(text.to_owned()))
}

fn resolve_number(text: &str) -> Option<Scalar> {
    if let Some(integer) = resolve_integer(text) {
        return Some(integer);
    }
    if !is_float(text) {
        return None;
    }
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .map(Scalar::Float)
}

/// Parses an integer with Go's prefixes: `0x`, `0o`, `0b`, and `0` for octal.
fn resolve_integer(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let prefixed = |prefixes: [&str; 2]| {
        prefixes
            .iter()
            .find_map(|prefix| digits.strip_prefix(prefix))
    };
    let (radix, digits) = if let Some(rest) = prefixed(["0x", "0X"]) {
        (16, rest)
    } else if let Some(rest) = prefixed(["0o", "0O"]) {
        (8, rest)
    } else if let Some(rest) = prefixed(["0b", "0B"]) {
        (2, rest)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, digits)
    } else {
        (10, digits)
    };
    // `i128` would accept a second sign, Go does not
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0i64.checked_sub_unsigned(magnitude).map(Scalar::Integer)
    } else {
        Some(i64::try_from(magnitude).map_or(Scalar::Unsigned(magnitude), Scalar::Integer))
    }
}

/// Returns `true` if a text is a float: digits with at most one decimal point, and an optional exponent.
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        ),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(integer)
        && digits(fraction)
        && !(integer.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}
