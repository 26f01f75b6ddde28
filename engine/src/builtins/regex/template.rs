//! Replacement templates of `regex.replace`: `$1`, `${name}`, `$$`.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use super::program::Regex;

enum TemplatePiece<'t> {
    Text(Cow<'t, str>),
    Group(usize),
    Named(Cow<'t, str>),
}

pub struct RegexTemplate<'t> {
    pieces: SmallVec<[TemplatePiece<'t>; 4]>,
}

impl<'t> RegexTemplate<'t> {
    /// Parses a template. A dollar sign that does not start a reference is literal.
    pub fn parse(template: &'t str) -> Self {
        let mut pieces = SmallVec::new();
        let mut rest = template;
        while let Some((text, after)) = rest.split_once('$') {
            pieces.push(TemplatePiece::Text(text.into()));
            let (piece, after) = match after.strip_prefix('$') {
                Some(after) => (TemplatePiece::Text("$".into()), after),
                None => reference(after).unwrap_or((TemplatePiece::Text("$".into()), after)),
            };
            pieces.push(piece);
            rest = after;
        }
        pieces.push(TemplatePiece::Text(rest.into()));
        Self { pieces }
    }

    /// Converts it to a template that owns its text.
    pub fn into_owned(self) -> RegexTemplate<'static> {
        let owned = |text: Cow<'t, str>| Cow::Owned(text.into_owned());
        let pieces = self.pieces.into_iter().map(|piece| match piece {
            TemplatePiece::Text(text) => TemplatePiece::Text(owned(text)),
            TemplatePiece::Group(group) => TemplatePiece::Group(group),
            TemplatePiece::Named(name) => TemplatePiece::Named(owned(name)),
        });
        RegexTemplate {
            pieces: pieces.collect(),
        }
    }

    /// Returns `true` if it references no group.
    pub fn is_plain(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(piece, TemplatePiece::Text(_)))
    }

    /// Calls `push` with the pieces for a match. Groups are ranges of `text`.
    pub fn expand<E>(
        &self,
        regex: &Regex,
        text: &[u8],
        groups: &[Option<Range<usize>>],
        mut push: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let part = |group: usize| text.get(groups.get(group)?.clone()?);
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Text(text) => push(text.as_bytes())?,
                TemplatePiece::Group(group) => push(part(*group).unwrap_or_default())?,
                TemplatePiece::Named(name) => {
                    push(regex.groups_named(name).find_map(part).unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }
}

/// Numbers of at least this value are names.
const GROUPS: usize = 100_000_000;

/// Parses the reference after a dollar sign. Also returns the rest.
fn reference(after: &str) -> Option<(TemplatePiece<'_>, &str)> {
    let (name, rest) = match after.strip_prefix('{') {
        Some(braced) => {
            let (name, _) = split_word(braced)?;
            let rest = braced.get(name.len()..)?.strip_prefix('}')?;
            (name, rest)
        }
        None => split_word(after)?,
    };
    // with a leading zero it is a name, which no group can have
    let number = name.len() == 1 || !name.starts_with('0');
    let piece = match name.parse() {
        Ok(group) if number && group < GROUPS && !name.starts_with('+') => {
            TemplatePiece::Group(group)
        }
        _ => TemplatePiece::Named(name.into()),
    };
    Some((piece, rest))
}

/// Splits off the longest prefix of letters, digits and underscores.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| c != '_' && !c.is_alphanumeric())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
