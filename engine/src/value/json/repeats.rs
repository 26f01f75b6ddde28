//! Deduplication of equal parts of a large document while it is parsed (hash consing with a bounded cache).
//!
//! Grants, tags and states repeat themselves in documents. The cache is bounded, each new part replaces one with the
//! same slot, and lookups are turned off where hits are rare. Only parts with the same notation are shared: `1` and
//! `1.0` are different.
//!
//! A part is cached only from its second occurrence on; at the first one a fingerprint is stored. Most parts of some
//! documents are unique, and caching each of them would mean reading and dropping another part that has long left the
//! processor's cache.

use std::sync::Arc;

use crate::bug::bug;
use crate::limits;
use crate::value::{Repr, Shape, SharedText, Value};

/// Maximum number of members of a shared array or object.
const MAX_MEMBERS: usize = 8;

/// Length of a document for each slot of the cache, in bytes.
const BYTES_PER_SLOT: usize = 64;

/// Minimum length of a text for deduplication, in bytes.
const LARGE: usize = 64 << 10;

/// Cache of small arrays, objects and longer strings, by their hashes.
#[derive(Default)]
pub(super) struct Repeats {
    slots: SlotTable,
    strings: AdaptiveGate,
    arrays: [AdaptiveGate; MAX_MEMBERS + 1],
}

/// Slots of the cache: none for small documents, otherwise a power of two.
#[derive(Default)]
struct SlotTable {
    values: Vec<Value>,
    fingerprints: Vec<Fingerprints>,
}

/// Fingerprints of the cached part of a slot, and of the latest part with that slot. 0 means none.
#[derive(Clone, Copy, Default)]
struct Fingerprints {
    cached: u16,
    latest: u16,
}

impl SlotTable {
    fn new(count: usize) -> Self {
        Self {
            values: vec![Value(Repr::Null); count],
            fingerprints: vec![Fingerprints::default(); count],
        }
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Looks up the part with a hash. `find_same` compares a cached part and returns it if it is equal.
    #[inline]
    fn probe<P>(
        &mut self,
        hash: &RepeatHash,
        find_same: impl FnOnce(&Value) -> Option<P>,
    ) -> Probe<'_, P> {
        let (slot, fingerprint) = hash.slot(self.values.len());
        let (Some(fingerprints), Some(part)) =
            (self.fingerprints.get_mut(slot), self.values.get_mut(slot))
        else {
            return Probe::Miss;
        };
        if fingerprints.cached == fingerprint
            && let Some(cached) = find_same(part)
        {
            return Probe::Hit(cached);
        }
        if fingerprints.latest == fingerprint {
            fingerprints.cached = fingerprint;
            return Probe::Candidate(part);
        }
        fingerprints.latest = fingerprint;
        Probe::Miss
    }
}

/// Turns lookups off when they do not pay: a hit adds credit, a miss deducts it.
#[derive(Clone, Copy)]
pub(super) struct AdaptiveGate {
    credit: u32,
    passed: u32,
}

impl Default for AdaptiveGate {
    fn default() -> Self {
        Self {
            credit: Self::FIRST,
            passed: 0,
        }
    }
}

impl AdaptiveGate {
    /// Initial credit.
    const FIRST: u32 = 4096;
    /// Number of skipped parts after which lookups are tried again.
    const PAUSE: u32 = 1 << 15;

    fn pays(&mut self) -> bool {
        if self.credit > 0 {
            return true;
        }
        self.passed += 1;
        if self.passed == Self::PAUSE {
            *self = Self {
                credit: Self::FIRST / 8,
                passed: 0,
            };
        }
        false
    }

    fn record(&mut self, is_hit: bool) {
        self.credit = if is_hit {
            (self.credit + 8).min(Self::FIRST)
        } else {
            self.credit - 1
        };
    }
}

impl Repeats {
    /// Creates a cache for a document of `length` bytes.
    pub fn new(length: usize) -> Self {
        let mut repeats = Self::default();
        if length >= LARGE {
            let slots = (length / BYTES_PER_SLOT).next_power_of_two();
            repeats.slots = SlotTable::new(slots.min(limits::REPEATS));
        }
        repeats
    }

    /// Deduplicates a string that is too long for [`Short`](crate::value::Short).
    #[inline]
    pub fn string(&mut self, text: &str, make: impl FnOnce() -> SharedText) -> SharedText {
        if self.slots.is_empty() || !self.strings.pays() {
            return make();
        }
        let mut hash = RepeatHash::default();
        hash.bytes(text.as_bytes());
        let probe = self.slots.probe(&hash, |cached| match cached {
            Value(Repr::Text(cached)) if cached.as_bytes() == text.as_bytes() => {
                Some(cached.clone())
            }
            _ => None,
        });
        self.strings.record(probe.is_hit());
        match probe {
            Probe::Hit(shared) => shared,
            miss => {
                let text_made = make();
                miss.store(|| Value(Repr::Text(text_made.clone())));
                text_made
            }
        }
    }

    /// Looks up an array of these elements. Returns the cached one, or the slot to store it in.
    #[inline]
    pub fn array(&mut self, items: &[Value]) -> Probe<'_> {
        let Some(gate) = self.arrays.get_mut(items.len()) else {
            return Probe::Miss;
        };
        if self.slots.is_empty() || !gate.pays() {
            return Probe::Miss;
        }
        let Some(hash) = RepeatHash::of_items(items) else {
            return Probe::Miss;
        };
        let probe = self.slots.probe(&hash, |part| match part {
            Value(Repr::Array(cached)) if have_same_notation(cached, items) => Some(part.clone()),
            _ => None,
        });
        gate.record(probe.is_hit());
        probe
    }

    /// Returns `true` if an object of these values qualifies for deduplication.
    #[inline]
    pub fn is_eligible(&self, items: &[Value], gate: &mut AdaptiveGate) -> bool {
        !self.slots.is_empty()
            && items.len() <= MAX_MEMBERS
            && items.iter().all(is_plain)
            && gate.pays()
    }

    /// Looks up an object of these values, in the order of their keys, like [`Self::array`].
    #[inline]
    pub fn object(
        &mut self,
        shape: &Arc<Shape>,
        items: &[Value],
        gate: &mut AdaptiveGate,
    ) -> Probe<'_> {
        let Some(mut hash) = RepeatHash::of_items(items) else {
            return Probe::Miss;
        };
        hash.word(Arc::as_ptr(shape).addr() as u64);
        let probe = self.slots.probe(&hash, |part| match part {
            Value(Repr::Object(object)) => object.shaped().and_then(|(cached_shape, values)| {
                (Arc::ptr_eq(cached_shape, shape) && have_same_notation(values, items))
                    .then(|| part.clone())
            }),
            _ => None,
        });
        gate.record(probe.is_hit());
        probe
    }
}

/// Sorts the values of a small object into the order of its keys.
#[inline]
pub(super) fn arrange(values: &mut [Value], sources: &[u8]) {
    let mut ordered: [Value; MAX_MEMBERS] = Default::default();
    for (target, source) in ordered.iter_mut().zip(sources) {
        *target = values
            .get_mut(usize::from(*source))
            .map_or_else(|| bug!("a value of an object is not there"), std::mem::take);
    }
    for (value, ordered) in values.iter_mut().zip(ordered) {
        *value = ordered;
    }
}

/// Returns `true` for scalars that need no allocation.
fn is_plain(value: &Value) -> bool {
    matches!(
        value,
        Value(Repr::Null | Repr::Bool(_) | Repr::Int(_) | Repr::Decimal(..) | Repr::Short(_))
    )
}

pub(super) enum Probe<'p, P = Value> {
    /// An equal part is cached.
    Hit(P),
    /// The part occurred before and must be stored here.
    Candidate(&'p mut Value),
    /// The part is new, or not eligible.
    Miss,
}

impl<P> Probe<'_, P> {
    fn is_hit(&self) -> bool {
        matches!(self, Self::Hit(_))
    }

    /// Stores a part, if it has a slot. Otherwise `part` is not called.
    #[inline]
    pub fn store(self, part: impl FnOnce() -> Value) {
        if let Self::Candidate(slot) = self {
            *slot = part();
        }
    }
}

/// Returns `true` if two lists have the same notation.
fn have_same_notation(cached: &[Value], items: &[Value]) -> bool {
    cached.len() == items.len()
        && cached.iter().zip(items).all(|pair| match pair {
            (Value(Repr::Null), Value(Repr::Null)) => true,
            (Value(Repr::Bool(a)), Value(Repr::Bool(b))) => a == b,
            (Value(Repr::Int(a)), Value(Repr::Int(b))) => a == b,
            (Value(Repr::Decimal(scale, a)), Value(Repr::Decimal(other, b))) => {
                scale == other && a == b
            }
            (Value(Repr::Short(a)), Value(Repr::Short(b))) => a == b,
            _ => false,
        })
}

/// A hash that only distributes parts over slots: on a collision the newer part replaces the older one.
#[derive(Default)]
struct RepeatHash(u64);

impl RepeatHash {
    /// Hashes the items if each is a scalar stored without an allocation, otherwise returns `None`.
    #[inline]
    fn of_items(items: &[Value]) -> Option<Self> {
        let mut hash = Self(items.len() as u64);
        for item in items {
            match item {
                Value(Repr::Null) => hash.word(1),
                Value(Repr::Bool(b)) => hash.word(2 + u64::from(*b)),
                Value(Repr::Int(i)) => hash.word(i.cast_unsigned()),
                Value(Repr::Decimal(scale, coefficient)) => {
                    hash.word(coefficient.cast_unsigned() ^ u64::from(*scale) << 56);
                }
                Value(Repr::Short(short)) => {
                    let (low, high) = short.as_u64_pair();
                    hash.word(low);
                    hash.word(high);
                }
                _ => return None,
            }
        }
        Some(hash)
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
        {
            self.0 = (product as u64) ^ (product >> 64) as u64;
        }
        self.0 = self.0.wrapping_add(0x2545_f491_4f6c_dd1d);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(
                chunk
                    .first_chunk()
                    .map_or(0, |word| u64::from_le_bytes(*word)),
            );
        }
        let rest = chunks.remainder().iter();
        self.word(rest.fold(bytes.len() as u64, |word, byte| {
            word << 8 | u64::from(*byte)
        }));
    }

    /// Returns a slot, and a fingerprint other than 0 that distinguishes parts with the same slot.
    #[inline]
    fn slot(&self, count: usize) -> (usize, u16) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "parts of the hash are taken"
        )]
        let (slot, fingerprint) = (self.0 as usize, (self.0 >> 48) as u16);
        (slot & count.wrapping_sub(1), fingerprint | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::value::{Repr, Value};

    /// Returns the elements of a document that repeats a list of parts often enough for deduplication.
    fn repeated(parts: &str) -> Vec<Value> {
        let text = format!("[{}]", vec![parts; 10_000].join(","));
        match read(text.as_bytes()) {
            Ok(Value(Repr::Array(items))) => items.iter().cloned().collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equal_parts_are_stored_once() {
        let items = repeated(r#"{"a":1,"b":"x"},["x",2],"a string of its own""#);
        // at the first occurrence only a fingerprint is stored
        let items = items.get(3..).expect("more of them");
        for (part, expected) in items.iter().zip(items.iter().cycle().take(3).cycle()) {
            let shared = match (part, expected) {
                (Value(Repr::Object(a)), Value(Repr::Object(b))) => a.ptr_eq(b),
                (Value(Repr::Array(a)), Value(Repr::Array(b))) => a.ptr_eq(b),
                (Value(Repr::Text(a)), Value(Repr::Text(b))) => a.ptr_eq(b),
                _ => false,
            };
            assert!(shared, "{part} is held twice", part = part.rego_text());
        }
    }

    #[test]
    fn equal_parts_in_another_notation_are_not_shared() {
        let items =
            repeated(r#"[1],[1.0],[1.00],{"a":1},{"a":1.0},{"a":true},{"b":1},[1e0],[[1]]"#);
        let expected_texts: Vec<String> = items
            .iter()
            .take(9)
            .map(|item| item.rego_text().to_string())
            .collect();
        for (part, expected) in items.iter().zip(expected_texts.iter().cycle()) {
            assert_eq!(part.rego_text().to_string(), *expected);
        }
        assert_eq!(
            expected_texts.join(","),
            r#"[1],[1.0],[1.00],{"a": 1},{"a": 1.0},{"a": true},{"b": 1},[1e0],[[1]]"#
        );
    }

    #[test]
    fn a_change_of_a_shared_part_does_not_affect_others() {
        use crate::store::{DataSnapshot, Operation, Path, Transaction};

        let text = format!("{{\"list\":[{}]}}", vec![r#"{"a":1}"#; 10_000].join(","));
        let snapshot = DataSnapshot::new(read(text.as_bytes()).unwrap(), 0);
        let mut transaction = Transaction::new(&snapshot);
        let path = Path::from_slashes("/list/0/a");
        transaction
            .write(Operation::Replace, &path, Value::from(2))
            .unwrap();
        let read_at = |path: &str| transaction.read(&Path::from_slashes(path)).unwrap().clone();
        assert_eq!(read_at("/list/0/a"), Value::from(2));
        assert_eq!(read_at("/list/1/a"), Value::from(1));
    }
}
