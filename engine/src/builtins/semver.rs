//! Semantic versions.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{
    Builtin, BuiltinContext, BuiltinError, IntrinsicFunction, IntrinsicResult, Operands, Prepared,
};
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "semver.compare",
        "a: string, b: string => result: number",
        "-1, 0 or 1 if the first version precedes, equals or follows the second.",
        compare,
    )
    .specialise(prepare)
    .quick(IntrinsicFunction::Two(IntrinsicResult::Int, order)),
    Builtin::new(
        "semver.is_valid",
        "vsn: any => result: boolean",
        "Returns `true` if a value is a semantic version.",
        is_valid,
    )
    .quick(IntrinsicFunction::One(IntrinsicResult::Bool, is_version)),
];

/// Parts of a version that determine its order.
struct Version<'a> {
    numbers: [i64; 3],
    /// Pre-release identifiers. `None` for a release.
    before: Option<&'a [u8]>,
}

impl<'a> Version<'a> {
    /// Parses a version in one pass. Returns `None` if the text is not a semantic version.
    #[inline]
    fn parse(text: &'a [u8]) -> Option<Self> {
        let (numbers, rest) = core(text)?;
        let (before, build) = match rest {
            [] => (None, None),
            [b'+', build @ ..] => (None, Some(build)),
            [b'-', rest @ ..] => match memchr::memchr(b'+', rest) {
                Some(end) => {
                    let (before, build) = rest.split_at(end);
                    (Some(before), build.get(1..))
                }
                None => (Some(rest), None),
            },
            _ => return None,
        };
        let sound = before.is_none_or(|before| are_identifiers(before, true))
            && build.is_none_or(|build| are_identifiers(build, false));
        sound.then_some(Self { numbers, before })
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| match (self.before, other.before) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(a), Some(b)) => compare_identifiers(a, b),
            })
    }
}

/// Parses the three numbers at the start of a version. Also returns the rest.
#[inline]
fn core(text: &[u8]) -> Option<([i64; 3], &[u8])> {
    let mut rest = text.strip_prefix(b"v").unwrap_or(text);
    let mut numbers = [0_i64; 3];
    for (index, number) in numbers.iter_mut().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let [first @ b'0'..=b'9', after @ ..] = rest else {
            return None;
        };
        (*number, rest) = (i64::from(first - b'0'), after);
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            // no leading zeros
            if *number == 0 {
                return None;
            }
            let shifted = number.checked_mul(10)?;
            *number = shifted.checked_add(i64::from(digit - b'0'))?;
            rest = after;
        }
    }
    Some((numbers, rest))
}

/// Returns `true` if all dot-separated identifiers consist of letters, digits and dashes, and, if `plain`, numeric ones
/// have no leading zeros.
#[inline]
fn are_identifiers(text: &[u8], plain: bool) -> bool {
    let (mut length, mut is_number, mut has_zero) = (0_usize, true, false);
    for byte in text.iter().copied().chain([b'.']) {
        match byte {
            b'.' => {
                if length == 0 || plain && is_number && has_zero && length > 1 {
                    return false;
                }
                (length, is_number, has_zero) = (0, true, false);
                continue;
            }
            b'0' => has_zero |= length == 0,
            b'1'..=b'9' => {}
            b'-' | b'a'..=b'z' | b'A'..=b'Z' => is_number = false,
            _ => return false,
        }
        length += 1;
    }
    true
}

fn compare_identifiers(left: &[u8], right: &[u8]) -> Ordering {
    let identifiers = |text| <[u8]>::split(text, |byte| *byte == b'.').map(Identifier::from_text);
    identifiers(left).cmp(identifiers(right))
}

/// An identifier. Numbers precede words. Without leading zeros, a longer number is larger.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'a> {
    Number(usize, &'a [u8]),
    Word(&'a [u8]),
}

impl<'a> Identifier<'a> {
    fn from_text(text: &'a [u8]) -> Self {
        if text.iter().all(u8::is_ascii_digit) {
            Self::Number(text.len(), text)
        } else {
            Self::Word(text)
        }
    }
}

fn compare<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.text(0)?, operands.text(1)?);
    let reject = |position: u8| {
        let operand = operands.operand(position);
        BuiltinError::error(format!(
            "operand {}: string {operand} is not a valid SemVer",
            position + 1,
            operand = operand.rego_text()
        ))
    };
    let left = Version::parse(left.as_bytes()).ok_or_else(|| reject(0))?;
    let right = Version::parse(right.as_bytes()).ok_or_else(|| reject(1))?;
    Ok(ValueRef(RefRepr::Int(left.compare(&right) as i64)))
}

fn order(left: &[u8], right: &[u8]) -> Option<i64> {
    let (left, right) = (Version::parse(left)?, Version::parse(right)?);
    Some(left.compare(&right) as i64)
}

/// A call with one constant version.
struct Against {
    numbers: [i64; 3],
    before: Option<Box<[u8]>>,
    /// Index of the operand that is not constant.
    other: u8,
}

impl Against {
    /// Returns the result of the call if the other version is this text, or `None` if the text is not a version.
    #[inline]
    fn order(&self, text: &[u8]) -> Option<i64> {
        let constant = Version {
            numbers: self.numbers,
            before: self.before.as_deref(),
        };
        let order = Version::parse(text)?.compare(&constant);
        Some(match self.other {
            0 => order as i64,
            _ => order.reverse() as i64,
        })
    }
}

impl Prepared for Against {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        match self.order(operands.text(self.other)?.as_bytes()) {
            Some(order) => Ok(ValueRef(RefRepr::Int(order))),
            None => compare(call, operands),
        }
    }

    fn intrinsic_operand(&self) -> Option<(usize, IntrinsicResult)> {
        Some((usize::from(self.other), IntrinsicResult::Int))
    }

    fn intrinsic_result(&self, text: &[u8]) -> Option<i64> {
        self.order(text)
    }
}

fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let (constant, other) = match operands {
        [None, Some(right)] => (right, 0),
        [Some(left), None] => (left, 1),
        _ => return None,
    };
    let text = constant.as_text()?;
    let Version { numbers, before } = Version::parse(text.as_bytes())?;
    Some(Arc::new(Against {
        numbers,
        before: before.map(Into::into),
        other,
    }))
}

fn is_version(text: &[u8]) -> Option<i64> {
    Some(Version::parse(text).is_some().into())
}

fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.operand(0).as_text();
    let valid = text.is_some_and(|text| Version::parse(text.as_bytes()).is_some());
    Ok(ValueRef(RefRepr::Bool(valid)))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::Version;

    #[test]
    fn invalid_versions_are_rejected() {
        for (text, is_version) in [
            ("1.2.3", true),
            ("v1.2.3", true),
            ("0.0.0", true),
            ("1.2.3-rc.1", true),
            ("1.2.3+build.01", true),
            ("1.2.3-a-b.x+c-d", true),
            ("9223372036854775807.0.0", true),
            ("9223372036854775808.0.0", false),
            ("1.2", false),
            ("1.2.3.4", false),
            ("01.2.3", false),
            ("1.2.3-", false),
            ("1.2.3+", false),
            ("1.2.3-01", false),
            ("1.2.3-0a.0", true),
            ("1.2.3-a..b", false),
            ("1.2.3-a+b+c", false),
            ("1.2.3 ", false),
            ("vv1.2.3", false),
            ("", false),
        ] {
            assert_eq!(
                Version::parse(text.as_bytes()).is_some(),
                is_version,
                "{text}"
            );
        }
    }

    #[test]
    fn versions_are_in_order() {
        let versions = [
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-a",
            "1.0.0-a.1",
            "1.0.0-b",
            "1.0.0",
            "1.0.1",
            "1.10.0",
            "2.0.0-0",
            "2.0.0",
        ];
        let parsed: Vec<_> = versions
            .iter()
            .filter_map(|text| Version::parse(text.as_bytes()))
            .collect();
        assert_eq!(parsed.len(), versions.len());
        for (index, left) in parsed.iter().enumerate() {
            for (other, right) in parsed.iter().enumerate() {
                assert_eq!(left.compare(right), index.cmp(&other));
            }
        }
        let built = Version::parse(b"2.0.0+x").map(|built| built.compare(&parsed[10]));
        assert_eq!(built, Some(Ordering::Equal));
    }
}
