//! Trimming: sets of characters, white space, prefixes and suffixes.

use std::borrow::Cow;

use crate::bug::Within;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, runes};
use crate::value::{TextView, ValueRef};

pub fn trim<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    by_set(call, operands, TrimEnds::Both)
}

pub fn trim_left<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    by_set(call, operands, TrimEnds::Left)
}

pub fn trim_right<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    by_set(call, operands, TrimEnds::Right)
}

pub fn trim_space<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    Ok(cut(
        call,
        operands.text(0)?,
        TrimEnds::Both,
        char::is_whitespace,
    ))
}

pub fn trim_prefix<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, prefix) = (operands.text(0)?, operands.text(1)?);
    let (bytes, prefix) = (text.as_bytes(), prefix.as_bytes());
    if prefix.is_empty() || !bytes.starts_with(prefix) {
        return Ok(operands.operand(0));
    }
    Ok(call.part(text, prefix.len()..bytes.len()))
}

pub fn trim_suffix<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, suffix) = (operands.text(0)?, operands.text(1)?);
    let (bytes, suffix) = (text.as_bytes(), suffix.as_bytes());
    if suffix.is_empty() || !bytes.ends_with(suffix) {
        return Ok(operands.operand(0));
    }
    Ok(call.part(text, 0..bytes.len() - suffix.len()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrimEnds {
    Left,
    Right,
    Both,
}

fn by_set<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    ends: TrimEnds,
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, set) = (operands.text(0)?, operands.text(1)?);
    if let [byte] = *set.as_bytes()
        && byte.is_ascii()
    {
        return Ok(cut_byte(call, text, ends, byte));
    }
    let set = CharSet::new(set.to_str());
    Ok(cut(call, text, ends, |c| set.contains(c)))
}

fn cut<'e>(
    call: &BuiltinContext<'e>,
    text: TextView<'e>,
    ends: TrimEnds,
    drop: impl Fn(char) -> bool,
) -> ValueRef<'e> {
    let mut rest = text.as_bytes();
    let mut start = 0;
    if ends != TrimEnds::Right {
        while let Some((c, width)) = runes::first(rest)
            && drop(c)
        {
            start += width;
            rest = rest.within(width..);
        }
    }
    if ends != TrimEnds::Left {
        while let Some((c, width)) = runes::last(rest)
            && drop(c)
        {
            rest = rest.within(..rest.len() - width);
        }
    }
    call.part(text, start..start + rest.len())
}

/// Trims one ASCII character.
fn cut_byte<'e>(
    call: &BuiltinContext<'e>,
    text: TextView<'e>,
    ends: TrimEnds,
    drop: u8,
) -> ValueRef<'e> {
    let bytes = text.as_bytes();
    let is_kept = |byte: &u8| *byte != drop;
    let start = match ends {
        TrimEnds::Right => 0,
        _ => bytes.iter().position(is_kept).unwrap_or(bytes.len()),
    };
    let end = match ends {
        TrimEnds::Left => bytes.len(),
        _ => bytes
            .iter()
            .rposition(is_kept)
            .map_or(start, |last| last + 1),
    };
    call.part(text, start..end)
}

/// Set of characters. A bit for each ASCII character, so that long sets need no search.
struct CharSet<'a> {
    ascii: u128,
    all: Cow<'a, str>,
}

impl<'a> CharSet<'a> {
    fn new(all: Cow<'a, str>) -> Self {
        let ascii = all
            .chars()
            .filter(char::is_ascii)
            .fold(0, |bits, c| bits | 1 << u32::from(c));
        Self { ascii, all }
    }

    fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            self.ascii >> u32::from(c) & 1 == 1
        } else {
            self.all.contains(c)
        }
    }
}
