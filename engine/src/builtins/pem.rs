//! PEM blocks, found and decoded as Go's `encoding/pem` does.

use super::encoding::base64;
use crate::bug::Within;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
const NEXT_BEGIN: &[u8] = b"\n-----BEGIN ";
const NEXT_END: &[u8] = b"\n-----END ";

/// A PEM block: its label and its decoded content. Headers are dropped.
pub struct PemBlock<'t> {
    /// Label after `BEGIN`.
    pub kind: &'t [u8],
    pub content: Vec<u8>,
}

/// Returns the first block of a text, and the text after it, or `None`. Anything before the block is skipped.
pub fn block(text: &[u8]) -> Option<(PemBlock<'_>, &[u8])> {
    let mut rest = text;
    // Distance of the next end marker from the end of the text, so that it is searched for only once.
    let mut from_end = usize::MAX;
    loop {
        rest = after_begin(rest)?;
        let (first, mut inner) = line(rest);
        let Some(kind) = first.strip_suffix(DASHES) else {
            continue;
        };
        rest = inner;
        let mut headers = false;
        loop {
            if inner.is_empty() {
                return None;
            }
            let (header, next) = line(inner);
            if !header.contains(&b':') || header.starts_with(BEGIN) {
                break;
            }
            headers = true;
            inner = next;
        }
        // A block with headers has at least an empty line between them and its end.
        let at_once = !headers && inner.starts_with(END);
        let (end, trailer) = if at_once {
            (0, END.len())
        } else {
            if from_end > inner.len() {
                from_end = inner.len() - memchr::memmem::find(inner, NEXT_END)?;
            }
            let end = inner.len() - from_end;
            (end, end + NEXT_END.len())
        };
        let trailer = inner.get(trailer..).unwrap_or_default();
        let after = trailer
            .strip_prefix(kind)
            .and_then(|after| after.strip_prefix(DASHES))
            .map(line);
        let Some(([], after)) = after else {
            continue;
        };
        if let Some(content) = content(inner.within(..end)) {
            return Some((PemBlock { kind, content }, after));
        }
    }
}

/// Decodes the lines of a block.
fn content(lines: &[u8]) -> Option<Vec<u8>> {
    // Most invalid blocks contain the start of another one.
    if memchr::memchr(b'-', lines).is_some() {
        return None;
    }
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    if lines.iter().any(blank) {
        let text: Vec<u8> = lines.iter().copied().filter(|byte| !blank(byte)).collect();
        return base64::standard(&text).ok();
    }
    base64::standard(lines).ok()
}

/// Returns the text after the next start marker at the beginning of a line.
fn after_begin(text: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = text.strip_prefix(BEGIN) {
        return Some(rest);
    }
    let index = memchr::memmem::find(text, NEXT_BEGIN)?;
    text.get(index + NEXT_BEGIN.len()..)
}

/// Splits off the first line, without trailing white space.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = match memchr::memchr(b'\n', text) {
        Some(index) => (text.within(..index), text.within(index + 1..)),
        None => (text, &[][..]),
    };
    let trailing = line
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        .count();
    let line = line.within(..line.len() - trailing);
    (line, rest)
}
