//! Parses Go's RE2 syntax into the HIR of `regex-syntax`. Open groups are on an explicit stack, so nesting does not use
//! the call stack.

use crate::bug::Within;
use nom::character::complete::{char, digit1};
use nom::combinator::opt;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser as _};
use regex_syntax::hir::{Capture, Class, ClassUnicode, Dot, Hir, Look, Repetition};

use super::class::{self, part_before};
use super::error::{RegexError, RegexErrorKind};
use super::escape;

/// Maximum number of repetitions of an expression. Nested repetitions multiply.
const REPEATS: u32 = 1000;

/// Maximum nesting depth of groups and repetitions, as in Go.
pub const NESTING: u32 = 1000;

/// Counts of at least this value are not parsed as counts.
const COUNT_TOO_LONG: u32 = 100_000_000;

pub struct Syntax {
    pub hir: Hir,
    pub height: u32,
    /// Names of the groups, from 0 (the whole match). Most are empty.
    pub names: Vec<String>,
}

impl Syntax {
    /// Parses a pattern in Go's syntax. The error names the part that is not valid.
    pub fn parse(pattern: &str) -> Result<Self, RegexError> {
        let mut parser = RegexParser {
            pattern,
            flags: Flags::default(),
            open: Vec::new(),
            group: OpenGroup::default(),
            names: vec![String::new()],
            repeated: None,
        };
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            rest = parser.step(first, rest)?;
        }
        if !parser.open.is_empty() {
            return Err(RegexErrorKind::MissingParenthesis.for_part(pattern));
        }
        let group = std::mem::take(&mut parser.group);
        let MeasuredHir { hir, height, .. } = parser.close(group)?;
        Ok(Self {
            hir,
            height,
            names: parser.names,
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
    swap_greed: bool,
}

/// An expression with the properties that limits depend on.
struct MeasuredHir {
    hir: Hir,
    height: u32,
    repeats: u32,
}

/// A group whose end has not been reached.
#[derive(Default)]
struct OpenGroup {
    capture: Option<u32>,
    /// Flags to restore at its end.
    outer: Flags,
    alternatives: Vec<Vec<MeasuredHir>>,
    sequence: Vec<MeasuredHir>,
}

struct RegexParser<'p> {
    pattern: &'p str,
    flags: Flags,
    /// Groups around the innermost one.
    open: Vec<OpenGroup>,
    group: OpenGroup,
    names: Vec<String>,
    /// Text that starts with the repetition that was just parsed.
    repeated: Option<&'p str>,
}

impl<'p> RegexParser<'p> {
    /// Parses one element. Returns the rest of the pattern.
    fn step(&mut self, first: char, rest: &'p str) -> Result<&'p str, RegexError> {
        let repeated = self.repeated.take();
        let after = rest.within(first.len_utf8()..);
        match first {
            '(' if after.starts_with('?') => return self.flagged_group(rest),
            '(' => {
                self.open_group(Some(""));
                return Ok(after);
            }
            ')' => {
                let Some(outer) = self.open.pop() else {
                    return Err(RegexErrorKind::UnexpectedParenthesis.for_part(self.pattern));
                };
                let group = std::mem::replace(&mut self.group, outer);
                self.flags = group.outer;
                let node = self.close(group)?;
                self.group.sequence.push(node);
                return Ok(after);
            }
            '|' => {
                let sequence = std::mem::take(&mut self.group.sequence);
                self.group.alternatives.push(sequence);
                return Ok(after);
            }
            '*' | '+' | '?' | '{' => {
                if let Some((after, counts)) = quantifier(rest) {
                    return self.repeat(rest, after, counts, repeated);
                }
                self.literal('{'.into());
            }
            '^' if self.flags.multi_line => self.push(Hir::look(Look::StartLF)),
            '^' => self.push(Hir::look(Look::Start)),
            '$' if self.flags.multi_line => self.push(Hir::look(Look::EndLF)),
            '$' => self.push(Hir::look(Look::End)),
            '.' if self.flags.dot_newline => self.push(Hir::dot(Dot::AnyChar)),
            '.' => self.push(Hir::dot(Dot::AnyCharExceptLF)),
            '[' => {
                let (after, class) = class::bracketed(rest, self.flags.fold)?;
                self.class(class);
                return Ok(after);
            }
            '\\' => return self.parse_escape(rest),
            c => self.literal(c.into()),
        }
        Ok(after)
    }

    fn push(&mut self, hir: Hir) {
        self.group.sequence.push(MeasuredHir {
            hir,
            height: 1,
            repeats: 1,
        });
    }

    fn class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    /// Adds a character by code point. A surrogate matches nothing.
    fn literal(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) if !self.flags.fold => {
                self.push(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()));
            }
            _ => self.class(class::folded(class::scalars(code, code), self.flags.fold)),
        }
    }

    fn parse_escape(&mut self, rest: &'p str) -> Result<&'p str, RegexError> {
        let after = rest.get(2..).unwrap_or_default();
        let assertion = match rest.as_bytes().get(1) {
            Some(b'A') => Look::Start,
            Some(b'z') => Look::End,
            Some(b'b') => Look::WordAscii,
            Some(b'B') => Look::WordAsciiNegate,
            Some(b'Q') => {
                let (literal_text, after) = after.split_once("\\E").unwrap_or((after, ""));
                literal_text.chars().for_each(|c| self.literal(c.into()));
                return Ok(after);
            }
            _ => {
                let fold = self.flags.fold;
                let class = match class::named_class(rest, fold)? {
                    Some(named_class) => Some(named_class),
                    None => class::perl(rest, fold),
                };
                if let Some((after, class)) = class {
                    self.class(class);
                    return Ok(after);
                }
                let (after, code) = escape::character(rest)?;
                self.literal(code);
                return Ok(after);
            }
        };
        self.push(Hir::look(assertion));
        Ok(after)
    }

    fn open_group(&mut self, name: Option<&str>) {
        let capture = name.map(|name| {
            self.names.push(name.to_owned());
            u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
        });
        let inner = OpenGroup {
            capture,
            outer: self.flags,
            ..OpenGroup::default()
        };
        self.open.push(std::mem::replace(&mut self.group, inner));
    }

    /// Returns the expression of a finished group.
    fn close(&self, group: OpenGroup) -> Result<MeasuredHir, RegexError> {
        let (mut height, mut repeats) = (0, 1);
        let mut alternatives = group.alternatives;
        alternatives.push(group.sequence);
        let alternatives = alternatives.into_iter().map(|sequence| {
            let parts = sequence.into_iter().map(|node| {
                height = height.max(node.height);
                repeats = repeats.max(node.repeats);
                node.hir
            });
            Hir::concat(parts.collect())
        });
        let mut hir = Hir::alternation(alternatives.collect());
        if let Some(index) = group.capture {
            hir = Hir::capture(Capture {
                index,
                name: None,
                sub: Box::new(hir),
            });
        }
        self.higher(hir, height, repeats)
    }

    /// Returns a node one level above its children.
    fn higher(&self, hir: Hir, height: u32, repeats: u32) -> Result<MeasuredHir, RegexError> {
        if height >= NESTING {
            return Err(RegexErrorKind::Nesting.for_part(self.pattern));
        }
        Ok(MeasuredHir {
            hir,
            height: height + 1,
            repeats,
        })
    }

    /// Parses `(?P<name>`, `(?<name>`, `(?i)` and `(?i-s:`.
    fn flagged_group(&mut self, rest: &'p str) -> Result<&'p str, RegexError> {
        let after_open = rest
            .strip_prefix("(?P<")
            .or_else(|| rest.strip_prefix("(?<"))
            .filter(|after| !after.is_empty());
        if let Some(after_open) = after_open {
            let Some((name, after)) = after_open.split_once('>') else {
                return Err(RegexErrorKind::NamedCapture.for_part(rest));
            };
            let is_word_char = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(is_word_char) {
                return Err(RegexErrorKind::NamedCapture.for_part(part_before(rest, after)));
            }
            self.open_group(Some(name));
            return Ok(after);
        }
        let mut flags = self.flags;
        let (mut set, mut has_flags) = (true, false);
        let mut chars = rest.chars();
        chars.next();
        chars.next();
        while let Some(c) = chars.next() {
            let flag = match c {
                'i' => &mut flags.fold,
                'm' => &mut flags.multi_line,
                's' => &mut flags.dot_newline,
                'U' => &mut flags.swap_greed,
                '-' if set => {
                    (set, has_flags) = (false, false);
                    continue;
                }
                ':' | ')' if set || has_flags => {
                    if c == ':' {
                        self.open_group(None);
                    }
                    self.flags = flags;
                    return Ok(chars.as_str());
                }
                _ => break,
            };
            *flag = set;
            has_flags = true;
        }
        Err(RegexErrorKind::PerlOperator.for_part(part_before(rest, chars.as_str())))
    }

    fn repeat(
        &mut self,
        rest: &'p str,
        after: &'p str,
        counts: Counts,
        repeated: Option<&'p str>,
    ) -> Result<&'p str, RegexError> {
        let Counts { min, max } = counts;
        if [Some(min), max].iter().flatten().any(|n| *n > REPEATS) || max.is_some_and(|n| n < min) {
            return Err(RegexErrorKind::RepeatSize.for_part(part_before(rest, after)));
        }
        let lazy = after.strip_prefix('?');
        let after = lazy.unwrap_or(after);
        if let Some(repeated) = repeated {
            return Err(RegexErrorKind::NestedRepeat.for_part(part_before(repeated, after)));
        }
        let text = part_before(rest, after);
        let Some(node) = self.group.sequence.pop() else {
            return Err(RegexErrorKind::MissingRepeatArgument.for_part(text));
        };
        let repeats = match rest.as_bytes().first() {
            Some(b'{') if max == Some(0) => 1,
            Some(b'{') => node.repeats.saturating_mul(max.unwrap_or(min).max(1)),
            _ => node.repeats,
        };
        if repeats > REPEATS {
            return Err(RegexErrorKind::RepeatSize.for_part(text));
        }
        let hir = Hir::repetition(Repetition {
            min,
            max,
            greedy: lazy.is_none() != self.flags.swap_greed,
            sub: Box::new(node.hir),
        });
        let node = self.higher(hir, node.height, repeats)?;
        self.group.sequence.push(node);
        self.repeated = Some(rest);
        Ok(after)
    }
}

/// Minimum and maximum number of repetitions. Unlimited without a maximum.
#[derive(Clone, Copy)]
struct Counts {
    min: u32,
    max: Option<u32>,
}

/// Parses `*`, `+`, `?`, `{2}`, `{2,}` and `{2,3}`. Returns `None` for a literal brace.
fn quantifier(rest: &str) -> Option<(&str, Counts)> {
    let (min, max) = match rest.as_bytes().first()? {
        b'*' => (0, None),
        b'+' => (1, None),
        b'?' => (0, Some(1)),
        _ => {
            let upper = preceded(char(','), opt(digit1));
            let mut counts = delimited(char('{'), (digit1, opt(upper)), char('}'));
            let parsed: IResult<&str, (&str, Option<Option<&str>>)> = counts.parse(rest);
            let (rest, (min, upper)) = parsed.ok()?;
            let min = count(min)?;
            let max = match upper {
                None => Some(min),
                Some(None) => None,
                Some(Some(max)) => Some(count(max)?),
            };
            return Some((rest, Counts { min, max }));
        }
    };
    Some((rest.get(1..)?, Counts { min, max }))
}

/// Parses a count. Digits with leading zeros are not a count.
fn count(digits: &str) -> Option<u32> {
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some(digits.parse().unwrap_or(COUNT_TOO_LONG))
}
