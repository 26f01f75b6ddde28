//! What a built-in function may use while it runs.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::buffer::Buffer;
use super::builtin_error::{BuiltinError, EvalErrorCode, StopReason};
use super::graph::Graphs;
use super::hooks::Hooks;
use super::http::{ResponseCache, Sent};
use super::objects::merge_cache::Merges;
use super::objects::shape_merges::ShapeMerges;
use super::patterns::{Patterns, PatternsView};
use super::sets::heads::HeadsCache;
use super::signatures::VerifiedSignatures;
use super::strings::AffixCache;
use super::time::LastZone;
use crate::bug::bug;
use crate::host::{Cancel, Host, Over, Wait};
use crate::limits::{self, Limits};
use solon_syntax::source::{SourceId, Span};

use crate::value::display;
use crate::value::{Arena, Excess, Short, TextView, Value, ValueRef};

/// File names by source.
pub type Files = HashMap<SourceId, Arc<str>>;

/// What few built-ins keep during an evaluation, so that they answer a question twice in the same way.
#[derive(Default)]
pub struct CallCaches<'e> {
    /// Requests and what became of them.
    pub sent: Sent<'e>,
    /// Names that were looked up.
    pub lookups: BTreeMap<Box<[u8]>, ValueRef<'e>>,
    /// The random identifiers given out, by their keys.
    pub identifiers: BTreeMap<Box<[u8]>, u128>,
    /// What objects merge to, by their forms.
    pub merged: ShapeMerges<'e>,
    /// What pairs of objects merged to.
    pub merges: Merges<'e>,
    /// What strings of sets begin with.
    pub heads: HeadsCache<'e>,
    /// Prefixes and suffixes in order.
    pub affixes: AffixCache<'e>,
}

/// The context of a call: memory, budget, caches, and the way to the outside.
///
/// ```
/// use solon::{Engine, HostFunction, Request};
///
/// let shout = HostFunction::new("shout", "text: string => loud: string", |call, operands| {
///     let text = operands.first().and_then(|text| text.utf8()).unwrap_or_default();
///     // what is made lives as long as the evaluation
///     let mut loud = call.buffer();
///     loud.extend(text.to_uppercase().bytes());
///     Ok(call.text(loud))
/// })?;
/// let engine = Engine::builder().function(shout).build();
/// let query = engine.prepare_query("x := shout(\"hey\")")?;
/// let found = query.solutions(&Request::new())?;
/// assert_eq!(found[0].bindings[0].1, "HEY".into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BuiltinContext<'e> {
    /// Where results live.
    pub arena: &'e Arena,
    /// The outside.
    pub host: &'e dyn Host,
    /// Compiled dynamic patterns, shared by all evaluations of an engine.
    pub patterns: PatternsView<'e>,
    /// What may still be spent.
    pub budget: Budget<'e>,
    /// What the host attached.
    pub hooks: &'e Hooks<'e>,
    /// Hosts that may be asked; `None` allows all.
    pub allow_net: Option<&'e [String]>,
    /// The edges of stored graphs that were walked before.
    pub graphs: Option<&'e Graphs>,
    /// Answers of `http.send` that outlive the evaluation.
    pub responses: Option<&'e ResponseCache>,
    /// Signatures of tokens that were verified before.
    pub signatures: Option<&'e VerifiedSignatures>,
    /// Where the call stands, for results that speak of it.
    pub span: Span,
    /// File names, for the same purpose.
    pub files: Option<&'e Files>,
    /// The place that a time was looked at last.
    pub last_zone: Option<LastZone<'e>>,
    caches: Option<Box<CallCaches<'e>>>,
    now_ns: OnceCell<i64>,
    seed: OnceCell<u64>,
}

impl<'e> BuiltinContext<'e> {
    /// The context of the calls of one evaluation.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is made where it stays, without a copy on the way"
    )]
    pub fn new(
        arena: &'e Arena,
        host: &'e dyn Host,
        patterns: &'e Patterns,
        budget: Budget<'e>,
    ) -> Self {
        Self {
            arena,
            host,
            patterns: PatternsView::new(patterns),
            budget,
            hooks: Hooks::NONE,
            allow_net: None,
            graphs: None,
            responses: None,
            signatures: None,
            span: Span::default(),
            files: None,
            last_zone: None,
            caches: None,
            now_ns: OnceCell::new(),
            seed: OnceCell::new(),
        }
    }

    /// What the caller told about the request: an object, if anything.
    pub fn metadata(&self) -> Option<&'e Value> {
        self.hooks.metadata
    }

    /// Tells the caller something beside the answer, if the caller wants to know.
    pub fn set_response_metadata(&self, name: &str, value: Value) {
        if let Some(metadata) = self.hooks.response_metadata {
            metadata.set(name, value);
        }
    }

    /// What an evaluation that ends here leaves to the search for its error.
    pub(crate) fn take_resume_state(&mut self) -> ResumeState {
        ResumeState {
            now_ns: self.now_ns.take(),
            seed: self.seed.take(),
            identifiers: std::mem::take(&mut self.caches().identifiers),
            steps: self.budget.remaining_steps(),
            deadline: self.budget.deadline,
        }
    }

    /// Goes on with the clock and the randomness of an earlier evaluation.
    pub(crate) fn resume(&mut self, left: &ResumeState) {
        self.now_ns = left.now_ns.map(OnceCell::from).unwrap_or_default();
        self.seed = left.seed.map(OnceCell::from).unwrap_or_default();
        self.caches().identifiers.clone_from(&left.identifiers);
    }

    /// Whether the answer of a nondeterministic built-in is known already.
    pub fn has_cached_result(&self, name: &str, operands: &[ValueRef<'e>]) -> bool {
        self.hooks
            .nd_cache
            .is_some_and(|cache| cache.get(self.arena, name, operands).is_some())
    }

    /// The part of a string between two byte positions, without a copy where that is possible.
    #[inline]
    pub fn part(&self, text: TextView<'e>, range: Range<usize>) -> ValueRef<'e> {
        match text.as_bytes().get(range.clone()).and_then(Short::new) {
            Some(short) => ValueRef::Short(short),
            None => self.long_part(text, range),
        }
    }

    /// Adds such a part to a list, written where it stays: moved as a whole, the parts of a short string would be waited for.
    #[inline]
    pub(crate) fn push_part(
        &self,
        list: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
        text: TextView<'e>,
        range: Range<usize>,
    ) {
        match text.as_bytes().get(range.clone()).and_then(Short::new) {
            Some(short) => list.push(ValueRef::Short(short)),
            None => list.push(self.long_part(text, range)),
        }
    }

    /// A part that is not held in place.
    fn long_part(&self, text: TextView<'e>, range: Range<usize>) -> ValueRef<'e> {
        const BEYOND: &str = "a part beyond its text";
        match text {
            TextView::Short(_) => bug!(BEYOND),
            TextView::Utf8(text) => match text.get(range.clone()) {
                Some(part) => self.arena.borrowed_text(part),
                None => self
                    .arena
                    .borrowed_bytes(text.as_bytes().get(range).unwrap_or_else(|| bug!(BEYOND))),
            },
            TextView::Bytes(bytes) => self
                .arena
                .borrowed_bytes(bytes.get(range).unwrap_or_else(|| bug!(BEYOND))),
        }
    }

    /// The text form of a value, if the evaluation may have it.
    pub fn display_text(&self, value: ValueRef<'_>) -> Result<String, BuiltinError> {
        let goes_on = || self.budget.check().is_ok();
        let shown = display::show_while(value, self.budget.remaining_memory(), &goes_on);
        match shown {
            Some(shown) => Ok(shown),
            None => {
                self.budget.check()?;
                Err(BuiltinError::memory())
            }
        }
    }

    /// What is kept during the evaluation.
    pub fn caches(&mut self) -> &mut CallCaches<'e> {
        self.caches.get_or_insert_default()
    }

    /// An empty buffer in the arena, to become a string by [`BuiltinContext::text`].
    pub fn buffer(&self) -> Buffer<'e> {
        // most strings that policies make are short: growing costs more than a little room
        Buffer::with_capacity_in(48, self.arena.bump())
    }

    /// The string that a buffer holds.
    pub fn text(&self, buffer: Buffer<'e>) -> ValueRef<'e> {
        match Short::new(&buffer) {
            Some(short) => ValueRef::Short(short),
            None => self.arena.borrowed_bytes(buffer.into_bump_slice()),
        }
    }

    /// The place of the call, `file:row`.
    pub fn source_location(&self) -> String {
        let Span { row, col, .. } = self.span;
        match self.files.and_then(|files| files.get(&self.span.source)) {
            Some(file) if !file.is_empty() => format!("{file}:{row}"),
            _ => format!("{row}:{col}"),
        }
    }

    /// The time of the evaluation: asked once, the same for all its calls.
    pub fn now_ns(&self) -> i64 {
        *self.now_ns.get_or_init(|| self.host.now_ns())
    }
}

impl BuiltinContext<'_> {
    /// The source of random numbers of the evaluation: asked once, the same for all its calls.
    pub fn seed(&self) -> Result<u64, BuiltinError> {
        if let Some(seed) = self.seed.get() {
            return Ok(*seed);
        }
        let seed = u64::from_ne_bytes(random(self.host)?);
        Ok(*self.seed.get_or_init(|| seed))
    }
}

/// What one evaluation leaves to another one that repeats it.
#[derive(Default)]
pub(crate) struct ResumeState {
    now_ns: Option<i64>,
    seed: Option<u64>,
    identifiers: BTreeMap<Box<[u8]>, u128>,
    /// Steps that may still be made.
    pub steps: u64,
    /// When the time is up.
    pub deadline: Option<Instant>,
}

/// Random bytes. Without them the evaluation ends: whatever stood in their place could be foreseen.
pub fn random<const LENGTH: usize>(host: &dyn Host) -> Result<[u8; LENGTH], BuiltinError> {
    let mut bytes = [0; LENGTH];
    match host.fill_random(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(why) => Err(BuiltinError::halt(
            EvalErrorCode::Internal,
            format!("no random numbers: {why}"),
        )),
    }
}

/// Steps, wall time, memory and cancellation of one evaluation.
pub struct Budget<'e> {
    /// Steps up to the next look at the clock and the like.
    until_poll: u32,
    /// Steps left behind those.
    steps: u64,
    deadline: Option<Instant>,
    memory: usize,
    arena: &'e Arena,
    cancel: Option<&'e Cancel>,
    hooks: &'e Hooks<'e>,
}

impl<'e> Budget<'e> {
    /// A fresh budget.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is made where it stays, without a copy on the way"
    )]
    pub fn new(limits: &Limits, arena: &'e Arena, cancel: Option<&'e Cancel>) -> Self {
        let mut budget = Self {
            until_poll: 0,
            steps: limits.steps.unwrap_or(u64::MAX),
            deadline: limits.deadline(),
            memory: limits.memory.unwrap_or(usize::MAX),
            arena,
            cancel,
            hooks: Hooks::NONE,
        };
        if budget.deadline.is_some() || cancel.is_some() {
            arena.set_alarm(budget.deadline, cancel.map(Cancel::flag));
        }
        budget.begin_poll_interval();
        budget
    }

    /// With what the host attached.
    #[inline]
    #[must_use]
    pub fn with_hooks(mut self, hooks: &'e Hooks<'e>) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets steps aside up to the next look.
    #[inline]
    fn begin_poll_interval(&mut self) {
        self.until_poll = u32::try_from(self.steps)
            .unwrap_or(u32::MAX)
            .min(limits::BUDGET_STRIDE);
        self.steps -= u64::from(self.until_poll);
    }

    /// Steps that may still be made.
    pub fn remaining_steps(&self) -> u64 {
        self.steps.saturating_add(u64::from(self.until_poll))
    }

    /// Counts one loop turn or call.
    #[inline]
    pub fn step(&mut self) -> Result<(), BuiltinError> {
        self.spend(1)
    }

    /// Counts `amount` turns of a built-in's own loop.
    #[inline]
    pub fn spend(&mut self, amount: u32) -> Result<(), BuiltinError> {
        match self.until_poll.checked_sub(amount) {
            Some(left) => {
                self.until_poll = left;
                Ok(())
            }
            None => self.poll(amount),
        }
    }

    /// Whether the clock or a handle may end the evaluation.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.deadline.is_some() || self.cancel.is_some()
    }

    /// Counts the turns of a loop over something of this length.
    pub fn spend_len(&mut self, length: usize) -> Result<(), BuiltinError> {
        self.spend(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// How long a call to the outside may take.
    pub fn wait(&self) -> Wait<'e> {
        Wait::new(self.deadline, self.cancel).at_looks(self.hooks.while_waiting())
    }

    /// Bytes that may still be allocated.
    pub fn remaining_memory(&self) -> usize {
        self.memory.saturating_sub(self.arena.bytes())
    }

    /// The end of an evaluation that waited for the outside for too long; `None` when only the wait was too long.
    pub fn ended(&self, name: &str) -> Option<BuiltinError> {
        let (reason, why) = match self.wait().over()? {
            Over::Cancelled => (StopReason::Cancelled, "context canceled"),
            _ => (StopReason::Timeout, "context deadline exceeded"),
        };
        let message = format!("{name}: timed out ({why})");
        Some(BuiltinError::halt(EvalErrorCode::Cancel(reason), message))
    }

    /// Refuses an allocation that the evaluation may not make.
    pub fn reserve(&self, bytes: usize) -> Result<(), BuiltinError> {
        if self.arena.bytes().saturating_add(bytes) > self.memory {
            return Err(BuiltinError::memory());
        }
        Ok(())
    }

    /// Spends more than is left of the stretch, and looks at everything that may end the evaluation.
    #[cold]
    fn poll(&mut self, amount: u32) -> Result<(), BuiltinError> {
        let beyond = u64::from(amount.saturating_sub(self.until_poll));
        let Some(left) = self.steps.checked_sub(beyond) else {
            return Err(BuiltinError::stopped(StopReason::StepLimit));
        };
        self.steps = left;
        self.begin_poll_interval();
        self.check()
    }

    /// Looks at everything but steps that may end the evaluation: for long loops whose steps are spent already.
    pub fn check(&self) -> Result<(), BuiltinError> {
        if let Some(hook) = self.hooks.on_poll {
            hook();
        }
        match self.arena.excess() {
            None => {}
            Some(Excess::Parts) => return Err(BuiltinError::memory()),
            Some(Excess::Depth) => {
                return Err(BuiltinError::halt(
                    EvalErrorCode::Internal,
                    "evaluation is nested too deeply",
                ));
            }
        }
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(BuiltinError::stopped(StopReason::Cancelled));
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(BuiltinError::stopped(StopReason::Timeout));
        }
        self.reserve(0)
    }
}
