//! Where the YAML parser and Go's differ: texts that only one of them takes.
//!
//! Go's reader asks for no blank before a comment, and for none but blanks where a block may begin. What the parser
//! refuses and Go's reader takes is written anew ([`repaired`]); what it takes and Go's reader refuses is found in the
//! gaps between its events ([`Gaps`]).

use std::str::Chars;

use saphyr_parser::{Event, ScalarStyle, ScanError, Span};

/// Most places of one text that are written anew.
pub const REPAIRS: usize = 100;

/// The text with another spelling of what the parser complains about, if Go's reader takes it.
pub fn repaired(text: &str, error: &ScanError) -> Option<String> {
    let index = error.marker().index();
    let at = text
        .char_indices()
        .nth(index)
        .map_or(text.len(), |(at, _)| at);
    let (before, after) = text.split_at_checked(at)?;
    let info = error.info();
    if info.contains("comments must be separated") {
        let at = before.len() + after.find('#').filter(|at| *at <= 1)?;
        let (before, comment) = text.split_at_checked(at)?;
        return Some([before, " ", comment].concat());
    }
    if info.contains("':' must be followed by a valid YAML whitespace") {
        let value = before.trim_end_matches([' ', '\t']);
        let blanks = before.get(value.len()..)?;
        return blanks
            .contains('\t')
            .then(|| [value, &" ".repeat(blanks.len()), after].concat());
    }
    if info == "tab cannot be used as indentation" {
        let rest = after.trim_start_matches([' ', '\t']);
        let blanks = after.len() - rest.len();
        return (blanks > 0).then(|| [before, &" ".repeat(blanks), rest].concat());
    }
    None
}

/// Something that only the parser takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The line that Go's reader names; 0 if none.
    pub line: usize,
    /// What is wrong, in its words.
    pub problem: &'static str,
}

/// What stands between the events of a text: blanks, comments and indicators.
pub struct Gaps<'t> {
    rest: Chars<'t>,
    index: usize,
    line: usize,
    column: usize,
    /// Lines and columns of the open blocks; nothing for brackets.
    open: Vec<Option<(usize, usize)>>,
    /// Whether a block may begin here.
    block_may_begin: bool,
    /// Whether a node ended on this line, which a colon makes a key.
    node_before: bool,
    /// Question marks without their colon.
    questions: usize,
    /// Whether the head of a block scalar was just met.
    header: bool,
}

impl<'t> Gaps<'t> {
    /// Those of a text.
    pub fn new(text: &'t str) -> Self {
        Self {
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

    /// Looks at what stands before an event.
    ///
    /// # Errors
    /// What Go's reader refuses.
    pub fn before(&mut self, event: &Event<'_>, span: Span) -> Result<(), Misplaced> {
        let (start, end) = (span.start.index(), span.end.index());
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) if span.is_empty() => {
                let place = (span.start.line(), span.start.col());
                self.open.push(Some(place));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                self.until(start)?;
                self.pass(end);
                self.open.push(None);
                self.node_before = false;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                if self.in_brackets() {
                    self.until(start)?;
                    self.pass(end);
                    self.node_ended();
                }
                self.open.pop();
            }
            // what was left out stands nowhere
            Event::Scalar(_, ScalarStyle::Plain, ..) if span.is_empty() => {}
            Event::Scalar(text, style, ..) => {
                self.until(start)?;
                let line = self.line;
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
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

    /// Looks at what stands before an error.
    ///
    /// # Errors
    /// What Go's reader refuses, which it meets first.
    pub fn before_error(&mut self, error: &ScanError) -> Result<(), Misplaced> {
        // behind anything else there may be a node that the parser did not tell of
        let value = self.questions > 0 && !self.node_before;
        let told =
            |c: &char| matches!(c, ' ' | '\t' | '\n' | '\r' | '-' | '?') || *c == ':' && value;
        let length = self.rest.clone().take_while(told).count();
        self.until(error.marker().index().min(self.index + length))
    }

    fn in_brackets(&self) -> bool {
        self.open.last() == Some(&None)
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

    /// Goes on without looking.
    fn pass(&mut self, index: usize) {
        while self.index < index && self.next().is_some() {}
    }

    /// Goes on through a text that is a whole document: its lines are indented all the same.
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

    /// Whether a document begins or ends with the character that was just passed.
    fn is_marker(&self, c: char) -> bool {
        let mut rest = self.rest.clone();
        let twice = rest.next() == Some(c) && rest.next() == Some(c);
        matches!(c, '-' | '.') && twice && rest.next().is_none_or(char::is_whitespace)
    }

    /// Goes to the end of the line, or to an index.
    fn pass_line(&mut self, index: usize) {
        while self.index < index && self.peek().is_some_and(|c| !matches!(c, '\n' | '\r')) {
            self.next();
        }
    }

    fn until(&mut self, index: usize) -> Result<(), Misplaced> {
        while self.index < index {
            let (line, column) = (self.line, self.column);
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
                    return Err(Misplaced {
                        line: if line > 1 { line } else { 0 },
                        problem: "found character that cannot start any token",
                    });
                }
                '#' => self.pass_line(index),
                '%' if column == 0 => self.pass_line(index),
                // the text of a block begins on the next line
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
                ':' => return Err(self.without_key()),
                '&' | '!' => {
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

    /// A colon with nothing in front of it.
    fn without_key(&self) -> Misplaced {
        let (line, problem) = match self.open.last() {
            Some(Some((line, _))) if *line > 1 => (*line, "did not find expected key"),
            Some(Some(_)) => (self.line, "did not find expected key"),
            _ => (self.line, "did not find expected node content"),
        };
        Misplaced {
            // Go's parser counts from 0 and does not show line 0
            line: line - 1,
            problem,
        }
    }

    /// Blanks and ends of lines behind a plain scalar are read with it.
    fn behind_plain(&mut self, start: usize) -> Result<(), Misplaced> {
        let blocks = self.open.iter().rev().flatten();
        let indent = blocks.map(|(_, column)| column + 1).next().unwrap_or(0);
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
