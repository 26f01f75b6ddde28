//! Differences between the YAML parser and Go's: texts that only one of them accepts.
//!
//! Go's reader requires no blank before a comment, and only blanks where a block may begin. Texts that only Go's reader
//! accepts are rewritten ([`repaired`]). Texts that only the parser accepts, or that both read differently, are found
//! in the gaps between its events ([`Gaps`]).

mod gaps;
mod indentation;

use saphyr_parser::ScanError;

pub use gaps::Gaps;

/// Maximum number of rewritten positions in a text.
pub const REPAIRS: usize = 100;

/// Returns the text with another spelling at the position of a parser error, if Go's reader accepts the text.
pub fn repaired(text: &str, error: &ScanError) -> Option<String> {
    let index = error.marker().index();
    let offset = text
        .char_indices()
        .nth(index)
        .map_or(text.len(), |(offset, _)| offset);
    let (before, after) = text.split_at_checked(offset)?;
    let info = error.info();
    if info.contains("comments must be separated") {
        let offset_of_comment = before.len()
            + after
                .find('#')
                .filter(|offset_of_comment| *offset_of_comment <= 1)?;
        let (before, comment) = text.split_at_checked(offset_of_comment)?;
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
    if info == "invalid indentation" || info == "invalid indentation in flow construct" {
        return indentation::of_brackets(before, after);
    }
    if info == "invalid indentation in quoted scalar" {
        return indentation::of_quoted(before, after);
    }
    if info.ends_with("found unknown escape character") {
        let quoted = without_escaped_quotes(after)?;
        return Some([before, &quoted].concat());
    }
    if info.starts_with("plain scalar cannot start with '-'") {
        let rest = after.strip_prefix('-')?;
        return Some([before, "'-'", rest].concat());
    }
    if info.ends_with("found unknown anchor") {
        let name = after.strip_prefix('*')?;
        let (name, rest) = name.split_at_checked(anchor_length(name))?;
        let is_cut = rest.starts_with(BEHIND_ANCHOR);
        return is_cut.then(|| [before, "*", name, " ", rest].concat());
    }
    None
}

/// Returns a text that begins with a double-quoted scalar, with the escapes of apostrophes removed.
fn without_escaped_quotes(text: &str) -> Option<String> {
    let mut repaired_text = String::with_capacity(text.len());
    let mut rest = text.chars();
    repaired_text.extend(rest.next().filter(|first| *first == '"'));
    let mut is_changed = false;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                repaired_text.push(c);
                break;
            }
            '\\' => match rest.next()? {
                '\'' => {
                    repaired_text.push('\'');
                    is_changed = true;
                }
                escaped => repaired_text.extend([c, escaped]),
            },
            c => repaired_text.push(c),
        }
    }
    repaired_text.push_str(rest.as_str());
    is_changed.then_some(repaired_text)
}

/// Returns the length of an anchor's name in bytes.
fn anchor_length(text: &str) -> usize {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.find(|c| !is_of_name(c)).unwrap_or(text.len())
}

/// Characters that may follow the name of an anchor without a blank. The parser reads them as part of the name.
const BEHIND_ANCHOR: [char; 5] = ['?', ':', '%', '@', '`'];

/// Difference between the parser and Go's reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Differs {
    /// Text that Go's reader rejects.
    Rejected(Misplaced),
    /// Text that Go's reader reads differently, in a spelling that both read alike.
    Respelled(String),
}

impl From<Misplaced> for Differs {
    fn from(misplaced: Misplaced) -> Self {
        Self::Rejected(misplaced)
    }
}

/// Error that only Go's reader reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Line that Go's reader names, or 0 if none.
    pub line: usize,
    /// Message of Go's reader.
    pub problem: &'static str,
}
