//! State of one parse: tokens, dialect, reported errors and nesting depth.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use super::Parsed;
use super::errors::Report;
use super::peak::Peak;
use super::stream::{Stream, StreamPosition, stopped_at};
use crate::ast::{Name, Term};
use crate::dialect::{Keywords, ParseOptions};
use crate::lexer::{Kind, Lexed, Token};
use crate::source::{Diagnostics, Source, Span};

/// State of a parse. Streams reference it, so that they stay two words and `Copy`.
pub(super) struct Session<'a> {
    pub source: &'a Source,
    pub options: &'a ParseOptions,
    pub tokens: &'a [Token],
    names: &'a [Arc<str>],
    lexer_errors: &'a [(usize, &'static str)],
    end: Token,
    keywords: Cell<Keywords>,
    reports: RefCell<Vec<Report>>,
    hints: RefCell<Vec<String>>,
    wildcards: Cell<u32>,
    /// Number of constructs around the current token.
    depth: Cell<u32>,
    /// Peak since the last reset.
    peak: Cell<Peak>,
    pretending: Cell<bool>,
    /// Index of a token that is a name even if it is an imported keyword.
    plain_word: Cell<u32>,
    /// Error that ended the parse.
    halt: RefCell<Option<Report>>,
    halted: Cell<bool>,
    /// Number of active attempts that may backtrack.
    attempts: Cell<u32>,
    memo: RefCell<HashMap<u32, MemoizedTerm>>,
    /// Start of the last term that could not be parsed, and the number of reports at that time.
    unreadable: Cell<(u32, usize)>,
    /// Reports that were suppressed as duplicates.
    suppressed: RefCell<Vec<Report>>,
    operators: [OnceCell<Name>; OPERATORS.len()],
}

/// Names of operators, shared by all uses.
const OPERATORS: [(Kind, &str); 14] = [
    (Kind::Plus, "plus"),
    (Kind::Minus, "minus"),
    (Kind::Times, "mul"),
    (Kind::Divide, "div"),
    (Kind::Remainder, "rem"),
    (Kind::Ampersand, "and"),
    (Kind::Pipe, "or"),
    (Kind::Equal, "equal"),
    (Kind::NotEqual, "neq"),
    (Kind::Less, "lt"),
    (Kind::Greater, "gt"),
    (Kind::LessEqual, "lte"),
    (Kind::GreaterEqual, "gte"),
    (Kind::Assign, "assign"),
];

/// Result of a bracketed term that was parsed inside an attempt, so that the next attempt reuses it.
#[derive(Clone)]
struct MemoizedTerm {
    outcome: Result<Term, ()>,
    /// Position after it, or where parsing stopped.
    at: StreamPosition,
    reports: Vec<Report>,
    /// Reports that are due unless other attempts made them.
    suppressed: Vec<Report>,
    wildcards: u32,
    /// Levels and links that it adds to the enclosing construct.
    height: Peak,
}

/// A state to which an attempt can roll back.
pub(super) struct Checkpoint {
    reports: usize,
    hints: Vec<String>,
    wildcards: u32,
    peak: Peak,
}

impl<'a> Session<'a> {
    pub(super) fn new(source: &'a Source, options: &'a ParseOptions, lexed: &'a Lexed) -> Self {
        let nowhere = Token {
            kind: Kind::Eof,
            spaced: false,
            newline: false,
            inside: crate::lexer::Inside::default(),
            start: 0,
            end: 0,
            row: 1,
            col: 0,
            link: 0,
        };
        Self {
            source,
            options,
            tokens: &lexed.tokens,
            names: &lexed.names,
            lexer_errors: &lexed.errors,
            end: lexed.tokens.last().copied().unwrap_or(nowhere),
            keywords: Cell::new(options.keywords()),
            reports: RefCell::default(),
            hints: RefCell::default(),
            wildcards: Cell::new(0),
            depth: Cell::new(0),
            peak: Cell::default(),
            pretending: Cell::new(false),
            plain_word: Cell::new(u32::MAX),
            halt: RefCell::default(),
            halted: Cell::new(false),
            attempts: Cell::new(0),
            memo: RefCell::default(),
            unreadable: Cell::new((u32::MAX, 0)),
            suppressed: RefCell::default(),
            operators: [const { OnceCell::new() }; OPERATORS.len()],
        }
    }

    /// Returns the token at an index. Indexes after the last token return the end of the file.
    #[inline]
    pub(super) fn token(&self, index: u32) -> Token {
        self.tokens.get(index as usize).copied().unwrap_or(self.end)
    }

    pub(super) fn name(&self, link: u32) -> Name {
        self.names
            .get(link as usize)
            .cloned()
            .unwrap_or_else(|| Arc::from(""))
    }

    pub(super) fn text(&self, start: u32, end: u32) -> &'a str {
        self.source
            .text
            .get(start as usize..end as usize)
            .unwrap_or("")
    }

    pub(super) fn operator(&self, kind: Kind) -> Name {
        for ((operator_kind, name), cell) in OPERATORS.iter().zip(&self.operators) {
            if *operator_kind == kind {
                return cell.get_or_init(|| Arc::from(*name)).clone();
            }
        }
        Arc::from(kind.name())
    }

    /// Returns a new name for `_`: `$0`, `$1`, … in reading order.
    pub(super) fn wildcard(&self) -> Name {
        let number = self.wildcards.get();
        self.wildcards.set(number + 1);
        Arc::from(format!("${number}"))
    }

    // keywords

    #[inline]
    pub(super) fn keywords(&self) -> Keywords {
        self.keywords.get()
    }

    pub(super) fn has_keyword(&self, keywords: Keywords) -> bool {
        self.keywords.get().intersects(keywords)
    }

    /// Replaces the keywords in force. Returns the previous ones.
    pub(super) fn replace_keywords(&self, keywords: Keywords) -> Keywords {
        self.keywords.replace(keywords)
    }

    pub(super) fn import_keywords(&self, keywords: Keywords) {
        self.keywords.set(self.keywords.get().with(keywords));
    }

    /// Parses with other keywords in force and rolls back.
    pub(super) fn pretend<T>(&self, keywords: Keywords, parse: impl FnOnce() -> T) -> T {
        let previous = self.keywords.replace(keywords);
        let pretending = self.pretending.replace(true);
        let memo = self.memo.take();
        let result = self.try_out(parse);
        self.memo.replace(memo);
        self.keywords.set(previous);
        self.pretending.set(pretending);
        result
    }

    /// Parses and rolls back.
    pub(super) fn try_out<T>(&self, parse: impl FnOnce() -> T) -> T {
        let before = self.checkpoint();
        let result = self.attempt(parse);
        self.roll_back(before);
        result
    }

    /// Treats the token at a position as a name even if it is an imported keyword: the path of an import is parsed
    /// without those keywords, the token after it with them.
    pub(super) fn make_plain(&self, stream: Stream<'a>) {
        self.plain_word.set(stream.index());
    }

    #[inline]
    pub(super) fn is_plain(&self, index: u32) -> bool {
        self.plain_word.get() == index
    }

    /// Returns `true` while other keywords are in force, to determine which hint would help.
    pub(super) fn is_pretending(&self) -> bool {
        self.pretending.get()
    }

    // reports

    pub(super) fn report(&self, span: Span, message: impl Into<String>) {
        let mut message = message.into();
        let hints = self.hints.take();
        match hints.as_slice() {
            [] => {}
            [hint] => message = format!("{message} (hint: {hint})"),
            hints => message = format!("{message} (hints: {})", hints.join(", ")),
        }
        self.reports.borrow_mut().push(Report { span, message });
    }

    pub(super) fn has_hints(&self) -> bool {
        !self.hints.borrow().is_empty()
    }

    /// Adds a hint to the next report.
    pub(super) fn hint(&self, hint: impl Into<String>) {
        self.hints.borrow_mut().push(hint.into());
    }

    pub(super) fn has_reports(&self) -> bool {
        self.is_halted() || !self.reports.borrow().is_empty()
    }

    #[inline]
    pub(super) fn report_count(&self) -> usize {
        self.reports.borrow().len()
    }

    /// Reports the lexer's errors about a token that is reached.
    pub(super) fn report_lexer_errors(&self, index: u32, token: &Token) {
        let index = index as usize;
        let from = self
            .lexer_errors
            .partition_point(|(error_index, _)| *error_index < index);
        for (_, error) in self
            .lexer_errors
            .iter()
            .skip(from)
            .take_while(|(error_index, _)| *error_index == index)
        {
            self.report(self.span_of(token), *error);
        }
    }

    #[inline]
    pub(super) fn span_of(&self, token: &Token) -> Span {
        Span {
            source: self.source.id,
            row: token.row,
            col: token.col,
            start: token.start,
            end: token.end,
        }
    }

    pub(super) fn into_diagnostics(self) -> Diagnostics {
        let source = self.source;
        let reports = match self.halt.into_inner() {
            Some(halt) => vec![halt],
            None => self.reports.into_inner(),
        };
        let reports = reports.into_iter();
        Diagnostics(
            reports
                .map(|report| report.into_diagnostic(source))
                .collect(),
        )
    }

    // attempts

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            reports: self.reports.borrow().len(),
            hints: self.hints.borrow().clone(),
            wildcards: self.wildcards.get(),
            peak: self.peak.get(),
        }
    }

    pub(super) fn roll_back(&self, to: Checkpoint) {
        self.reports.borrow_mut().truncate(to.reports);
        *self.hints.borrow_mut() = to.hints;
        self.wildcards.set(to.wildcards);
        self.peak.set(to.peak);
    }

    /// Removes and returns the reports since a checkpoint. [`Self::restore_reports`] adds them again.
    pub(super) fn take_reports(&self, since: usize) -> Vec<Report> {
        let mut reports = self.reports.borrow_mut();
        let since = since.min(reports.len());
        reports.split_off(since)
    }

    pub(super) fn restore_reports(&self, reports: Vec<Report>) {
        self.reports.borrow_mut().extend(reports);
    }

    /// Parses something that may be parsed again.
    pub(super) fn attempt<T>(&self, parse: impl FnOnce() -> T) -> T {
        self.attempts.set(self.attempts.get() + 1);
        let result = parse();
        self.attempts.set(self.attempts.get() - 1);
        result
    }

    /// Clears the memoized terms: text before a statement is not parsed again.
    pub(super) fn begin_statement(&self) {
        self.memo.borrow_mut().clear();
        self.suppressed.borrow_mut().clear();
    }

    /// Parses a bracketed term, or returns its memoized result within the current attempt.
    pub(super) fn remember(
        &self,
        from: Stream<'a>,
        parse: impl FnOnce() -> Parsed<'a, Term>,
    ) -> Parsed<'a, Term> {
        let is_attempt = self.attempts.get() > 0;
        let memoized = match self.memo.borrow_mut() {
            memo if is_attempt => memo.get(&from.index()).cloned(),
            // parsed for the last time
            mut memo => memo.remove(&from.index()),
        };
        if let Some(memoized) = memoized {
            self.wildcards.set(memoized.wildcards);
            self.restore_reports(memoized.reports);
            for report in memoized.suppressed {
                if !self.reports.borrow().contains(&report) {
                    self.restore_reports(vec![report]);
                }
            }
            self.merge(Peak {
                level: self.depth.get() + memoized.height.level,
                ..memoized.height
            });
            let stream = from.at_position(memoized.at);
            return memoized
                .outcome
                .map(|term| (stream, term))
                .map_err(|()| stream.failure());
        }
        if !is_attempt {
            return parse();
        }
        let (reports, peak) = (self.reports.borrow().len(), self.measure());
        let suppressed = self.suppressed.borrow().len();
        let outcome = parse();
        let height = self.peak.get();
        let height = Peak {
            level: height.level.saturating_sub(self.depth.get()),
            ..height
        };
        self.merge(peak);
        let memoized = MemoizedTerm {
            outcome: outcome
                .as_ref()
                .map(|(_, term)| term.clone())
                .map_err(|_| ()),
            at: match &outcome {
                Ok((rest, _)) => rest.position(),
                Err(error) => stopped_at(error, from).position(),
            },
            reports: since(&self.reports, reports),
            suppressed: since(&self.suppressed, suppressed),
            wildcards: self.wildcards.get(),
            height,
        };
        self.memo.borrow_mut().insert(from.index(), memoized);
        outcome
    }

    /// Withdraws the reports since a count if the same term was reported directly before: an operator with an invalid
    /// right operand does not consume it, so that the next parser may start there.
    pub(super) fn complain_once(&self, stream: Stream<'a>, since: usize) {
        let (index, reports) = self.unreadable.get();
        if index == stream.index() && since >= reports {
            let repeated = self.take_reports(since);
            self.suppressed.borrow_mut().extend(repeated);
        } else {
            self.unreadable.set((stream.index(), self.report_count()));
        }
    }

    // nesting depth

    /// Enters a nested construct. If it is too deep, reports that and returns `false`.
    #[inline]
    pub(super) fn enter_level(&self, stream: Stream<'a>) -> bool {
        let depth = self.depth.get() + 1;
        if depth > self.limit() {
            self.too_deep(stream);
            return false;
        }
        self.depth.set(depth);
        let mut peak = self.peak.get();
        peak.level = peak.level.max(depth);
        self.peak.set(peak);
        true
    }

    #[inline]
    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// Starts to measure a term that will become a left operand. Returns the state to pass to [`Self::merge`].
    #[inline]
    pub(super) fn measure(&self) -> Peak {
        self.peak.replace(Peak {
            level: self.depth.get(),
            links: 0,
        })
    }

    /// Records that the text parsed since [`Self::measure`] is now one level deeper.
    #[inline]
    pub(super) fn grow(&self, stream: Stream<'a>) -> bool {
        let mut peak = self.peak.get();
        peak.level += 1;
        if peak.level > self.limit() {
            self.too_deep(stream);
            return false;
        }
        self.peak.set(peak);
        true
    }

    /// Records that the text parsed since [`Self::measure`] is now the left operand of an operator.
    #[inline]
    pub(super) fn link(&self, stream: Stream<'a>) -> bool {
        let mut peak = self.peak.get();
        peak.links += 1;
        if peak.links > ParseOptions::CHAIN {
            self.too_deep(stream);
            return false;
        }
        self.peak.set(peak);
        true
    }

    /// Returns the length of the longest chain of operators.
    pub(super) fn chain(&self) -> u32 {
        self.peak.get().links
    }

    /// Ends a measurement that [`Self::measure`] started.
    #[inline]
    pub(super) fn merge(&self, outer: Peak) {
        self.peak.set(self.peak.get().max(outer));
    }

    fn limit(&self) -> u32 {
        self.options.max_nesting.min(ParseOptions::NESTING)
    }

    /// Ends the parse: all further tokens are the end of the file.
    fn too_deep(&self, stream: Stream<'a>) {
        if !self.halted.replace(true) {
            let message = "max parsing recursion depth exceeded".to_owned();
            let span = self.span_of(&self.token(stream.index()));
            *self.halt.borrow_mut() = Some(Report { span, message });
        }
    }

    #[inline]
    pub(super) fn is_halted(&self) -> bool {
        self.halted.get()
    }
}

/// Removes and returns the elements of a list after an index.
fn since(list: &RefCell<Vec<Report>>, length: usize) -> Vec<Report> {
    list.borrow().get(length..).unwrap_or_default().to_vec()
}
