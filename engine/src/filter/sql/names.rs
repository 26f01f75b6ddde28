//! Quoting of table and column names.

use std::sync::LazyLock;

/// Reserved words: upper case and sorted, for binary search.
pub type SqlKeywords = LazyLock<Vec<&'static str>>;

/// Returns the words of a text, sorted.
pub fn sorted_keywords(text: &'static str) -> Vec<&'static str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}

/// Returns `true` if a name needs no quotes, unless it is a reserved word.
pub fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns a name, quoted if necessary or if it is a reserved word; quotes within are doubled.
pub fn quoted(name: &str, quote: char, keywords: Option<&[&str]>) -> String {
    let is_keyword = |keywords: &[&str]| {
        let capitals = || name.bytes().map(|byte| byte.to_ascii_uppercase());
        let found = keywords.binary_search_by(|keyword| keyword.bytes().cmp(capitals()));
        found.is_ok()
    };
    if is_bare(name) && !keywords.is_some_and(is_keyword) {
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
