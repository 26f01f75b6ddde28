//! Where the YAML parser and Go's differ: texts that only one of them takes.
//!
//! Go's reader asks for no blank before a comment, and for none but blanks where a block may begin. What the parser
//! refuses and Go's reader takes is written anew ([`repaired`]); what it takes and Go's reader refuses is found in the
//! gaps between its events ([`Gaps`]), as is what both take, but read otherwise.

mod gaps;
mod indentation;

use saphyr_parser::ScanError;

pub use gaps::Gaps;

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

/// A text that begins with a scalar in double quotes, in which apostrophes are not escaped any more.
fn without_escaped_quotes(text: &str) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut rest = text.chars();
    made.extend(rest.next().filter(|first| *first == '"'));
    let mut changed = false;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                made.push(c);
                break;
            }
            '\\' => match rest.next()? {
                '\'' => {
                    made.push('\'');
                    changed = true;
                }
                escaped => made.extend([c, escaped]),
            },
            c => made.push(c),
        }
    }
    made.push_str(rest.as_str());
    changed.then_some(made)
}

/// How many bytes the name of an anchor has.
fn anchor_length(text: &str) -> usize {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.find(|c| !is_of_name(c)).unwrap_or(text.len())
}

/// What may stand behind the name of an anchor without a blank. The parser takes it for a part of the name.
const BEHIND_ANCHOR: [char; 5] = ['?', ':', '%', '@', '`'];

/// What the parser takes, and Go's reader does not, or not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Differs {
    /// What Go's reader refuses.
    Rejected(Misplaced),
    /// What it reads otherwise: the text in a spelling that both read alike.
    Respelled(String),
}

impl From<Misplaced> for Differs {
    fn from(misplaced: Misplaced) -> Self {
        Self::Rejected(misplaced)
    }
}

/// Something that only the parser takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The line that Go's reader names; 0 if none.
    pub line: usize,
    /// What is wrong, in its words.
    pub problem: &'static str,
}
