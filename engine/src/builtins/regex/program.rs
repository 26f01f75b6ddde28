//! Compiled regular expressions, and the strings that they search.

use crate::bug::{Within as _, bug};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::thread;

use regex_automata::meta;
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, Match};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, Look};
use smallvec::SmallVec;

use super::alphabet::{self, Alphabet};
use super::class_run::AsciiClass;
use super::error::{RegexError, RegexErrorKind};
use super::needed::Needed;
use super::sign;
use super::syntax::Syntax;
use crate::builtins::patterns::{CompiledPattern, Family};
use crate::builtins::{BuiltinContext, runes};
use crate::limits::{PATTERN_BYTES, PATTERN_LARGE, PATTERN_STATES, PATTERN_TABLE};
use crate::value::{TextView, TextViewRepr};

/// A compiled regular expression.
pub struct Regex {
    program: meta::Regex,
    /// Reduced alphabet, if the program over bytes would be large.
    alphabet: Option<Box<Alphabet>>,
    names: Vec<String>,
    /// Prefixes of all matching strings, of which each match has one. Empty if unknown.
    starts: Starts,
    /// Literals that every match contains.
    needed: Needed,
    /// Punctuation character that every match contains.
    sign: Option<u8>,
    /// Class, if the pattern consists of a class.
    class: Option<Box<AsciiClass>>,
}

impl Regex {
    /// Compiles a pattern for fast matching, at the cost of a slower compilation. Returns an error if its syntax is not
    /// valid.
    pub fn new(pattern: &str) -> Result<Self, RegexError> {
        Self::with_effort(pattern, Effort::Whole)
    }

    fn with_effort(pattern: &str, effort: Effort) -> Result<Self, RegexError> {
        let syntax = Syntax::parse(pattern)?;
        let compiled = with_stack(syntax.height, || {
            let large = alphabet::states(&syntax.hir) > PATTERN_LARGE;
            if large && let Some((alphabet, hir)) = Alphabet::from_hir(&syntax.hir) {
                let program = compile(&hir, false, effort)?;
                return Some((program, Some(Box::new(alphabet))));
            }
            Some((compile(&syntax.hir, true, effort)?, None))
        });
        Self::from_compiled(syntax, compiled, effort)
            .ok_or_else(|| RegexErrorKind::TooLarge.for_part(pattern))
    }

    fn from_compiled(
        syntax: Syntax,
        compiled: Option<CompiledProgram>,
        effort: Effort,
    ) -> Option<Self> {
        let (program, alphabet) = compiled?;
        let in_bytes = alphabet.is_none();
        Some(Self {
            program,
            alphabet,
            starts: starts(&syntax),
            // full automata for constant patterns are as fast without this check
            needed: match effort {
                Effort::Little => Needed::from_hir(&syntax.hir),
                Effort::Whole => Needed::default(),
            },
            // letters of an alphabet are not bytes of the text
            sign: sign::rarest_sign(&syntax.hir).filter(|_| in_bytes),
            class: AsciiClass::from_hir(&syntax.hir)
                .filter(|_| in_bytes)
                .map(Box::new),
            names: syntax.names,
        })
    }

    /// Compiles a pattern over letters, whatever its size is.
    #[cfg(test)]
    pub fn in_letters(pattern: &str) -> Option<Self> {
        let syntax = Syntax::parse(pattern).ok()?;
        let (alphabet, hir) = Alphabet::from_hir(&syntax.hir)?;
        let program = compile(&hir, false, Effort::Whole)?;
        let compiled = (program, Some(Box::new(alphabet)));
        Self::from_compiled(syntax, Some(compiled), Effort::Whole)
    }

    /// Compiles a pattern given as bytes. Fails if it is not valid UTF-8, or its syntax is not valid.
    pub fn from_bytes(pattern: &[u8], effort: Effort) -> Result<Self, RegexError> {
        match std::str::from_utf8(pattern) {
            Ok(pattern) => Self::with_effort(pattern, effort),
            Err(error) => {
                let part = pattern.within(error.valid_up_to()..);
                Err(RegexErrorKind::Utf8.for_part(crate::value::text::lossy(part)))
            }
        }
    }

    /// Returns the cached compiled form of a pattern that is not constant, or the error of its syntax.
    pub fn cached(
        call: &BuiltinContext<'_>,
        pattern: &TextView<'_>,
    ) -> Result<Arc<Self>, RegexError> {
        let pattern = pattern.as_bytes();
        call.patterns.get(Family::Regex, pattern, || {
            Self::from_bytes(pattern, Effort::Little)
        })
    }

    /// Returns `true` if the pattern matches somewhere in a string.
    #[inline]
    pub fn is_match(&self, text: &TextView<'_>) -> bool {
        match text.utf8_bytes() {
            Some(bytes) => self.is_match_in(bytes),
            None => self.is_match_in(&text.to_bytes()),
        }
    }

    fn is_match_in(&self, bytes: &[u8]) -> bool {
        // with many patterns most matches fail here, without running the automaton
        let may_match = if self.starts.is_empty() {
            self.needed.are_in(bytes)
        } else {
            self.starts.iter().any(|start| bytes.starts_with(start))
        };
        if !may_match {
            return false;
        }
        let letters;
        let haystack = match &self.alphabet {
            None => bytes,
            Some(alphabet) => {
                letters = in_letters(&TextView(TextViewRepr::Bytes(bytes)), alphabet);
                &*letters
            }
        };
        // called once, so that it is inlined
        self.program.is_match(haystack)
    }

    /// Precheck of a string by its bytes. Returns `false` if the pattern cannot match.
    #[inline]
    pub fn may_match(&self, text: &[u8]) -> bool {
        self.sign
            .is_none_or(|sign| memchr::memchr(sign, text).is_some())
    }

    /// Iterates over the matches from left to right.
    pub fn matches<'a>(
        &'a self,
        text: &'a Haystack<'_>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let bytes = &*text.text;
        match &self.class {
            Some(class) => MatchIterator::Class(class.matches(bytes), text),
            None => MatchIterator::Program(self.program.find_iter(bytes), text),
        }
    }

    /// Calls `each` with the groups of each match, from left to right, up to the maximum number of matches.
    pub fn captures<E>(
        &self,
        text: &Haystack<'_>,
        mut each: impl FnMut(&[Option<Range<usize>>]) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let groups = self.program.captures_len();
        let mut slots: SmallVec<[Option<NonMaxUsize>; 16]> = smallvec::smallvec![None; 2 * groups];
        let mut groups_of_match: Groups = smallvec::smallvec![None; groups];
        let mut search = Searcher::new(Input::new(&*text.text));
        let mut next = |slots: &mut [Option<NonMaxUsize>]| {
            search.advance(|input| {
                let Some(pattern) = self.program.search_slots(input, slots) else {
                    return Ok(None);
                };
                let span = span(slots);
                Ok(span.map(|span| Match::new(pattern, span)))
            })
        };
        while next(&mut slots).is_some() {
            for (group, ends) in groups_of_match.iter_mut().zip(slots.as_chunks::<2>().0) {
                *group = span(ends).map(|span| text.original_range(span));
            }
            if each(&groups_of_match)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    pub fn groups_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let names = self.names.iter().enumerate();
        names
            .filter(move |(_, group_name)| *group_name == name)
            .map(|(index, _)| index)
    }
}

/// Rewrites a string to letters of an alphabet, one byte for each character.
#[cold]
#[inline(never)]
fn in_letters<'t>(text: &TextView<'_>, alphabet: &Alphabet) -> Cow<'t, [u8]> {
    let chars = text.to_str();
    chars.chars().map(|c| alphabet.letter(c)).collect()
}

/// Groups of a match. The first one is the whole match.
type Groups = SmallVec<[Option<Range<usize>>; 8]>;

/// Returns the range between two positions, if both are set.
#[inline]
fn span(ends: &[Option<NonMaxUsize>]) -> Option<Range<usize>> {
    match ends {
        [Some(start), Some(end), ..] => Some(start.get()..end.get()),
        _ => None,
    }
}

enum MatchIterator<'a, C> {
    Class(C, &'a Haystack<'a>),
    Program(meta::FindMatches<'a, 'a>, &'a Haystack<'a>),
}

impl<C: Iterator<Item = Range<usize>>> Iterator for MatchIterator<'_, C> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        match self {
            Self::Class(matches, text) => Some(text.original_range(matches.next()?)),
            Self::Program(matches, text) => Some(text.original_range(matches.next()?.range())),
        }
    }
}

impl CompiledPattern for Regex {
    fn bytes(&self) -> usize {
        let alphabet = self
            .alphabet
            .as_ref()
            .map_or(0, |alphabet| alphabet.bytes());
        self.program.memory_usage() + alphabet
    }
}

/// Prefixes, stored inline to avoid cache misses: with many patterns most matches fail here.
type Starts = SmallVec<[SmallVec<[u8; 24]>; 1]>;

/// Maximum number of prefixes.
const STARTS: usize = 16;

/// Returns the literal prefixes of a pattern that is anchored at the start of the string, or none.
fn starts(syntax: &Syntax) -> Starts {
    let prefix_assertions = syntax.hir.properties().look_set_prefix();
    // deeper patterns need more stack
    if syntax.height > SHALLOW || !prefix_assertions.contains(Look::Start) {
        return Starts::new();
    }
    let mut extractor = Extractor::new();
    extractor.limit_class(4).limit_total(STARTS);
    let prefixes = extractor.extract(&syntax.hir);
    let texts = prefixes.literals().unwrap_or_default().iter();
    let texts: Starts = texts.map(|text| text.as_bytes().into()).collect();
    if texts.iter().any(SmallVec::is_empty) {
        return Starts::new();
    }
    texts
}

/// Returns texts of which every matching string has one as its prefix. Returns none if these are unknown.
pub fn beginnings(pattern: &str) -> Vec<Box<[u8]>> {
    let syntax = Syntax::parse(pattern);
    let starts = syntax.map(|syntax| starts(&syntax)).unwrap_or_default();
    starts.iter().map(|text| Box::from(&**text)).collect()
}

/// Nesting depth up to which every thread has enough stack to compile.
const SHALLOW: u32 = 16;

/// Stack for each level of nesting in bytes, since the compiler is recursive.
const STACK_PER_LEVEL: usize = 16 << 10;

/// Time to spend on compilation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Optimizes for matching speed, for constant patterns.
    Whole,
    /// Optimizes for compilation speed, for patterns in data that may not occur again. Automaton states are built
    /// lazily.
    Little,
}

type CompiledProgram = (meta::Regex, Option<Box<Alphabet>>);

/// Compiles an expression with the given nesting depth. Returns `None` if the program would be too large.
pub fn build(hir: &Hir, height: u32, effort: Effort) -> Option<meta::Regex> {
    with_stack(height, || compile(hir, true, effort))
}

/// Compiles for UTF-8 text, or for arbitrary bytes.
fn compile(hir: &Hir, utf8: bool, effort: Effort) -> Option<meta::Regex> {
    let is_unlimited = effort == Effort::Whole;
    let config = meta::Config::new()
        .utf8_empty(utf8)
        .nfa_size_limit(Some(PATTERN_BYTES))
        .dfa_size_limit(Some(PATTERN_TABLE))
        .dfa_state_limit(Some(PATTERN_STATES))
        .dfa(is_unlimited)
        .onepass(is_unlimited);
    let mut builder = meta::Builder::new();
    builder.configure(config).build_from_hir(hir).ok()
}

/// Runs a function with the stack that a pattern of the given nesting depth needs.
fn with_stack<T: Send>(height: u32, run: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    if height <= SHALLOW {
        return run();
    }
    let stack = STACK_PER_LEVEL * usize::try_from(height).ok()?;
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(stack)
            .spawn_scoped(scope, run);
        let result = thread.ok().and_then(|thread| thread.join().ok());
        result.unwrap_or_else(|| bug!("a pattern that nests deeply finds no thread to be read on"))
    })
}

/// A string to search. Invalid UTF-8 is replaced by U+FFFD, and large patterns have a reduced alphabet, so the searched
/// text may differ from the string. Positions are those of the string.
pub struct Haystack<'a> {
    text: Cow<'a, [u8]>,
    /// Position in the string for each byte of a rewritten text, and for its end.
    origins: Option<Vec<usize>>,
}

impl<'a> Haystack<'a> {
    /// Prepares a string for a regular expression.
    pub fn new(regex: &Regex, text: &'a TextView<'_>) -> Self {
        if let Some(alphabet) = &regex.alphabet {
            return Self::rewrite(text.as_bytes(), |c, text| text.push(alphabet.letter(c)));
        }
        match text.as_utf8() {
            Some(text) => Self {
                text: Cow::Borrowed(text.as_bytes()),
                origins: None,
            },
            None => Self::rewrite(text.as_bytes(), |c, text| {
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }),
        }
    }

    fn rewrite(bytes: &[u8], write: impl Fn(char, &mut Vec<u8>)) -> Self {
        let mut text = Vec::with_capacity(bytes.len() + 8);
        let mut origins = Vec::with_capacity(bytes.len() + 8);
        let mut offset = 0;
        for (c, width) in runes::all(bytes) {
            write(c, &mut text);
            origins.resize(text.len(), offset);
            offset += width;
        }
        origins.push(offset);
        Self {
            text: Cow::Owned(text),
            origins: Some(origins),
        }
    }

    fn original_range(&self, range: Range<usize>) -> Range<usize> {
        match &self.origins {
            None => range,
            Some(origins) => {
                let original = |offset: usize| origins.get(offset).copied().unwrap_or_default();
                original(range.start)..original(range.end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::NESTING;
    use super::Regex;

    #[test]
    fn literal_starts_are_extracted() {
        for (pattern, expected) in [
            ("^ab", &["ab"] as &[&str]),
            (r"\Aab[0-9]", &["ab"]),
            ("^ab*", &["ab", "a"]),
            ("^(ab)c", &["abc"]),
            ("^ab|^cd", &["ab", "cd"]),
            ("^/(v[12]|api)/x", &["/v1/x", "/v2/x", "/api/x"]),
            ("^(?i)ab", &["AB", "Ab", "aB", "ab"]),
            ("(?m)^ab", &[]),
            ("ab", &[]),
            ("x^ab", &[]),
            ("^ab|cd", &[]),
            ("^[a-z]x", &[]),
            ("^a*", &[]),
            ("^(|ab)", &[]),
            ("^$", &[]),
        ] {
            let starts = Regex::new(pattern).map(|regex| regex.starts);
            let starts = starts.unwrap_or_default();
            assert!(
                starts
                    .iter()
                    .map(|start| &**start)
                    .eq(expected.iter().map(|text| text.as_bytes())),
                "{pattern}: {starts:?}"
            );
        }
    }

    /// Compiles a pattern on a small stack.
    fn compiles(pattern: String) -> bool {
        let thread = std::thread::Builder::new()
            .stack_size(256 << 10)
            .spawn(move || Regex::new(&pattern).is_ok());
        thread.is_ok_and(|thread| thread.join().is_ok_and(|compiled| compiled))
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |open: &str, depth: usize, close: &str| {
            compiles(format!("{}a{}", open.repeat(depth), close.repeat(depth)))
        };
        let deepest = NESTING as usize;
        for (open, close) in [
            ("(", ")"),
            ("(?:", ")"),
            ("(x|", ")"),
            ("(?:b", ")*"),
            ("(", ")+?"),
        ] {
            let level = if close.len() > 1 { 2 } else { 1 };
            assert!(nested(open, deepest / level - 2, close), "{open}");
            assert!(!nested(open, deepest / level + 2, close), "{open}");
            assert!(!nested(open, 100_000, close), "{open}");
        }
    }

    /// Compiles a class of more characters than there are letters, repeated a thousand times.
    fn repeated(chars: usize) -> bool {
        let long_text: String = ('\u{4e00}'..).take(chars).collect();
        Regex::new(&format!("(?:{long_text}){{1000}}")).is_ok()
    }

    #[test]
    fn size_is_bounded() {
        assert!(repeated(300));
        assert!(!repeated(1000));
    }
}
