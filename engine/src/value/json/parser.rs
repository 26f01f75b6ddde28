//! The grammar of JSON, without recursion; what becomes of the values is up to a [`Build`].

use std::borrow::Cow;

use super::error::Fail;
use super::lexer::{Lexer, NumberToken};
use crate::limits;
use crate::value::NumberBuf;

/// Makes values of what the parser reads.
pub(super) trait Build<'t> {
    /// A value.
    type Item;
    /// An object's key.
    type Key;

    fn null(&mut self) -> Self::Item;
    fn bool(&mut self, b: bool) -> Self::Item;
    fn number(&mut self, number: NumberBuf) -> Self::Item;
    fn number_text(&mut self, text: &'t str) -> Self::Item;
    fn string(&mut self, text: Cow<'t, str>) -> Self::Item;
    fn key(&mut self, text: Cow<'t, str>) -> Self::Key;
    /// Takes the elements from `start` on.
    fn array(&mut self, items: &mut Vec<Self::Item>, start: usize) -> Self::Item;
    /// Takes as many keys and values off the ends of both lists.
    fn object(
        &mut self,
        keys: &mut Vec<Self::Key>,
        first_key: usize,
        values: &mut Vec<Self::Item>,
        first_value: usize,
    ) -> Self::Item;
}

/// A compound being read: where its members start.
struct Frame {
    object: bool,
    first_key: usize,
    first_value: usize,
}

/// Reads a whole text.
pub(super) fn document<'t, B: Build<'t>>(text: &'t str, build: &mut B) -> Result<B::Item, Fail> {
    let mut lexer = Lexer::new(text);
    let value = value(&mut lexer, build);
    // bad syntax anywhere is worse than a number that is too big
    if !matches!(&value, Err(fail) if fail.is_syntax()) && lexer.token().is_some() {
        return Err(lexer.unexpected("after top-level value"));
    }
    value
}

/// Reads one value; what follows is not looked at.
pub(super) fn value<'t, B: Build<'t>>(
    lexer: &mut Lexer<'t>,
    build: &mut B,
) -> Result<B::Item, Fail> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut keys: Vec<B::Key> = Vec::new();
    let mut values: Vec<B::Item> = Vec::new();
    let mut too_big = None;
    'value: loop {
        let mut item = match lexer.token() {
            Some(open @ (b'{' | b'[')) => {
                if frames.len() >= limits::NESTING {
                    return Err(lexer.unexpected("exceeded max depth"));
                }
                lexer.bump();
                let frame = Frame {
                    object: open == b'{',
                    first_key: keys.len(),
                    first_value: values.len(),
                };
                match (frame.object, lexer.token()) {
                    (true, Some(b'}')) => {
                        lexer.bump();
                        build.object(&mut keys, frame.first_key, &mut values, frame.first_value)
                    }
                    (true, _) => {
                        frames.push(frame);
                        keys.push(key(lexer, build)?);
                        continue 'value;
                    }
                    (false, Some(b']')) => {
                        lexer.bump();
                        build.array(&mut values, frame.first_value)
                    }
                    (false, _) => {
                        frames.push(frame);
                        continue 'value;
                    }
                }
            }
            Some(b'"') => {
                let text = lexer.string()?;
                build.string(text)
            }
            Some(b'-' | b'0'..=b'9') => match lexer.number()? {
                NumberToken::Small(number) => build.number(number),
                NumberToken::Text(text) => {
                    if let Err(fail) = lexer.check(text) {
                        too_big.get_or_insert(fail);
                    }
                    build.number_text(text)
                }
            },
            Some(b't') => {
                lexer.literal("true")?;
                build.bool(true)
            }
            Some(b'f') => {
                lexer.literal("false")?;
                build.bool(false)
            }
            Some(b'n') => {
                lexer.literal("null")?;
                build.null()
            }
            _ => return Err(lexer.unexpected("looking for beginning of value")),
        };
        loop {
            let Some(frame) = frames.last() else {
                return too_big.map_or(Ok(item), Err);
            };
            values.push(item);
            match (frame.object, lexer.token()) {
                (true, Some(b',')) => {
                    lexer.bump();
                    keys.push(key(lexer, build)?);
                    continue 'value;
                }
                (false, Some(b',')) => {
                    lexer.bump();
                    continue 'value;
                }
                (true, Some(b'}')) => {
                    item = build.object(&mut keys, frame.first_key, &mut values, frame.first_value);
                }
                (false, Some(b']')) => item = build.array(&mut values, frame.first_value),
                (true, _) => return Err(lexer.unexpected("after object key:value pair")),
                (false, _) => return Err(lexer.unexpected("after array element")),
            }
            lexer.bump();
            frames.pop();
        }
    }
}

#[inline]
fn key<'t, B: Build<'t>>(lexer: &mut Lexer<'t>, build: &mut B) -> Result<B::Key, Fail> {
    if lexer.token() != Some(b'"') {
        return Err(lexer.unexpected("looking for beginning of object key string"));
    }
    let key = lexer.string()?;
    if lexer.token() != Some(b':') {
        return Err(lexer.unexpected("after object key"));
    }
    lexer.bump();
    Ok(build.key(key))
}

/// Keeps nothing: for texts that are only checked.
pub(super) struct Nothing;

impl<'t> Build<'t> for Nothing {
    type Item = ();
    type Key = ();

    fn null(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, _: NumberBuf) {}
    fn number_text(&mut self, _: &'t str) {}
    fn string(&mut self, _: Cow<'t, str>) {}
    fn key(&mut self, _: Cow<'t, str>) {}
    fn array(&mut self, items: &mut Vec<()>, start: usize) {
        items.truncate(start);
    }
    fn object(
        &mut self,
        keys: &mut Vec<()>,
        first_key: usize,
        values: &mut Vec<()>,
        first_value: usize,
    ) {
        keys.truncate(first_key);
        values.truncate(first_value);
    }
}
