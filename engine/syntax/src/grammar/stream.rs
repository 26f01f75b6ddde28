//! The input of all parsers: a place in the token array.

use std::ops::Range;

use nom::error::{ErrorKind, ParseError};
use nom::{Err, IResult, Input, Needed};

use super::session::Session;
use crate::ast::{Name, Term, TermKind};
use crate::dialect::Keywords;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// What a parser answers.
///
/// `Err::Error` says that the text holds something else, `Err::Failure` that it was complained of. An answer of `Ok`
/// does not mean that nobody complained: an operator whose right side is broken gives its left side.
pub(super) type Parsed<'a, T> = IResult<Stream<'a>, T, Stop<'a>>;

/// Where reading stopped.
#[derive(Clone, Copy)]
pub(super) struct Stop<'a> {
    pub at: Stream<'a>,
}

impl<'a> ParseError<Stream<'a>> for Stop<'a> {
    fn from_error_kind(at: Stream<'a>, _: ErrorKind) -> Self {
        Self { at }
    }

    fn append(_: Stream<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

/// How a parser ends that does not answer.
pub(super) type Failure<'a> = Err<Stop<'a>>;

/// The place where an error stopped; no parser here is a streaming one, so `otherwise` is never needed.
pub(super) fn stopped_at<'a>(error: &Err<Stop<'a>>, otherwise: Stream<'a>) -> Stream<'a> {
    match error {
        Err::Error(stop) | Err::Failure(stop) => stop.at,
        Err::Incomplete(_) => otherwise,
    }
}

/// How the first token is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// For what it is.
    Plain,
    /// For a name, whatever word it is.
    Name,
    /// Not at all: the blank space before it is in the way.
    Space,
}

/// Where a stream is, without what it walks over.
#[derive(Clone, Copy)]
pub(super) struct StreamPosition {
    index: u32,
    reading: Reading,
}

/// A place in the token array. It moves only by [`Stream::next`] and [`Stream::jump`].
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    pub session: &'a Session<'a>,
    from: u32,
    to: u32,
    reading: Reading,
}

impl<'a> Stream<'a> {
    pub(super) fn new(session: &'a Session<'a>) -> Self {
        let to = u32::try_from(session.tokens.len()).unwrap_or(u32::MAX);
        let start = Self {
            session,
            from: 0,
            to,
            reading: Reading::Plain,
        };
        start.arrive();
        start
    }

    #[inline]
    pub(super) fn index(self) -> u32 {
        self.from
    }

    #[inline]
    pub(super) fn token(self) -> Token {
        self.session.token(self.from)
    }

    /// The kind of the current token under the keywords in force.
    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.reading {
            Reading::Plain => self.kind_at(self.from),
            Reading::Name => Kind::Ident,
            Reading::Space => Kind::Whitespace,
        }
    }

    #[inline]
    fn kind_at(self, index: u32) -> Kind {
        if self.session.is_halted() {
            return Kind::Eof;
        }
        let kind = self.session.token(index).kind;
        let needs = kind.needs();
        let is_name = if self.session.is_plain(index) {
            needs != Keywords::NONE || kind == Kind::Not
        } else {
            !self.session.keywords().contains(needs)
        };
        if is_name { Kind::Ident } else { kind }
    }

    /// The kind of the token behind the current one.
    #[inline]
    pub(super) fn kind_after(self) -> Kind {
        self.kind_at(self.from + 1)
    }

    #[inline]
    pub(super) fn is_kind(self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Whether the current token follows the one before without blank space.
    #[inline]
    pub(super) fn touches(self) -> bool {
        !self.token().spaced
    }

    /// Whether the current token goes on with the reference whose last token is right before it.
    #[inline]
    pub(super) fn continues_reference(self) -> bool {
        self.touches() && self.kind().continues_reference()
    }

    #[inline]
    pub(super) fn span(self) -> Span {
        if self.reading == Reading::Space {
            return self.space_before();
        }
        self.session.span_of(&self.token())
    }

    /// Where the current token begins.
    #[inline]
    pub(super) fn offset(self) -> u32 {
        if self.reading == Reading::Space {
            return self.space_before().start;
        }
        self.token().start
    }

    /// From a place up to the token before this one.
    #[inline]
    pub(super) fn span_since(self, start: Span) -> Span {
        Span {
            end: self.end_before().max(start.start),
            ..start
        }
    }

    /// Where the token before this one ends.
    #[inline]
    pub(super) fn end_before(self) -> u32 {
        self.from
            .checked_sub(1)
            .map_or(0, |index| self.session.token(index).end)
    }

    /// The text from an offset up to the token before this one.
    pub(super) fn text_since(self, start: u32) -> &'a str {
        self.session.text(start, self.end_before())
    }

    pub(super) fn text(self) -> &'a str {
        let token = self.token();
        self.session.text(token.start, token.end)
    }

    /// The word that the current token is.
    #[inline]
    pub(super) fn word(self) -> Name {
        self.session.name(self.token().link)
    }

    /// The variable that the current word is.
    #[inline]
    pub(super) fn variable(self) -> Term {
        let name = if self.text() == "_" {
            self.session.wildcard()
        } else {
            self.word()
        };
        Term::new(TermKind::Var(name), self.span())
    }

    /// The place behind the current token. Complaints of the lexer about the token there are due now.
    #[inline]
    pub(super) fn next(self) -> Self {
        let next = self.next_quietly();
        next.arrive();
        next
    }

    /// The place behind the current token, not to be looked at for long: nothing is reported.
    #[inline]
    pub(super) fn next_quietly(self) -> Self {
        // the blank space before a token is one of its own
        let step = u32::from(self.reading != Reading::Space);
        self.jump(self.from.saturating_add(step).min(self.to))
    }

    /// The token directly behind the current one, or the blank space there.
    pub(super) fn next_directly(self) -> Self {
        let next = self.next_quietly();
        if next.touches() {
            next.arrive();
            next
        } else {
            Self {
                reading: Reading::Space,
                ..next
            }
        }
    }

    pub(super) fn position(self) -> StreamPosition {
        StreamPosition {
            index: self.from,
            reading: self.reading,
        }
    }

    /// A place that was looked at before.
    pub(super) fn at_position(self, place: StreamPosition) -> Self {
        Self {
            from: place.index,
            reading: place.reading,
            ..self
        }
    }

    /// Another place, which was looked at before.
    #[inline]
    pub(super) fn jump(self, index: u32) -> Self {
        Self {
            from: index,
            reading: Reading::Plain,
            ..self
        }
    }

    #[inline]
    fn arrive(self) {
        let token = self.token();
        if token.kind == Kind::Illegal {
            self.session.report_lexer_errors(self.from, &token);
        }
    }

    /// Takes the current keyword for a name if it heads a reference: `if.x`, `not["x"]`.
    #[inline]
    pub(super) fn name_if_reference(self) -> Self {
        if self.is_keyword_of_reference() {
            self.as_name()
        } else {
            self
        }
    }

    #[inline]
    pub(super) fn as_name(self) -> Self {
        Self {
            reading: Reading::Name,
            ..self
        }
    }

    /// Whether the current token is a keyword directly in front of `.` or `[`.
    #[inline]
    pub(super) fn is_keyword_of_reference(self) -> bool {
        self.is_reference_keyword()
            && !self.session.token(self.from + 1).spaced
            && matches!(self.kind_after(), Kind::Dot | Kind::LBracket)
    }

    /// Whether the current token is a keyword that may be part of a reference.
    #[inline]
    pub(super) fn is_reference_keyword(self) -> bool {
        self.kind().is_keyword() && self.session.options.features().keywords_in_refs
    }

    /// Ends a parser that has complained.
    pub(super) fn failure(self) -> Err<Stop<'a>> {
        Err::Failure(Stop { at: self })
    }

    /// Ends a parser that found something else.
    pub(super) fn mismatch(self) -> Err<Stop<'a>> {
        Err::Error(Stop { at: self })
    }
}

/// Accepts one token of a kind.
pub(super) fn token<'a>(kind: Kind) -> impl Fn(Stream<'a>) -> Parsed<'a, Token> {
    move |input| {
        if input.is_kind(kind) {
            Ok((input.next(), input.token()))
        } else {
            Err(input.mismatch())
        }
    }
}

/// Accepts one token of a kind, and complains of any other.
pub(super) fn expect<'a>(
    kind: Kind,
    note: &'static str,
) -> impl Fn(Stream<'a>) -> Parsed<'a, Token> {
    move |input| token(kind)(input).map_err(|_| input.expected(note))
}

/// The tokens from a place on, as `nom` walks over them.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    stream: Stream<'a>,
    indexes: Range<u32>,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.indexes
            .next()
            .map(|index| self.stream.session.token(index))
    }
}

impl<'a> Input for Stream<'a> {
    type Item = Token;
    type Iter = Tokens<'a>;
    type IterIndices = std::iter::Enumerate<Tokens<'a>>;

    fn input_len(&self) -> usize {
        (self.to - self.from.min(self.to)) as usize
    }

    fn take(&self, count: usize) -> Self {
        Self {
            to: self.forward(count),
            ..*self
        }
    }

    fn take_from(&self, count: usize) -> Self {
        self.jump(self.forward(count))
    }

    fn take_split(&self, count: usize) -> (Self, Self) {
        (self.take_from(count), self.take(count))
    }

    fn position<P: Fn(Token) -> bool>(&self, predicate: P) -> Option<usize> {
        self.iter_elements().position(predicate)
    }

    fn iter_elements(&self) -> Tokens<'a> {
        Tokens {
            stream: *self,
            indexes: self.from..self.to,
        }
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.iter_elements().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, Needed> {
        if count <= self.input_len() {
            Ok(count)
        } else {
            Err(Needed::Unknown)
        }
    }
}

impl Stream<'_> {
    fn forward(&self, count: usize) -> u32 {
        u32::try_from(count).map_or(self.to, |count| {
            self.from.saturating_add(count).min(self.to)
        })
    }
}
