//! Parses YAML text into nodes.
//!
//! Errors have the messages and line numbers of Go's YAML library. Errors of the scanner count lines from one. Errors
//! of the parser count from zero and name the line where the construct starts. A line number of zero is omitted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use crate::yaml::{Differs, Gaps, REPAIRS, repaired};

/// Maximum nesting depth of blocks.
const NESTING: usize = 200;

/// A YAML node. Aliases share the node that they refer to.
pub(super) struct Node {
    pub line: usize,
    /// Tag in short form (`!!str`, `!own`), if there is an explicit one.
    pub tag: Option<String>,
    pub kind: EventKind,
}

pub(super) enum EventKind {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Child>),
    Mapping(Vec<(Child, Child)>),
}

/// A node in its container.
#[derive(Clone)]
pub(super) struct Child {
    pub node: Rc<Node>,
    /// `true` if the child is an alias.
    pub alias: bool,
}

/// The reason why a block cannot be parsed.
#[derive(Debug)]
pub(super) struct BlockError {
    /// First line that the message names, or 0 if it names none.
    pub line: usize,
    pub message: String,
}

impl BlockError {
    /// Returns an error without a line.
    pub(super) fn new(problem: impl fmt::Display) -> Self {
        Self {
            line: 0,
            message: format!("yaml: {problem}"),
        }
    }

    fn at_line(line: usize, problem: impl fmt::Display) -> Self {
        match line {
            0 => Self::new(problem),
            line => Self {
                line,
                message: format!("yaml: line {line}: {problem}"),
            },
        }
    }
}

/// A sequence or mapping whose end has not been reached.
struct OpenContainer {
    node: Node,
    anchor: usize,
    /// Key whose value comes next.
    key: Option<Child>,
}

/// Parses the first document of a text. Returns `None` if there is none.
pub(super) fn parse(text: &str) -> Result<Option<Child>, BlockError> {
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    if text.contains(control) {
        return Err(BlockError::new("control characters are not allowed"));
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..REPAIRS {
        match parse_as_is(&text) {
            Err(RejectReason::Syntax(error, block_error)) => match repaired(&text, &error) {
                Some(repaired) => text = Cow::Owned(repaired),
                None => return Err(block_error),
            },
            Err(RejectReason::Spelling(respelled)) => text = Cow::Owned(respelled),
            Err(RejectReason::Content(block_error)) => return Err(block_error),
            Ok(root) => return Ok(root),
        }
    }
    Err(BlockError::new(
        "found character that cannot start any token",
    ))
}

/// The reason why an attempt to parse a text failed: a syntax error, a spelling that Go's reader reads differently, or invalid
/// content.
enum RejectReason {
    Syntax(ScanError, BlockError),
    Spelling(String),
    Content(BlockError),
}

impl From<BlockError> for RejectReason {
    fn from(block_error: BlockError) -> Self {
        Self::Content(block_error)
    }
}

impl From<Differs> for RejectReason {
    fn from(differs: Differs) -> Self {
        match differs {
            Differs::Rejected(misplaced) => {
                Self::Content(BlockError::at_line(misplaced.line, misplaced.problem))
            }
            Differs::Respelled(text) => Self::Spelling(text),
        }
    }
}

fn parse_as_is(text: &str) -> Result<Option<Child>, RejectReason> {
    let mut gaps = Gaps::new(text);
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<OpenContainer> = Vec::new();
    let mut anchors: HashMap<usize, Rc<Node>> = HashMap::new();
    while let Some(event) = parser.next_event() {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                gaps.before_error(&error)?;
                let block_error = block_error(&error, text, &open);
                return Err(RejectReason::Syntax(error, block_error));
            }
        };
        gaps.before(&event, span)?;
        let line = match &event {
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) => {
                header_line(text, span.start.line())
            }
            _ => span.start.line(),
        };
        let begin = |kind, tag: Option<Cow<'_, Tag>>| Node {
            line,
            tag: tag.map(|tag| short_tag(&tag)),
            kind,
        };
        let finished = match event {
            Event::SequenceStart(anchor, tag) => {
                open.push(OpenContainer {
                    node: begin(EventKind::Sequence(Vec::new()), tag),
                    anchor,
                    key: None,
                });
                None
            }
            Event::MappingStart(anchor, tag) => {
                open.push(OpenContainer {
                    node: begin(EventKind::Mapping(Vec::new()), tag),
                    anchor,
                    key: None,
                });
                None
            }
            Event::Scalar(scalar, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let node = begin(
                    EventKind::Scalar {
                        text: scalar.into_owned(),
                        plain,
                    },
                    tag,
                );
                Some((node, anchor))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop().map(|open| (open.node, open.anchor))
            }
            Event::Alias(anchor) => {
                let Some(node) = anchors.get(&anchor) else {
                    let name = alias_at(text, &span.start);
                    return Err(
                        BlockError::new(format!("anchor '{name}' value contains itself")).into(),
                    );
                };
                let child = Child {
                    node: Rc::clone(node),
                    alias: true,
                };
                match attach(&mut open, child) {
                    Some(root) => return Ok(Some(root)),
                    None => continue,
                }
            }
            Event::DocumentEnd | Event::StreamEnd => return Ok(None),
            Event::DocumentStart(_) | Event::StreamStart | Event::Nothing => None,
        };
        if open.len() > NESTING {
            return Err(BlockError::new(format!("exceeded max depth of {NESTING}")).into());
        }
        let Some((node, anchor)) = finished else {
            continue;
        };
        let node = Rc::new(node);
        if anchor != 0 {
            anchors.insert(anchor, Rc::clone(&node));
        }
        if let Some(root) = attach(&mut open, Child { node, alias: false }) {
            // the text after the root may still have errors
            return match parser.next_event() {
                Some(Err(error)) => {
                    gaps.before_error(&error)?;
                    let block_error = block_error(&error, text, &open);
                    Err(RejectReason::Syntax(error, block_error))
                }
                Some(Ok((event, span))) => {
                    gaps.before(&event, span)?;
                    Ok(Some(root))
                }
                None => Ok(Some(root)),
            };
        }
    }
    Ok(None)
}

/// Adds a node to the innermost open container. Returns the node if it is the root.
fn attach(open: &mut [OpenContainer], child: Child) -> Option<Child> {
    let Some(container) = open.last_mut() else {
        return Some(child);
    };
    match &mut container.node.kind {
        EventKind::Sequence(elements) => elements.push(child),
        EventKind::Mapping(pairs) => match container.key.take() {
            Some(key) => pairs.push((key, child)),
            None => container.key = Some(child),
        },
        EventKind::Scalar { .. } => {}
    }
    None
}

fn short_tag(tag: &Tag) -> String {
    match tag.handle.as_str() {
        "tag:yaml.org,2002:" => format!("!!{}", tag.suffix),
        handle => format!("{handle}{}", tag.suffix),
    }
}

/// Returns the name after the `*` at a position.
fn alias_at(text: &str, marker: &Marker) -> String {
    let rest = text.chars().skip(marker.index()).skip_while(|c| *c == '*');
    rest.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        .collect()
}

/// Rule by which Go's library chooses the line of an error.
enum ErrorLine {
    Scanner,
    Before,
    /// Start of the quoted scalar, or else the end of the text.
    Quoted,
    /// Start of the plain scalar, or else the line after.
    Plain,
    /// Start of the innermost open block, or else the position of the parser.
    Block,
    /// Position of the innermost open bracket, or else the position of the parser.
    Bracket,
    Token,
    Nowhere,
}

/// Converts an error of the parser to the message and line of Go's library.
fn block_error(error: &ScanError, text: &str, open: &[OpenContainer]) -> BlockError {
    let marker = error.marker();
    let (problem, kind_of_place) = wording(error.info());
    let from_one = |line: usize| if line > 1 { line } else { 0 };
    let or_mark = |start: usize| {
        if start > 1 {
            start - 1
        } else {
            marker.line().saturating_sub(1)
        }
    };
    let before = || text.chars().take(marker.index());
    let line = match kind_of_place {
        ErrorLine::Scanner => from_one(marker.line()),
        ErrorLine::Before => from_one(marker.line().saturating_sub(1)),
        ErrorLine::Quoted => {
            let end = text.lines().count() + 1;
            let quote = text
                .chars()
                .take(marker.index() + 1)
                .collect::<String>()
                .rfind(['"', '\'']);
            let start = quote.map_or(0, |start_of_quote| {
                text.chars()
                    .take(start_of_quote)
                    .filter(|c| *c == '\n')
                    .count()
                    + 1
            });
            if start > 1 { start } else { end }
        }
        ErrorLine::Plain => {
            if marker.line() > 1 {
                marker.line()
            } else {
                marker.line() + 1
            }
        }
        ErrorLine::Block => or_mark(open.last().map_or(0, |open| open.node.line)),
        ErrorLine::Bracket => or_mark(open_bracket(before()).map_or(0, |(_, line)| line)),
        ErrorLine::Token => marker.line().saturating_sub(1),
        ErrorLine::Nowhere => 0,
    };
    match problem {
        "unknown anchor" => BlockError::at_line(
            line,
            format_args!("unknown anchor '{}' referenced", alias_at(text, marker)),
        ),
        "unclosed" if open_bracket(before()).is_some_and(|(bracket, _)| bracket == '{') => {
            BlockError::at_line(line, "did not find expected ',' or '}'")
        }
        "unclosed" => BlockError::at_line(line, "did not find expected ',' or ']'"),
        problem => BlockError::at_line(line, problem),
    }
}

/// Returns the line of the `|` or `>` of a block scalar whose text begins on `line`: the last line above that is not
/// blank.
fn header_line(text: &str, line: usize) -> usize {
    let lines_before: Vec<&str> = text.lines().take(line.saturating_sub(1)).collect();
    let header = lines_before
        .iter()
        .rposition(|line| !line.trim().is_empty());
    header.map_or(line, |header| header + 1)
}

/// Returns the innermost bracket that is open at the end of a text, and its line.
fn open_bracket(text: impl Iterator<Item = char>) -> Option<(char, usize)> {
    let mut open = Vec::new();
    let mut line = 1;
    for c in text {
        match c {
            '[' | '{' => open.push((c, line)),
            ']' | '}' => drop(open.pop()),
            '\n' => line += 1,
            _ => {}
        }
    }
    open.pop()
}

/// Returns Go's message for an error, and how Go chooses its line.
fn wording(info: &str) -> (&str, ErrorLine) {
    let problem = match info.split_once(", ") {
        Some((context, problem)) if context.starts_with("while ") => problem,
        _ => info,
    };
    match problem {
        "simple key expect ':'" | "simple key expected" => {
            ("could not find expected ':'", ErrorLine::Before)
        }
        "did not find expected ',' or '}'"
        | "expected ',' or ']'"
        | "illegal placement of ':' indicator" => ("unclosed", ErrorLine::Bracket),
        "found a tab" => (
            "found a tab character that violates indentation",
            ErrorLine::Plain,
        ),
        "invalid trailing content after double-quoted scalar" => {
            ("did not find expected key", ErrorLine::Block)
        }
        "did not find expected key" | "did not find expected '-' indicator" => {
            (problem, ErrorLine::Block)
        }
        "did not find expected node content" => (problem, ErrorLine::Token),
        "misplaced bracket" => ("did not find expected node content", ErrorLine::Token),
        "found unknown anchor" => ("unknown anchor", ErrorLine::Nowhere),
        "found unexpected end of stream" | "invalid indentation in quoted scalar" => {
            ("found unexpected end of stream", ErrorLine::Quoted)
        }
        "did not find expected hexadecimal number" => (
            "did not find expected hexdecimal number",
            ErrorLine::Scanner,
        ),
        _ if problem.starts_with("unexpected character") || problem.starts_with("tab") => (
            "found character that cannot start any token",
            ErrorLine::Scanner,
        ),
        "a block scalar content cannot start with a tab" => (
            "found a tab character where an indentation space is expected",
            ErrorLine::Plain,
        ),
        _ => (problem, ErrorLine::Scanner),
    }
}
