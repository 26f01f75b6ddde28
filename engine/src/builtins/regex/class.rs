//! Character classes: `[a-z]`, `\d`, `\pL`, `[:alpha:]`. Perl and POSIX classes are ASCII.

use nom::IResult;
use nom::Parser;
use nom::bytes::complete::{tag, take_until};
use nom::character::complete::{anychar, char, one_of};
use nom::combinator::{opt, recognize};
use nom::sequence::delimited;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

use super::error::{RegexError, RegexErrorKind};
use super::escape;

/// The rest of the pattern, and the parsed class.
type ClassResult<'p> = Result<(&'p str, ClassUnicode), RegexError>;

/// Parses `[…]`, starting at its bracket.
pub fn bracketed(pattern: &str, fold: bool) -> ClassResult<'_> {
    let unclosed = || RegexErrorKind::MissingBracket.for_part(pattern);
    let mut class = ClassUnicode::empty();
    let mut rest = pattern.strip_prefix('[').unwrap_or(pattern);
    let negated = rest.strip_prefix('^');
    rest = negated.unwrap_or(rest);
    let mut first = true;
    loop {
        match rest.strip_prefix(']') {
            Some(after) if !first => {
                if negated.is_some() {
                    class.negate();
                }
                return Ok((after, class));
            }
            _ => first = false,
        }
        if let Some((after, group)) = posix(rest, fold)?
            .map(Ok)
            .or_else(|| named_class(rest, fold).transpose())
            .transpose()?
            .or_else(|| perl(rest, fold))
        {
            class.union(&group);
            rest = after;
            continue;
        }
        let start = rest;
        let (after, low) = member(rest).ok_or_else(unclosed)??;
        rest = after;
        let mut high = low;
        if let Some(after) = rest
            .strip_prefix('-')
            .filter(|after| !after.is_empty() && !after.starts_with(']'))
        {
            let (after, end) = member(after).ok_or_else(unclosed)??;
            rest = after;
            high = end;
            if high < low {
                return Err(RegexErrorKind::CharRange.for_part(part_before(start, rest)));
            }
        }
        class.union(&folded(scalars(low, high), fold));
    }
}

/// Parses a character of a class, escaped or not. Returns `None` at the end.
fn member(rest: &str) -> Option<Result<(&str, u32), RegexError>> {
    if rest.starts_with('\\') {
        return Some(escape::character(rest));
    }
    let (after, c) = anychar::<_, nom::error::Error<&str>>(rest).ok()?;
    Some(Ok((after, c.into())))
}

/// Returns the characters in a range of code points. Surrogates are not characters.
pub fn scalars(low: u32, high: u32) -> ClassUnicode {
    let parts = [(low, high.min(0xd7ff)), (low.max(0xe000), high)];
    ClassUnicode::new(parts.into_iter().filter_map(|(low, high)| {
        let range = ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?);
        (low <= high).then_some(range)
    }))
}

/// Adds all characters that differ only in case.
pub fn folded(mut class: ClassUnicode, fold: bool) -> ClassUnicode {
    if fold {
        class.case_fold_simple();
    }
    class
}

/// Returns the part of `start` before `rest`, which must be a suffix of it.
pub fn part_before<'p>(start: &'p str, rest: &str) -> &'p str {
    start.get(..start.len() - rest.len()).unwrap_or(start)
}

fn ascii(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|(low, high)| ClassUnicodeRange::new(*low, *high)),
    )
}

const DIGIT: &[(char, char)] = &[('0', '9')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// Returns the class of ranges: case-folded, then negated.
fn group(ranges: &[(char, char)], fold: bool, negated: bool) -> ClassUnicode {
    let mut class = folded(ascii(ranges), fold);
    if negated {
        class.negate();
    }
    class
}

/// Parses `\d`, `\S` and other Perl classes. Returns `None` if the pattern does not start with one.
pub fn perl(rest: &str, fold: bool) -> Option<(&str, ClassUnicode)> {
    let (rest, name) = parse(recognize((char('\\'), one_of("dDsSwW"))), rest)?;
    let ranges = match name {
        r"\d" | r"\D" => DIGIT,
        r"\s" | r"\S" => &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')],
        _ => WORD,
    };
    let negated = name.ends_with(|c: char| c.is_ascii_uppercase());
    Some((rest, group(ranges, fold, negated)))
}

/// Parses `[:alpha:]` and `[:^alpha:]`. Returns `None` without a `:]`.
fn posix(rest: &str, fold: bool) -> Result<Option<(&str, ClassUnicode)>, RegexError> {
    let bracketed_name = delimited(tag("[:"), take_until(":]"), tag(":]"));
    let Some((after, name)) = parse(bracketed_name, rest) else {
        return Ok(None);
    };
    let (negated, name) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => DIGIT,
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return Err(RegexErrorKind::CharRange.for_part(part_before(rest, after))),
    };
    Ok(Some((after, group(ranges, fold, negated))))
}

/// Parses `\pL`, `\p{Greek}` and `\P{^Greek}`. Returns `None` for anything else.
pub fn named_class(rest: &str, fold: bool) -> Result<Option<(&str, ClassUnicode)>, RegexError> {
    let Some((after, sign)) = parse((char('\\'), one_of("pP")), rest) else {
        return Ok(None);
    };
    let (after, name) = if after.starts_with('{') {
        parse(delimited(char('{'), take_until("}"), char('}')), after)
            .ok_or_else(|| RegexErrorKind::CharRange.for_part(rest))?
    } else {
        parse(recognize(opt(anychar)), after).unwrap_or((after, ""))
    };
    let (inverted, name) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let class = property(name)
        .ok_or_else(|| RegexErrorKind::CharRange.for_part(part_before(rest, after)))?;
    let mut class = folded(class, fold);
    if inverted != (sign == ('\\', 'P')) {
        class.negate();
    }
    Ok(Some((after, class)))
}

/// Scripts whose names have four letters.
const SHORT_SCRIPTS: [&str; 9] = [
    "ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto",
];

/// Returns the characters of a general category or a script.
fn property(name: &str) -> Option<ClassUnicode> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-');
    if !name.chars().all(plain) || !name.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let loose: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if matches!(loose.as_str(), "cs" | "surrogate") {
        return Some(ClassUnicode::empty());
    }
    if loose.starts_with("is") {
        return None;
    }
    let code = loose.len() == 4 && !SHORT_SCRIPTS.contains(&loose.as_str());
    ["gc", "sc"].iter().find_map(|kind| {
        // script codes (`Grek`) are names in `regex-syntax`, but not in Go
        if *kind == "sc" && code {
            return None;
        }
        let parsed = regex_syntax::parse(&format!(r"\p{{{kind}={name}}}")).ok()?;
        match parsed.into_kind() {
            HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Some(class),
            _ => None,
        }
    })
}

/// Runs a parser that cannot fail after consuming input.
fn parse<'p, O>(
    mut parser: impl Parser<&'p str, Output = O, Error = nom::error::Error<&'p str>>,
    rest: &'p str,
) -> Option<(&'p str, O)> {
    let parsed: IResult<&str, O> = parser.parse(rest);
    parsed.ok()
}
