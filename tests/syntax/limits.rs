//! Texts that try to overflow a small stack, or to take long to parse.

use std::thread;
use std::time::Duration;

use solon_syntax::ast::Version;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use crate::processor::timed;

/// Stack size of a caller, in bytes.
const SMALL: usize = 256 << 10;

/// Nested constructs: opening, innermost and closing text.
const NESTED: [(&str, &str, &str); 24] = [
    ("[", "1", "]"),
    ("(", "1", ")"),
    ("{", "1", "}"),
    ("{\"a\": ", "1", "}"),
    ("{", "1", ": 1}"),
    ("f(", "1", ")"),
    ("a[", "1", "]"),
    ("[1 | x = ", "1", "]"),
    ("{1 | x = ", "1", "}"),
    ("{1: 2 | x = ", "1", "}"),
    ("{1: 2 | ", "1", "}"),
    ("[1 | ", "1", ", 2]"),
    ("{1 | ", "1", ", 2}"),
    ("{1: 2 | ", "1", ", 2: 3}"),
    ("{1, ", "1", "}"),
    ("(1 == 2 | 3 & 4 + 5 * ", "1", ")"),
    ("(", "1", ") + 1"),
    ("$\"{", "1", "}\""),
    ("[x | every x in [1] { ", "x", " }]"),
    ("(a, ", "1", ")"),
    ("[x | some ", "x", "]"),
    ("", "1", " + 1"),
    ("", "1", " in 1"),
    ("", "f", "(1).a"),
];

/// Nested constructs in bodies, where `and`, `or` and `not` are enabled.
const IN_BODIES: [(&str, &str, &str); 12] = [
    ("not {", "x", "}"),
    ("not (", "x", ")"),
    ("(x and ", "x", ")"),
    ("(", "x", ")"),
    ("{x} and {", "x", "}"),
    ("{", "x", "}"),
    ("{x | ", "x", "}"),
    ("every x in [1] { ", "x", " }"),
    ("", "x", " and x"),
    ("", "x", " or x"),
    ("", "x", " else := 1 if x"),
    ("x with input as [y | ", "y", "]"),
];

/// Parses and drops a module. Returns the first error message.
fn outcome(text: String, version: Version) -> Option<String> {
    timed_outcome(text, version).0
}

/// Parses and drops a module. Returns the first error message, and the processor time used.
fn timed_outcome(text: String, version: Version) -> (Option<String>, Duration) {
    let read = move || {
        let source = Source::new(SourceId(0), "deep.rego", text);
        match parse_module(&source, &ParseOptions::from_version(version)) {
            Ok(_) => None,
            Err(diagnostics) => diagnostics.0.first().map(|first| first.message.clone()),
        }
    };
    let small = thread::Builder::new().stack_size(SMALL);
    small
        .spawn(|| timed(read))
        .expect("a thread")
        .join()
        .expect("no overflow")
}

fn texts(depth: usize, closed: bool) -> Vec<String> {
    let nest = |(open, inside, close): &(&str, &str, &str)| {
        let close = if closed {
            close.repeat(depth)
        } else {
            String::new()
        };
        format!("{}{inside}{close}", open.repeat(depth))
    };
    let terms = NESTED
        .iter()
        .map(|shape| format!("package t\np := {}\n", nest(shape)));
    let bodies = IN_BODIES
        .iter()
        .map(|shape| format!("package t\nimport rego.v2\np if {}\n", nest(shape)));
    terms.chain(bodies).collect()
}

#[test]
fn nesting_never_overflows_a_small_stack() {
    for depth in [10, 50, 190, 399, 3_000] {
        for closed in [true, false] {
            for text in texts(depth, closed) {
                for version in [Version::V1, Version::V0] {
                    let shown: String = text.chars().skip(10).take(40).collect();
                    let first = outcome(text.clone(), version);
                    let too_deep = first.as_deref() == Some("max parsing recursion depth exceeded");
                    assert!(
                        depth > 50 || !too_deep,
                        "{depth} levels of {shown} are too deep"
                    );
                }
            }
        }
    }
}

#[test]
fn the_limit_is_exact() {
    let nested = |depth: usize| {
        outcome(
            format!(
                "package t\np := {}1{}",
                "[".repeat(depth),
                "]".repeat(depth)
            ),
            Version::V1,
        )
    };
    let limit = ParseOptions::NESTING as usize;
    // The value of a rule is the first level.
    assert_eq!(nested(limit - 1), None);
    assert_eq!(
        nested(limit).as_deref(),
        Some("max parsing recursion depth exceeded")
    );
    let chained = |length: usize| {
        outcome(
            format!("package t\np := 1{}", " + 1".repeat(length)),
            Version::V1,
        )
    };
    let limit = ParseOptions::CHAIN as usize;
    assert_eq!(chained(limit), None);
    assert_eq!(
        chained(limit + 1).as_deref(),
        Some("max parsing recursion depth exceeded")
    );
    for connective in [" and x", " or x"] {
        let chained = |length: usize| {
            let chain = connective.repeat(length);
            let text = format!("package t\nimport rego.v2\np if {{ y; x{chain}; z }}");
            outcome(text, Version::V1)
        };
        assert_eq!(chained(limit), None, "{connective}");
        assert_eq!(
            chained(limit + 1).as_deref(),
            Some("max parsing recursion depth exceeded"),
            "{connective}"
        );
    }
    // Chains next to each other do not add up.
    let two = format!("x{0}; x{0}", " or x".repeat(limit));
    let text = format!("package t\nimport rego.v2\np if {{ {two} }}");
    assert_eq!(outcome(text, Version::V1), None);
}

#[test]
fn a_lower_limit_is_obeyed() {
    let options = ParseOptions {
        max_nesting: 5,
        ..ParseOptions::default()
    };
    let read = |text: &str| parse_module(&Source::new(SourceId(0), "", text), &options).is_ok();
    assert!(read("package t\np := [[[[1]]]]"));
    assert!(!read("package t\np := [[[[[1]]]]]"));
}

/// The limits are generous, because tests run unoptimized: they exclude only superlinear time.
#[test]
fn time_grows_slowly() {
    for (depth, allowed) in [(20, 5), (190, 15), (50_000, 30)] {
        for closed in [true, false] {
            let texts = texts(depth, closed).into_iter();
            let taken: Duration = texts.map(|text| timed_outcome(text, Version::V1).1).sum();
            assert!(
                taken < Duration::from_secs(allowed),
                "{depth} levels took {taken:?}"
            );
        }
    }
}

#[test]
fn longer_texts_are_rejected() {
    let text = |length: usize| {
        let mut text = String::from("package p\n#");
        text.extend(std::iter::repeat_n(' ', length - text.len()));
        Source::new(SourceId(0), "p.rego", &*text)
    };
    let options = ParseOptions::default();
    assert!(parse_module(&text(ParseOptions::LENGTH), &options).is_ok());
    let refused = parse_module(&text(ParseOptions::LENGTH + 1), &options);
    let refused = refused.expect_err("it is too long").to_string();
    assert!(
        refused.contains("source text is larger than 64 MiB"),
        "{refused}"
    );
}
