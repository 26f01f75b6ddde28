//! Quoting of table and column names.

use std::sync::LazyLock;

/// Reserved words: upper case and sorted, for binary search.
pub type SqlKeywords = LazyLock<Vec<&'static str>>;

/// Returns the words of a text, sorted, for binary searches.
pub fn sorted_keywords(text: &'static str) -> Vec<&'static str> {
    let mut keywords: Vec<&str> = text.split_whitespace().collect();
    keywords.sort_unstable();
    keywords
}

/// Returns `true` if a name needs no quotes, unless it is a reserved word.
pub fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns a name, quoted if necessary or if it is a reserved word; quotes within are doubled.
pub fn quote_name(name: &str, quote: char, keywords: Option<&[&str]>) -> String {
    let is_keyword = |keywords: &[&str]| {
        let capitals = || name.bytes().map(|byte| byte.to_ascii_uppercase());
        let position = keywords.binary_search_by(|keyword| keyword.bytes().cmp(capitals()));
        position.is_ok()
    };
    if is_bare(name) && !keywords.is_some_and(is_keyword) {
        return name.to_owned();
    }
    let mut text = String::with_capacity(name.len() + 2);
    text.push(quote);
    for character in name.chars() {
        text.push(character);
        if character == quote {
            text.push(character);
        }
    }
    text.push(quote);
    text
}
