//! Checks the text between the events of the YAML parser.

use std::str::Chars;

use saphyr_parser::{Event, ScalarStyle, ScanError, Span};

use super::{BEHIND_ANCHOR, Differs, Misplaced, anchor_length, indentation};

const CANNOT_START: &str = "found character that cannot start any token";

/// The text between the events: blanks, comments and indicators.
pub struct Gaps<'t> {
    text: &'t str,
    rest: Chars<'t>,
    index: usize,
    line: usize,
    column: usize,
    /// Open collections, outermost first.
    open: Vec<OpenCollection>,
    /// `true` where a block may begin.
    block_may_begin: bool,
    /// `true` if a node ended on this line. A colon makes it a key.
    node_before: bool,
    /// Number of question marks without their colon.
    questions: usize,
    /// `true` directly after the header of a block scalar.
    header: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenCollection {
    /// Block with its line and column.
    Block(usize, usize),
    /// `[`.
    Sequence,
    /// `{`.
    Mapping,
    /// Single pair of a mapping without braces, within brackets.
    Pair,
}

impl<'t> Gaps<'t> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            rest: text.chars(),
            index: 0,
            line: 1,
            column: 0,
            open: Vec::new(),
            block_may_begin: true,
            node_before: false,
            questions: 0,
            header: false,
        }
    }

    /// Checks the text before an event.
    ///
    /// # Errors
    /// Fails if Go's reader rejects the text, or reads it differently.
    pub fn before(&mut self, event: &Event<'_>, span: Span) -> Result<(), Differs> {
        let (start, end) = (span.start.index(), span.end.index());
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) if span.is_empty() => {
                let open = if self.in_brackets() {
                    OpenCollection::Pair
                } else {
                    OpenCollection::Block(span.start.line(), span.start.col())
                };
                self.open.push(open);
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                self.until(start)?;
                self.properties(end)?;
                let open = match self.peek() {
                    Some('{') if self.index < end => OpenCollection::Mapping,
                    Some('[') if self.index < end => OpenCollection::Sequence,
                    _ => OpenCollection::Block(span.start.line(), span.start.col()),
                };
                if !matches!(open, OpenCollection::Block(..)) {
                    self.pass(end);
                    self.node_before = false;
                }
                self.open.push(open);
            }
            Event::MappingEnd | Event::SequenceEnd => {
                if matches!(
                    self.open.last(),
                    Some(OpenCollection::Sequence | OpenCollection::Mapping)
                ) {
                    self.until(start)?;
                    self.pass(end);
                    self.node_ended();
                }
                self.open.pop();
            }
            // An omitted scalar has no position.
            Event::Scalar(_, ScalarStyle::Plain, ..) if span.is_empty() => {}
            Event::Scalar(text, style, ..) => {
                self.until(start)?;
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if !self.header {
                    self.properties(end)?;
                    if block && self.index < end {
                        self.pass_line(end);
                        self.header = true;
                    }
                }
                let line = self.line;
                if *style == ScalarStyle::Plain && self.in_brackets() && self.index < end {
                    self.plain_in_brackets(end)?;
                }
                if std::mem::take(&mut self.header) && !text.is_empty() && self.open.is_empty() {
                    self.pass_indented(end)?;
                }
                self.pass(end);
                self.node_ended();
                if block {
                    (self.block_may_begin, self.node_before) = (true, false);
                } else if *style == ScalarStyle::Plain {
                    self.behind_plain(line)?;
                }
            }
            Event::Alias(_) => {
                self.until(start)?;
                self.pass(end);
                self.node_ended();
            }
            Event::StreamEnd => self.until(end)?,
            _ => {}
        }
        Ok(())
    }

    /// Checks the text before an error.
    ///
    /// # Errors
    /// Fails if Go's reader rejects that text, because it reports that error first.
    pub fn before_error(&mut self, error: &ScanError) -> Result<(), Differs> {
        let pending = error.marker().index() - self.index.min(error.marker().index());
        let opens = |c: char| matches!(c, '[' | '{');
        let in_brackets = self.in_brackets() || self.rest.clone().take(pending).any(opens);
        if in_brackets && error.info().starts_with("tabs disallowed within") {
            let respelled = indentation::without_tabs(self.text, error.marker().index());
            return respelled.map_or(Ok(()), |text| Err(Differs::Respelled(text)));
        }
        // After anything else there may be a node that the parser did not report.
        let value = self.questions > 0 && !self.node_before;
        let precedes_node =
            |c: &char| matches!(c, ' ' | '\t' | '\n' | '\r' | '-' | '?') || *c == ':' && value;
        let length = self.rest.clone().take_while(precedes_node).count();
        self.until(error.marker().index().min(self.index + length))
    }

    fn in_brackets(&self) -> bool {
        !matches!(self.open.last(), None | Some(OpenCollection::Block(..)))
    }

    /// Skips the anchor and the tag of a node, which the parser reports with it.
    fn properties(&mut self, end: usize) -> Result<(), Differs> {
        while let Some(c @ ('&' | '!')) = self.peek().filter(|_| self.index < end) {
            self.property(c, end)?;
            while self.peek().is_some_and(char::is_whitespace) && self.index < end {
                self.next();
            }
        }
        Ok(())
    }

    /// Skips an anchor or a tag.
    fn property(&mut self, first: char, end: usize) -> Result<(), Differs> {
        self.next();
        if first == '&' {
            self.anchor()?;
        }
        while self.index < end && self.peek().is_some_and(|c| !c.is_whitespace()) {
            self.next();
        }
        Ok(())
    }

    /// Returns an error of the scanner of Go's reader. It does not name line 1.
    fn scanner(&self, problem: &'static str) -> Misplaced {
        Misplaced {
            line: if self.line > 1 { self.line } else { 0 },
            problem,
        }
    }

    /// Returns an error of the parser of Go's reader. It counts lines from 0 and does not name line 0.
    fn grammar(&self, problem: &'static str) -> Misplaced {
        Misplaced {
            line: self.line - 1,
            problem,
        }
    }

    /// Returns the text with `left_out` bytes at the current position replaced by `put_in`.
    fn respell(&self, left_out: usize, put_in: &str) -> Differs {
        let rest = self.rest.as_str();
        let (before, _) = self.text.split_at(self.text.len() - rest.len());
        let suffix = rest.get(left_out..).unwrap_or_default();
        Differs::Respelled([before, put_in, suffix].concat())
    }

    /// Checks a plain scalar within brackets, where Go's reader ends it elsewhere or reads something else.
    fn plain_in_brackets(&mut self, end: usize) -> Result<(), Differs> {
        let rest = self.rest.as_str();
        match self.peek() {
            Some('|' | '>') => return Err(self.scanner(CANNOT_START).into()),
            Some(':') => return Err(self.grammar("did not find expected node content").into()),
            Some('?') => return Err(self.respell(1, "? ")),
            _ => {}
        }
        let mut after_scalar = self.rest.clone();
        let length = end - self.index.min(end);
        let ends_in_colon = after_scalar.by_ref().take(length).count() == length
            && after_scalar.next() == Some(':')
            && after_scalar
                .next()
                .is_some_and(|c| matches!(c, ',' | '[' | ']' | '{' | '}'));
        let bytes = rest
            .char_indices()
            .nth(length)
            .map_or(rest.len(), |(offset, _)| offset);
        let (raw, _) = rest.split_at(bytes);
        if raw.contains('?') {
            let problem = match self.open.last() {
                Some(OpenCollection::Mapping) => "did not find expected ',' or '}'",
                _ => "did not find expected ',' or ']'",
            };
            return Err(self.grammar(problem).into());
        }
        if ends_in_colon {
            let quoted = format!("'{}:'", raw.replace('\'', "''"));
            return Err(self.respell(raw.len() + 1, &quoted));
        }
        Ok(())
    }

    /// Checks the name of an anchor.
    fn anchor(&self) -> Result<(), Differs> {
        let rest = self.rest.as_str();
        let (name, suffix) = rest.split_at(anchor_length(rest));
        let next = suffix.chars().next();
        let ends = next.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | ',' | ']' | '}'));
        match next {
            _ if ends && !name.is_empty() => Ok(()),
            Some(c) if BEHIND_ANCHOR.contains(&c) && !name.is_empty() => {
                Err(self.respell(name.len(), &format!("{name} ")))
            }
            _ => {
                let problem = "did not find expected alphabetic or numeric character";
                Err(self.scanner(problem).into())
            }
        }
    }

    fn node_ended(&mut self) {
        (self.block_may_begin, self.node_before) = (false, true);
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.index += 1;
        self.column += 1;
        if c == '\n' || (c == '\r' && self.peek() != Some('\n')) {
            self.line += 1;
            self.column = 0;
        }
        Some(c)
    }

    /// Advances to an index without checks.
    fn pass(&mut self, index: usize) {
        while self.index < index && self.next().is_some() {}
    }

    /// Advances through a text that is a whole document. Its lines must be indented all the same.
    fn pass_indented(&mut self, index: usize) -> Result<(), Misplaced> {
        while self.index < index {
            let begins = self.column == 0;
            match self.next() {
                Some(c)
                    if begins && !matches!(c, ' ' | '\n' | '\r' | '#') && !self.is_marker(c) =>
                {
                    return Err(Misplaced {
                        line: self.line - 1,
                        problem: "did not find expected <document start>",
                    });
                }
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    /// Returns `true` if the last character begins or ends a document.
    fn is_marker(&self, c: char) -> bool {
        let mut rest = self.rest.clone();
        let is_doubled = rest.next() == Some(c) && rest.next() == Some(c);
        matches!(c, '-' | '.') && is_doubled && rest.next().is_none_or(char::is_whitespace)
    }

    /// Advances to the end of the line, or to an index.
    fn pass_line(&mut self, index: usize) {
        while self.index < index && self.peek().is_some_and(|c| !matches!(c, '\n' | '\r')) {
            self.next();
        }
    }

    fn until(&mut self, index: usize) -> Result<(), Differs> {
        while self.index < index {
            let column = self.column;
            let Some(c) = self.next() else {
                break;
            };
            let blank_behind = self.peek().is_none_or(char::is_whitespace);
            match c {
                '\n' | '\r' => {
                    self.node_before = false;
                    self.block_may_begin |= !self.in_brackets();
                }
                '\t' if self.block_may_begin && !self.in_brackets() => {
                    return Err(self.scanner(CANNOT_START).into());
                }
                '#' => self.pass_line(index),
                '%' if column == 0 => self.pass_line(index),
                // The text of a block scalar begins on the next line.
                '|' | '>' => {
                    self.header = true;
                    self.pass(index);
                }
                '-' if blank_behind && !self.in_brackets() => self.block_may_begin = true,
                _ if column == 0 && self.is_marker(c) => {
                    self.pass(index.min(self.index + 2));
                    self.block_may_begin = false;
                }
                '?' if blank_behind => {
                    self.questions += 1;
                    self.block_may_begin = !self.in_brackets();
                }
                ':' if self.node_before => {
                    (self.block_may_begin, self.node_before) = (false, false);
                }
                ':' if self.questions > 0 => {
                    self.questions -= 1;
                    self.block_may_begin = !self.in_brackets();
                }
                ':' => return Err(self.without_key().into()),
                '!' => {
                    while self.index < index && self.peek().is_some_and(|c| !c.is_whitespace()) {
                        self.next();
                    }
                    self.block_may_begin = false;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the error of a colon without a key.
    fn without_key(&self) -> Misplaced {
        let (line, problem) = match self.open.last() {
            Some(OpenCollection::Block(line, _)) if *line > 1 => {
                (*line, "did not find expected key")
            }
            Some(OpenCollection::Block(..)) => (self.line, "did not find expected key"),
            _ => (self.line, "did not find expected node content"),
        };
        Misplaced {
            // Go's parser counts from 0 and does not show line 0.
            line: line - 1,
            problem,
        }
    }

    /// Skips blanks and line ends after a plain scalar, which are part of it.
    fn behind_plain(&mut self, start: usize) -> Result<(), Misplaced> {
        let block = |open: &OpenCollection| match open {
            OpenCollection::Block(_, column) => Some(column + 1),
            OpenCollection::Sequence | OpenCollection::Mapping | OpenCollection::Pair => None,
        };
        let indent = self.open.iter().rev().find_map(block).unwrap_or(0);
        let mut line_ended = false;
        while let Some(c) = self
            .peek()
            .filter(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
        {
            if c == '\t' && line_ended && self.column < indent {
                let line = if start > 1 { start } else { self.line };
                return Err(Misplaced {
                    line,
                    problem: "found a tab character that violates indentation",
                });
            }
            line_ended |= matches!(c, '\n' | '\r');
            self.next();
        }
        if line_ended {
            (self.block_may_begin, self.node_before) = (!self.in_brackets(), false);
        }
        Ok(())
    }
}
