//! Names of tables and columns.

/// Whether a name needs no quotes, keywords apart.
pub fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name, in quotes if it needs them; a quote within is written twice. `keywords` are words in capitals between blanks.
pub fn quoted(name: &str, quote: char, keywords: &str) -> String {
    if is_bare(name) && !keywords.contains(&format!(" {} ", name.to_ascii_uppercase())) {
        return name.to_owned();
    }
    let mut text = String::with_capacity(name.len() + 2);
    text.push(quote);
    for one in name.chars() {
        text.push(one);
        if one == quote {
            text.push(one);
        }
    }
    text.push(quote);
    text
}
