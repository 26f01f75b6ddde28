//! An iterative parser of JSON. A [`Build`] constructs the values.

use std::borrow::Cow;

use super::error::{Fail, TOO_DEEP};
use super::lexer::JsonLexer;
use crate::limits;
use crate::value::Number;

/// Initial capacity for keys and members of open compounds. Sufficient for small documents without growth.
const OPEN: usize = 16;

/// Length of text for which capacity of one value is reserved, in bytes. Unused capacity costs nothing in large texts,
/// whereas a list that grows is copied.
const BYTES_AN_ITEM: usize = 64;

/// Length from which a list grows by an estimate based on the remaining text.
const LONG: usize = 1 << 16;

/// Maximum factor by which a list grows at once, since the rest of the text may be different.
const GROWTH: usize = 8;

/// Constructs values from the parser's events. Values are appended directly to a list; returned ones would be copied
/// several times.
pub(super) trait Build<'t> {
    type Item;
    type Key;
    /// Members of a large object that were moved out of the lists before its end.
    type Aside: Default;

    /// Number of members of one object after which they are moved out.
    const PART: usize = usize::MAX;

    /// Returns empty lists for the parser. Builders that are used again return lists with capacity.
    fn lists(&mut self) -> Lists<Self::Item, Self::Key, Self::Aside> {
        Lists::default()
    }

    /// Takes the lists back after parsing, successful or not.
    fn take_back(&mut self, _lists: Lists<Self::Item, Self::Key, Self::Aside>) {}

    fn null(&mut self, items: &mut Vec<Self::Item>);
    fn bool(&mut self, b: bool, items: &mut Vec<Self::Item>);
    fn number(&mut self, number: Number<'t>, items: &mut Vec<Self::Item>);
    fn string(&mut self, text: Cow<'t, str>, items: &mut Vec<Self::Item>);
    fn key(&mut self, text: Cow<'t, str>, keys: &mut Vec<Self::Key>);
    /// Replaces the items from `start` on by their array. The parser calls it at each `]`.
    fn array(&mut self, items: &mut Vec<Self::Item>, start: usize);
    /// Moves the keys from `first_key` and the items from `start` on out of the lists, [`Self::PART`] of each.
    fn put_aside(
        &mut self,
        _aside: &mut Self::Aside,
        _keys: &mut Vec<Self::Key>,
        _first_key: usize,
        _items: &mut Vec<Self::Item>,
        _start: usize,
    ) {
    }
    /// Takes the keys from `first_key` on and replaces the items from `start` on by the object of these and of the
    /// members that were moved out before.
    fn object(
        &mut self,
        aside: Self::Aside,
        keys: &mut Vec<Self::Key>,
        first_key: usize,
        items: &mut Vec<Self::Item>,
        start: usize,
    );
}

/// State of open compounds: their keys, their members and their frames.
pub(in crate::value) struct Lists<I, K, A> {
    pub frames: Vec<ListFrame<A>>,
    pub keys: Vec<K>,
    pub items: Vec<I>,
}

impl<I, K, A> Default for Lists<I, K, A> {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            keys: Vec::new(),
            items: Vec::new(),
        }
    }
}

/// An open compound, with the positions of its members in the lists.
pub(in crate::value) struct ListFrame<A> {
    object: bool,
    first_key: usize,
    start: usize,
    aside: A,
}

/// Parses a whole text. White space may surround the value.
///
/// # Errors
/// The text is not JSON, or a number is out of range. Syntax errors take precedence.
pub(super) fn document<'t, B: Build<'t>>(text: &'t str, build: &mut B) -> Result<B::Item, Fail> {
    let mut lexer = JsonLexer::new(text);
    let value = value(&mut lexer, build);
    // a syntax error anywhere takes precedence over a number out of range
    if !matches!(&value, Err(fail) if fail.is_syntax()) && lexer.token().is_some() {
        return Err(lexer.unexpected("after top-level value"));
    }
    value
}

/// Parses one value and ignores the text that follows.
pub(super) fn value<'t, B: Build<'t>>(
    lexer: &mut JsonLexer<'t>,
    build: &mut B,
) -> Result<B::Item, Fail> {
    let mut lists = build.lists();
    let value = read(lexer, build, &mut lists);
    build.take_back(lists);
    value
}

fn read<'t, B: Build<'t>>(
    lexer: &mut JsonLexer<'t>,
    build: &mut B,
    lists: &mut Lists<B::Item, B::Key, B::Aside>,
) -> Result<B::Item, Fail> {
    let Lists {
        frames,
        keys,
        items,
    } = lists;
    frames.reserve(OPEN);
    keys.reserve(OPEN);
    items.reserve(OPEN.max(lexer.len() / BYTES_AN_ITEM));
    let mut too_big = None;
    'value: loop {
        match lexer.token() {
            Some(b'"') => match lexer.plain_string() {
                Some(text) => build.string(Cow::Borrowed(text), items),
                None => build.string(Cow::Owned(lexer.escaped_string()?), items),
            },
            Some(b'-' | b'0'..=b'9') => {
                let number = lexer.number()?;
                if let Number::Text(text) = number
                    && let Err(fail) = lexer.check(text)
                {
                    too_big.get_or_insert(fail);
                }
                build.number(number, items);
            }
            Some(open @ (b'{' | b'[')) => {
                if frames.len() >= limits::VALUE_NESTING {
                    return Err(lexer.unexpected(TOO_DEEP));
                }
                lexer.bump();
                let frame = ListFrame {
                    object: open == b'{',
                    first_key: keys.len(),
                    start: items.len(),
                    aside: B::Aside::default(),
                };
                match (frame.object, lexer.token()) {
                    (true, Some(b'}')) => {
                        lexer.bump();
                        let (first_key, start) = (frame.first_key, frame.start);
                        build.object(frame.aside, keys, first_key, items, start);
                    }
                    (true, _) => {
                        frames.push(frame);
                        key(lexer, build, keys)?;
                        continue 'value;
                    }
                    (false, Some(b']')) => {
                        lexer.bump();
                        build.array(items, frame.start);
                    }
                    (false, _) => {
                        frames.push(frame);
                        continue 'value;
                    }
                }
            }
            Some(b't') => {
                lexer.literal("true")?;
                build.bool(true, items);
            }
            Some(b'f') => {
                lexer.literal("false")?;
                build.bool(false, items);
            }
            Some(b'n') => {
                lexer.literal("null")?;
                build.null(items);
            }
            _ => return Err(lexer.unexpected("looking for beginning of value")),
        }
        loop {
            let Some(frame) = frames.last_mut() else {
                let value = items
                    .pop()
                    .ok_or_else(|| lexer.unexpected("looking for beginning of value"));
                return too_big.map_or(value, Err);
            };
            match (frame.object, lexer.token()) {
                (true, Some(b',')) => {
                    lexer.bump();
                    let (first_key, start) = (frame.first_key, frame.start);
                    if B::PART != usize::MAX && keys.len() - first_key == B::PART {
                        build.put_aside(&mut frame.aside, keys, first_key, items, start);
                    }
                    key(lexer, build, keys)?;
                    continue 'value;
                }
                (false, Some(b',')) => {
                    lexer.bump();
                    if items.len() == items.capacity() {
                        make_room(items, lexer);
                    }
                    continue 'value;
                }
                (true, Some(b'}')) => {
                    let aside = std::mem::take(&mut frame.aside);
                    let (first_key, start) = (frame.first_key, frame.start);
                    build.object(aside, keys, first_key, items, start);
                }
                (false, Some(b']')) => build.array(items, frame.start),
                (true, _) => return Err(lexer.unexpected("after object key:value pair")),
                (false, _) => return Err(lexer.unexpected("after array element")),
            }
            lexer.bump();
            frames.pop();
        }
    }
}

/// Reserves capacity in a long list for as many values as the rest of the text contains at the current density. Each
/// step of growth leaves the previous allocation unused, and all of them together are as large as the list.
#[cold]
#[inline(never)]
fn make_room<I>(items: &mut Vec<I>, lexer: &JsonLexer<'_>) {
    let length = items.len();
    if length < LONG {
        return;
    }
    let remaining = lexer.len().saturating_sub(lexer.read());
    let likely = length.saturating_mul(remaining) / lexer.read().max(1);
    let capacity = likely.saturating_add(likely / 16);
    // if the memory is not available, the list grows as usual
    let _ = items.try_reserve_exact(capacity.clamp(length / 2, length * (GROWTH - 1)));
}

#[inline]
fn key<'t, B: Build<'t>>(
    lexer: &mut JsonLexer<'t>,
    build: &mut B,
    keys: &mut Vec<B::Key>,
) -> Result<(), Fail> {
    if lexer.token() != Some(b'"') {
        return Err(lexer.unexpected("looking for beginning of object key string"));
    }
    let key = match lexer.plain_string() {
        Some(key) => Cow::Borrowed(key),
        None => Cow::Owned(lexer.escaped_string()?),
    };
    if lexer.token() != Some(b':') {
        return Err(lexer.unexpected("after object key"));
    }
    lexer.bump();
    build.key(key, keys);
    Ok(())
}

pub(super) struct Nothing;

impl<'t> Build<'t> for Nothing {
    type Item = ();
    type Key = ();
    type Aside = ();

    fn null(&mut self, items: &mut Vec<()>) {
        items.push(());
    }

    fn bool(&mut self, _: bool, items: &mut Vec<()>) {
        items.push(());
    }

    fn number(&mut self, _: Number<'t>, items: &mut Vec<()>) {
        items.push(());
    }

    fn string(&mut self, _: Cow<'t, str>, items: &mut Vec<()>) {
        items.push(());
    }

    fn key(&mut self, _: Cow<'t, str>, keys: &mut Vec<()>) {
        keys.push(());
    }

    fn array(&mut self, items: &mut Vec<()>, start: usize) {
        items.truncate(start);
        items.push(());
    }

    fn object(
        &mut self,
        _aside: (),
        keys: &mut Vec<()>,
        first_key: usize,
        items: &mut Vec<()>,
        start: usize,
    ) {
        keys.truncate(first_key);
        items.truncate(start);
        items.push(());
    }
}
