//! Semantic versions.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Builtin, Call, Fault, Operands, Prepared};
use crate::value::V;

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "semver.compare",
        "a: string, b: string => result: number",
        "-1, 0 or 1 as the first version precedes, equals or follows the second.",
        compare,
    )
    .specialise(prepare),
    Builtin::new(
        "semver.is_valid",
        "vsn: any => result: boolean",
        "Tells whether a value is a semantic version.",
        is_valid,
    ),
];

/// What decides the order of versions.
struct Version<'a> {
    numbers: [i64; 3],
    /// The identifiers before a release; none for a release.
    before: Option<&'a str>,
}

impl<'a> Version<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        let (core, before) = match text.split_once('-') {
            Some((core, before)) => (core, Some(before)),
            None => (text, None),
        };
        let mut parts = core.split('.');
        let mut number = || {
            let digits = parts.next()?;
            let sound = is_numeric(digits) && !has_leading_zero(digits);
            sound.then(|| digits.parse().ok()).flatten()
        };
        let numbers = [number()?, number()?, number()?];
        let word =
            |id: &str| !id.is_empty() && id.bytes().all(|b| b == b'-' || b.is_ascii_alphanumeric());
        let sound_before = before.is_none_or(|before| {
            before
                .split('.')
                .all(|id| word(id) && !(is_numeric(id) && has_leading_zero(id)))
        });
        let sound_build = build.is_none_or(|build| build.split('.').all(word));
        (parts.next().is_none() && sound_before && sound_build).then_some(Self { numbers, before })
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| match (self.before, other.before) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(a), Some(b)) => a
                    .split('.')
                    .map(Identifier::of)
                    .cmp(b.split('.').map(Identifier::of)),
            })
    }
}

/// An identifier; numbers precede words, and one without leading zeros is the larger the longer it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'a> {
    Number(usize, &'a str),
    Word(&'a str),
}

impl<'a> Identifier<'a> {
    fn of(text: &'a str) -> Self {
        if is_numeric(text) {
            Self::Number(text.len(), text)
        } else {
            Self::Word(text)
        }
    }
}

fn is_numeric(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn has_leading_zero(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0')
}

/// The numbers of a release, `1.2.3` or `v1.2.3`, as nearly all versions are. `None` tells nothing of others.
#[inline]
fn release(text: &[u8]) -> Option<[i64; 3]> {
    /// More digits might not fit.
    const DIGITS: usize = 18;
    let mut rest = text.strip_prefix(b"v").unwrap_or(text);
    let mut numbers = [0; 3];
    for (at, number) in numbers.iter_mut().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let mut digits = 0;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            // no zero stands before other digits
            if digits == DIGITS || (digits > 0 && *number == 0) {
                return None;
            }
            *number = *number * 10 + i64::from(digit - b'0');
            digits += 1;
            rest = after;
        }
        if digits == 0 {
            return None;
        }
    }
    rest.is_empty().then_some(numbers)
}

fn compare<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (left, right) = (operands.text(0)?, operands.text(1)?);
    if let Some(left) = release(left.as_bytes())
        && let Some(right) = release(right.as_bytes())
    {
        return Ok(V::Int(left.cmp(&right) as i64));
    }
    let (left, right) = (left.to_str(), right.to_str());
    let refuse = |position: u8| {
        let shown = operands.at(position);
        Fault::error(format!(
            "operand {}: string {shown} is not a valid SemVer",
            position + 1
        ))
    };
    let left = Version::parse(&left).ok_or_else(|| refuse(0))?;
    let right = Version::parse(&right).ok_or_else(|| refuse(1))?;
    Ok(V::Int(left.compare(&right) as i64))
}

/// A call one of whose versions is constant, a release.
struct Against {
    known: [i64; 3],
    /// The position of the other one.
    other: u8,
}

impl Prepared for Against {
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        let Some(numbers) = release(operands.text(self.other)?.as_bytes()) else {
            return compare(call, operands);
        };
        let order = numbers.cmp(&self.known);
        Ok(V::Int(match self.other {
            0 => order as i64,
            _ => order.reverse() as i64,
        }))
    }
}

fn prepare(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    let (known, other) = match operands {
        [None, Some(right)] => (right, 0),
        [Some(left), None] => (left, 1),
        _ => return None,
    };
    let known = release(known.as_text()?.as_bytes())?;
    Some(Arc::new(Against { known, other }))
}

fn is_valid<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let valid = operands.at(0).as_text().is_some_and(|text| {
        release(text.as_bytes()).is_some() || Version::parse(&text.to_str()).is_some()
    });
    Ok(V::Bool(valid))
}
