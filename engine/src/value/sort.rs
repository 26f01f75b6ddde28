//! Sorting by key prefixes: the first bytes of strings, or numbers as integers of one width. Integers are sorted
//! without branches.

mod key_prefix;

use std::cmp::Ordering;

use super::{Number, RefRepr, Repr, Value, ValueRef};
use crate::bug::bug;
use crate::limits::LONG_STEP;
pub use key_prefix::common;
use key_prefix::{KeyPrefix, key_prefixes, shared};

/// Number of values below which key prefixes do not pay.
const FEW: usize = 16;

pub(crate) trait Sortable: Ord {
    /// Returns the bytes of a string, or `None` for other values.
    fn text(&self) -> Option<&[u8]>;
    /// Returns the number, if it is stored without a text.
    fn number(&self) -> Option<Number<'static>>;
}

impl Sortable for ValueRef<'_> {
    #[inline]
    fn text(&self) -> Option<&[u8]> {
        self.string_bytes()
    }

    #[inline]
    fn number(&self) -> Option<Number<'static>> {
        match *self {
            ValueRef(RefRepr::Int(int)) => Some(Number::Int(int)),
            ValueRef(RefRepr::Decimal(scale, coefficient)) => {
                Some(Number::Decimal(scale, coefficient))
            }
            _ => None,
        }
    }
}

impl Sortable for Value {
    #[inline]
    fn text(&self) -> Option<&[u8]> {
        self.string_bytes()
    }

    #[inline]
    fn number(&self) -> Option<Number<'static>> {
        match *self {
            Value(Repr::Int(int)) => Some(Number::Int(int)),
            Value(Repr::Decimal(scale, coefficient)) => Some(Number::Decimal(scale, coefficient)),
            _ => None,
        }
    }
}

/// Maximum number of rounds in which strings with equal prefixes are sorted by their next bytes, before they are
/// compared as a whole.
const LEVELS: usize = 16;

/// Compares the values of two key prefixes, and their positions if the values are equal.
fn by_value<T: Sortable>(values: &[T], left: KeyPrefix, right: KeyPrefix) -> Ordering {
    let value = |prefix: KeyPrefix| values.get(prefix.position() as usize);
    value(left).cmp(&value(right)).then(left.cmp(&right))
}

/// Sorts key prefixes in the order of their values, and returns `true` if some are equal. The order is unspecified if
/// the evaluation is interrupted. Prefixes of strings start at byte `from`.
fn sort_prefixes<T: Sortable>(
    values: &[T],
    prefixes: &mut [KeyPrefix],
    from: usize,
    level: usize,
    goes_on: &impl Fn() -> bool,
) -> bool {
    if !sort_all(prefixes, KeyPrefix::cmp, goes_on) {
        return true;
    }
    let is_tied = |pair: &[KeyPrefix]| matches!(pair, [one, other] if one.has_same_head(*other));
    if !prefixes.windows(2).any(is_tied) {
        return false;
    }
    for alike in prefixes.chunk_by_mut(|left, right| left.has_same_head(*right)) {
        if alike.len() < 2 {
            continue;
        }
        let text = |prefix: &KeyPrefix| values.get(prefix.position() as usize).and_then(T::text);
        let on = shared(alike.iter().filter_map(text));
        if alike.len() < FEW || level == LEVELS || on <= from {
            let order = |left: &KeyPrefix, right: &KeyPrefix| by_value(values, *left, *right);
            sort_all(alike, order, goes_on);
            continue;
        }
        for prefix in &mut *alike {
            let text =
                text(prefix).unwrap_or_else(|| bug!("a text that is none is sorted by its bytes"));
            *prefix = KeyPrefix::of_text(text, on, prefix.position());
        }
        sort_prefixes(values, alike, on, level + 1, goes_on);
    }
    true
}

/// Sorts a list without equal elements. Returns `false` if the evaluation was interrupted.
fn sort_all<T: Copy>(
    list: &mut [T],
    order: impl Fn(&T, &T) -> Ordering,
    goes_on: &impl Fn() -> bool,
) -> bool {
    if list.len() <= LONG_STEP {
        list.sort_unstable_by(order);
        return true;
    }
    let (sorted, is_whole) = in_blocks(list.to_vec(), order, goes_on);
    list.copy_from_slice(&sorted);
    is_whole
}

/// Returns a sorted list and `true`, or a list in unspecified order and `false` if the evaluation was interrupted.
fn in_blocks<T: Copy>(
    mut list: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    goes_on: &impl Fn() -> bool,
) -> (Vec<T>, bool) {
    for block in list.chunks_mut(LONG_STEP) {
        block.sort_unstable_by(&order);
        if !goes_on() {
            return (list, false);
        }
    }
    let mut width = LONG_STEP;
    while width < list.len() {
        let mut wider = Vec::with_capacity(list.len());
        for pair in list.chunks(2 * width) {
            let (left, right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            if !merge(left, right, &mut wider, &order, goes_on) {
                return (list, false);
            }
        }
        list = wider;
        width *= 2;
    }
    (list, true)
}

/// Appends the merge of two sorted lists, unless the evaluation is interrupted.
fn merge<T: Copy>(
    left: &[T],
    right: &[T],
    merged: &mut Vec<T>,
    order: &impl Fn(&T, &T) -> Ordering,
    goes_on: &impl Fn() -> bool,
) -> bool {
    let (mut left, mut right) = (left.iter(), right.iter());
    let (mut next_left, mut next_right) = (left.next(), right.next());
    while let (Some(first), Some(second)) = (next_left, next_right) {
        if order(first, second).is_le() {
            merged.push(*first);
            next_left = left.next();
        } else {
            merged.push(*second);
            next_right = right.next();
        }
        if merged.len().is_multiple_of(LONG_STEP) && !goes_on() {
            return false;
        }
    }
    merged.extend(next_left.into_iter().chain(left));
    merged.extend(next_right.into_iter().chain(right));
    true
}

/// Returns the positions of values in sort order. The sort is stable. The order is unspecified if the evaluation is
/// interrupted.
pub(crate) fn order<T: Sortable>(values: &[T], goes_on: impl Fn() -> bool) -> Vec<u32> {
    let prefixes = if values.len() >= FEW {
        key_prefixes(values)
    } else {
        None
    };
    if let Some((mut prefixes, from)) = prefixes {
        sort_prefixes(values, &mut prefixes, from, 0, &goes_on);
        return prefixes.into_iter().map(KeyPrefix::position).collect();
    }
    let mut numbered: Vec<(&T, u32)> = values.iter().zip(0..).collect();
    sort_all(&mut numbered, Ord::cmp, &goes_on);
    numbered.into_iter().map(|(_, position)| position).collect()
}

/// Returns the positions of values in sort order, only the first of equal ones, if all are strings or all are numbers
/// without a text. The result must not be used if the evaluation was interrupted.
pub(crate) fn distinct<T: Sortable>(
    values: &[T],
    goes_on: impl Fn() -> bool,
) -> Option<impl ExactSizeIterator<Item = usize>> {
    let (mut prefixes, from) = key_prefixes(values)?;
    if sort_prefixes(values, &mut prefixes, from, 0, &goes_on) {
        let value = |prefix: KeyPrefix| values.get(prefix.position() as usize);
        // prefixes of equal values are equal at every level
        prefixes
            .dedup_by(|later, first| later.has_same_head(*first) && value(*later) == value(*first));
    }
    Some(
        prefixes
            .into_iter()
            .map(|prefix| prefix.position() as usize),
    )
}

/// Sorts values in Rego's order, stably, in O(n log n) comparisons. `goes_on` is polled: if it returns `false`, sorting stops and
/// the values are unspecified.
pub fn sort(values: &mut [ValueRef<'_>], goes_on: impl Fn() -> bool) {
    if values.is_sorted() {
        return;
    }
    if values
        .iter()
        .all(|value| matches!(value, ValueRef(RefRepr::Int(_))))
    {
        return sort_ints(values, goes_on);
    }
    let before = values.to_vec();
    for (target, position) in values.iter_mut().zip(order(&before, goes_on)) {
        if let Some(value) = before.get(position as usize) {
            *target = *value;
        }
    }
}

/// Sorts integers. Equal ones are indistinguishable, so no positions are necessary.
fn sort_ints(values: &mut [ValueRef<'_>], goes_on: impl Fn() -> bool) {
    let int = |value: &ValueRef<'_>| match value {
        ValueRef(RefRepr::Int(int)) => *int,
        _ => bug!("an integer that is none is sorted"),
    };
    let mut ints: Vec<i64> = values.iter().map(int).collect();
    sort_all(&mut ints, i64::cmp, &goes_on);
    let targets = values.iter_mut().zip(ints);
    targets.for_each(|(target, int)| *target = ValueRef(RefRepr::Int(int)));
}

#[cfg(test)]
mod tests {
    use super::{distinct, order, sort};
    use crate::value::{Arena, RefRepr, Repr, Value, ValueRef};

    #[test]
    fn texts_sort_as_their_bytes_do() {
        let arena = Arena::new();
        let mut texts: Vec<String> = (0..400_u32)
            .map(|n| {
                let text = format!("{:x}", n.wrapping_mul(0x9e37_79b9));
                let length = (n % 40) as usize;
                text.chars().cycle().take(length).collect()
            })
            .collect();
        texts.extend(
            [
                "a\0",
                "a",
                "a\0\0",
                "abcdefgh",
                "abcdefgh\0",
                "é",
                "\u{10ffff}",
            ]
            .map(str::to_owned),
        );
        let mut values: Vec<ValueRef<'_>> = texts.iter().map(|text| arena.text(text)).collect();
        let positions = order(&values, || true);
        let by_position: Vec<_> = positions
            .iter()
            .filter_map(|position| texts.get(*position as usize).cloned())
            .collect();
        sort(&mut values, || true);
        let sorted: Vec<_> = values
            .iter()
            .map(|text| text.text_or_empty().to_str().into_owned())
            .collect();
        texts.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        assert_eq!(sorted, texts);
        assert_eq!(by_position, texts);
    }

    #[test]
    fn other_values_are_sorted_stably() {
        let mut values: Vec<ValueRef<'_>> = (0..40)
            .rev()
            .map(|number| ValueRef(RefRepr::Int(number)))
            .collect();
        values.extend([
            ValueRef(RefRepr::Decimal(1, 50)),
            ValueRef(RefRepr::Bool(true)),
            ValueRef(RefRepr::Null),
            ValueRef(RefRepr::Decimal(2, 500)),
        ]);
        let mut expected = values.clone();
        expected.sort();
        sort(&mut values, || true);
        let texts_of = |values: &[ValueRef<'_>]| {
            values
                .iter()
                .map(|value| value.rego_text().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts_of(&values), texts_of(&expected));
    }

    #[test]
    fn many_values_are_sorted_in_blocks() {
        let count_of_values = 3 * super::LONG_STEP + 7;
        let value_at = |index: i64| ValueRef(RefRepr::Int(index.wrapping_mul(7_919) % 60_013));
        let values: Vec<ValueRef<'_>> = (0..).take(count_of_values).map(value_at).collect();
        let positions = order(&values, || true);
        let mut expected: Vec<_> = (0..)
            .zip(&values)
            .map(|(position, value)| (*value, position))
            .collect();
        expected.sort();
        assert!(
            positions
                .iter()
                .eq(expected.iter().map(|(_, position)| position))
        );
        // an interrupted sort still contains all values
        let polls = std::cell::Cell::new(0);
        let few_times = || {
            polls.set(polls.get() + 1);
            polls.get() < 7
        };
        let mut positions = order(&values, few_times);
        positions.sort_unstable();
        assert!(
            positions
                .into_iter()
                .eq(0..u32::try_from(count_of_values).unwrap())
        );
    }

    #[test]
    fn distinct_texts_with_long_common_prefixes() {
        let shared = "what all of them begin with: ".repeat(3);
        let mut texts: Vec<String> = (0..300_u32)
            .map(|n| match n % 5 {
                0 => format!("{shared}{}", n % 70),
                1 => format!("{shared}{shared}{}", n % 70),
                2 => "z".repeat((n % 90) as usize),
                3 => format!("z{}", "\0".repeat((n % 20) as usize)),
                _ => shared.clone(),
            })
            .collect();
        let values: Vec<Value> = texts
            .iter()
            .map(|text| Value::from(text.as_str()))
            .collect();
        let positions: Vec<_> = distinct(&values, || true).unwrap().collect();
        let distinct_texts: Vec<_> = positions
            .iter()
            .map(|position| texts[*position].clone())
            .collect();
        let first = |text: &String| texts.iter().position(|other| other == text);
        assert!(
            distinct_texts
                .iter()
                .map(first)
                .eq(positions.into_iter().map(Some))
        );
        texts.sort();
        texts.dedup();
        assert_eq!(distinct_texts, texts);
    }

    #[test]
    fn distinct_numbers_only() {
        let ints = [5, -3, i64::MAX, 0, 5, i64::MIN, -3, 1];
        let values = ints.map(|number| Value(Repr::Int(number)));
        let distinct_numbers: Vec<_> = distinct(&values, || true)
            .unwrap()
            .map(|position| ints[position])
            .collect();
        assert_eq!(distinct_numbers, [i64::MIN, -3, 0, 1, 5, i64::MAX]);
        let decimals = [
            (1, 10),
            (0, 1),
            (2, -125),
            (1, 5),
            (3, 1),
            (18, 500_000_000_000_000_000),
        ];
        let values = decimals.map(|(scale, number)| match scale {
            0 => Value(Repr::Int(number)),
            scale => Value(Repr::Decimal(scale, number)),
        });
        let distinct_numbers: Vec<_> = distinct(&values, || true).unwrap().collect();
        assert_eq!(distinct_numbers, [2, 4, 3, 0]);
        // too wide for a key prefix
        let wide = [Value(Repr::Int(i64::MAX)), Value(Repr::Decimal(18, 1))];
        assert!(distinct(&wide, || true).is_none());
        assert!(distinct(&[Value::from("a"), Value(Repr::Int(1))], || true).is_none());
    }
}
