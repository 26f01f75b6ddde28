//! Messages of system errors.

use std::io;

/// Returns a message such as `connection refused`, without the number that Rust appends.
pub fn text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = match text.rfind(" (os error ") {
        Some(end) => text.get(..end).unwrap_or(&text),
        None => &text,
    };
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
