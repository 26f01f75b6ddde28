//! Object identifiers in dotted notation.

use num_bigint::BigUint;

use crate::bug::bug;
use crate::limits::DECIMAL_BYTES;

/// Returns `true` if bytes are a complete object identifier, with numbers of any size.
pub fn is_oid(oid: &[u8]) -> bool {
    if oid.len() > DECIMAL_BYTES {
        return false;
    }
    let mut first = true;
    for byte in oid {
        if first && *byte == 0x80 {
            return false;
        }
        first = byte & 0x80 == 0;
    }
    first && !oid.is_empty()
}

/// Formats an object identifier. An incomplete last number is omitted, as in Go.
pub fn text(oid: &[u8]) -> String {
    let mut text = String::new();
    for digits in oid.split_inclusive(|byte| byte & 0x80 == 0) {
        if digits.last().is_some_and(|last| last & 0x80 != 0) {
            break;
        }
        if text.is_empty() {
            let (root, arc) = first(digits);
            text = format!("{root}.{arc}");
        } else {
            text += &format!(".{}", number(digits));
        }
    }
    text
}

/// Returns the first two numbers, which are encoded as one.
fn first(digits: &[u8]) -> (u8, BigUint) {
    let number = number(digits);
    match u8::try_from(&number) {
        Ok(small @ 0..80) => (small / 40, BigUint::from(small % 40)),
        _ => (2, number - 80_u8),
    }
}

fn number(digits: &[u8]) -> BigUint {
    let digits: Vec<u8> = digits.iter().map(|digit| digit & 0x7f).collect();
    let number = BigUint::from_radix_be(&digits, 0x80);
    number.unwrap_or_else(|| bug!("a digit of more than seven bits"))
}

#[cfg(test)]
mod tests {
    use super::{is_oid, text};

    #[test]
    fn numbers_have_any_size() {
        for (oid, expected) in [
            (&[0x2a, 0x86, 0x48][..], "1.2.840"),
            (&[0x88, 0x37, 1], "2.999.1"),
            (&[0x4f], "1.39"),
            (&[0x50], "2.0"),
            (
                &[
                    0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
                ],
                "1.2.1180591620717411303423",
            ),
        ] {
            assert!(is_oid(oid));
            assert_eq!(text(oid), expected);
        }
        for invalid in [&[][..], &[0x80, 1], &[0x2a, 0x80, 1], &[0x2a, 0x86]] {
            assert!(!is_oid(invalid), "{invalid:x?}");
        }
        assert_eq!(text(&[0x2a, 0x86]), "1.2");
    }
}
