//! Patterns that consist of one class of ASCII characters, single or repeated. Most patterns for splitting are of this
//! kind.

use std::ops::Range;

use crate::bug::Within;
use crate::index::Indexed as _;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A class of ASCII characters, which matches single characters or runs.
pub struct AsciiClass {
    members: [bool; 256],
    runs: bool,
}

impl AsciiClass {
    /// Returns the class if the pattern is a single character class.
    pub fn from_hir(hir: &Hir) -> Option<Self> {
        let (class, runs) = match hir.kind() {
            HirKind::Repetition(repetition)
                if repetition.min == 1 && repetition.max.is_none() && repetition.greedy =>
            {
                (repetition.sub.kind(), true)
            }
            kind => (kind, false),
        };
        let mut members = [false; 256];
        let mut add = |low: u8, high: u8| {
            for byte in low..=high {
                *members.item_mut(byte) = true;
            }
        };
        match class {
            HirKind::Literal(literal) => match *literal.0 {
                [byte] if byte.is_ascii() => add(byte, byte),
                _ => return None,
            },
            HirKind::Class(Class::Unicode(class)) if class.is_ascii() => {
                for range in class.ranges() {
                    add(
                        u8::try_from(range.start()).ok()?,
                        u8::try_from(range.end()).ok()?,
                    );
                }
            }
            HirKind::Class(Class::Bytes(class)) if class.is_ascii() => {
                for range in class.ranges() {
                    add(range.start(), range.end());
                }
            }
            _ => return None,
        }
        Some(Self { members, runs })
    }

    fn contains_byte(&self, byte: u8) -> bool {
        self.members.get(usize::from(byte)) == Some(&true)
    }

    /// Iterates over the matches from left to right.
    pub fn matches<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut position = 0;
        std::iter::from_fn(move || {
            let rest = text.get(position..)?;
            let start = position + rest.iter().position(|byte| self.contains_byte(*byte))?;
            let run = text.within(start + 1..);
            let run_length = if self.runs {
                let run_end = run.iter().position(|byte| !self.contains_byte(*byte));
                run_end.unwrap_or(run.len())
            } else {
                0
            };
            position = start + 1 + run_length;
            Some(start..position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::Syntax;
    use super::AsciiClass;

    #[test]
    fn matches_are_those_of_the_automaton() {
        let texts = ["", " ", "a  b\t\nc ", "  ", "é  é,,b", "a,b,,c", "0a1bb22"];
        for pattern in [r"\s", r"\s+", ",", ",+", "[a-c]+", r"\d", "[ab]"] {
            let hir = Syntax::parse(pattern).map(|syntax| syntax.hir);
            let class = hir.ok().and_then(|hir| AsciiClass::from_hir(&hir));
            let regex = regex_automata::meta::Regex::new(&format!("(?-u:{pattern})"));
            for text in texts {
                let actual: Vec<_> = class
                    .iter()
                    .flat_map(|class| class.matches(text.as_bytes()))
                    .collect();
                let expected: Vec<_> = regex
                    .iter()
                    .flat_map(|regex| regex.find_iter(text))
                    .map(|m| m.range())
                    .collect();
                assert_eq!(actual, expected, "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn other_patterns_are_none() {
        for pattern in [
            "", "ab", "a*", "a+?", "a{1,3}", "[^a]", "é", "(a)", "^a", "(?i)k", ".",
        ] {
            let hir = Syntax::parse(pattern).map(|syntax| syntax.hir);
            assert!(
                hir.is_ok_and(|hir| AsciiClass::from_hir(&hir).is_none()),
                "{pattern}"
            );
        }
    }
}
