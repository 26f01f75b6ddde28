//! Names of domains and mailboxes in certificates.

/// Whether a text names a domain. A constraint may be empty or start with a period.
pub fn is_valid(text: &str, constraint: bool) -> bool {
    if text.is_empty() {
        return constraint;
    }
    let name = match text.strip_prefix('.') {
        Some(rest) if constraint => rest,
        _ => text,
    };
    name.len() <= 255 && labels(name)
}

/// Whether all labels are well formed: not empty, not too long, of letters that are visible.
fn labels(name: &str) -> bool {
    name.split('.').all(|label| {
        let visible = |byte: u8| (33..=126).contains(&byte);
        !label.is_empty() && label.len() <= 63 && label.bytes().all(visible)
    })
}

/// The two parts of a mailbox, the first without quotes and escapes (RFC 2821).
pub fn mailbox(text: &str) -> Option<(String, &str)> {
    let (local, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted_local(quoted)?,
        None => plain_local(text)?,
    };
    let domain = rest.strip_prefix('@')?;
    // domains of mail are held to the same form as others
    is_valid(domain, false).then_some((local, domain))
}

fn quoted_local(text: &str) -> Option<(String, &str)> {
    let mut local = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((local, text.get(at + 1..)?)),
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
    let is_atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.\\".contains(c);
    let end = text.find(|c| !is_atom(c)).unwrap_or(text.len());
    let (local, rest) = text.split_at_checked(end)?;
    let mut plain = String::with_capacity(local.len());
    let mut chars = local.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next()? } else { c });
    }
    let dots = local.starts_with('.') || local.ends_with('.') || local.contains("..");
    (!local.is_empty() && !dots).then_some((plain, rest))
}
