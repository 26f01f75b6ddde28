//! Parts of a large document that were seen before: from the second on, equal ones are held once.
//!
//! Documents repeat themselves: grants, tags, states. What is remembered is bounded and forgotten one by one, and where
//! looking does not pay it is soon left out. Only what is written alike is shared: `1` is no `1.0`.
//!
//! Of what was seen once only a mark is kept. Most parts of some documents are unlike all others, and each part that is
//! remembered means to look at, and to let go, another one that left the cache long ago.

use std::sync::Arc;

use crate::bug::bug;
use crate::limits;
use crate::value::{Shape, Text, Value};

/// Most parts of an array or object that is shared.
const MAX_MEMBERS: usize = 8;

/// Bytes of a document for each place to remember something in.
const BYTES_PER_SLOT: usize = 64;

/// Texts shorter than this are not searched for repetitions.
const LARGE: usize = 64 << 10;

/// Small arrays, objects and longer strings seen lately, each at the place that its hash gives.
#[derive(Default)]
pub(super) struct Repeats {
    slots: SlotTable,
    strings: AdaptiveGate,
    arrays: [AdaptiveGate; MAX_MEMBERS + 1],
}

/// Where parts are remembered: none for small documents, else a power of two.
#[derive(Default)]
struct SlotTable {
    values: Vec<Value>,
    fingerprints: Vec<Fingerprints>,
}

/// What is known of the part at a place, and of the last one that belonged there, beside 0 for nothing.
#[derive(Clone, Copy, Default)]
struct Fingerprints {
    cached: u16,
    latest: u16,
}

impl SlotTable {
    fn new(count: usize) -> Self {
        Self {
            values: vec![Value::Null; count],
            fingerprints: vec![Fingerprints::default(); count],
        }
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What `same` makes of the part with a hash, if one is remembered.
    #[inline]
    fn probe<P>(&mut self, hash: &Hash, same: impl FnOnce(&Value) -> Option<P>) -> Probe<'_, P> {
        let (at, fingerprint) = hash.slot(self.values.len());
        let (Some(fingerprints), Some(part)) =
            (self.fingerprints.get_mut(at), self.values.get_mut(at))
        else {
            return Probe::Miss;
        };
        if fingerprints.cached == fingerprint
            && let Some(known) = same(part)
        {
            return Probe::Hit(known);
        }
        if fingerprints.latest == fingerprint {
            fingerprints.cached = fingerprint;
            return Probe::Candidate(part);
        }
        fingerprints.latest = fingerprint;
        Probe::Miss
    }
}

/// Whether looking pays: what is found earns more looks, what is not costs one.
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
    /// Looks that nothing must be found for.
    const FIRST: u32 = 4096;
    /// Parts that pass unseen until looking is tried again.
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

    fn record(&mut self, found: bool) {
        self.credit = if found {
            (self.credit + 8).min(Self::FIRST)
        } else {
            self.credit - 1
        };
    }
}

impl Repeats {
    /// Remembers as much as a document of so many bytes is worth.
    pub fn new(length: usize) -> Self {
        let mut repeats = Self::default();
        if length >= LARGE {
            let slots = (length / BYTES_PER_SLOT).next_power_of_two();
            repeats.slots = SlotTable::new(slots.min(limits::REPEATS));
        }
        repeats
    }

    /// A string too long to be held in place.
    #[inline]
    pub fn string(&mut self, text: &str, make: impl FnOnce() -> Text) -> Text {
        if self.slots.is_empty() || !self.strings.pays() {
            return make();
        }
        let mut hash = Hash::default();
        hash.bytes(text.as_bytes());
        let seen = self.slots.probe(&hash, |known| match known {
            Value::Text(known) if known.as_bytes() == text.as_bytes() => Some(known.clone()),
            _ => None,
        });
        self.strings.record(seen.is_hit());
        match seen {
            Probe::Hit(known) => known,
            seen => {
                let made = make();
                seen.store(|| Value::Text(made.clone()));
                made
            }
        }
    }

    /// An array of these elements that was seen before, or else the place to remember it in.
    #[inline]
    pub fn array(&mut self, items: &[Value]) -> Probe<'_> {
        let Some(gate) = self.arrays.get_mut(items.len()) else {
            return Probe::Miss;
        };
        if self.slots.is_empty() || !gate.pays() {
            return Probe::Miss;
        }
        let Some(hash) = Hash::of_items(items) else {
            return Probe::Miss;
        };
        let seen = self.slots.probe(&hash, |part| match part {
            Value::Array(known) if same(known, items) => Some(part.clone()),
            _ => None,
        });
        gate.record(seen.is_hit());
        seen
    }

    /// Whether an object of these values may be held once for all of its like.
    #[inline]
    pub fn is_eligible(&self, items: &[Value], gate: &mut AdaptiveGate) -> bool {
        !self.slots.is_empty()
            && items.len() <= MAX_MEMBERS
            && items.iter().all(is_plain)
            && gate.pays()
    }

    /// An object of these values, in the order of their keys, as [`Self::array`].
    #[inline]
    pub fn object(
        &mut self,
        shape: &Arc<Shape>,
        items: &[Value],
        gate: &mut AdaptiveGate,
    ) -> Probe<'_> {
        let Some(mut hash) = Hash::of_items(items) else {
            return Probe::Miss;
        };
        hash.word(Arc::as_ptr(shape).addr() as u64);
        let seen = self.slots.probe(&hash, |part| match part {
            Value::Object(object) => object.shaped().and_then(|(known, values)| {
                (Arc::ptr_eq(known, shape) && same(values, items)).then(|| part.clone())
            }),
            _ => None,
        });
        gate.record(seen.is_hit());
        seen
    }
}

/// Puts the values of an object, few enough to be remembered, into the order of its keys.
#[inline]
pub(super) fn arrange(values: &mut [Value], sources: &[u8]) {
    let mut ordered: [Value; MAX_MEMBERS] = Default::default();
    for (place, at) in ordered.iter_mut().zip(sources) {
        *place = values
            .get_mut(usize::from(*at))
            .map_or_else(|| bug!("a value of an object is not there"), std::mem::take);
    }
    for (value, ordered) in values.iter_mut().zip(ordered) {
        *value = ordered;
    }
}

/// Whether a value is a scalar that is held in place.
fn is_plain(value: &Value) -> bool {
    matches!(
        value,
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Decimal(..) | Value::Short(_)
    )
}

/// What is known of a part.
pub(super) enum Probe<'p, P = Value> {
    /// It is remembered.
    Hit(P),
    /// It was seen before, and is to be remembered here.
    Candidate(&'p mut Value),
    /// It is new, or not one of those that are remembered.
    Miss,
}

impl<P> Probe<'_, P> {
    fn is_hit(&self) -> bool {
        matches!(self, Self::Hit(_))
    }

    /// Remembers a part, if it is to be.
    #[inline]
    pub fn store(self, part: impl FnOnce() -> Value) {
        if let Self::Candidate(place) = self {
            *place = part();
        }
    }
}

/// Whether two lists are written alike.
fn same(known: &[Value], items: &[Value]) -> bool {
    known.len() == items.len()
        && known.iter().zip(items).all(|pair| match pair {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Decimal(scale, a), Value::Decimal(other, b)) => scale == other && a == b,
            (Value::Short(a), Value::Short(b)) => a == b,
            _ => false,
        })
}

/// A hash that only spreads parts over places: who finds a collision replaces what is there.
#[derive(Default)]
struct Hash(u64);

impl Hash {
    /// Of scalars that are held in place; `None` of anything else.
    #[inline]
    fn of_items(items: &[Value]) -> Option<Self> {
        let mut hash = Self(items.len() as u64);
        for item in items {
            match item {
                Value::Null => hash.word(1),
                Value::Bool(b) => hash.word(2 + u64::from(*b)),
                Value::Int(i) => hash.word(i.cast_unsigned()),
                Value::Decimal(scale, coefficient) => {
                    hash.word(coefficient.cast_unsigned() ^ u64::from(*scale) << 56);
                }
                Value::Short(short) => {
                    let (low, high) = short.words();
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

    /// A place among so many, and what tells parts there from one another; never 0.
    #[inline]
    fn slot(&self, count: usize) -> (usize, u16) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "parts of the hash are taken"
        )]
        let (at, fingerprint) = (self.0 as usize, (self.0 >> 48) as u16);
        (at & count.wrapping_sub(1), fingerprint | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::value::Value;

    /// The elements of a document that repeats a list of parts often enough to be searched.
    fn repeated(parts: &str) -> Vec<Value> {
        let text = format!("[{}]", vec![parts; 10_000].join(","));
        match read(text.as_bytes()) {
            Ok(Value::Array(items)) => items.iter().cloned().collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equal_parts_are_stored_once() {
        let items = repeated(r#"{"a":1,"b":"x"},["x",2],"a string of its own""#);
        // the first of each is only noted
        let items = items.get(3..).expect("more of them");
        for (part, known) in items.iter().zip(items.iter().cycle().take(3).cycle()) {
            let shared = match (part, known) {
                (Value::Object(a), Value::Object(b)) => a.ptr_eq(b),
                (Value::Array(a), Value::Array(b)) => a.ptr_eq(b),
                (Value::Text(a), Value::Text(b)) => a.is(b),
                _ => false,
            };
            assert!(shared, "{part} is held twice");
        }
    }

    #[test]
    fn equal_parts_in_another_notation_are_not_shared() {
        let items =
            repeated(r#"[1],[1.0],[1.00],{"a":1},{"a":1.0},{"a":true},{"b":1},[1e0],[[1]]"#);
        let written: Vec<String> = items.iter().take(9).map(ToString::to_string).collect();
        for (part, written) in items.iter().zip(written.iter().cycle()) {
            assert_eq!(part.to_string(), *written);
        }
        assert_eq!(
            written.join(","),
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
        let read = |path: &str| transaction.read(&Path::from_slashes(path)).unwrap().clone();
        assert_eq!(read("/list/0/a"), Value::from(2));
        assert_eq!(read("/list/1/a"), Value::from(1));
    }
}
