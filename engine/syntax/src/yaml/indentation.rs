//! Adds indentation to lines within brackets and quotes where the parser requires it. Go's reader does not.

/// Maximum number of inserted bytes.
const MOST: usize = 8 << 20;

/// Returns the text with all lines indented from `after` to the end of the bracket that began before.
pub fn of_brackets(before: &str, after: &str) -> Option<String> {
    let before = [before, &" ".repeat(1 + deepest(before))].concat();
    indent(
        &before,
        after,
        end_of_brackets(after).unwrap_or(after.len()),
    )
}

/// Returns the text with the lines of the quoted scalar indented with which `after` begins. They are folded, so that
/// their indentation has no effect on the value.
pub fn of_quoted(before: &str, after: &str) -> Option<String> {
    indent(before, after, end_of_quoted(after)?)
}

/// Returns the text with the tabs replaced by blanks before the first character of a line, which has the index `index`.
pub fn without_tabs(text: &str, index: usize) -> Option<String> {
    let (offset, _) = text.char_indices().nth(index)?;
    let (before, after) = text.split_at_checked(offset)?;
    let trimmed = before.trim_end_matches([' ', '\t']);
    let blanks = " ".repeat(1 + deepest(trimmed));
    Some([trimmed, &blanks, after].concat())
}

/// Returns the end of the first bracket that does not begin in a text.
fn end_of_brackets(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    // a quote begins a scalar where a node may begin
    let mut begins = true;
    let mut is_behind_blank = true;
    let mut offset = 0;
    while let Some(c) = text.get(offset..)?.chars().next() {
        match c {
            '"' | '\'' if begins => offset += end_of_quoted(text.get(offset..)?)? - 1,
            '#' if is_behind_blank => {
                let rest = text.get(offset..)?;
                offset += rest.find(['\n', '\r']).unwrap_or(rest.len());
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' if depth == 0 => return Some(offset),
            ']' | '}' => depth -= 1,
            _ => {}
        }
        is_behind_blank = c.is_whitespace();
        begins = matches!(c, '[' | '{' | ',' | ':' | '?') || begins && is_behind_blank;
        offset += c.len_utf8();
    }
    None
}

/// Returns the end of the quoted scalar at the start of a text.
fn end_of_quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((offset, c)) = rest.next() {
        if c == '\\' && quote == '"' {
            rest.next();
        } else if c == quote {
            if quote == '\'' && rest.next_if(|(_, next)| *next == quote).is_some() {
                continue;
            }
            return Some(offset + 1);
        }
    }
    None
}

/// Returns the text with more blanks before the lines that begin within the first `bytes` bytes of `after`.
fn indent(before: &str, after: &str, bytes: usize) -> Option<String> {
    let width = 1 + deepest(before);
    let (bracketed, rest) = after.split_at_checked(bytes)?;
    let lines = bracketed.matches('\n').count();
    if width.checked_mul(lines)? > MOST {
        return None;
    }
    let blanks = " ".repeat(width);
    let mut repaired = String::with_capacity(before.len() + after.len() + width * lines);
    repaired.push_str(before);
    let mut lines = bracketed.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        repaired.push_str(line);
        let goes_on = lines.peek().is_some() || !rest.is_empty();
        if line.ends_with('\n') && goes_on {
            repaired.push_str(&blanks);
        }
    }
    repaired.push_str(rest);
    Some(repaired)
}

/// Returns an upper limit of the indentation of blocks: the longest prefix of blanks and indicators of any line.
fn deepest(text: &str) -> usize {
    let indicators = |line: &str| {
        let begin = line.trim_start_matches([' ', '-', '?', ':']);
        line.len() - begin.len()
    };
    text.split(['\n', '\r']).map(indicators).max().unwrap_or(0)
}
