//! Syntax of globs: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}`, and `\` before literal characters.

use std::fmt;

use crate::bug::{Within as _, bug};
use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while1};
use nom::combinator::value;
use nom::{IResult, Parser as _};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// `?`: a character that is not a delimiter.
    One,
    /// `*`: any number of characters that are not delimiters.
    Run,
    /// `**`: any number of characters.
    Everything,
    /// A character inside or outside of some ranges.
    Class {
        ranges: Vec<(char, char)>,
        /// `true` for characters outside of the ranges.
        negated: bool,
    },
    /// One of several globs.
    Choice(Vec<Vec<Piece>>),
}

/// Why a pattern is not a glob.
#[derive(Debug, PartialEq, Eq)]
pub struct GlobError {
    at: usize,
    problem: &'static str,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at: index, problem } = self;
        write!(f, "glob: syntax error at {index}: {problem}")
    }
}

/// Maximum nesting depth of alternatives.
pub const NESTING: usize = 32;

/// Parses a glob. The pattern need not be UTF-8, except before a syntax error.
pub fn parse(pattern: &[u8]) -> Result<Vec<Piece>, GlobError> {
    let (text, is_utf8) = match std::str::from_utf8(pattern) {
        Ok(text) => (text, true),
        Err(error) => {
            let valid = pattern.within(..error.valid_up_to());
            let valid = std::str::from_utf8(valid).ok();
            (
                valid.unwrap_or_else(|| bug!("the valid prefix is not UTF-8")),
                false,
            )
        }
    };
    let mut rest = text;
    let reject = |rest: &str, problem| GlobError {
        at: text.len() - rest.len(),
        problem,
    };
    // stack of the open alternatives: the pieces before, and the finished alternatives
    let mut open: Vec<(Vec<Piece>, Vec<Vec<Piece>>)> = Vec::new();
    let mut pieces = Vec::new();
    while let Some(first) = rest.chars().next() {
        let after = rest.within(first.len_utf8()..);
        match first {
            '{' => {
                if open.len() >= NESTING {
                    return Err(reject(rest, "choices nest too deeply"));
                }
                open.push((std::mem::take(&mut pieces), Vec::new()));
                rest = after;
            }
            ',' | '}' if !open.is_empty() => {
                rest = after;
                let Some((_, alternatives)) = open.last_mut() else {
                    continue;
                };
                alternatives.push(std::mem::take(&mut pieces));
                if first == '}'
                    && let Some((before, alternatives)) = open.pop()
                {
                    pieces = before;
                    pieces.push(Piece::Choice(alternatives));
                }
            }
            '[' => {
                let (remaining, class) =
                    class(after).map_err(|(remaining, problem)| reject(remaining, problem))?;
                pieces.push(class);
                rest = remaining;
            }
            '\\' => {
                let Some(c) = after.chars().next() else {
                    return Err(reject(after, "trailing backslash"));
                };
                push_text(&mut pieces, c.encode_utf8(&mut [0; 4]));
                rest = after.within(c.len_utf8()..);
            }
            '*' | '?' => {
                let Ok((remaining, piece)) = wildcard(rest) else {
                    break;
                };
                pieces.push(piece);
                rest = remaining;
            }
            ',' | '}' => {
                push_text(&mut pieces, first.encode_utf8(&mut [0; 4]));
                rest = after;
            }
            _ => {
                let parsed: IResult<&str, &str> = is_not("{},[\\*?").parse(rest);
                let Ok((remaining, run)) = parsed else { break };
                push_text(&mut pieces, run);
                rest = remaining;
            }
        }
    }
    if !is_utf8 {
        return Err(reject(rest, "invalid UTF-8 sequence"));
    }
    if !open.is_empty() {
        return Err(reject(rest, "unclosed `{`"));
    }
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn wildcard(rest: &str) -> IResult<&str, Piece> {
    alt((
        value(Piece::One, tag("?")),
        value(Piece::Everything, (tag("*"), take_while1(|c| c == '*'))),
        value(Piece::Run, tag("*")),
    ))
    .parse(rest)
}

/// Rest of the pattern at the error, and the message.
type ClassError<'p> = (&'p str, &'static str);

/// Parses a class, starting after its bracket: one range, or a list of characters.
fn class(rest: &str) -> Result<(&str, Piece), ClassError<'_>> {
    let negated = rest.strip_prefix('!');
    let rest = negated.unwrap_or(rest);
    let negated = negated.is_some();
    let mut chars = rest.chars();
    let mut next = || {
        let c = chars.next();
        c.map(|c| (c, chars.as_str()))
            .ok_or(("", "unexpected end of input"))
    };
    let (low, after) = next()?;
    if after.starts_with('-') {
        next()?;
        let (high, _) = next()?;
        let (close, remaining) = next()?;
        if close != ']' {
            return Err((remaining, "expected close range character"));
        }
        if high < low {
            return Err((remaining, "range hi character is less than lo"));
        }
        let ranges = vec![(low, high)];
        return Ok((remaining, Piece::Class { ranges, negated }));
    }
    let mut ranges = Vec::new();
    let (mut c, mut remaining) = (low, after);
    while c != ']' {
        if c == '\\' {
            (c, _) = next()?;
        }
        ranges.push((c, c));
        (c, remaining) = next()?;
    }
    if ranges.is_empty() {
        return Err((remaining, "could not parse range"));
    }
    Ok((remaining, Piece::Class { ranges, negated }))
}
