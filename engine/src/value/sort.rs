//! Sorting: strings by their first bytes as one number, which decides nearly all comparisons without looking further.

use std::cmp::Ordering;

use super::V;
use crate::limits::LONG_STEP;

/// Values below which there is nothing to gain.
const FEW: usize = 16;

/// A string's first bytes, to be compared before all of it.
#[inline]
fn head(text: V<'_>) -> u64 {
    if let V::Short(short) = text {
        return short.words().0;
    }
    let text = text.text_or_empty();
    let bytes = text.as_bytes();
    match bytes.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => bytes
            .iter()
            .zip((0..8).rev())
            .fold(0, |head, (byte, place)| {
                head | u64::from(*byte) << (8 * place)
            }),
    }
}

/// A value that is sorted, with its head and its position.
#[derive(Clone, Copy)]
struct Sorted<'e> {
    head: u64,
    value: V<'e>,
    at: u32,
}

impl Sorted<'_> {
    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        self.head
            .cmp(&other.head)
            .then_with(|| self.value.cmp(&other.value))
            .then(self.at.cmp(&other.at))
    }
}

/// The values with their positions, in order; equal ones stay in the order they are in. In some other order when the
/// evaluation does not go on.
fn sorted<'e>(values: &[V<'e>], goes_on: impl Fn() -> bool) -> Vec<Sorted<'e>> {
    let texts = values.len() >= FEW && values.iter().all(V::is_string);
    let with_head = |(value, at): (&V<'e>, u32)| Sorted {
        head: if texts { head(*value) } else { 0 },
        value: *value,
        at,
    };
    let mut sorted: Vec<_> = values.iter().zip(0..).map(with_head).collect();
    let one_block = sorted.len() <= LONG_STEP;
    for block in sorted.chunks_mut(LONG_STEP) {
        block.sort_unstable_by(Sorted::order);
        if !one_block && !goes_on() {
            return sorted;
        }
    }
    let mut width = LONG_STEP;
    while width < sorted.len() {
        let mut wider = Vec::with_capacity(sorted.len());
        for pair in sorted.chunks(2 * width) {
            let (left, right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            if !merge(left, right, &mut wider, &goes_on) {
                return sorted;
            }
        }
        sorted = wider;
        width *= 2;
    }
    sorted
}

/// Appends two sorted parts as one, unless the evaluation does not go on.
fn merge<'e>(
    left: &[Sorted<'e>],
    right: &[Sorted<'e>],
    merged: &mut Vec<Sorted<'e>>,
    goes_on: &impl Fn() -> bool,
) -> bool {
    let (mut left, mut right) = (left.iter(), right.iter());
    let (mut one, mut other) = (left.next(), right.next());
    while let (Some(first), Some(second)) = (one, other) {
        if first.order(second).is_le() {
            merged.push(*first);
            one = left.next();
        } else {
            merged.push(*second);
            other = right.next();
        }
        if merged.len().is_multiple_of(LONG_STEP) && !goes_on() {
            return false;
        }
    }
    merged.extend(one.into_iter().chain(left));
    merged.extend(other.into_iter().chain(right));
    true
}

/// The positions of values in their order; in some other order when the evaluation does not go on.
pub fn order(values: &[V<'_>], goes_on: impl Fn() -> bool) -> impl Iterator<Item = u32> {
    sorted(values, goes_on).into_iter().map(|one| one.at)
}

/// Sorts values; equal ones stay in the order they are in. Leaves off when the evaluation does not go on.
pub fn sort(values: &mut [V<'_>], goes_on: impl Fn() -> bool) {
    if values.is_sorted() {
        return;
    }
    let sorted = sorted(values, goes_on);
    for (place, one) in values.iter_mut().zip(sorted) {
        *place = one.value;
    }
}

#[cfg(test)]
mod tests {
    use super::{order, sort};
    use crate::value::{Arena, V};

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
        let mut values: Vec<V<'_>> = texts.iter().map(|text| arena.text(text)).collect();
        let positions: Vec<_> = order(&values, || true).collect();
        let by_position: Vec<_> = positions
            .iter()
            .filter_map(|at| texts.get(*at as usize).cloned())
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
    fn other_values_sort_and_equal_ones_stay_in_place() {
        let mut values: Vec<V<'_>> = (0..40).rev().map(V::Int).collect();
        values.extend([
            V::Decimal(1, 50),
            V::Bool(true),
            V::Null,
            V::Decimal(2, 500),
        ]);
        let mut expected = values.clone();
        expected.sort();
        sort(&mut values, || true);
        let shown = |values: &[V<'_>]| values.iter().map(V::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&values), shown(&expected));
    }

    #[test]
    fn many_values_are_sorted_in_blocks() {
        let many = 3 * super::LONG_STEP + 7;
        let mixed = |at: i64| V::Int(at.wrapping_mul(7_919) % 60_013);
        let values: Vec<V<'_>> = (0..).take(many).map(mixed).collect();
        let positions: Vec<_> = order(&values, || true).collect();
        let mut expected: Vec<_> = (0..).zip(&values).map(|(at, value)| (*value, at)).collect();
        expected.sort();
        assert!(positions.iter().eq(expected.iter().map(|(_, at)| at)));
        // what is left unfinished holds all values still
        let looks = std::cell::Cell::new(0);
        let few_times = || {
            looks.set(looks.get() + 1);
            looks.get() < 7
        };
        let mut positions: Vec<u32> = order(&values, few_times).collect();
        positions.sort_unstable();
        assert!(positions.into_iter().eq(0..u32::try_from(many).unwrap()));
    }
}
