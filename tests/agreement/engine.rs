//! The engine under test.

use std::cell::RefCell;
use std::env;

use crate::compare;
use solon_lines::Process;

thread_local! {
    static LINES: RefCell<Option<Process>> = RefCell::new(env::var("SOLON_LINES").ok().map(Process::new));
    static SEARCHES: bool = env::var("SOLON_MACHINE").is_ok_and(|machine| machine == "search");
}

/// Returns the engine's response to one request, as a line of JSON (text, because number texts matter). A binary named
/// in `SOLON_LINES` is used instead of the engine in this process; `SOLON_MACHINE=search` selects the tracing
/// evaluator.
pub fn answer(request: &str) -> String {
    LINES.with_borrow_mut(|lines| match lines.as_mut() {
        None if SEARCHES.with(|searches| *searches) => solon_lines::searched(request),
        None => solon_lines::answer(request),
        Some(lines) => lines.request(request).unwrap_or_else(|error| {
            format!(
                "{{\"errors\":[{{\"code\":\"no answer\",\"message\":{}}}]}}",
                crate::generate::quoted(&error)
            )
        }),
    })
}

/// Returns the difference of the tracing evaluator's result from `answer`. Differences are allowed only where `answer`
/// itself differs from OPA's.
pub fn disagreement(request: &str, answer: &str, expected: &str) -> Option<&'static str> {
    if LINES.with_borrow(Option::is_some) {
        return None;
    }
    let searched = solon_lines::searched(request);
    compare::difference(expected, &searched).and(compare::difference(answer, &searched))
}
