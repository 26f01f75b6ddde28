//! Every bound of the engine. Nothing else in the engine holds a limit of its own.

use std::time::{Duration, Instant};

/// Deepest nesting of a value that is read, from a file, a body or by a built-in, and of what an evaluation puts around
/// values: as deep as OPA reads JSON.
pub const VALUE_NESTING: usize = 10_000;

/// Deepest nesting of a syntax tree that is read, and of the names of a document. Every recursive walk over trees relies
/// on it.
pub const NESTING: usize = 400;

/// Most parts of a value that an evaluation makes, shared ones counted each time: as many as it may have to write
/// or compare.
pub const VALUE_NODES: u32 = 1 << 26;

/// Most bytes of strings and keys that the `copy` operations of one transaction copy: copies of copies double.
pub const COPIED_TEXT: usize = 256 << 20;

/// Most elements that move as the operations of one patch make long arrays longer or shorter; those of arrays that are changed
/// by one operation after another move once.
pub const PATCHED_ELEMENTS: usize = 1 << 28;

/// Deepest nesting of a static type; what nests deeper is known as `any` only.
pub const TYPE_NESTING: usize = 100;

/// Most nodes of a static type, shared ones counted each time; what is larger is known as `any` only.
pub const TYPE_NODES: usize = 1 << 16;

/// Most documents that are found to need what `with` replaces, before all documents count as such.
pub const TYPE_DEPENDENTS: usize = 128;

/// Most parts of two static types that are compared, before they count as able to be equal.
pub const TYPE_COMPARISONS: usize = 1 << 16;

/// Stack that the passes of the compiler need for text nested [`NESTING`] deep.
pub const COMPILE_STACK: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    4 << 20
};

/// Longest chain of operators (`a + b + …`); each lies in the left operand of the next.
pub const CHAIN: usize = solon_syntax::ParseOptions::CHAIN as usize;

/// Stack that the passes of the compiler need for one more operator of a chain.
pub const CHAIN_STACK: usize = if cfg!(debug_assertions) {
    16 << 10
} else {
    4 << 10
};

/// Stack that must be left wherever values are walked, which take more as they go down.
pub const VALUE_STACK: usize = if cfg!(debug_assertions) {
    2 << 20
} else {
    192 << 10
};

/// Largest binary exponent of a number; larger ones are refused as OPA refuses them.
pub const NUMBER_EXPONENT: i64 = 100_000;

/// Largest size of a computed number, in bits; far above what OPA reads, far below what hurts.
pub const NUMBER_BITS: u64 = 1 << 20;

/// Longest text of an object, in bytes, that a store keeps in one row; the members of larger ones have rows of their own.
#[cfg(feature = "sqlite")]
pub const STORED_PART: usize = 4 << 10;

/// Most forms of objects that one document's reader keeps to share their keys.
pub const SHAPES: usize = 1024;

/// Most parts of a document being read that are remembered, so that equal ones are held once.
pub const REPEATS: usize = 1 << 16;

/// Most forms of objects that are kept while a document is read for one evaluation.
pub const ARENA_SHAPES: usize = 32;

/// Most earlier moments that are held somewhere while threads keep the one that they asked last.
pub const RETIRED_SNAPSHOTS: usize = 4;

/// Most errors a compilation reports before it gives up.
pub const ERRORS: usize = 10;

/// Loop turns and calls between two looks at the clock and at cancellation.
pub const BUDGET_STRIDE: u32 = 1024;

/// Bytes of a string, or members of a collection, from which on each call of a built-in that is given one looks at the
/// clock and at cancellation.
pub const LARGE_OPERAND: usize = 4 << 10;

/// Most signatures looked at for one chain of certificates, as in Go.
#[cfg(feature = "crypto")]
pub const CHAIN_SIGNATURES: usize = 100;

/// Most comparisons of names with the constraints of one certificate.
#[cfg(feature = "crypto")]
pub const NAME_COMPARISONS: usize = 250_000;

/// Most bytes of a number in a key or certificate that is shown in decimal digits.
#[cfg(feature = "crypto")]
pub const DECIMAL_BYTES: usize = 12_500;

/// Most bits of an RSA modulus: verification by a longer one takes long, and a token could bring it along.
#[cfg(feature = "crypto")]
pub const RSA_BITS: u64 = 16 * 1024;

/// Most bits of a public exponent of RSA, for the same reason.
#[cfg(feature = "crypto")]
pub const RSA_EXPONENT_BITS: u64 = 31;

/// Values that one step, like sorting, handles between two looks at the clock and at cancellation.
pub const LONG_STEP: usize = 1 << 16;

/// Bytes of a text being written between two looks at the clock and at cancellation.
pub const POLL_BYTES: usize = 4 << 20;

/// Most combinations of constant keys of one reference that are told apart when rules are checked for recursion.
pub const LOOKUP_COMBINATIONS: usize = 64;

/// Numbers of documents, or of constants, that changes of modules may leave behind before all plans are made anew,
/// however few there are.
pub const STALE_NUMBERS: usize = 1 << 12;

/// Generated locals that changes of modules may leave behind before all modules are compiled anew, however few they have.
pub const STALE_LOCALS: u32 = 1 << 12;

/// Memory of the tables by which loops of one evaluation find elements of collections, in bytes; beyond it they go over
/// all elements.
pub const JOIN_BYTES: usize = 64 << 20;

/// Most collections that loops of one evaluation are known to go over, before all are forgotten.
pub const JOINED: usize = 1 << 12;

/// Most dynamic patterns (regular expressions, globs) kept compiled.
pub const PATTERN_CACHE: usize = 4096;

/// Memory of the dynamic patterns that are kept compiled, in bytes: several times [`PATTERN_BYTES`], so that one pattern
/// never drives out all others.
pub const PATTERN_CACHE_BYTES: usize = 256 << 20;

/// Most stored graphs whose edges are kept by number.
pub const CACHED_GRAPHS: usize = 16;

/// Memory of the edges that are kept by number, in bytes.
pub const CACHED_GRAPHS_BYTES: usize = 64 << 20;

/// Largest compiled pattern, in bytes: what a larger regular expression would be is refused, other larger patterns are
/// not kept.
pub const PATTERN_BYTES: usize = 64 << 20;

/// Most states that a regular expression has over the bytes of UTF-8; with more it is compiled for letters of its own.
pub const PATTERN_LARGE: u64 = 1 << 12;

/// Largest table of all transitions that is made for a constant pattern, in bytes; beyond it states are made when texts
/// lead to them.
pub const PATTERN_TABLE: usize = 256 << 10;

/// Most states of a constant pattern before they are worked out, for such a table.
pub const PATTERN_STATES: usize = 512;

/// Most steps of the validation of one GraphQL document, beyond those that its length explains: fragments that use
/// fragments make them many.
pub const GRAPHQL_STEPS: usize = 1 << 21;

/// Deepest nesting of a GraphQL query's parts, those of fragments included where they are spread.
pub const GRAPHQL_NESTING: usize = 2 * NESTING;

/// Most templates of `strings.render_template` that call one another.
pub const TEMPLATE_DEPTH: usize = 10_000;

/// Deepest nesting of a document and the parts of a JSON schema that look at it, taken together.
pub const SCHEMA_DEPTH: usize = 10_000;

/// Depth of loops, rules and function calls within one another, for which an evaluation takes stack as it goes.
pub const CALL_DEPTH: usize = 25_000;

/// Depth of expressions, rules and function calls within one another, for which a search takes stack as it goes.
pub const SEARCH_DEPTH: usize = 50_000;

/// Deepest nesting of negations of what is unknown: each keeps the names that are unknown around it.
pub const OPEN_NEGATIONS: usize = 2_500;

/// Largest text that is made of an answer, in bytes: values share parts, their texts do not.
pub const RESULT_BYTES: usize = 1 << 30;

/// What an explanation says that takes more memory than it may.
pub(crate) const EXPLANATION_EXCEEDED: &str = "explanation exceeds its memory limit";

/// Most bytes of the file names of a trace that are shortened where places get long; longer ones are shown whole.
pub const SHORTENED_NAMES: usize = 1 << 16;

/// Most expressions that a partial evaluation makes.
pub const RESIDUAL_EXPRESSIONS: usize = 1 << 18;

/// Most terms of those expressions, each with the terms within it.
pub const RESIDUAL_TERMS: usize = 1 << 21;

/// Most expressions of a body whose variables are replaced by what they stand for.
pub const SIMPLIFIED: usize = 1 << 12;

/// Most terms that such a body is given for its variables; a body that takes more stays as it is.
pub const SIMPLIFIED_TERMS: usize = 1 << 16;

/// Most elements for each of which the body of an `every` is searched when something in it is unknown.
pub const UNROLLED: usize = 32;

/// Most ways to pick one expression of each body of a negation, before the negation becomes a rule of its own.
pub const COMPLEMENTS: usize = 16;

/// Most conditions side by side in a filter for SQLite, whose expressions are at most 1,000 deep: longer chains stand in
/// groups.
pub const SQLITE_CHAIN: usize = 100;

/// Most letters that a filter replaces to compare texts in small or capital letters, each by a call around the one before.
pub const CASED_LETTERS: usize = 64;

/// Bounds of a bundle that is read.
///
/// ```
/// use solon::bundle::{BundleLimits, BundleReader};
///
/// let reader = BundleReader::new("authz").limits(BundleLimits::default().file_bytes(1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleLimits {
    /// Most bytes of one file.
    pub file_bytes: u64,
    /// Most bytes of an archive after decompression, and of all files of a folder.
    pub total_bytes: u64,
    /// Most entries of an archive, folders among them, and files of a folder.
    pub entries: usize,
    /// Most bytes of a path within the bundle.
    pub path_bytes: usize,
    /// Most bytes that one byte of an archive may decompress to, once [`BUNDLE_RATIO_FROM`] bytes are decompressed.
    pub ratio: u64,
}

/// Decompressed bytes of an archive up to which their ratio to compressed bytes is not checked.
pub const BUNDLE_RATIO_FROM: u64 = 32 << 20;

/// Most zero bytes between the last entry of an archive and its end: programs fill their last record.
pub const BUNDLE_PADDING: u64 = 1 << 20;

/// Most bytes of the extended headers of one entry of an archive.
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
    /// With another bound of one file, in bytes.
    #[must_use]
    pub fn file_bytes(self, file_bytes: u64) -> Self {
        Self { file_bytes, ..self }
    }

    /// With another bound of all decompressed bytes.
    #[must_use]
    pub fn total_bytes(self, total_bytes: u64) -> Self {
        Self {
            total_bytes,
            ..self
        }
    }

    /// With another bound of entries.
    #[must_use]
    pub fn entries(self, entries: usize) -> Self {
        Self { entries, ..self }
    }

    /// With another bound of a path, in bytes.
    #[must_use]
    pub fn path_bytes(self, path_bytes: usize) -> Self {
        Self { path_bytes, ..self }
    }

    /// With another bound of the ratio of decompressed to compressed bytes.
    #[must_use]
    pub fn ratio(self, ratio: u64) -> Self {
        Self { ratio, ..self }
    }
}

/// Bounds of one evaluation. `None` means unbounded.
///
/// By default an evaluation may take 1 GiB of memory, and an explanation 256 MiB; time and steps are unbounded.
///
/// ```
/// use solon::{Engine, Limits, Request};
///
/// let engine = Engine::builder().limits(Limits::default().steps(Some(1000))).build();
/// engine.set_module("p.rego", "package p\nn := sum([x | some x in numbers.range(1, 100000)])")?;
/// let n = engine.prepare_document("p/n")?;
/// assert!(n.evaluate(&Request::new()).is_err());
/// // a request may have bounds of its own
/// assert!(n.evaluate(&Request::new().limits(&Limits::default())).is_ok());
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Loop turns and calls.
    pub steps: Option<u64>,
    /// Wall time.
    pub time: Option<Duration>,
    /// The end of that time, for who knows it as such: whichever comes first counts.
    pub until: Option<Instant>,
    /// Memory of intermediate values, in bytes.
    pub memory: Option<usize>,
    /// Memory of the steps that an explanation shows, in bytes.
    pub explanation: Option<usize>,
}

impl Limits {
    /// Maximum size, in bytes, of the text of one result. Values share parts, but their texts do not.
    pub const RESULT_BYTES: usize = RESULT_BYTES;

    /// Maximum nesting depth of a syntax tree that is read, and of the path of a document.
    pub const NESTING: usize = NESTING;

    /// Maximum size of a computed number, in bits.
    pub const NUMBER_BITS: u64 = NUMBER_BITS;

    /// No bounds at all.
    pub const UNBOUNDED: Self = Self {
        steps: None,
        time: None,
        until: None,
        memory: None,
        explanation: None,
    };

    /// With another bound of loop turns and calls.
    #[must_use]
    pub fn steps(mut self, steps: Option<u64>) -> Self {
        self.steps = steps;
        self
    }

    /// With another bound of wall time.
    #[must_use]
    pub fn time(mut self, time: Option<Duration>) -> Self {
        self.time = time;
        self
    }

    /// With another end of the time.
    #[must_use]
    pub fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// When the time of an evaluation that begins now is up.
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

    /// With another bound of the memory of intermediate values, in bytes.
    #[must_use]
    pub fn memory(mut self, memory: Option<usize>) -> Self {
        self.memory = memory;
        self
    }

    /// With another bound of the memory of what an explanation shows, in bytes.
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

/// Most steps of the search for the error of an evaluation that failed.
pub const TRACEBACK_STEPS: u64 = 1 << 20;

/// Most errors of built-ins that a search collects.
pub const COLLECTED_ERRORS: usize = 1 << 16;

/// Printed lines that wait for the end of an evaluation, in bytes.
pub const BUFFERED_PRINTS: usize = 1 << 20;

/// Memory of an evaluation that its thread keeps for the next one, in bytes. More goes to a pool for all threads.
pub const THREAD_ARENA: usize = 256 << 10;

/// Longest lists that an evaluation leaves to the next one for reading its input.
pub const RETAINED_LISTS: usize = 1 << 10;

/// Most threads that keep such memory of their own.
pub const THREAD_ARENAS: usize = 1 << 10;

/// Most calls of functions that are not pure whose answers are recorded for the search for an error.
pub const RECORDED_CALLS: usize = 1 << 14;

/// Memory of evaluations that the pool keeps for later ones, in bytes, over all threads.
pub const POOLED_ARENAS: usize = 256 << 20;

/// Largest body of an answer that `http.send` reads, in bytes.
pub const RESPONSE_BYTES: usize = 256 << 20;

/// Memory of the answers of `http.send` that are kept for later evaluations, in bytes.
pub const RESPONSE_CACHE_BYTES: usize = 64 << 20;

/// Most requests of one chain of redirections.
pub const REDIRECTIONS: usize = 100;
