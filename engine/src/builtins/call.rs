//! Context of built-in calls: limits, caches and access to the host.

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
use crate::host::{Cancel, Host, Wait, WaitError};
use crate::limits::{self, Limits};
use solon_syntax::source::{SourceId, Span};

use crate::value::display;
use crate::value::{Arena, Excess, RefRepr, Short, TextView, TextViewRepr, Value, ValueRef};

/// File names by source id, for the locations of errors.
pub type SourceNames = HashMap<SourceId, Arc<str>>;

/// Caches of some built-ins for one evaluation, so that equal calls return equal results.
#[derive(Default)]
pub struct CallCaches<'e> {
    /// Sent requests with their results.
    pub sent: Sent<'e>,
    /// Results of DNS lookups by name.
    pub lookups: BTreeMap<Box<[u8]>, ValueRef<'e>>,
    /// Generated random identifiers by key.
    pub identifiers: BTreeMap<Box<[u8]>, u128>,
    /// Merged shapes of pairs of objects.
    pub merged: ShapeMerges<'e>,
    /// Merged pairs of objects.
    pub merges: Merges<'e>,
    /// Prefixes of the strings in sets.
    pub heads: HeadsCache<'e>,
    /// Sorted lists of prefixes and suffixes.
    pub affixes: AffixCache<'e>,
}

/// Context of a call: memory, budget, caches, and access to the host.
///
/// ```
/// use solon::{Engine, HostFunction, Request};
///
/// let shout = HostFunction::new("shout", "text: string => loud: string", |call, operands| {
///     let text = operands.first().and_then(|text| text.utf8()).unwrap_or_default();
///     Ok(call.string(&text.to_uppercase()))
/// })?;
/// let engine = Engine::builder().function(shout)?.build();
/// let query = engine.prepare_query("x := shout(\"hey\")")?;
/// let solutions = query.solutions(&Request::new())?;
/// assert_eq!(solutions[0].bindings[0].1, "HEY");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BuiltinContext<'e> {
    pub(crate) arena: &'e Arena,
    /// Provides all external I/O.
    pub(crate) host: &'e dyn Host,
    /// Compiled dynamic patterns, shared by all evaluations of an engine.
    pub(crate) patterns: PatternsView<'e>,
    /// Remaining limits of the evaluation.
    pub(crate) budget: Budget<'e>,
    pub(crate) hooks: &'e Hooks<'e>,
    /// Hosts that policies may connect to. `None` allows all.
    pub(crate) allow_net: Option<&'e [String]>,
    /// Numbered edges of stored graphs.
    pub(crate) graphs: Option<&'e Graphs>,
    /// Cached responses of `http.send` across evaluations.
    pub(crate) responses: Option<&'e ResponseCache>,
    /// Cache of verified token signatures.
    pub(crate) signatures: Option<&'e VerifiedSignatures>,
    pub(crate) span: Span,
    /// File names for `span`.
    pub(crate) files: Option<&'e SourceNames>,
    /// Most recently used time zone.
    pub(crate) last_zone: Option<LastZone<'e>>,
    caches: Option<Box<CallCaches<'e>>>,
    now_ns: OnceCell<i64>,
    seed: OnceCell<u64>,
}

impl<'e> BuiltinContext<'e> {
    /// Returns the context for the calls of one evaluation.
    #[inline]
    pub(crate) fn new(
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

    /// Returns a value as a result of the call. It is copied into the memory of the evaluation, which limits its size.
    pub fn value(&self, value: &Value) -> ValueRef<'e> {
        self.arena.copy_of(value)
    }

    /// Copies `text` into the arena and returns it as a string.
    pub fn string(&self, text: &str) -> ValueRef<'e> {
        self.arena.text(text)
    }

    /// Checks the limits of the evaluation. Host functions call it in long loops.
    ///
    /// # Errors
    /// Fails if the evaluation is cancelled, or at its time or memory limit. The function returns this error.
    pub fn check_limits(&self) -> Result<(), BuiltinError> {
        self.budget.check()
    }

    /// Returns the caller's metadata about the request: an object, if any.
    pub fn metadata(&self) -> Option<&'e Value> {
        self.hooks.metadata
    }

    /// Adds a field to the metadata of the response, if the caller collects it.
    pub fn set_response_metadata(&self, name: &str, value: Value) {
        if let Some(metadata) = self.hooks.response_metadata {
            metadata.set(name, value);
        }
    }

    /// Removes and returns the state that a repeated evaluation continues with to find the error of this one.
    pub(crate) fn take_resume_state(&mut self) -> ResumeState {
        ResumeState {
            now_ns: self.now_ns.take(),
            seed: self.seed.take(),
            identifiers: std::mem::take(&mut self.caches().identifiers),
            steps: self.budget.remaining_steps(),
            deadline: self.budget.deadline,
        }
    }

    /// Continues with the clock, random seed and identifiers of an earlier evaluation.
    pub(crate) fn resume(&mut self, state: &ResumeState) {
        self.now_ns = state.now_ns.map(OnceCell::from).unwrap_or_default();
        self.seed = state.seed.map(OnceCell::from).unwrap_or_default();
        self.caches().identifiers.clone_from(&state.identifiers);
    }

    /// Returns `true` if the result of a nondeterministic call is cached. Returns `false` without a cache.
    pub(crate) fn has_cached_result(&self, name: &str, operands: &[ValueRef<'e>]) -> bool {
        self.hooks
            .nd_cache
            .is_some_and(|cache| cache.get(self.arena, name, operands).is_some())
    }

    /// Returns the substring between two byte positions, without a copy if possible.
    #[inline]
    pub(crate) fn part(&self, text: TextView<'e>, range: Range<usize>) -> ValueRef<'e> {
        match text.as_bytes().get(range.clone()).and_then(Short::new) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => self.long_part(text, range),
        }
    }

    /// Appends a substring to a list. Constructs it in place: moving a short string right after its bytes were stored
    /// would stall store forwarding.
    #[inline]
    pub(crate) fn push_part(
        &self,
        list: &mut bumpalo::collections::Vec<'e, ValueRef<'e>>,
        text: TextView<'e>,
        range: Range<usize>,
    ) {
        match text.as_bytes().get(range.clone()).and_then(Short::new) {
            Some(short) => list.push(ValueRef(RefRepr::Short(short))),
            None => list.push(self.long_part(text, range)),
        }
    }

    /// Returns a substring that is too long to be stored inline.
    fn long_part(&self, text: TextView<'e>, range: Range<usize>) -> ValueRef<'e> {
        const BEYOND: &str = "a part beyond its text";
        match text {
            TextView(TextViewRepr::Short(_)) => bug!(BEYOND),
            TextView(TextViewRepr::Utf8(text)) => match text.get(range.clone()) {
                Some(part) => self.arena.borrowed_text(part),
                None => self
                    .arena
                    .borrowed_bytes(text.as_bytes().get(range).unwrap_or_else(|| bug!(BEYOND))),
            },
            TextView(TextViewRepr::Bytes(bytes)) => self
                .arena
                .borrowed_bytes(bytes.get(range).unwrap_or_else(|| bug!(BEYOND))),
        }
    }

    /// Formats a value as text.
    ///
    /// # Errors
    /// Fails if the text exceeds the memory limit, or if another limit is reached.
    pub(crate) fn display_text(&self, value: ValueRef<'_>) -> Result<String, BuiltinError> {
        let goes_on = || self.budget.check().is_ok();
        let text = display::show_while(value, self.budget.remaining_memory(), &goes_on);
        match text {
            Some(text) => Ok(text),
            None => {
                self.budget.check()?;
                Err(BuiltinError::memory())
            }
        }
    }

    /// Returns the caches of this evaluation, which the first call creates.
    pub(crate) fn caches(&mut self) -> &mut CallCaches<'e> {
        self.caches.get_or_insert_default()
    }

    /// Returns an empty buffer in the arena. [`BuiltinContext::text`] converts it to a string.
    pub(crate) fn buffer(&self) -> Buffer<'e> {
        // most strings that policies build are short, and growing costs more than the unused capacity
        Buffer::with_capacity_in(48, self.arena.bump())
    }

    /// Returns the content of a buffer as a string without copying it. Short strings are stored inline.
    pub(crate) fn text(&self, buffer: Buffer<'e>) -> ValueRef<'e> {
        match Short::new(&buffer) {
            Some(short) => ValueRef(RefRepr::Short(short)),
            None => self.arena.borrowed_bytes(buffer.into_bump_slice()),
        }
    }

    /// Returns the source location of the call, `file:row`.
    pub fn source_location(&self) -> String {
        let Span { row, col, .. } = self.span;
        match self.files.and_then(|files| files.get(&self.span.source)) {
            Some(file) if !file.is_empty() => format!("{file}:{row}"),
            _ => format!("{row}:{col}"),
        }
    }

    /// Returns the time of the evaluation in nanoseconds since 1970. The host's clock is read once, so all calls of an
    /// evaluation get the same time.
    pub fn now_ns(&self) -> i64 {
        *self.now_ns.get_or_init(|| self.host.now_ns())
    }
}

impl BuiltinContext<'_> {
    /// Returns the random seed of the evaluation. It is generated once, so all calls get the same seed. Fails if the host
    /// has no random numbers.
    pub fn seed(&self) -> Result<u64, BuiltinError> {
        if let Some(seed) = self.seed.get() {
            return Ok(*seed);
        }
        let seed = u64::from_ne_bytes(random(self.host)?);
        Ok(*self.seed.get_or_init(|| seed))
    }
}

/// State of an evaluation that a repetition of it starts from.
#[derive(Default)]
pub(crate) struct ResumeState {
    now_ns: Option<i64>,
    seed: Option<u64>,
    identifiers: BTreeMap<Box<[u8]>, u128>,
    pub steps: u64,
    /// Deadline of both evaluations.
    pub deadline: Option<Instant>,
}

/// Returns random bytes. If the host has none, the evaluation ends, because any substitute would be predictable.
pub fn random<const LENGTH: usize>(host: &dyn Host) -> Result<[u8; LENGTH], BuiltinError> {
    let mut bytes = [0; LENGTH];
    match host.fill_random(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(reason) => Err(BuiltinError::halt(
            EvalErrorCode::Internal,
            format!("no random numbers: {reason}"),
        )),
    }
}

/// Limits of one evaluation: steps, wall time, memory and cancellation.
pub struct Budget<'e> {
    /// Steps until the limits are polled next.
    until_poll: u32,
    /// Remaining steps after `until_poll`.
    steps: u64,
    deadline: Option<Instant>,
    memory: usize,
    arena: &'e Arena,
    cancel: Option<&'e Cancel>,
    hooks: &'e Hooks<'e>,
}

impl<'e> Budget<'e> {
    /// Returns the budget of a new evaluation. With a deadline or cancellation it sets the alarm of the arena, so that long work within
    /// the arena ends as well.
    #[inline]
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

    /// Sets the hooks of the host, which polls of the budget call.
    #[inline]
    #[must_use]
    pub fn with_hooks(mut self, hooks: &'e Hooks<'e>) -> Self {
        self.hooks = hooks;
        self
    }

    /// Reserves the steps until the next poll.
    #[inline]
    fn begin_poll_interval(&mut self) {
        self.until_poll = u32::try_from(self.steps)
            .unwrap_or(u32::MAX)
            .min(limits::BUDGET_STRIDE);
        self.steps -= u64::from(self.until_poll);
    }

    /// Returns the number of remaining steps, including those until the next poll.
    pub fn remaining_steps(&self) -> u64 {
        self.steps.saturating_add(u64::from(self.until_poll))
    }

    /// Charges one step, for an iteration or a call. Fails at a limit of the evaluation.
    #[inline]
    pub fn step(&mut self) -> Result<(), BuiltinError> {
        self.spend(1)
    }

    /// Charges `amount` steps, for the iterations of a built-in's own loop. Fails at a limit of the evaluation.
    #[inline]
    pub fn spend(&mut self, amount: u32) -> Result<(), BuiltinError> {
        match self.until_poll.checked_sub(amount) {
            Some(remaining) => {
                self.until_poll = remaining;
                Ok(())
            }
            None => self.poll(amount),
        }
    }

    /// Returns `true` if the evaluation has a deadline or a cancellation handle.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.deadline.is_some() || self.cancel.is_some()
    }

    /// Charges one step for each of `length` elements. Fails at a limit of the evaluation.
    pub fn spend_len(&mut self, length: usize) -> Result<(), BuiltinError> {
        self.spend(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Returns how long external I/O may take.
    pub fn wait(&self) -> Wait<'e> {
        Wait::new(self.deadline, self.cancel).on_poll(self.hooks.while_waiting())
    }

    /// Returns the number of bytes that may still be allocated.
    pub fn remaining_memory(&self) -> usize {
        self.memory.saturating_sub(self.arena.bytes())
    }

    /// Returns the error of an evaluation that reached its deadline or was cancelled during external I/O. Returns
    /// `None` if only the time limit of that I/O expired.
    pub fn ended(&self, name: &str) -> Option<BuiltinError> {
        let (reason, reason_text) = match self.wait().check_ended()? {
            WaitError::Cancelled => (StopReason::Cancelled, "context canceled"),
            _ => (StopReason::Timeout, "context deadline exceeded"),
        };
        let message = format!("{name}: timed out ({reason_text})");
        Some(BuiltinError::halt(EvalErrorCode::Cancel(reason), message))
    }

    /// Checks that an allocation is within the memory limit, or fails. Does not allocate.
    pub fn reserve(&self, bytes: usize) -> Result<(), BuiltinError> {
        if self.arena.bytes().saturating_add(bytes) > self.memory {
            return Err(BuiltinError::memory());
        }
        Ok(())
    }

    /// Charges more steps than remain until the next poll, and polls all limits.
    #[cold]
    fn poll(&mut self, amount: u32) -> Result<(), BuiltinError> {
        let beyond = u64::from(amount.saturating_sub(self.until_poll));
        let Some(remaining) = self.steps.checked_sub(beyond) else {
            return Err(BuiltinError::stopped(StopReason::StepLimit));
        };
        self.steps = remaining;
        self.begin_poll_interval();
        self.check()
    }

    /// Polls all limits except steps, and fails if one is exceeded. For long loops whose steps have been charged.
    pub fn check(&self) -> Result<(), BuiltinError> {
        if let Some(hook) = self.hooks.on_poll {
            hook();
        }
        match self.arena.excess() {
            None => {}
            Some(Excess::Nodes) => return Err(BuiltinError::memory()),
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
