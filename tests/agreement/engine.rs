//! The engine under test.

use std::cell::RefCell;
use std::env;

use crate::compare;
use solon_lines::Process;

thread_local! {
    static LINES: RefCell<Option<Process>> = RefCell::new(env::var("SOLON_LINES").ok().map(Process::new));
    static SEARCHES: bool = env::var("SOLON_MACHINE").is_ok_and(|machine| machine == "search");
}

/// The engine's answer to one request, as a line of JSON (text, because number texts matter). A binary named in
/// `SOLON_LINES` answers instead of the engine in this process; with `SOLON_MACHINE=search` its second machine does.
pub fn answer(request: &str) -> String {
    LINES.with_borrow_mut(|lines| match lines.as_mut() {
        None if SEARCHES.with(|searches| *searches) => solon_lines::searched(request),
        None => solon_lines::answer(request),
        Some(lines) => lines.ask(request).unwrap_or_else(|error| {
            format!(
                "{{\"errors\":[{{\"code\":\"no answer\",\"message\":{}}}]}}",
                crate::generate::quoted(&error)
            )
        }),
    })
}

/// How the machine that searches parts from `answer`, the other's; it may where only the other parts from the
/// reference engine.
pub fn disagreement(request: &str, answer: &str, expected: &str) -> Option<&'static str> {
    if LINES.with_borrow(Option::is_some) {
        return None;
    }
    let searched = solon_lines::searched(request);
    compare::difference(expected, &searched).and(compare::difference(answer, &searched))
}
