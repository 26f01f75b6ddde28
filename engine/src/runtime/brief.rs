//! Texts of values and expressions, short enough for a line of a message.

/// Characters that are shown.
const MAX_CHARS: usize = 80;

/// With one blank where there were several, or other white space.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cut where it becomes too long.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or(&text)),
        None => text,
    }
}

/// The text unless it is too long.
pub(super) fn fits(text: String) -> Option<String> {
    text.char_indices().nth(MAX_CHARS).is_none().then_some(text)
}
