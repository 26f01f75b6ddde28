//! Domain names and mailboxes in certificates.

/// Returns `true` if a text is a domain name by Go's rules: labels are not empty and consist of visible ASCII
/// characters. A constraint may start with a dot.
pub fn is_valid(text: &str, constraint: bool) -> bool {
    if text.is_empty() {
        return true;
    }
    let name = match text.strip_prefix('.') {
        Some(rest) if constraint => rest,
        _ => text,
    };
    let visible = |byte: u8| (33..=126).contains(&byte);
    name.split('.')
        .all(|label| !label.is_empty() && label.bytes().all(visible))
}

/// Splits a mailbox (RFC 2821) into its local part, without quotes and escapes, and its domain.
pub fn mailbox(text: &str) -> Option<(String, &str)> {
    let (local, rest) = match text.strip_prefix('"') {
        Some(after_quote) => quoted_local(after_quote)?,
        None => plain_local(text)?,
    };
    let domain = rest.strip_prefix('@')?;
    // Go rejects invalid domains, but accepts an empty one
    is_valid(domain, false).then_some((local, domain))
}

fn quoted_local(text: &str) -> Option<(String, &str)> {
    let mut local = String::new();
    let mut chars = text.char_indices();
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => return Some((local, text.get(offset + 1..)?)),
            '\\' => {
                let (_, escaped) = chars.next()?;
                let allowed =
                    matches!(escaped, '\u{b}' | '\u{c}' | '\u{1}'..='\u{9}' | '\u{e}'..='\u{7f}');
                local.push(Some(escaped).filter(|_| allowed)?);
            }
            '\u{b}'
            | '\u{c}'
            | ' '
            | '!'
            | '\u{7f}'
            | '\u{1}'..='\u{8}'
            | '\u{e}'..='\u{1f}'
            | '#'..='['
            | ']'..='~' => local.push(c),
            _ => return None,
        }
    }
    None
}

fn plain_local(text: &str) -> Option<(String, &str)> {
    let is_atom = |c: &u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(c);
    let mut plain = String::new();
    let mut rest = text;
    loop {
        // any character may be escaped
        let escaped = rest.strip_prefix('\\');
        let mut after = escaped.unwrap_or(rest).chars();
        match after.next() {
            Some(c) if escaped.is_some() || u8::try_from(c).is_ok_and(|c| is_atom(&c)) => {
                plain.push(c);
                rest = after.as_str();
            }
            None if escaped.is_some() => return None,
            _ => break,
        }
    }
    let dots = plain.starts_with('.') || plain.ends_with('.') || plain.contains("..");
    (!plain.is_empty() && !dots).then_some((plain, rest))
}
