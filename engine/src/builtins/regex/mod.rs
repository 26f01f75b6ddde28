//! Regular expressions in Go's RE2 syntax.

mod alphabet;
mod class;
mod class_run;
mod delimited;
mod error;
mod escape;
mod globs;
mod needed;
mod program;
mod sign;
mod syntax;
mod template;

use std::ops::{ControlFlow, Deref, Range};
use std::sync::Arc;

use smallvec::SmallVec;

use super::buffer::push;
use super::patterns::Family;
use super::tested::tested;
use super::{Builtin, BuiltinContext, BuiltinError, IndexTest, Operands, Prepared};
use crate::bug::{Within as _, bug};
use crate::limits;
use crate::value::{RefRepr, TextView, ValueRef};
use program::Haystack;
pub use program::{Effort, Regex, beginnings, build};
use template::RegexTemplate;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "regex.find_all_string_submatch_n",
        "pattern: string, value: string, number: number => output: array[array[string]]",
        "The first matches with their groups, or all of them if the number is negative.",
        find_all_string_submatch_n,
    )
    .specialise(|operands| prepare(operands, 0, find_groups)),
    Builtin::new(
        "regex.find_n",
        "pattern: string, value: string, number: number => output: array[string]",
        "The first matches, or all of them if the number is negative.",
        find_n,
    )
    .specialise(|operands| prepare(operands, 0, find)),
    Builtin::new(
        "regex.globs_match",
        "glob1: string, glob2: string => result: boolean",
        "Returns `true` if some string matches two simple patterns.",
        globs_match,
    ),
    Builtin::new(
        "regex.is_valid",
        "pattern: string => result: boolean",
        "Returns `true` if a string is a regular expression.",
        is_valid,
    ),
    Builtin::new(
        "regex.match",
        "pattern: string, value: string => result: boolean",
        "Returns `true` if a regular expression matches somewhere in a string.",
        is_match,
    )
    .testing(IndexTest::Pattern)
    .specialise(prepare_test),
    Builtin::new(
        "regex.replace",
        "s: string, pattern: string, value: string => output: string",
        "The string with every match replaced. `$1` in the replacement refers to a group.",
        replace,
    )
    .specialise(prepare_replacement),
    Builtin::new(
        "regex.split",
        "pattern: string, value: string => output: array[string]",
        "The parts of a string between matches.",
        split,
    )
    .specialise(|operands| prepare(operands, 0, split_at_matches)),
    Builtin::new(
        "regex.template_match",
        "template: string, value: string, delimiter_start: string, delimiter_end: string => result: boolean",
        "Returns `true` if a string matches a text with regular expressions between delimiters.",
        template_match,
    ),
    Builtin::new(
        "re_match",
        "string, string => boolean",
        "Returns `true` if a regular expression matches somewhere in a string.",
        is_match,
    )
    .testing(IndexTest::Pattern)
    .deprecated()
    .specialise(prepare_test),
];

/// Returns `true` if a text is a regular expression.
pub fn is_pattern(text: &str) -> bool {
    syntax::Syntax::parse(text).is_ok()
}

/// A function with an optional compiled pattern.
type WithRegex = for<'e> fn(
    &mut BuiltinContext<'e>,
    &[ValueRef<'e>],
    Option<&Regex>,
) -> Result<ValueRef<'e>, BuiltinError>;

struct ConstantPattern {
    regex: Regex,
    run: WithRegex,
}

impl Prepared for ConstantPattern {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        (self.run)(call, operands, Some(&self.regex))
    }
}

fn prepare(
    operands: &[Option<ValueRef<'_>>],
    pattern: usize,
    run: WithRegex,
) -> Option<Arc<dyn Prepared>> {
    let regex = constant(operands, pattern)?;
    Some(Arc::new(ConstantPattern { regex, run }))
}

fn constant(operands: &[Option<ValueRef<'_>>], pattern: usize) -> Option<Regex> {
    let pattern = operands.get(pattern).copied()??.as_text()?;
    Regex::from_bytes(pattern.as_bytes(), Effort::Whole).ok()
}

fn prepare_test(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let regex = constant(operands, 0)?;
    Some(tested(1, move |text| regex.is_match(text)))
}

/// A compiled pattern of the program or from the cache.
enum RegexRef<'r> {
    Constant(&'r Regex),
    Cached(Arc<Regex>),
}

impl Deref for RegexRef<'_> {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        match self {
            Self::Constant(regex) => regex,
            Self::Cached(regex) => regex,
        }
    }
}

fn resolve<'r>(
    call: &BuiltinContext<'_>,
    pattern: &TextView<'_>,
    constant: Option<&'r Regex>,
) -> Result<RegexRef<'r>, BuiltinError> {
    match constant {
        Some(regex) => Ok(RegexRef::Constant(regex)),
        None => Ok(RegexRef::Cached(Regex::cached(call, pattern)?)),
    }
}

fn is_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (pattern, text) = (operands.text(0)?, operands.text(1)?);
    let pattern = pattern.as_bytes();
    let compile = || Regex::from_bytes(pattern, Effort::Little);
    let run = |regex: &Regex| regex.is_match(&text);
    let is_match = call.patterns.with(Family::Regex, pattern, compile, run)?;
    Ok(ValueRef(RefRepr::Bool(is_match)))
}

fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let valid = operands
        .operand(0)
        .as_text()
        .is_some_and(|pattern| Regex::from_bytes(pattern.as_bytes(), Effort::Little).is_ok());
    Ok(ValueRef(RefRepr::Bool(valid)))
}

fn find_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    find(call, operands, None)
}

fn find<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Regex>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (pattern, text) = (operands.text(0)?, operands.text(1)?);
    let limit = limit(operands.int(2)?);
    let regex = resolve(call, &pattern, constant)?;
    let haystack = Haystack::new(&regex, &text);
    let mut matches = bumpalo::collections::Vec::with_capacity_in(4, call.arena.bump());
    for range in regex.matches(&haystack).take(limit) {
        after_match(call, &text)?;
        call.push_part(&mut matches, text, range);
    }
    Ok(call.arena.array_of(matches.into_bump_slice()))
}

/// Charges a match. Polls the limits each time if the text is large, because finding the next match may scan all of it.
fn after_match(call: &mut BuiltinContext<'_>, text: &TextView<'_>) -> Result<(), BuiltinError> {
    if text.as_bytes().len() > limits::LARGE_OPERAND {
        call.budget.check()?;
    }
    call.budget.step()
}

/// Converts a maximum number of matches. Negative means unlimited.
fn limit(requested: i64) -> usize {
    usize::try_from(requested).unwrap_or(usize::MAX)
}

fn find_all_string_submatch_n<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    find_groups(call, operands, None)
}

fn find_groups<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Regex>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (pattern, text) = (operands.text(0)?, operands.text(1)?);
    let limit = limit(operands.int(2)?);
    let regex = resolve(call, &pattern, constant)?;
    let haystack = Haystack::new(&regex, &text);
    let mut matches = call.arena.list();
    let mut remaining = limit;
    if remaining > 0 {
        regex.captures(&haystack, |groups| {
            after_match(call, &text)?;
            call.budget.spend_len(groups.len())?;
            let mut parts =
                bumpalo::collections::Vec::with_capacity_in(groups.len(), call.arena.bump());
            for group in groups {
                call.push_part(&mut parts, text, group.clone().unwrap_or_default());
            }
            matches.push(call.arena.array_of(parts.into_bump_slice()));
            remaining -= 1;
            Ok::<_, BuiltinError>(match remaining {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        })?;
    }
    Ok(call.arena.array_of(matches.into_bump_slice()))
}

fn split<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    split_at_matches(call, operands, None)
}

fn split_at_matches<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Regex>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (pattern, text) = (operands.text(0)?, operands.text(1)?);
    let regex = resolve(call, &pattern, constant)?;
    let length = text.as_bytes().len();
    if length == 0 && !pattern.as_bytes().is_empty() {
        return Ok(call.arena.array(&[operands.operand(1)]));
    }
    let haystack = Haystack::new(&regex, &text);
    let mut parts = call.arena.list();
    let (mut start, mut end) = (0, 0);
    for range in regex.matches(&haystack) {
        after_match(call, &text)?;
        end = range.start;
        // an empty match at the start does not split
        if range.end != 0 {
            call.push_part(&mut parts, text, start..end);
        }
        start = range.end;
    }
    if end != length {
        call.push_part(&mut parts, text, start..length);
    }
    Ok(call.arena.array_of(parts.into_bump_slice()))
}

fn replace<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    replace_matches(call, operands, None)
}

fn replace_matches<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Regex>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, pattern) = (operands.text(0)?, operands.text(1)?);
    let template = operands.text(2)?;
    let regex = resolve(call, &pattern, constant)?;
    if !regex.may_match(text.as_bytes()) {
        return Ok(operands.operand(0));
    }
    let template = template.to_str();
    let template = RegexTemplate::parse(&template);
    replace_all(call, operands.operand(0), text, &regex, &template)
}

/// A call with a constant pattern and a constant template.
struct ConstantReplacement {
    regex: Regex,
    template: RegexTemplate<'static>,
}

impl Prepared for ConstantReplacement {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let text = operands.text(0)?;
        if !self.regex.may_match(text.as_bytes()) {
            return Ok(operands.operand(0));
        }
        replace_all(call, operands.operand(0), text, &self.regex, &self.template)
    }
}

fn prepare_replacement(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let Some(template) = operands.get(2).copied()? else {
        return prepare(operands, 1, replace_matches);
    };
    let template = RegexTemplate::parse(&template.as_text()?.to_str()).into_owned();
    let regex = constant(operands, 1)?;
    Some(Arc::new(ConstantReplacement { regex, template }))
}

/// Returns the string with each match replaced by the expanded template.
fn replace_all<'e>(
    call: &mut BuiltinContext<'e>,
    original: ValueRef<'e>,
    text: TextView<'e>,
    regex: &Regex,
    template: &RegexTemplate<'_>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let bytes = text.as_bytes();
    let haystack = Haystack::new(regex, &text);
    let mut buffer = None;
    let mut replaced_to = 0;
    let mut replace_one = |call: &mut BuiltinContext<'e>, groups: &[Option<Range<usize>>]| {
        after_match(call, &text)?;
        let buffer = buffer.get_or_insert_with(|| call.buffer());
        let match_range = groups.first().cloned().flatten();
        let match_range = match_range.unwrap_or_else(|| bug!("a match without a place"));
        let before = bytes.within(replaced_to..match_range.start);
        push(call, buffer, before)?;
        replaced_to = match_range.end;
        template.expand(regex, bytes, groups, |part| push(call, buffer, part))
    };
    if template.is_plain() {
        for range in regex.matches(&haystack) {
            replace_one(call, &[Some(range)])?;
        }
    } else {
        regex.captures(&haystack, |groups| {
            replace_one(call, groups)?;
            Ok::<_, BuiltinError>(ControlFlow::Continue(()))
        })?;
    }
    let Some(mut buffer) = buffer else {
        return Ok(original);
    };
    push(call, &mut buffer, bytes.within(replaced_to..))?;
    Ok(call.text(buffer))
}

fn template_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (template, text) = (operands.text(0)?, operands.text(1)?);
    let (start, end) = (operands.text(2)?, operands.text(3)?);
    let mut key = SmallVec::<[u8; 64]>::new();
    for part in [&start, &end, &template] {
        key.extend_from_slice(part.as_bytes());
        key.push(0xff);
    }
    let is_match = call.patterns.with(
        Family::Delimited,
        &key,
        || delimited::compile(&template, &start, &end, operands.operand(0)),
        |regex| regex.is_match(&text),
    )?;
    Ok(ValueRef(RefRepr::Bool(is_match)))
}

fn globs_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (left, right) = (operands.text(0)?, operands.text(1)?);
    let is_match = globs::meet(call, &left.to_str(), &right.to_str())?;
    Ok(ValueRef(RefRepr::Bool(is_match)))
}
