//! Compiled globs. Globs of text and wildcards are matched directly, others as regular expressions.

use regex_automata::{Anchored, Input, meta};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Dot, Hir, Look, Repetition};

use super::syntax::{GlobError, Piece, parse};
use crate::builtins::BuiltinError;
use crate::builtins::patterns::CompiledPattern;
use crate::builtins::regex::{self, Effort};

/// A compiled glob: a list of pieces, or an automaton if there are other constructs.
pub enum Glob {
    /// A few literals and wildcards of one kind, matched without an automaton.
    Simple {
        pieces: Vec<Piece>,
        /// Characters that `?` and `*` do not match.
        delimiters: Box<[char]>,
    },
    Automaton {
        /// Common prefix of all matching strings.
        start: Box<str>,
        regex: meta::Regex,
    },
}

/// Length of a text in bytes up to which backtracking at each character is as fast as an automaton.
const SHORT: usize = 128;

impl From<GlobError> for BuiltinError {
    fn from(error: GlobError) -> Self {
        Self::error(error.to_string())
    }
}

impl Glob {
    /// Compiles a glob. Returns an error if the pattern is not valid, or its automaton would be too large.
    pub fn new(pattern: &[u8], delimiters: &[char], effort: Effort) -> Result<Self, BuiltinError> {
        let pieces = parse(pattern)?;
        if is_simple(&pieces) {
            return Ok(Self::Simple {
                pieces,
                delimiters: delimiters.into(),
            });
        }
        let start = match pieces.first() {
            Some(Piece::Text(text)) => text.as_str().into(),
            _ => Box::default(),
        };
        let single = excluding(delimiters);
        let (body, height) = sequence(pieces, &single);
        let hir = Hir::concat(vec![Hir::look(Look::Start), body, Hir::look(Look::End)]);
        regex::build(&hir, height, effort)
            .map(|regex| Self::Automaton { start, regex })
            .ok_or_else(|| BuiltinError::error("glob: too large"))
    }

    /// Returns `true` if the glob matches the whole text.
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Simple { pieces, delimiters } => simple_match(pieces, delimiters, text),
            Self::Automaton { start, regex } => {
                text.starts_with(&**start)
                    && regex.is_match(Input::new(text).anchored(Anchored::Yes))
            }
        }
    }
}

impl CompiledPattern for Glob {
    fn bytes(&self) -> usize {
        match self {
            // the cache counts the bytes of their text
            Self::Simple { pieces, .. } => pieces.len() * size_of::<Piece>(),
            Self::Automaton { regex, .. } => regex.memory_usage(),
        }
    }
}

fn is_simple(pieces: &[Piece]) -> bool {
    let mut length = 0;
    let plain = pieces.iter().all(|piece| match piece {
        Piece::Text(text) => {
            length += text.len();
            length <= SHORT
        }
        Piece::One | Piece::Run | Piece::Everything => true,
        Piece::Class { .. } | Piece::Choice(_) => false,
    });
    // with both kinds of runs, backtracking is quadratic; but the last piece is never reached by backtracking
    let (_, inner) = pieces.split_last().unwrap_or((&Piece::One, &[]));
    plain && !(pieces.contains(&Piece::Run) && inner.contains(&Piece::Everything))
}

/// Matches with backtracking: if the pieces after the last run do not match, the run is extended by one character.
fn simple_match(pieces: &[Piece], delimiters: &[char], text: &str) -> bool {
    let mut piece_index = 0;
    let mut rest = text;
    let mut run: Option<(usize, &str, bool)> = None;
    loop {
        match pieces.get(piece_index) {
            Some(Piece::Everything) if piece_index + 1 == pieces.len() => return true,
            Some(piece @ (Piece::Run | Piece::Everything)) => {
                piece_index += 1;
                run = Some((piece_index, rest, *piece == Piece::Everything));
                continue;
            }
            Some(Piece::Text(expected)) => {
                if let Some(after) = rest.strip_prefix(expected.as_str()) {
                    (piece_index, rest) = (piece_index + 1, after);
                    continue;
                }
            }
            Some(_) => {
                let mut chars = rest.chars();
                if chars.next().is_some_and(|c| !delimiters.contains(&c)) {
                    (piece_index, rest) = (piece_index + 1, chars.as_str());
                    continue;
                }
            }
            None if rest.is_empty() => return true,
            None => {}
        }
        let Some((after_run, run_text, matches_delimiters)) = run else {
            return false;
        };
        let mut chars = run_text.chars();
        if !chars
            .next()
            .is_some_and(|c| matches_delimiters || !delimiters.contains(&c))
        {
            return false;
        }
        (piece_index, rest) = (after_run, chars.as_str());
        run = Some((piece_index, rest, matches_delimiters));
    }
}

/// Returns the class of all characters except some.
fn excluding(delimiters: &[char]) -> Hir {
    let ranges = delimiters.iter().map(|c| ClassUnicodeRange::new(*c, *c));
    let mut class = ClassUnicode::new(ranges);
    class.negate();
    Hir::class(Class::Unicode(class))
}

/// Returns the pieces as a concatenation, and its nesting depth.
fn sequence(pieces: Vec<Piece>, single: &Hir) -> (Hir, u32) {
    let mut height = 1;
    let repeated = |sub: Hir| {
        Hir::repetition(Repetition {
            min: 0,
            max: None,
            greedy: true,
            sub: Box::new(sub),
        })
    };
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => Hir::literal(text.into_bytes()),
        Piece::One => single.clone(),
        Piece::Run => repeated(single.clone()),
        Piece::Everything => repeated(Hir::dot(Dot::AnyChar)),
        Piece::Class { ranges, negated } => {
            let ranges = ranges
                .iter()
                .map(|(low, high)| ClassUnicodeRange::new(*low, *high));
            let mut class = ClassUnicode::new(ranges);
            if negated {
                class.negate();
            }
            Hir::class(Class::Unicode(class))
        }
        Piece::Choice(alternatives) => {
            let alternatives = alternatives.into_iter().map(|pieces| {
                let (hir, inner) = sequence(pieces, single);
                height = height.max(inner + 1);
                hir
            });
            Hir::alternation(alternatives.collect())
        }
    });
    let hir = Hir::concat(parts.collect());
    (hir, height)
}

#[cfg(test)]
mod tests {
    use super::super::syntax::NESTING;
    use super::{Effort, Glob};

    #[test]
    fn nesting_is_bounded() {
        let compiles = |depth: usize| {
            let pattern = format!("{}a{}", "{b,".repeat(depth), "}".repeat(depth));
            let thread = std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn(move || Glob::new(pattern.as_bytes(), &['.'], Effort::Whole).is_ok());
            thread.is_ok_and(|thread| thread.join().is_ok_and(|compiled| compiled))
        };
        assert!(compiles(NESTING));
        assert!(!compiles(NESTING + 1));
        assert!(!compiles(100_000));
    }
}
