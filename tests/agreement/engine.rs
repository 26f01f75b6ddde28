//! The engine under test.

use std::cell::RefCell;
use std::env;

use crate::lines::Lines;

thread_local! {
    static LINES: RefCell<Option<Lines>> = RefCell::new(env::var("SOLON_LINES").ok().map(Lines::new));
}

/// The engine's answer to one request, as a line of JSON (text, because number texts matter); `None` without engine.
pub fn answer(request: &str) -> Option<String> {
    LINES.with_borrow_mut(|lines| {
        let answer = lines.as_mut()?.ask(request);
        Some(answer.unwrap_or_else(|error| {
            format!(
                "{{\"errors\":[{{\"code\":\"no answer\",\"message\":{}}}]}}",
                crate::generate::quoted(&error)
            )
        }))
    })
}
