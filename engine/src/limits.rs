//! All limits of the engine. No other module defines one.

use std::time::{Duration, Instant};

/// Maximum nesting depth of a value that is parsed from a file, a request body or by a built-in, and of values that an
/// evaluation builds. The same as OPA's limit for JSON.
pub const VALUE_NESTING: usize = 10_000;

/// Maximum nesting depth of a syntax tree, and maximum number of keys in the path of a document. Every recursive
/// function on trees relies on it.
pub const NESTING: usize = 400;

/// Maximum number of nodes of a value that an evaluation builds, counting shared nodes each time: writing or comparing
/// it takes as many steps.
pub const VALUE_NODES: u32 = 1 << 26;

/// Maximum size of strings and keys that the `copy` operations of one transaction copy, in bytes. Copies of copies grow
/// exponentially.
pub const COPIED_TEXT: usize = 256 << 20;

/// Maximum number of elements that the operations of one patch move by inserting into and removing from long arrays.
/// Elements of an array that consecutive operations change move once.
pub const PATCHED_ELEMENTS: usize = 1 << 28;

/// Maximum nesting depth of a static type. Deeper types become `any`.
pub const TYPE_NESTING: usize = 100;

/// Maximum number of nodes of a static type, counting shared nodes each time. Larger types become `any`.
pub const TYPE_NODES: usize = 1 << 16;

/// Maximum number of documents that depend on one that `with` replaces. With more, all documents count as dependent.
pub const TYPE_DEPENDENTS: usize = 128;

/// Maximum number of node pairs of two static types that are compared. Beyond it they count as possibly equal.
pub const TYPE_COMPARISONS: usize = 1 << 16;

/// Stack size that the passes of the compiler need for text that is nested [`NESTING`] deep, in bytes.
pub const COMPILE_STACK: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    4 << 20
};

/// Maximum length of a chain of operators (`a + b + …`). Each operator is the left operand of the next.
pub const CHAIN: usize = solon_syntax::ParseOptions::CHAIN as usize;

/// Stack size that the passes of the compiler need for each further operator of a chain, in bytes.
pub const CHAIN_STACK: usize = if cfg!(debug_assertions) {
    16 << 10
} else {
    4 << 10
};

/// Stack size that must be free where a recursive function on values starts, in bytes. Deeper levels allocate more.
pub const VALUE_STACK: usize = if cfg!(debug_assertions) {
    2 << 20
} else {
    192 << 10
};

/// Maximum binary exponent of a number. Larger ones are rejected, as in OPA.
pub const NUMBER_EXPONENT: i64 = 100_000;

/// Maximum size of a computed number, in bits. Far above what OPA parses, and small enough to compute quickly.
pub const NUMBER_BITS: u64 = 1 << 20;

/// Maximum length of an object's text in one row of a store, in bytes. Members of longer ones have rows of their own.
#[cfg(feature = "sqlite")]
pub const STORED_PART: usize = 4 << 10;

/// Maximum number of object shapes that the reader of one document caches.
pub const SHAPES: usize = 1024;

/// Maximum number of parts of a document that are cached during reading, so that equal parts are shared.
pub const REPEATS: usize = 1 << 16;

/// Maximum number of object shapes that are cached while the input of one evaluation is read.
pub const ARENA_SHAPES: usize = 32;

/// Maximum number of retired snapshots that are still referenced, up to which threads may keep the snapshot that they
/// used last.
pub const RETIRED_SNAPSHOTS: usize = 4;

/// Maximum number of errors that a compilation reports.
pub const ERRORS: usize = 10;

/// Maximum number of loop iterations and calls between two polls of clock and cancellation.
pub const BUDGET_STRIDE: u32 = 1024;

/// Length of a string in bytes, or of a collection in members, from which a built-in polls clock and cancellation on
/// each call with it.
pub const LARGE_OPERAND: usize = 4 << 10;

/// Maximum number of signatures that are verified for one chain of certificates, as in Go.
#[cfg(feature = "crypto")]
pub const CHAIN_SIGNATURES: usize = 100;

/// Maximum number of comparisons of names with the constraints of one certificate.
#[cfg(feature = "crypto")]
pub const NAME_COMPARISONS: usize = 250_000;

/// Maximum size of a number in a key or certificate that is shown in decimal digits, in bytes.
#[cfg(feature = "crypto")]
pub const DECIMAL_BYTES: usize = 12_500;

/// Maximum size of an RSA modulus, in bits: verification with a longer one is slow, and a token may contain its own
/// key.
#[cfg(feature = "crypto")]
pub const RSA_BITS: u64 = 16 * 1024;

/// Maximum size of a public exponent of RSA, in bits, for the same reason.
#[cfg(feature = "crypto")]
pub const RSA_EXPONENT_BITS: u64 = 31;

/// Number of values that one step, like sorting, processes between two polls of clock and cancellation.
pub const LONG_STEP: usize = 1 << 16;

/// Length of a text that is written between two polls of clock and cancellation, in bytes.
pub const POLL_BYTES: usize = 4 << 20;

/// Maximum number of combinations of constant keys of one reference that the check for recursion distinguishes.
pub const LOOKUP_COMBINATIONS: usize = 64;

/// Maximum number of unused numbers of documents, or of constants, that changes of modules leave in a program before
/// all plans are compiled again. Fewer than this are always tolerated.
pub const STALE_NUMBERS: usize = 1 << 12;

/// Maximum number of unused generated locals that changes of modules leave before all modules are compiled again. Fewer
/// than this are always tolerated.
pub const STALE_LOCALS: u32 = 1 << 12;

/// Maximum memory of hash tables for joins of one evaluation, in bytes. Beyond it loops scan all elements.
pub const JOIN_BYTES: usize = 64 << 20;

/// Maximum number of collections whose joins one evaluation tracks. Beyond it all are forgotten.
pub const JOINED: usize = 1 << 12;

/// Maximum number of cached compiled dynamic patterns (regular expressions, globs).
pub const PATTERN_CACHE: usize = 4096;

/// Maximum memory of cached compiled dynamic patterns, in bytes: several times [`PATTERN_BYTES`], so that one pattern
/// never evicts all others.
pub const PATTERN_CACHE_BYTES: usize = 256 << 20;

/// Maximum number of stored graphs whose edges are cached as numbers.
pub const CACHED_GRAPHS: usize = 16;

/// Maximum memory of the cached edges, in bytes.
pub const CACHED_GRAPHS_BYTES: usize = 64 << 20;

/// Maximum size of a compiled pattern, in bytes. Larger regular expressions are rejected, other larger patterns are not
/// cached.
pub const PATTERN_BYTES: usize = 64 << 20;

/// Maximum number of states of a regular expression over the bytes of UTF-8. With more it is compiled for an alphabet
/// of its own.
pub const PATTERN_LARGE: u64 = 1 << 12;

/// Maximum size of a complete transition table of a constant pattern, in bytes. Beyond it states are built lazily.
pub const PATTERN_TABLE: usize = 256 << 10;

/// Maximum number of states of a constant pattern before determinization, for such a table.
pub const PATTERN_STATES: usize = 512;

/// Maximum number of steps of the validation of one GraphQL document in excess of its length. Nested fragments multiply
/// them.
pub const GRAPHQL_STEPS: usize = 1 << 21;

/// Maximum nesting depth of a GraphQL query, including its fragments where they are spread.
pub const GRAPHQL_NESTING: usize = 2 * NESTING;

/// Maximum depth of templates of `strings.render_template` that call one another.
pub const TEMPLATE_DEPTH: usize = 10_000;

/// Maximum nesting depth of a document and the parts of a JSON schema that apply to it, in total.
pub const SCHEMA_DEPTH: usize = 10_000;

/// Maximum nesting depth of loops, rules and function calls. An evaluation grows its stack as needed.
pub const CALL_DEPTH: usize = 25_000;

/// Maximum nesting depth of expressions, rules and function calls in the tracing evaluator, which grows its stack as
/// needed.
pub const SEARCH_DEPTH: usize = 50_000;

/// Maximum nesting depth of negations of unknowns. Each level stores the unknown names around it.
pub const OPEN_NEGATIONS: usize = 2_500;

/// Maximum length of a text of a result, in bytes. Values share nodes, but texts repeat them.
pub const RESULT_BYTES: usize = 1 << 30;

pub(crate) const EXPLANATION_EXCEEDED: &str = "explanation exceeds its memory limit";

/// Maximum length of the file names of a trace that are shortened to align locations, in bytes. Longer ones are shown
/// in full.
pub const SHORTENED_NAMES: usize = 1 << 16;

/// Maximum number of expressions that a partial evaluation creates.
pub const RESIDUAL_EXPRESSIONS: usize = 1 << 18;

/// Maximum number of terms of those expressions, including nested terms.
pub const RESIDUAL_TERMS: usize = 1 << 21;

/// Maximum number of expressions of a body that copy propagation simplifies.
pub const SIMPLIFIED: usize = 1 << 12;

/// Maximum number of terms that copy propagation inserts into such a body. A body that needs more stays unchanged.
pub const SIMPLIFIED_TERMS: usize = 1 << 16;

/// Maximum number of elements for each of which the body of an `every` with unknowns is evaluated.
pub const UNROLLED: usize = 32;

/// Maximum number of combinations of one expression of each body of a negation, before the negation becomes a rule of
/// its own.
pub const COMPLEMENTS: usize = 16;

/// Maximum number of conditions in one chain of a filter for SQLite, whose expressions are at most 1,000 deep. Longer
/// chains are split into groups.
pub const SQLITE_CHAIN: usize = 100;

/// Maximum number of letters that a filter replaces to compare texts without regard to case. Each is a call around the
/// previous one.
pub const CASED_LETTERS: usize = 64;

/// Limits of a bundle.
///
/// ```
/// use solon::bundle::{BundleLimits, BundleReader};
///
/// let reader = BundleReader::new("authz").limits(BundleLimits::default().file_bytes(1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleLimits {
    /// Maximum size of one file, in bytes.
    pub file_bytes: u64,
    /// Maximum size of an archive after decompression, and of all files of a folder, in bytes.
    pub total_bytes: u64,
    /// Maximum number of entries of an archive, including folders, and of files of a folder.
    pub entries: usize,
    /// Maximum length of a path within the bundle, in bytes.
    pub path_bytes: usize,
    /// Maximum ratio of decompressed to compressed bytes of an archive, once [`BUNDLE_RATIO_FROM`] bytes are
    /// decompressed.
    pub ratio: u64,
}

/// Decompressed size of an archive up to which the ratio is not checked, in bytes.
pub const BUNDLE_RATIO_FROM: u64 = 32 << 20;

/// Maximum number of zero bytes between the last entry of an archive and its end. Programs pad their last record.
pub const BUNDLE_PADDING: u64 = 1 << 20;

/// Maximum size of the extended headers of one entry of an archive, in bytes.
pub const BUNDLE_HEADER_BYTES: u64 = 64 << 10;

impl Default for BundleLimits {
    fn default() -> Self {
        Self {
            file_bytes: 1 << 30,
            total_bytes: 4 << 30,
            entries: 1 << 18,
            path_bytes: 4 << 10,
            ratio: 250,
        }
    }
}

impl BundleLimits {
    /// Sets the maximum size of one file, in bytes.
    #[must_use]
    pub fn file_bytes(self, file_bytes: u64) -> Self {
        Self { file_bytes, ..self }
    }

    /// Sets the maximum size of all decompressed files, in bytes.
    #[must_use]
    pub fn total_bytes(self, total_bytes: u64) -> Self {
        Self {
            total_bytes,
            ..self
        }
    }

    /// Sets the maximum number of entries.
    #[must_use]
    pub fn entries(self, entries: usize) -> Self {
        Self { entries, ..self }
    }

    /// Sets the maximum length of a path, in bytes.
    #[must_use]
    pub fn path_bytes(self, path_bytes: usize) -> Self {
        Self { path_bytes, ..self }
    }

    /// Sets the maximum ratio of decompressed to compressed bytes.
    #[must_use]
    pub fn ratio(self, ratio: u64) -> Self {
        Self { ratio, ..self }
    }
}

/// Limits of one evaluation. `None` means unlimited.
///
/// By default an evaluation may use 1 GiB of memory, and an explanation 256 MiB; time and steps are unlimited.
///
/// ```
/// use solon::{Engine, Limits, Request};
///
/// let engine = Engine::builder().limits(Limits::default().steps(Some(1000))).build();
/// engine.set_module("p.rego", "package p\nn := sum([x | some x in numbers.range(1, 100000)])")?;
/// let n = engine.prepare_document("data.p.n")?;
/// assert!(n.evaluate(&Request::new()).is_err());
/// // a request may have bounds of its own
/// assert!(n.evaluate(&Request::new().limits(&Limits::default())).is_ok());
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of loop iterations and calls.
    pub steps: Option<u64>,
    /// Maximum wall time.
    pub time: Option<Duration>,
    /// Deadline. If `time` is set, too, the earlier end applies.
    pub until: Option<Instant>,
    /// Maximum memory of intermediate values, in bytes.
    pub memory: Option<usize>,
    /// Maximum memory of the recorded steps of an explanation, in bytes.
    pub explanation: Option<usize>,
}

impl Limits {
    /// Maximum size, in bytes, of the text of one result. Values share nodes, but their texts do not.
    pub const RESULT_BYTES: usize = RESULT_BYTES;

    /// Maximum nesting depth of a syntax tree that is read, and of the path of a document.
    pub const NESTING: usize = NESTING;

    /// Maximum size of a computed number, in bits.
    pub const NUMBER_BITS: u64 = NUMBER_BITS;

    /// No limits, except for those that cannot be disabled, such as [`Self::NESTING`].
    pub const UNBOUNDED: Self = Self {
        steps: None,
        time: None,
        until: None,
        memory: None,
        explanation: None,
    };

    /// Sets the maximum number of loop iterations and calls.
    #[must_use]
    pub fn steps(mut self, steps: Option<u64>) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the maximum wall time.
    #[must_use]
    pub fn time(mut self, time: Option<Duration>) -> Self {
        self.time = time;
        self
    }

    /// Sets the deadline. `None` removes it.
    #[must_use]
    pub fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// Returns the deadline of an evaluation that starts now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let Some(time) = self.time else {
            return self.until;
        };
        let end = Instant::now().checked_add(time);
        match (end, self.until) {
            (Some(end), Some(until)) => Some(end.min(until)),
            (end, until) => end.or(until),
        }
    }

    /// Returns `true` if an evaluation that starts now has no time left. Reads the clock only if there is a limit of time.
    #[inline]
    pub(crate) fn has_no_time(&self) -> bool {
        (self.time.is_some() || self.until.is_some())
            && self
                .deadline()
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Sets the maximum memory of intermediate values, in bytes.
    #[must_use]
    pub fn memory(mut self, memory: Option<usize>) -> Self {
        self.memory = memory;
        self
    }

    /// Sets the maximum memory of the recorded steps of an explanation, in bytes.
    #[must_use]
    pub fn explanation(mut self, explanation: Option<usize>) -> Self {
        self.explanation = explanation;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: None,
            time: None,
            until: None,
            memory: Some(1 << 30),
            explanation: Some(256 << 20),
        }
    }
}

/// Maximum number of steps of the search for the error of a failed evaluation.
pub const TRACEBACK_STEPS: u64 = 1 << 20;

/// Maximum number of errors of built-ins that an evaluation collects.
pub const COLLECTED_ERRORS: usize = 1 << 16;

/// Maximum size of printed lines that are buffered until the end of an evaluation, in bytes.
pub const BUFFERED_PRINTS: usize = 1 << 20;

/// Maximum memory of an evaluation that its thread keeps for the next one, in bytes. Larger memory goes to a pool for
/// all threads.
pub const THREAD_ARENA: usize = 256 << 10;

/// Maximum capacity of lists that are retained for reading the input of the next evaluation, in elements.
pub const RETAINED_LISTS: usize = 1 << 10;

/// Maximum number of threads that keep such memory.
pub const THREAD_ARENAS: usize = 1 << 10;

/// Maximum number of calls of impure functions whose results are recorded for the search for an error.
pub const RECORDED_CALLS: usize = 1 << 14;

/// Maximum memory of evaluations that the pool keeps for all threads, in bytes.
pub const POOLED_ARENAS: usize = 256 << 20;

/// Maximum size of a response's body that `http.send` reads, in bytes.
pub const RESPONSE_BYTES: usize = 256 << 20;

/// Maximum memory of cached responses of `http.send`, in bytes.
pub const RESPONSE_CACHE_BYTES: usize = 64 << 20;

/// Maximum number of requests in one chain of redirections.
pub const REDIRECTIONS: usize = 100;
