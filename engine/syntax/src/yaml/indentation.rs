//! Lines within brackets and quotes that are not indented enough for the parser. Go's reader does not ask there.

/// Most bytes that are put in.
const MOST: usize = 8 << 20;

/// The text with all lines indented from `after` on up to where a bracket ends that began before.
pub fn of_brackets(before: &str, after: &str) -> Option<String> {
    let before = [before, &" ".repeat(1 + deepest(before))].concat();
    indented(
        &before,
        after,
        end_of_brackets(after).unwrap_or(after.len()),
    )
}

/// The text with the lines indented of a scalar in quotes, with which `after` begins. They are folded anyway.
pub fn of_quoted(before: &str, after: &str) -> Option<String> {
    indented(before, after, end_of_quoted(after)?)
}

/// The text with blanks for the tabs in front of the line whose first character has an index.
pub fn without_tabs(text: &str, index: usize) -> Option<String> {
    let (at, _) = text.char_indices().nth(index)?;
    let (before, after) = text.split_at_checked(at)?;
    let above = before.trim_end_matches([' ', '\t']);
    let blanks = " ".repeat(1 + deepest(above));
    Some([above, &blanks, after].concat())
}

/// Where the first bracket ends that does not begin in a text.
fn end_of_brackets(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    // a quote begins a scalar where a node may begin
    let mut begins = true;
    let mut is_behind_blank = true;
    let mut at = 0;
    while let Some(c) = text.get(at..)?.chars().next() {
        match c {
            '"' | '\'' if begins => at += end_of_quoted(text.get(at..)?)? - 1,
            '#' if is_behind_blank => {
                let rest = text.get(at..)?;
                at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' if depth == 0 => return Some(at),
            ']' | '}' => depth -= 1,
            _ => {}
        }
        is_behind_blank = c.is_whitespace();
        begins = matches!(c, '[' | '{' | ',' | ':' | '?') || begins && is_behind_blank;
        at += c.len_utf8();
    }
    None
}

/// Where a scalar in quotes ends that a text begins with.
fn end_of_quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        if c == '\\' && quote == '"' {
            rest.next();
        } else if c == quote {
            if quote == '\'' && rest.next_if(|(_, next)| *next == quote).is_some() {
                continue;
            }
            return Some(at + 1);
        }
    }
    None
}

/// The text with more blanks in front of the lines that begin within the first bytes of `after`.
fn indented(before: &str, after: &str, bytes: usize) -> Option<String> {
    let width = 1 + deepest(before);
    let (inside, rest) = after.split_at_checked(bytes)?;
    let lines = inside.matches('\n').count();
    if width.checked_mul(lines)? > MOST {
        return None;
    }
    let blanks = " ".repeat(width);
    let mut made = String::with_capacity(before.len() + after.len() + width * lines);
    made.push_str(before);
    let mut lines = inside.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        made.push_str(line);
        let goes_on = lines.peek().is_some() || !rest.is_empty();
        if line.ends_with('\n') && goes_on {
            made.push_str(&blanks);
        }
    }
    made.push_str(rest);
    Some(made)
}

/// How far blocks may be indented: what lines begin with, blanks and indicators.
fn deepest(text: &str) -> usize {
    let indicators = |line: &str| {
        let begin = line.trim_start_matches([' ', '-', '?', ':']);
        line.len() - begin.len()
    };
    text.split(['\n', '\r']).map(indicators).max().unwrap_or(0)
}
