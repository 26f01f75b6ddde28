//! Globs in OPA's index: literal segments and `*`s.

use solon_syntax::ast::{Term, TermKind};

use super::Test;

/// Returns the test of a glob of literal segments and `*`s.
pub(super) fn test(pattern: &Term, delimiters: &Term) -> Option<Test> {
    let pattern = pattern.as_string()?;
    let TermKind::Array(delimiters) = &delimiters.kind else {
        return None;
    };
    let mut chars = Vec::new();
    for delimiter in delimiters {
        let mut text = delimiter.as_string()?.chars();
        chars.push(text.next()?);
        if text.next().is_some() {
            return None;
        }
    }
    if chars.is_empty() {
        chars.push('.');
    }
    let mut segments = vec![(String::new(), false)];
    let mut text = pattern.chars();
    while let Some(c) = text.next() {
        let (segment, star) = segments.last_mut()?;
        match c {
            '\\' => segment.push(text.next()?),
            '*' if segment.is_empty() && !*star => *star = true,
            '*' | '?' | '[' | '{' => return None,
            c if chars.contains(&c) => segments.push((String::new(), false)),
            _ if *star => return None,
            c => segment.push(c),
        }
    }
    let segments = segments
        .into_iter()
        .map(|(text, star)| (!star).then_some(text));
    Some(Test::Segments(segments.collect(), chars))
}
