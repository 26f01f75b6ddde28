//! The input of all parsers: a position in the token array.

use std::ops::Range;

use nom::error::{ErrorKind, ParseError};
use nom::{Err, IResult, Input, Needed};

use super::session::Session;
use crate::ast::{Name, Term, TermKind};
use crate::dialect::Keywords;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// Result of a parser.
///
/// `Err::Error` means that the text is something else, `Err::Failure` that an error was reported. `Ok` does not mean
/// that no error was reported: an operator with an invalid right operand returns its left operand.
pub(super) type Parsed<'a, T> = IResult<Stream<'a>, T, ParseStop<'a>>;

/// Position where parsing stopped.
#[derive(Clone, Copy)]
pub(super) struct ParseStop<'a> {
    pub at: Stream<'a>,
}

impl<'a> ParseError<Stream<'a>> for ParseStop<'a> {
    fn from_error_kind(stream: Stream<'a>, _: ErrorKind) -> Self {
        Self { at: stream }
    }

    fn append(_: Stream<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

pub(super) type Failure<'a> = Err<ParseStop<'a>>;

/// Returns the position of an error. Parsers here are not streaming, so `otherwise` is never used.
pub(super) fn stopped_at<'a>(error: &Err<ParseStop<'a>>, otherwise: Stream<'a>) -> Stream<'a> {
    match error {
        Err::Error(stop) | Err::Failure(stop) => stop.at,
        Err::Incomplete(_) => otherwise,
    }
}

/// Interpretation of the first token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As the token that it is.
    Plain,
    /// As a name, whatever word it is.
    Name,
    /// As the blank before it.
    Space,
}

/// Position of a stream, without the session.
#[derive(Clone, Copy)]
pub(super) struct StreamPosition {
    index: u32,
    reading: Reading,
}

/// A position in the token array. It advances only by [`Stream::next`] and [`Stream::jump`].
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

    /// Returns the kind of the current token under the keywords in force.
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

    /// Returns the kind of the token after the current one.
    #[inline]
    pub(super) fn kind_after(self) -> Kind {
        self.kind_at(self.from + 1)
    }

    #[inline]
    pub(super) fn is_kind(self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Returns `true` if no blank separates the current token from the previous one.
    #[inline]
    pub(super) fn touches(self) -> bool {
        !self.token().spaced
    }

    /// Returns `true` if the current token continues the reference whose last token directly precedes it.
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

    #[inline]
    pub(super) fn offset(self) -> u32 {
        if self.reading == Reading::Space {
            return self.space_before().start;
        }
        self.token().start
    }

    /// Returns the span from `start` to the end of the previous token.
    #[inline]
    pub(super) fn span_since(self, start: Span) -> Span {
        Span {
            end: self.end_before().max(start.start),
            ..start
        }
    }

    /// Returns the end offset of the previous token.
    #[inline]
    pub(super) fn end_before(self) -> u32 {
        self.from
            .checked_sub(1)
            .map_or(0, |index| self.session.token(index).end)
    }

    /// Returns the text from an offset to the end of the previous token.
    pub(super) fn text_since(self, start: u32) -> &'a str {
        self.session.text(start, self.end_before())
    }

    pub(super) fn text(self) -> &'a str {
        let token = self.token();
        self.session.text(token.start, token.end)
    }

    #[inline]
    pub(super) fn word(self) -> Name {
        self.session.name(self.token().link)
    }

    /// Returns the current word as a variable.
    #[inline]
    pub(super) fn variable(self) -> Term {
        let name = if self.text() == "_" {
            self.session.wildcard()
        } else {
            self.word()
        };
        Term::new(TermKind::Var(name), self.span())
    }

    /// Advances past the current token. Reports the lexer's errors about the token that is reached.
    #[inline]
    pub(super) fn next(self) -> Self {
        let next = self.next_quietly();
        next.arrive();
        next
    }

    /// Advances past the current token for a short lookahead: reports nothing.
    #[inline]
    pub(super) fn next_quietly(self) -> Self {
        // the blank before a token counts as a step of its own
        let step = u32::from(self.reading != Reading::Space);
        self.jump(self.from.saturating_add(step).min(self.to))
    }

    /// Advances to the token directly after the current one, or to the blank there.
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

    /// Returns the stream at an earlier position, in the same session.
    pub(super) fn at_position(self, position: StreamPosition) -> Self {
        Self {
            from: position.index,
            reading: position.reading,
            ..self
        }
    }

    /// Returns the stream at another index, whose errors have been reported.
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

    /// Treats the current keyword as a name if it is the head of a reference: `if.x`, `not["x"]`.
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

    /// Returns `true` if the current token is a keyword directly before `.` or `[`.
    #[inline]
    pub(super) fn is_keyword_of_reference(self) -> bool {
        self.is_reference_keyword()
            && !self.session.token(self.from + 1).spaced
            && matches!(self.kind_after(), Kind::Dot | Kind::LBracket)
    }

    /// Returns `true` if the current token is a keyword that may be a segment of a reference.
    #[inline]
    pub(super) fn is_reference_keyword(self) -> bool {
        self.kind().is_keyword() && self.session.options.features().keywords_in_refs
    }

    /// Returns the error of a parser that has reported something.
    pub(super) fn failure(self) -> Err<ParseStop<'a>> {
        Err::Failure(ParseStop { at: self })
    }

    /// Returns the error of a parser that found something else.
    pub(super) fn mismatch(self) -> Err<ParseStop<'a>> {
        Err::Error(ParseStop { at: self })
    }
}

pub(super) fn token<'a>(kind: Kind) -> impl Fn(Stream<'a>) -> Parsed<'a, Token> {
    move |input| {
        if input.is_kind(kind) {
            Ok((input.next(), input.token()))
        } else {
            Err(input.mismatch())
        }
    }
}

/// Accepts one token of a kind, and reports any other.
pub(super) fn expect<'a>(
    kind: Kind,
    note: &'static str,
) -> impl Fn(Stream<'a>) -> Parsed<'a, Token> {
    move |input| token(kind)(input).map_err(|_| input.expected(note))
}

/// The tokens from a position to the end, as `nom` iterates over them.
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
