//! Tests must not depend on the speed or load of the machine, as far as text shows.

use crate::source;

/// Returns the variables of some code that hold an elapsed time.
fn elapsed_times(code: &str) -> Vec<&str> {
    let statements = code.split(';');
    statements
        .filter(|statement| statement.trim_end().ends_with(".elapsed()"))
        .filter_map(|statement| {
            let (_, binding) = statement.rsplit_once("let ")?;
            Some(binding.split_once('=')?.0.trim())
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the line numbers of assertions that compare an elapsed time with an upper bound.
fn upper_bounds(code: &str) -> Vec<usize> {
    let times = elapsed_times(code);
    let is_bounded = |condition: &str, what: &str| {
        condition.match_indices(what).any(|(at, _)| {
            let in_word = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
            let rest = condition[at + what.len()..].trim_start();
            let is_whole = what.starts_with('.') || !condition[..at].ends_with(in_word);
            is_whole && rest.starts_with('<')
        })
    };
    code.match_indices("assert!(")
        .filter(|(at, start)| {
            let condition = &code[at + start.len()..];
            // the end of the condition, or slightly more: no comparison with `<` follows in a message
            let condition = condition.split(';').next().unwrap_or_default();
            is_bounded(condition, ".elapsed()")
                || times.iter().any(|time| is_bounded(condition, time))
        })
        .map(|(at, _)| code[..at].matches('\n').count() + 1)
        .collect()
}

#[test]
fn no_test_bounds_the_time_that_passes() {
    let mut findings = Vec::new();
    let mut files = source::files();
    files.extend(source::files_in("tests/fuzz/"));
    for file in files.iter().filter(|file| file.has_extension(&["rs"])) {
        let code = source::code(&file.text);
        let is_test = file.path.starts_with("tests/") || file.path.ends_with("/tests.rs");
        let before = if is_test {
            0
        } else {
            source::without_tests(&code).len()
        };
        let skipped = code[..before].matches('\n').count();
        let lines = upper_bounds(&code[before..]);
        findings.extend(
            lines
                .iter()
                .map(|line| format!("{}:{}", file.path, line + skipped)),
        );
    }
    for file in files.iter().filter(|file| file.has_extension(&["py"])) {
        let lines = file.text.lines().enumerate();
        let lines = lines.filter(|(_, line)| {
            let line = line.trim_start();
            file.path.starts_with("tests/python/")
                && line.starts_with("assert time.monotonic() -")
                && !line.ends_with("< HANG")
        });
        findings.extend(lines.map(|(at, _)| format!("{}:{}", file.path, at + 1)));
    }
    let rule = "upper bounds of passed time fail on loaded machines: bound processor time (tests/time), or count";
    crate::report(rule, &findings);
}

#[test]
fn upper_bounds_are_detected() {
    let code = "let a = start.elapsed();\nassert!(a > b);\nassert!(\n    start.elapsed()\n        < c\n);\nassert!(d && a < b);\nassert!(x.a < b);\nwhile start.elapsed() < c {}";
    assert_eq!(upper_bounds(code), [3, 7]);
}
