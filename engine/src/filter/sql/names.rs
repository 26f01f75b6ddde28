//! Names of tables and columns.

use std::sync::LazyLock;

/// Words that name nothing without quotes: in capitals, and sorted.
pub type Keywords = LazyLock<Vec<&'static str>>;

/// The words of a text, sorted.
pub fn reserved_words(text: &'static str) -> Vec<&'static str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}

/// Whether a name needs no quotes, keywords apart.
pub fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name, in quotes if it needs them, as it does where it is a keyword; a quote within is written twice.
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
