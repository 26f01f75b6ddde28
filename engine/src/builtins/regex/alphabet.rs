//! Reduced alphabets for patterns that would need many states over bytes.
//!
//! A class like `\p{L}` takes hundreds of states in UTF-8, and `\p{L}{1,255}` takes them 255 times. But a pattern
//! distinguishes only a few kinds of characters. With one letter for each kind such a class is one state, and the text
//! is rewritten to those letters before it is searched.

use std::collections::{HashMap, HashSet};

use crate::bug::bug;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Look, Repetition,
};

/// Letters of a pattern, one for each kind of characters that it distinguishes.
pub struct Alphabet {
    ascii: [u8; 128],
    /// Page number for each [`PAGE`] characters.
    pages: Vec<u16>,
    letters: Vec<[u8; PAGE]>,
}

const PAGE: usize = 256;

/// Number of code points, including surrogates.
const CHARS: u32 = 0x11_0000;

/// Maximum number of character sets in a pattern. Each may double the number of kinds.
const SETS: usize = 256;

/// Estimates the number of states of a pattern over the bytes of UTF-8.
pub fn states(hir: &Hir) -> u64 {
    let all = |parts: &[Hir]| parts.iter().map(states).fold(0, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) => {
            let wide = class
                .ranges()
                .iter()
                .filter(|range| !range.end().is_ascii());
            1 + 2 * wide.count() as u64
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            states(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => states(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
    }
}

impl Alphabet {
    /// Returns the alphabet of a pattern, and the pattern over its letters. Returns `None` if the pattern distinguishes
    /// too many kinds.
    pub fn from_hir(hir: &Hir) -> Option<(Self, Hir)> {
        let mut sets = CharSets::default();
        sets.collect(hir)?;
        if sets.has_assertions {
            // assertions on lines and words need the kinds of line ends and word characters
            sets.add([(u32::from('\n'), u32::from('\n'))])?;
            sets.add(WORD.map(|(low, high)| (low.into(), high.into())))?;
        }
        let kinds = Kinds::from_sets(&sets)?;
        let rewritten_hir = kinds.rewrite(hir)?;
        Some((Self::new(&kinds), rewritten_hir))
    }

    fn new(kinds: &Kinds) -> Self {
        let mut letters: Vec<[u8; PAGE]> = Vec::new();
        let mut page_numbers: HashMap<[u8; PAGE], u16> = HashMap::new();
        let mut runs = kinds.runs.iter().peekable();
        let mut letter = 0;
        let mut page = [0; PAGE];
        let mut code_point = 0_u32;
        let mut pages = Vec::with_capacity(CHARS as usize / PAGE);
        while code_point < CHARS {
            for letter_of_char in &mut page {
                if let Some((_, next)) = runs.next_if(|(start, _)| *start <= code_point) {
                    letter = *next;
                }
                *letter_of_char = letter;
                code_point += 1;
            }
            let number = *page_numbers.entry(page).or_insert_with(|| {
                letters.push(page);
                u16::try_from(letters.len() - 1)
                    .unwrap_or_else(|_| bug!("more pages than there are characters"))
            });
            pages.push(number);
        }
        let mut ascii = [0; 128];
        for (letter_of_ascii, letter) in ascii.iter_mut().zip(letters.first().into_iter().flatten())
        {
            *letter_of_ascii = *letter;
        }
        Self {
            ascii,
            pages,
            letters,
        }
    }

    /// Returns the letter of a character in O(1).
    #[inline]
    pub fn letter(&self, c: char) -> u8 {
        let code = c as usize;
        if let Some(letter) = self.ascii.get(code) {
            return *letter;
        }
        let page = self.pages.get(code / PAGE).copied().unwrap_or_default();
        let page = self.letters.get(usize::from(page));
        page.and_then(|page| page.get(code % PAGE))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the approximate memory size in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.pages.len() * size_of::<u16>() + self.letters.len() * PAGE
    }
}

/// Word characters, for `\b`.
const WORD: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// Character sets that occur in a pattern.
#[derive(Default)]
struct CharSets {
    sets: HashSet<Vec<(u32, u32)>>,
    /// `true` if the pattern has assertions on lines or words.
    has_assertions: bool,
}

impl CharSets {
    fn add(&mut self, ranges: impl IntoIterator<Item = (u32, u32)>) -> Option<()> {
        self.sets.insert(ranges.into_iter().collect());
        (self.sets.len() <= SETS).then_some(())
    }

    fn collect(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => Some(()),
            HirKind::Look(assertion) => {
                self.has_assertions |= !matches!(assertion, Look::Start | Look::End);
                Some(())
            }
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                text.chars()
                    .try_for_each(|c| self.add([(c.into(), c.into())]))
            }
            HirKind::Class(class) => self.add(ranges(class)?),
            HirKind::Repetition(repetition) => self.collect(&repetition.sub),
            HirKind::Capture(capture) => self.collect(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().try_for_each(|part| self.collect(part))
            }
        }
    }
}

fn ranges(class: &Class) -> Option<impl Iterator<Item = (u32, u32)>> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        Class::Bytes(class) => ClassUnicode::new(class.to_unicode_class()?.ranges().to_vec()),
    };
    let ranges: Vec<ClassUnicodeRange> = class.ranges().to_vec();
    let bounds = |range: ClassUnicodeRange| (range.start().into(), range.end().into());
    Some(ranges.into_iter().map(bounds))
}

/// Start and letter of each run of characters of one kind.
struct Kinds {
    runs: Vec<(u32, u8)>,
}

impl Kinds {
    fn from_sets(sets: &CharSets) -> Option<Self> {
        let each = || sets.sets.iter().flatten();
        let mut starts: Vec<u32> = each().flat_map(|(low, high)| [*low, *high + 1]).collect();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        // runs that the sets so far do not distinguish have the same number
        let mut kinds = vec![0_usize; starts.len()];
        let mut count = 1;
        for set in &sets.sets {
            let mut split: HashMap<usize, usize> = HashMap::new();
            for (low, high) in set {
                let from = starts.partition_point(|start| start < low);
                let kinds_in_range = starts.iter().zip(&mut kinds).skip(from);
                for (_, kind) in kinds_in_range.take_while(|(start, _)| *start <= high) {
                    *kind = *split.entry(*kind).or_insert_with(|| {
                        count += 1;
                        count - 1
                    });
                }
            }
        }
        let mut letters = Letters::new(sets.has_assertions);
        let mut letters_by_kind: HashMap<usize, u8> = HashMap::new();
        let mut runs = Vec::with_capacity(starts.len());
        for (start, kind) in starts.into_iter().zip(kinds) {
            let letter = match letters_by_kind.get(&kind) {
                Some(letter) => *letter,
                None => {
                    let letter = letters.of_kind(start)?;
                    letters_by_kind.insert(kind, letter);
                    letter
                }
            };
            runs.push((start, letter));
        }
        Some(Self { runs })
    }

    fn class(&self, ranges: impl Iterator<Item = (u32, u32)>) -> Hir {
        let mut class = ClassBytes::empty();
        for (low, high) in ranges {
            let from = self.runs.partition_point(|(start, _)| *start < low);
            let runs_in_range = self.runs.iter().skip(from);
            for (_, letter) in runs_in_range.take_while(|(start, _)| *start <= high) {
                class.push(ClassBytesRange::new(*letter, *letter));
            }
        }
        Hir::class(Class::Bytes(class))
    }

    fn letter(&self, c: char) -> Option<u8> {
        let run_count = self.runs.partition_point(|(start, _)| *start <= c.into());
        self.runs
            .get(run_count.checked_sub(1)?)
            .map(|(_, letter)| *letter)
    }

    fn rewrite(&self, hir: &Hir) -> Option<Hir> {
        let all = |parts: &[Hir]| -> Option<Vec<Hir>> {
            parts.iter().map(|part| self.rewrite(part)).collect()
        };
        Some(match hir.kind() {
            HirKind::Empty => Hir::empty(),
            HirKind::Look(assertion) => Hir::look(*assertion),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                let letters: Option<Vec<u8>> = text.chars().map(|c| self.letter(c)).collect();
                Hir::literal(letters?)
            }
            HirKind::Class(class) => self.class(ranges(class)?),
            HirKind::Repetition(repetition) => Hir::repetition(Repetition {
                min: repetition.min,
                max: repetition.max,
                greedy: repetition.greedy,
                sub: Box::new(self.rewrite(&repetition.sub)?),
            }),
            HirKind::Capture(capture) => Hir::capture(Capture {
                index: capture.index,
                name: capture.name.clone(),
                sub: Box::new(self.rewrite(&capture.sub)?),
            }),
            HirKind::Concat(parts) => Hir::concat(all(parts)?),
            HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
        })
    }
}

/// Unused bytes. If a pattern has assertions on lines or words, a letter has the same properties as its characters:
/// line end, word character, or neither.
struct Letters {
    word_bytes: Vec<u8>,
    others: Vec<u8>,
    has_assertions: bool,
}

impl Letters {
    fn new(has_assertions: bool) -> Self {
        let other_bytes = (0..=u8::MAX).filter(|byte| *byte != b'\n');
        let (word_bytes, other_bytes) = other_bytes.partition(|byte| is_word((*byte).into()));
        Self {
            word_bytes,
            others: other_bytes,
            has_assertions,
        }
    }

    /// Returns a letter for the kind of a character, or `None` if all letters of the kind are in use.
    fn of_kind(&mut self, first: u32) -> Option<u8> {
        match first {
            _ if !self.has_assertions => self.others.pop().or_else(|| self.word_bytes.pop()),
            0xA => Some(b'\n'),
            _ if is_word(first) => self.word_bytes.pop(),
            _ => self.others.pop(),
        }
    }
}

fn is_word(code: u32) -> bool {
    WORD.iter()
        .any(|(low, high)| (u32::from(*low)..=u32::from(*high)).contains(&code))
}

#[cfg(test)]
mod tests {
    use super::super::program::{Effort, Haystack, Regex};
    use super::super::syntax::Syntax;
    use super::{Alphabet, states};
    use crate::value::Value;

    #[test]
    fn large_patterns_have_few_letters() {
        for (pattern, letters) in [
            (r"^\p{L}{1,255}$", 2),
            (r"^[\p{L}\p{N} .,'-]{1,255}$", 2),
            (r"(?m)^[\p{L}é]{1,9}\b$", 5),
            (r"\p{Greek}{2}\p{L}{2}abc", 7),
        ] {
            let hir = Syntax::parse(pattern).map(|syntax| syntax.hir).ok();
            let (alphabet, rewritten) = hir.and_then(|hir| Alphabet::from_hir(&hir)).unwrap();
            let mut distinct_letters: Vec<u8> = alphabet.letters.concat();
            distinct_letters.sort_unstable();
            distinct_letters.dedup();
            assert_eq!(distinct_letters.len(), letters, "{pattern}");
            assert!(states(&rewritten) < 1000, "{pattern}");
            assert!(alphabet.bytes() < 64 << 10);
        }
        let long_text: String = ('\u{4e00}'..).take(300).collect();
        let hir = Syntax::parse(&long_text).map(|syntax| syntax.hir).ok();
        assert!(hir.and_then(|hir| Alphabet::from_hir(&hir)).is_none());
    }

    #[test]
    fn letters_match_as_bytes_do() {
        let texts = [
            "",
            "a",
            "é",
            "Zoë",
            "né à Paris\nle 7 août",
            "a-b_c é9",
            "\n\n",
            "日本語 text",
            "ΑΒΓ αβγ",
            "x\u{301}y",
            "a\nb",
            "ééé",
            "9é9",
            "\u{10ffff}\u{0}",
        ];
        for pattern in [
            r"\p{L}{1,3}",
            r"^\p{L}{1,255}$",
            r"(?m)^\p{L}+$",
            r"\b\p{L}*",
            r"\B.",
            r"[^\p{L}]+?",
            r"(\p{Lu})(\p{Ll}*)|\d",
            r"(?s).{2}",
            r"$",
            r"",
            r"(?i)É|\pN",
            r"(?m)$",
            r"\p{Greek}+|[a-c]\b",
            r"\W(\w?)",
        ] {
            let plain = Regex::from_bytes(pattern.as_bytes(), Effort::Whole)
                .ok()
                .unwrap();
            let small = Regex::in_letters(pattern).unwrap();
            for text in texts {
                let text = Value::string(text);
                let text = text.borrow();
                let text = text.text_or_empty();
                let results_of = |regex: &Regex| {
                    let haystack = Haystack::new(regex, &text);
                    let matches: Vec<_> = regex.matches(&haystack).collect();
                    let mut groups = Vec::new();
                    let outcome = regex.captures(&haystack, |groups_of_match| {
                        groups.push(groups_of_match.to_vec());
                        Ok::<_, ()>(std::ops::ControlFlow::Continue(()))
                    });
                    assert!(outcome.is_ok());
                    (regex.is_match(&text), matches, groups)
                };
                assert_eq!(
                    results_of(&small),
                    results_of(&plain),
                    "{pattern} in {:?}",
                    text.to_str()
                );
            }
        }
    }
}
