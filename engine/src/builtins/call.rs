//! What a built-in function may use while it runs.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::fault::{Fault, FaultCode};
use super::patterns::Patterns;
use crate::host::Host;
use crate::limits::{self, Limits};
use crate::value::{Arena, Short, TextView, V};

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
    /// Steps up to the next look at the clock and the like.
    until_look: u32,
    /// Steps left behind those.
    steps: u64,
    deadline: Option<Instant>,
    memory: usize,
    arena: &'e Arena,
    cancelled: Option<&'e AtomicBool>,
}

impl<'e> Budget<'e> {
    /// A fresh budget.
    pub fn new(limits: &Limits, arena: &'e Arena, cancelled: Option<&'e AtomicBool>) -> Self {
        let mut budget = Self {
            until_look: 0,
            steps: limits.steps.unwrap_or(u64::MAX),
            deadline: limits
                .time
                .and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory.unwrap_or(usize::MAX),
            arena,
            cancelled,
        };
        budget.begin_stretch();
        budget
    }

    /// Sets steps aside up to the next look.
    fn begin_stretch(&mut self) {
        self.until_look = u32::try_from(self.steps)
            .unwrap_or(u32::MAX)
            .min(limits::BUDGET_STRIDE);
        self.steps -= u64::from(self.until_look);
    }

    /// Counts one loop turn or call.
    #[inline]
    pub fn step(&mut self) -> Result<(), Fault> {
        self.spend(1)
    }

    /// Counts `amount` turns of a built-in's own loop.
    #[inline]
    pub fn spend(&mut self, amount: u32) -> Result<(), Fault> {
        match self.until_look.checked_sub(amount) {
            Some(left) => {
                self.until_look = left;
                Ok(())
            }
            None => self.look(amount),
        }
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

    /// Spends more than is left of the stretch, and looks at everything that may end the evaluation.
    #[cold]
    fn look(&mut self, amount: u32) -> Result<(), Fault> {
        let beyond = u64::from(amount.saturating_sub(self.until_look));
        let Some(left) = self.steps.checked_sub(beyond) else {
            return Err(Fault::halt(
                FaultCode::Cancel,
                "evaluation exceeds its step limit",
            ));
        };
        self.steps = left;
        self.begin_stretch();
        if self.arena.is_too_deep() {
            return Err(Fault::halt(
                FaultCode::Internal,
                "evaluation is nested too deeply",
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
