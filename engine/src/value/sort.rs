//! Sorting: strings by their first bytes and numbers as integers of one width, which processors sort without guessing.

use std::cmp::Ordering;

use super::text::{head, head_from};
use super::{Number, V, Value};
use crate::impossible::impossible;
use crate::limits::LONG_STEP;

/// Values below which there is nothing to gain by marks.
const FEW: usize = 16;

/// What can be sorted: values, wherever they are held.
pub trait Sortable: Ord {
    /// The bytes of a string.
    fn text(&self) -> Option<&[u8]>;
    /// The number, when it is held without a text.
    fn number(&self) -> Option<Number<'static>>;
}

impl Sortable for V<'_> {
    #[inline]
    fn text(&self) -> Option<&[u8]> {
        self.string_bytes()
    }

    #[inline]
    fn number(&self) -> Option<Number<'static>> {
        match *self {
            V::Int(int) => Some(Number::Int(int)),
            V::Decimal(scale, coefficient) => Some(Number::Decimal(scale, coefficient)),
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
            Value::Int(int) => Some(Number::Int(int)),
            Value::Decimal(scale, coefficient) => Some(Number::Decimal(scale, coefficient)),
            _ => None,
        }
    }
}

/// What tells nearly all values apart, above the position of its own one: marks sort as their values do as far as they
/// go, and equal ones stay in the order they are in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(u128);

impl Mark {
    const PLACE: u32 = 32;

    #[inline]
    fn new(head: u128, at: u32) -> Self {
        Self(head << Self::PLACE | u128::from(at))
    }

    /// Of bytes of a string from a position on.
    #[inline]
    fn of_text(bytes: &[u8], from: usize, at: u32) -> Self {
        Self::new(head_from(bytes, from) >> Self::PLACE, at)
    }

    /// Of a number times a power of ten that makes it an integer, if that is not too large.
    #[inline]
    fn of_number(number: i128, at: u32) -> Option<Self> {
        const HALF: i128 = 1 << (u128::BITS - Mark::PLACE - 1);
        let head = u128::try_from(number + HALF).ok()?;
        (number < HALF).then(|| Self::new(head, at))
    }

    /// The position of its value.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower part is wanted")]
    fn at(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn is_like(self, other: Self) -> bool {
        self.0 >> Self::PLACE == other.0 >> Self::PLACE
    }
}

/// How often strings are told apart by what comes behind the bytes that they share, before they are compared whole.
const LEVELS: usize = 16;

/// Marks of values, when all are strings or all are numbers; and of strings, where the marked part begins.
fn marks<T: Sortable>(values: &[T]) -> Option<(Vec<Mark>, usize)> {
    let first = values.first()?;
    if first.number().is_some() {
        return Some((number_marks(values)?, 0));
    }
    let mut marks = Vec::with_capacity(values.len());
    // what the first and the last one begin with the others mostly do
    let (first, last) = (first.text()?, values.last()?.text()?);
    let begin = Begin::new(first.get(..common(first, last)).unwrap_or_default());
    let from = begin.bytes.len();
    for (value, at) in values.iter().zip(0..) {
        let text = value.text()?;
        if !begin.is_of(text) {
            return marks_from(values, shared(values.iter().map_while(T::text)));
        }
        marks.push(Mark::of_text(text, from, at));
    }
    Some((marks, from))
}

/// Marks of numbers, on the scale of the one with the most places behind its point.
fn number_marks<T: Sortable>(values: &[T]) -> Option<Vec<Mark>> {
    let mut scale = 0;
    for value in values {
        scale = scale.max(value.number()?.scale()?);
    }
    let mut marks = Vec::with_capacity(values.len());
    for (value, at) in values.iter().zip(0..) {
        marks.push(Mark::of_number(value.number()?.on_scale(scale)?, at)?);
    }
    Some(marks)
}

/// Marks of strings from a byte on.
#[cold]
fn marks_from<T: Sortable>(values: &[T], from: usize) -> Option<(Vec<Mark>, usize)> {
    let marks = values.iter().zip(0..);
    let marks = marks.map(|(value, at)| Some(Mark::of_text(value.text()?, from, at)));
    Some((marks.collect::<Option<_>>()?, from))
}

/// What texts may begin with.
struct Begin<'t> {
    bytes: &'t [u8],
    head: u128,
    /// Bits of a head that lie behind it.
    others: u32,
}

impl<'t> Begin<'t> {
    const HEAD: usize = 16;

    fn new(bytes: &'t [u8]) -> Self {
        let others = 8 * Self::HEAD.saturating_sub(bytes.len());
        Self {
            bytes,
            head: head(bytes),
            others: u32::try_from(others).unwrap_or(0),
        }
    }

    /// Whether a text begins so.
    #[inline]
    fn is_of(&self, text: &[u8]) -> bool {
        let differs = (head(text) ^ self.head).checked_shr(self.others);
        let is_long = self.bytes.len() > Self::HEAD;
        differs.unwrap_or(0) == 0
            && text.len() >= self.bytes.len()
            && (!is_long || text.starts_with(self.bytes))
    }
}

/// How many bytes all texts begin with: they tell nothing.
fn shared<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> usize {
    const HEAD: usize = 16;
    let first = texts.next().unwrap_or_default();
    let first_head = head(first);
    let mut shared = first.len();
    for text in texts {
        if shared == 0 {
            break;
        }
        let alike = ((head(text) ^ first_head).leading_zeros() / 8) as usize;
        let begin = first.get(..shared).unwrap_or_default();
        if alike < HEAD {
            shared = shared.min(alike);
        } else if shared > HEAD && !text.starts_with(begin) {
            shared = common(begin, text);
        }
        shared = shared.min(text.len());
    }
    shared
}

/// How many bytes two texts begin with in common.
pub fn common(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| one == other).count()
}

/// The value that a mark stands for comes first, or the other one; equal ones by their positions.
fn by_value<T: Sortable>(values: &[T], one: Mark, other: Mark) -> Ordering {
    let value = |mark: Mark| values.get(mark.at() as usize);
    value(one).cmp(&value(other)).then(one.cmp(&other))
}

/// Puts marks in the order of their values, and tells whether some are alike; in some other order when the evaluation
/// does not go on. Marks of strings begin at a byte.
fn settle<T: Sortable>(
    values: &[T],
    marks: &mut [Mark],
    from: usize,
    level: usize,
    goes_on: &impl Fn() -> bool,
) -> bool {
    if !sort_all(marks, Mark::cmp, goes_on) {
        return true;
    }
    let is_tied = |pair: &[Mark]| matches!(pair, [one, other] if one.is_like(*other));
    if !marks.windows(2).any(is_tied) {
        return false;
    }
    for alike in marks.chunk_by_mut(|one, other| one.is_like(*other)) {
        if alike.len() < 2 {
            continue;
        }
        let text = |mark: &Mark| values.get(mark.at() as usize).and_then(T::text);
        let on = shared(alike.iter().filter_map(text));
        if alike.len() < FEW || level == LEVELS || on <= from {
            let order = |one: &Mark, other: &Mark| by_value(values, *one, *other);
            sort_all(alike, order, goes_on);
            continue;
        }
        for mark in &mut *alike {
            let text = text(mark)
                .unwrap_or_else(|| impossible("a text that is none is sorted by its bytes"));
            *mark = Mark::of_text(text, on, mark.at());
        }
        settle(values, alike, on, level + 1, goes_on);
    }
    true
}

/// Sorts a list of which no two are equal; whether it is sorted, since the evaluation may not go on.
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

/// A list in order, and whether it is: it is in some other order when the evaluation does not go on.
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

/// Appends two sorted parts as one, unless the evaluation does not go on.
fn merge<T: Copy>(
    left: &[T],
    right: &[T],
    merged: &mut Vec<T>,
    order: &impl Fn(&T, &T) -> Ordering,
    goes_on: &impl Fn() -> bool,
) -> bool {
    let (mut left, mut right) = (left.iter(), right.iter());
    let (mut one, mut other) = (left.next(), right.next());
    while let (Some(first), Some(second)) = (one, other) {
        if order(first, second).is_le() {
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

/// The positions of values in their order; in some other order when the evaluation does not go on. Equal ones stay in
/// the order they are in.
pub fn order<T: Sortable>(values: &[T], goes_on: impl Fn() -> bool) -> Vec<u32> {
    let known = if values.len() >= FEW {
        marks(values)
    } else {
        None
    };
    if let Some((mut marks, from)) = known {
        settle(values, &mut marks, from, 0, &goes_on);
        return marks.into_iter().map(Mark::at).collect();
    }
    let mut places: Vec<(&T, u32)> = values.iter().zip(0..).collect();
    sort_all(&mut places, Ord::cmp, &goes_on);
    places.into_iter().map(|(_, at)| at).collect()
}

/// The positions of values in their order, of equal ones the first alone, when all are strings or all are numbers without
/// a text.
/// What it gives when the evaluation does not go on is worth nothing.
pub fn distinct<T: Sortable>(
    values: &[T],
    goes_on: impl Fn() -> bool,
) -> Option<impl ExactSizeIterator<Item = usize>> {
    let (mut marks, from) = marks(values)?;
    if settle(values, &mut marks, from, 0, &goes_on) {
        let value = |mark: Mark| values.get(mark.at() as usize);
        // the marks of equal values are alike, whatever level made them
        marks.dedup_by(|later, first| later.is_like(*first) && value(*later) == value(*first));
    }
    Some(marks.into_iter().map(|mark| mark.at() as usize))
}

/// Sorts values; equal ones stay in the order they are in. Leaves off when the evaluation does not go on.
pub fn sort(values: &mut [V<'_>], goes_on: impl Fn() -> bool) {
    if values.is_sorted() {
        return;
    }
    let before = values.to_vec();
    for (place, at) in values.iter_mut().zip(order(&before, goes_on)) {
        if let Some(value) = before.get(at as usize) {
            *place = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{distinct, order, sort};
    use crate::value::{Arena, V, Value};

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
        let positions = order(&values, || true);
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
        let positions = order(&values, || true);
        let mut expected: Vec<_> = (0..).zip(&values).map(|(at, value)| (*value, at)).collect();
        expected.sort();
        assert!(positions.iter().eq(expected.iter().map(|(_, at)| at)));
        // what is left unfinished holds all values still
        let looks = std::cell::Cell::new(0);
        let few_times = || {
            looks.set(looks.get() + 1);
            looks.get() < 7
        };
        let mut positions = order(&values, few_times);
        positions.sort_unstable();
        assert!(positions.into_iter().eq(0..u32::try_from(many).unwrap()));
    }

    #[test]
    fn distinct_texts_are_found_however_much_they_share() {
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
        let places: Vec<_> = distinct(&values, || true).unwrap().collect();
        let found: Vec<_> = places.iter().map(|at| texts[*at].clone()).collect();
        let first = |text: &String| texts.iter().position(|other| other == text);
        assert!(found.iter().map(first).eq(places.into_iter().map(Some)));
        texts.sort();
        texts.dedup();
        assert_eq!(found, texts);
    }

    #[test]
    fn distinct_numbers_are_found_and_other_values_are_not() {
        let ints = [5, -3, i64::MAX, 0, 5, i64::MIN, -3, 1];
        let values = ints.map(Value::Int);
        let found: Vec<_> = distinct(&values, || true)
            .unwrap()
            .map(|at| ints[at])
            .collect();
        assert_eq!(found, [i64::MIN, -3, 0, 1, 5, i64::MAX]);
        let mixed = [
            (1, 10),
            (0, 1),
            (2, -125),
            (1, 5),
            (3, 1),
            (18, 500_000_000_000_000_000),
        ];
        let mixed = mixed.map(|(scale, number)| match scale {
            0 => Value::Int(number),
            scale => Value::Decimal(scale, number),
        });
        let found: Vec<_> = distinct(&mixed, || true).unwrap().collect();
        assert_eq!(found, [2, 4, 3, 0]);
        // too wide for a mark
        let wide = [Value::Int(i64::MAX), Value::Decimal(18, 1)];
        assert!(distinct(&wide, || true).is_none());
        assert!(distinct(&[Value::from("a"), Value::Int(1)], || true).is_none());
    }
}
