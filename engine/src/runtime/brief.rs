//! Texts of values and expressions, short enough for a line of a message.

/// Maximum length of a text, in characters.
const MAX_CHARS: usize = 80;

/// Replaces each run of white space by one blank.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text that is too long.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or(&text)),
        None => text,
    }
}

/// Returns the text, or `None` if it is too long.
pub(super) fn fits(text: String) -> Option<String> {
    text.char_indices().nth(MAX_CHARS).is_none().then_some(text)
}
