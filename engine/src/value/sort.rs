//! Sorting: strings by their first bytes as one number, which decides nearly all comparisons without looking further.

use std::cmp::Ordering;

use super::V;

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
    }
}

/// The values with their positions, in order; equal ones stay in the order they are in.
fn sorted<'e>(values: &[V<'e>]) -> Vec<Sorted<'e>> {
    let texts = values.len() >= FEW && values.iter().all(V::is_string);
    let with_head = |(value, at): (&V<'e>, u32)| Sorted {
        head: if texts { head(*value) } else { 0 },
        value: *value,
        at,
    };
    let mut sorted: Vec<_> = values.iter().zip(0..).map(with_head).collect();
    sorted.sort_unstable_by(|a, b| a.order(b).then(a.at.cmp(&b.at)));
    sorted
}

/// The positions of values in their order.
pub fn order(values: &[V<'_>]) -> impl Iterator<Item = u32> {
    sorted(values).into_iter().map(|one| one.at)
}

/// Sorts values; equal ones stay in the order they are in.
pub fn sort(values: &mut [V<'_>]) {
    if values.is_sorted() {
        return;
    }
    let sorted = sorted(values);
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
        let positions: Vec<_> = order(&values).collect();
        let by_position: Vec<_> = positions
            .iter()
            .filter_map(|at| texts.get(*at as usize).cloned())
            .collect();
        sort(&mut values);
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
        sort(&mut values);
        let shown = |values: &[V<'_>]| values.iter().map(V::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&values), shown(&expected));
    }
}
