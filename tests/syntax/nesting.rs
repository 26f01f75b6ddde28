//! The deepest trees that the grammar accepts, on a small stack.

use std::hash::{DefaultHasher, Hash, Hasher};

use solon_syntax::ast::VarScan;
use solon_syntax::json::{self, Options};
use solon_syntax::print::display_body;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{Keywords, ParseOptions, parse_body};

/// Text before, between and after the levels.
const SHAPES: [(&str, &str, &str); 12] = [
    ("[", "1", "]"),
    ("{", "1", "}"),
    ("{\"a\": ", "1", "}"),
    ("f(", "1", ")"),
    ("x[", "1", "]"),
    ("1 + (", "1", ")"),
    ("[1 | ", "1", "]"),
    ("{1: 2 | ", "1", "}"),
    ("[", "1", " | true]"),
    ("every x in y { ", "x", " }"),
    ("not {", "x", "}"),
    ("$\"{", "1", "}\""),
];

fn exercise(text: &str) {
    let options = ParseOptions {
        imported: Keywords::LOGICAL,
        ..ParseOptions::default()
    };
    let Ok(body) = parse_body(&Source::new(SourceId(0), "", text), &options) else {
        return;
    };
    let printed = display_body(&body).to_string();
    assert!(!printed.is_empty());
    let json = json::text(&body, Options::default());
    let back = json::read_body(&json).unwrap();
    assert!(back == body);
    let hash = |body: &Vec<_>| {
        let mut state = DefaultHasher::new();
        body.hash(&mut state);
        state.finish()
    };
    assert_eq!(hash(&back), hash(&body));
    VarScan::default().each(&body, |_, name| assert!(!name.is_empty()));
}

#[test]
fn deep_trees_need_little_stack() {
    // stack frames of unoptimized code are many times larger
    let stack = if cfg!(debug_assertions) {
        8 << 20
    } else {
        256 << 10
    };
    for (open, middle, close) in SHAPES {
        for levels in [50, 100, 199, 200, 201, 398, 399, 400, 401, 1000] {
            let text = format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
            let thread = std::thread::Builder::new()
                .stack_size(stack)
                .name(format!("{levels} times {open}"));
            thread
                .spawn(move || exercise(&text))
                .unwrap()
                .join()
                .unwrap();
        }
    }
}

#[test]
fn the_longest_chains_need_little_stack() {
    let limit = ParseOptions::CHAIN as usize;
    for text in [
        format!("x{}", " and x".repeat(limit)),
        format!("x{}", " or x".repeat(limit)),
        format!("x{}", " and x or y".repeat(limit / 2)),
        format!("{{x}}{}", " or {x}".repeat(limit)),
        format!("not x{}", " and not x".repeat(limit)),
        format!("(x or y){}", " and (x or y)".repeat(limit)),
        format!("(x{0}){0}", " or x".repeat(limit / 2)),
    ] {
        let shown: String = text.chars().take(30).collect();
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let small = small.spawn(move || exercise(&text)).unwrap();
        assert!(small.join().is_ok(), "{shown}");
    }
}
