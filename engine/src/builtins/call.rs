//! What a built-in function may use while it runs.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::fault::{Fault, FaultCode, FaultError};
use super::patterns::Patterns;
use crate::host::Host;
use crate::limits::{self, Limits};
use crate::value::array::{ArrayIter, ArrayView};
use crate::value::set::SetIter;
use crate::value::{Arena, Kind, Number, ObjectView, SetView, Short, TextView, V};

/// Bytes of a string being built in the arena.
pub type Buffer<'e> = bumpalo::collections::Vec<'e, u8>;

/// The surroundings of a call: memory, budget, caches, and the way to the outside.
pub struct Call<'e> {
    /// Where results live.
    pub arena: &'e Arena,
    /// The outside.
    pub host: &'e dyn Host,
    /// Compiled dynamic patterns, shared by all evaluations of an engine.
    pub patterns: &'e Patterns,
    /// What may still be spent.
    pub budget: Budget<'e>,
    /// Where `print` writes lines; `None` drops them.
    pub print: Option<&'e (dyn Fn(&str) + 'e)>,
    /// The random identifiers given out, by their keys.
    pub identifiers: HashMap<Box<[u8]>, u128>,
    now_ns: OnceCell<i64>,
    seed: OnceCell<u64>,
}

impl<'e> Call<'e> {
    /// Surroundings for one evaluation.
    pub fn new(
        arena: &'e Arena,
        host: &'e dyn Host,
        patterns: &'e Patterns,
        budget: Budget<'e>,
    ) -> Self {
        Self {
            arena,
            host,
            patterns,
            budget,
            print: None,
            identifiers: HashMap::new(),
            now_ns: OnceCell::new(),
            seed: OnceCell::new(),
        }
    }

    /// The part of a string between two byte positions, without a copy where that is possible.
    #[inline]
    pub fn part(&self, text: TextView<'e>, range: Range<usize>) -> V<'e> {
        match text {
            TextView::Short(short) => self
                .arena
                .bytes_text(short.as_bytes().get(range).unwrap_or_default()),
            TextView::Utf8(text) => match text.get(range.clone()) {
                Some(part) => self.arena.borrowed_text(part),
                None => self
                    .arena
                    .borrowed_bytes(text.as_bytes().get(range).unwrap_or_default()),
            },
            TextView::Bytes(bytes) => self
                .arena
                .borrowed_bytes(bytes.get(range).unwrap_or_default()),
        }
    }

    /// An empty buffer in the arena, to become a string by [`Call::text`].
    pub fn buffer(&self) -> Buffer<'e> {
        Buffer::new_in(self.arena.bump())
    }

    /// The string that a buffer holds.
    pub fn text(&self, buffer: Buffer<'e>) -> V<'e> {
        match Short::new(&buffer) {
            Some(short) => V::Short(short),
            None => self.arena.borrowed_bytes(buffer.into_bump_slice()),
        }
    }

    /// The time of the evaluation: asked once, the same for all its calls.
    pub fn now_ns(&self) -> i64 {
        *self.now_ns.get_or_init(|| self.host.now_ns())
    }
}

impl Call<'_> {
    /// The source of random numbers of the evaluation: asked once, the same for all its calls.
    pub fn seed(&self) -> u64 {
        *self.seed.get_or_init(|| {
            let mut bytes = [0; 8];
            self.host.fill_random(&mut bytes);
            u64::from_ne_bytes(bytes)
        })
    }
}

/// Steps, wall time, memory and cancellation of one evaluation.
pub struct Budget<'e> {
    steps: u64,
    until_look: u32,
    deadline: Option<Instant>,
    memory: usize,
    arena: &'e Arena,
    cancelled: Option<&'e AtomicBool>,
}

impl<'e> Budget<'e> {
    /// A fresh budget.
    pub fn new(limits: &Limits, arena: &'e Arena, cancelled: Option<&'e AtomicBool>) -> Self {
        Self {
            steps: limits.steps.unwrap_or(u64::MAX),
            until_look: limits::BUDGET_STRIDE,
            deadline: limits
                .time
                .and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory.unwrap_or(usize::MAX),
            arena,
            cancelled,
        }
    }

    /// Counts one loop turn or call.
    #[inline]
    pub fn step(&mut self) -> Result<(), Fault> {
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look()
        } else {
            Ok(())
        }
    }

    /// Counts `amount` turns of a built-in's own loop.
    pub fn spend(&mut self, amount: u32) -> Result<(), Fault> {
        if amount < self.until_look {
            self.until_look -= amount;
            return Ok(());
        }
        self.steps = self.steps.saturating_sub(u64::from(amount));
        self.look()
    }

    /// Counts the turns of a loop over something of this length.
    pub fn spend_len(&mut self, length: usize) -> Result<(), Fault> {
        self.spend(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Refuses an allocation that the evaluation may not make.
    pub fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        if self.arena.bytes().saturating_add(bytes) > self.memory {
            return Err(Fault::halt(
                FaultCode::Cancel,
                "evaluation exceeds its memory limit",
            ));
        }
        Ok(())
    }

    #[cold]
    fn look(&mut self) -> Result<(), Fault> {
        self.until_look = limits::BUDGET_STRIDE;
        self.steps = self.steps.saturating_sub(u64::from(limits::BUDGET_STRIDE));
        if self.steps == 0 {
            return Err(Fault::halt(
                FaultCode::Cancel,
                "evaluation exceeds its step limit",
            ));
        }
        if self
            .cancelled
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Err(Fault::halt(
                FaultCode::Cancel,
                "caller cancelled query execution",
            ));
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(Fault::halt(
                FaultCode::Cancel,
                "evaluation exceeds its time limit",
            ));
        }
        self.reserve(0)
    }
}

/// Appends to a buffer if the evaluation may.
pub fn push(call: &Call<'_>, buffer: &mut Buffer<'_>, bytes: &[u8]) -> Result<(), Fault> {
    if buffer.len() + bytes.len() > buffer.capacity() {
        call.budget.reserve(2 * buffer.len() + bytes.len())?;
    }
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// The integer that a number is written as: `1` and, up to 18 digits, `1.0`, but neither `1e0` nor what is too
/// large.
pub fn plain_int(number: Number<'_>) -> Option<i64> {
    const DIGITS: u8 = 18;
    match number {
        Number::Int(i) => Some(i),
        Number::Decimal(scale, coefficient) => {
            let short = coefficient.unsigned_abs() < 10_u64.pow(DIGITS.into()) && scale < DIGITS;
            number.to_i64().filter(|_| short)
        }
        Number::Text(text) => {
            let digits = text.strip_prefix("-0")?;
            let zeros = digits.strip_prefix('.').unwrap_or(digits);
            let zero = zeros.len() < DIGITS.into() && zeros.bytes().all(|b| b == b'0');
            zero.then_some(0)
        }
    }
}

fn not_integer(position: u8) -> Fault {
    Fault::Error(Box::new(FaultError::Operand {
        position: position + 1,
        want: &["integer number"],
        got: "floating-point number".into(),
    }))
}

/// Reads an operand, or says what it should have been.
pub trait Operands<'e> {
    /// The operand at a position counted from 0; `null` when it is missing, which the compiler rules out.
    fn at(&self, position: u8) -> V<'e>;
    /// A string.
    fn text(&self, position: u8) -> Result<TextView<'e>, Fault>;
    /// A number.
    fn number(&self, position: u8) -> Result<Number<'e>, Fault>;
    /// An integer that fits 64 bits, see [`plain_int`].
    fn int(&self, position: u8) -> Result<i64, Fault>;
    /// An integer of any size, however it is written.
    fn integer(&self, position: u8) -> Result<Number<'e>, Fault>;
    /// An array.
    fn array(&self, position: u8) -> Result<ArrayView<'e>, Fault>;
    /// An object.
    fn object(&self, position: u8) -> Result<ObjectView<'e>, Fault>;
    /// A set.
    fn set(&self, position: u8) -> Result<SetView<'e>, Fault>;
    /// An array or a set; `want` is the order in which the message names the kinds.
    fn members(&self, position: u8, want: &'static [&'static str]) -> Result<Members<'e>, Fault>;
}

/// The elements of an array or the members of a set.
#[derive(Clone, Copy)]
pub enum Members<'e> {
    /// Of an array.
    Array(ArrayView<'e>),
    /// Of a set.
    Set(SetView<'e>),
}

impl<'e> Members<'e> {
    /// Those of an array or a set.
    pub fn of(value: V<'e>) -> Option<Self> {
        match value.as_array() {
            Some(array) => Some(Self::Array(array)),
            None => value.as_set().map(Self::Set),
        }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Set(set) => set.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The kind of the collection.
    pub fn kind(self) -> Kind {
        match self {
            Self::Array(_) => Kind::Array,
            Self::Set(_) => Kind::Set,
        }
    }

    /// In the order of the array or the set.
    pub fn iter(self) -> MembersIter<'e> {
        match self {
            Self::Array(array) => MembersIter::Array(array.iter()),
            Self::Set(set) => MembersIter::Set(set.iter()),
        }
    }

    /// In any order, for work whose result does not depend on it.
    pub fn iter_unordered(self) -> ArrayIter<'e> {
        match self {
            Self::Array(array) => array.iter(),
            Self::Set(set) => set.iter_unordered(),
        }
    }

    /// Whether one equals `value`.
    pub fn contains(self, value: V<'_>) -> bool {
        match self {
            Self::Array(array) => array.iter().any(|element| element == value),
            Self::Set(set) => set.contains(value),
        }
    }

    /// All as strings; `position` is the operand's, from 0.
    pub fn texts(self, position: u8) -> impl Iterator<Item = Result<TextView<'e>, Fault>> {
        self.iter().map(move |member| {
            member
                .as_text()
                .ok_or_else(|| Fault::element(position + 1, self.kind(), &["string"], member))
        })
    }
}

/// Goes through [`Members`].
#[derive(Clone)]
pub enum MembersIter<'e> {
    /// Of an array.
    Array(ArrayIter<'e>),
    /// Of a set.
    Set(SetIter<'e>),
}

impl<'e> Iterator for MembersIter<'e> {
    type Item = V<'e>;

    #[inline]
    fn next(&mut self) -> Option<V<'e>> {
        match self {
            Self::Array(items) => items.next(),
            Self::Set(items) => items.next(),
        }
    }
}

impl<'e> Operands<'e> for [V<'e>] {
    #[inline]
    fn at(&self, position: u8) -> V<'e> {
        self.get(usize::from(position)).copied().unwrap_or_default()
    }

    #[inline]
    fn text(&self, position: u8) -> Result<TextView<'e>, Fault> {
        let operand = self.at(position);
        operand
            .as_text()
            .ok_or_else(|| Fault::operand(position + 1, &["string"], operand))
    }

    #[inline]
    fn number(&self, position: u8) -> Result<Number<'e>, Fault> {
        let operand = self.at(position);
        operand
            .as_number()
            .ok_or_else(|| Fault::operand(position + 1, &["number"], operand))
    }

    fn int(&self, position: u8) -> Result<i64, Fault> {
        let number = self.number(position)?;
        plain_int(number).ok_or_else(|| not_integer(position))
    }

    fn integer(&self, position: u8) -> Result<Number<'e>, Fault> {
        let operand = self.at(position);
        let number = operand
            .as_number()
            .ok_or_else(|| Fault::operand(position + 1, &["integer"], operand))?;
        if number.is_integer() {
            Ok(number)
        } else {
            Err(not_integer(position))
        }
    }

    #[inline]
    fn array(&self, position: u8) -> Result<ArrayView<'e>, Fault> {
        let operand = self.at(position);
        operand
            .as_array()
            .ok_or_else(|| Fault::operand(position + 1, &["array"], operand))
    }

    #[inline]
    fn object(&self, position: u8) -> Result<ObjectView<'e>, Fault> {
        let operand = self.at(position);
        operand
            .as_object()
            .ok_or_else(|| Fault::operand(position + 1, &["object"], operand))
    }

    #[inline]
    fn set(&self, position: u8) -> Result<SetView<'e>, Fault> {
        let operand = self.at(position);
        operand
            .as_set()
            .ok_or_else(|| Fault::operand(position + 1, &["set"], operand))
    }

    #[inline]
    fn members(&self, position: u8, want: &'static [&'static str]) -> Result<Members<'e>, Fault> {
        let operand = self.at(position);
        Members::of(operand).ok_or_else(|| Fault::operand(position + 1, want, operand))
    }
}
