//! Literals that a match must contain. Short strings are searched for these first, since with many patterns most
//! matches fail there, and running an automaton causes cache misses.

use regex_syntax::hir::{Class, Hir, HirKind};
use smallvec::SmallVec;

/// Literals that every match contains, ignoring ASCII case. Each is preceded by the position of its rarest byte, and
/// followed by [`BETWEEN`].
#[derive(Default)]
pub(super) struct Needed(SmallVec<[u8; 32]>);

/// Separator. UTF-8 text never contains this byte.
const BETWEEN: u8 = 0xFF;

/// Minimum length of a literal in bytes. Shorter ones are not selective.
const FEW: usize = 2;

/// Maximum total size in bytes.
const MOST: usize = 32;

/// Length of a string in bytes above which an automaton is as fast.
const SHORT: usize = 64;

impl Needed {
    /// Returns the literals of a pattern's outermost concatenation.
    pub fn from_hir(hir: &Hir) -> Self {
        let HirKind::Concat(parts) = hir.kind() else {
            return Self::default();
        };
        let mut literals = Self::default();
        let mut text: SmallVec<[u8; 32]> = SmallVec::new();
        for part in parts {
            match part.kind() {
                HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
                HirKind::Class(class) => match letter(class) {
                    Some(letter) => text.push(letter),
                    None => literals.add(&mut text),
                },
                _ => literals.add(&mut text),
            }
        }
        literals.add(&mut text);
        literals
    }

    fn add(&mut self, text: &mut SmallVec<[u8; 32]>) {
        let fits = self.0.len() + text.len() + 1 < MOST && !text.contains(&BETWEEN);
        if text.len() > FEW && fits {
            if !self.0.is_empty() {
                self.0.push(BETWEEN);
            }
            self.0.push(rarest(text));
            self.0.extend_from_slice(text);
        }
        text.clear();
    }

    /// Returns `false` if a string cannot match because it lacks a literal. Returns `true` for long strings, without a
    /// search.
    #[inline]
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.0.is_empty() || text.len() > SHORT || self.are_in_short(text)
    }

    fn are_in_short(&self, text: &[u8]) -> bool {
        let mut literals = self.0.split(|byte| *byte == BETWEEN);
        literals.all(|literal| contains(text, literal))
    }
}

/// Returns the letter if a class consists of both cases of a letter.
fn letter(class: &Class) -> Option<u8> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let [upper, lower] = class.ranges() else {
        return None;
    };
    let only_char = |range: &regex_syntax::hir::ClassUnicodeRange| {
        (range.start() == range.end()).then_some(range.start())
    };
    let (upper, lower) = (only_char(upper)?, only_char(lower)?);
    (upper.is_ascii_uppercase() && upper.to_ascii_lowercase() == lower)
        .then(|| u8::try_from(lower).ok())?
}

/// Common bytes, most frequent first.
const COMMON: &[u8] = b" etaoinsrl0123456789dcu.mhpfg-/_:ybwvk,=";

/// Returns the position of the rarest byte.
fn rarest(text: &[u8]) -> u8 {
    let rank = |byte: &u8| {
        let byte = byte.to_ascii_lowercase();
        COMMON.iter().position(|common| *common == byte)
    };
    let by_rank = |(_, byte): &(u8, &u8)| rank(byte).unwrap_or(COMMON.len());
    let rarest = (0..).zip(text).max_by_key(by_rank);
    rarest.map_or(0, |(index, _)| index)
}

/// Returns `true` if a text contains a literal, ignoring ASCII case. The literal is preceded by the position of its
/// rarest byte.
fn contains(text: &[u8], literal: &[u8]) -> bool {
    let Some((position_of_rarest, text_of_literal)) = literal.split_first() else {
        return true;
    };
    let before = usize::from(*position_of_rarest);
    let Some(rarest) = text_of_literal.get(before) else {
        return true;
    };
    let (lower, upper) = (rarest.to_ascii_lowercase(), rarest.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).any(|index| {
        let from = index.checked_sub(before);
        let candidate = from.and_then(|from| text.get(from..from + text_of_literal.len()));
        candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(text_of_literal))
    })
}

#[cfg(test)]
mod tests {
    use super::super::syntax::Syntax;
    use super::super::{Effort, Regex};
    use super::{BETWEEN, Needed, rarest};
    use crate::value::Value;

    #[test]
    fn needed_texts_are_extracted() {
        for (pattern, expected) in [
            ("abc", ""),
            ("abc[0-9]def", "abc\u{7f}def"),
            ("(?i)orders/17x[0-9a-f]*", "order\u{7f}/17x"),
            ("x+abc(def)?ghij", "abc\u{7f}ghij"),
            ("ab.cd", ""),
            ("abc|def", ""),
            ("(abc)def", "def"),
            ("[Aa][Bb][Cc].", "abc"),
            ("[AB]abc", "abc"),
            ("^abc$", "abc"),
            (r"abc\b[0-9]", "abc"),
        ] {
            let literals = Syntax::parse(pattern).map(|syntax| Needed::from_hir(&syntax.hir));
            let texts = |literals: Needed| {
                let texts = literals.0.split(|byte| *byte == BETWEEN);
                let texts = texts.map(|text| String::from_utf8(text[1..].to_vec()).unwrap());
                texts.collect::<Vec<_>>().join("\u{7f}")
            };
            let actual = literals.map(|literals| {
                if literals.0.is_empty() {
                    String::new()
                } else {
                    texts(literals)
                }
            });
            assert_eq!(actual.ok().as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn rare_bytes_are_extracted() {
        for (text, expected) in [
            ("@example", 2),
            ("example", 1),
            ("order", 2),
            ("ord", 2),
            ("eee", 2),
        ] {
            assert_eq!(rarest(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn every_match_is_found() {
        for (pattern, text, matches) in [
            ("(?i)orders/17x[0-9a-f]*", "/svc/ORDERS/17Xab", true),
            ("(?i)orders/17x[0-9a-f]*", "/svc/orders/17", false),
            ("(?i)orders/17x[0-9a-f]*", "order\u{17f}/17x", true),
            ("abc[0-9]def", "zabc7def", true),
            ("abc[0-9]def", "zABC7DEF", false),
            ("abc[0-9]def", "abc7de", false),
            ("aab[0-9]+", "aaab1", true),
            ("x*abc", "abc", true),
            ("(?i)über+s[0-9]", "ÜBERRS1", true),
        ] {
            let regex = Regex::from_bytes(pattern.as_bytes(), Effort::Little);
            let text = Value::string(text);
            let is_match = regex.map(|regex| {
                let text = text.borrow();
                regex.is_match(&text.text_or_empty())
            });
            assert_eq!(is_match.ok(), Some(matches), "{pattern}");
        }
    }
}
