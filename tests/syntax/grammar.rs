//! Texts that the grammar accepts and rejects.

use serde_json::{Value, json};
use solon_syntax::ast::Version;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body};

use crate::ast::{check, parse};
use crate::cases::{load, report};

#[test]
fn accepted_modules_have_the_recorded_tree() {
    let cases = load("accepted.json");
    let problems = cases.iter().filter_map(|case| {
        let problem = check(case).err()?;
        Some(format!("  {}:\n{problem}", case.note))
    });
    report("accepted.json", cases.len(), &problems.collect::<Vec<_>>());
}

/// Returns the recorded fields of an error, without file and code, which are always the same.
fn recorded(error: &Value) -> Value {
    let (place, details) = (&error["location"], &error["details"]);
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    json!([
        error["message"],
        number(&place["row"]),
        number(&place["col"]),
        details
    ])
}

fn reported(diagnostics: &Diagnostics) -> Value {
    let each = diagnostics
        .0
        .iter()
        .map(|one| json!([one.message, one.span.row, one.span.col, one.details_json]));
    each.collect()
}

#[test]
fn rejected_modules_have_the_recorded_errors() {
    let cases = load("rejected.json");
    let problems = cases.iter().filter_map(|case| {
        let have = parse(case).map_or_else(|errors| reported(&errors), |_| json!([]));
        let answer: Value = serde_json::from_str(case.answer.as_deref()?.get()).unwrap();
        let Some(errors) = answer["errors"].as_array() else {
            return Some(format!("  {}: recorded as accepted", case.note));
        };
        let want: Value = errors.iter().map(recorded).collect();
        (have != want).then(|| format!("  {}\n    want {want}\n    have {have}", case.note))
    });
    report("rejected.json", cases.len(), &problems.collect::<Vec<_>>());
}

/// Queries, whether they are v0, and their errors.
type Query = (&'static str, bool, &'static [(&'static str, u32, u32)]);

#[rustfmt::skip]
const QUERIES: &[Query] = &[
    ("", false, &[]),
    ("x;", false, &[("unexpected eof token", 1, 2)]),
    ("{", false, &[("unexpected eof token", 1, 1)]),
    ("p := {", false, &[("unexpected eof token", 1, 6)]),
    ("x y", false, &[]),
    (";", false, &[("unexpected ; token", 1, 1)]),
    ("x;;y", false, &[("unexpected ; token", 1, 3)]),
    ("import data.x", false, &[("expected body but got *ast.Import", 1, 1)]),
    ("package x", false, &[("expected body but got *ast.Package", 1, 1)]),
    ("x == ", false, &[("unexpected eof token", 1, 5)]),
    ("not", false, &[("unexpected eof token", 1, 3)]),
    ("some", false, &[("unexpected eof token: expected var", 1, 4)]),
    ("every x", false, &[("unexpected eof token: expected `x[, y] in xs { ... }` expression", 1, 7)]),
    ("[1", false, &[("unexpected eof token: expected \",\" or \"]\"", 1, 2)]),
    ("f(", false, &[("unexpected eof token", 1, 2)]),
    ("x.", false, &[("unexpected eof token: expected identifier", 1, 2)]),
    ("x. y", false, &[("unexpected whitespace token: expected identifier", 1, 3)]),
    ("1 2", false, &[]),
    ("a\nb", false, &[]),
    ("x with", false, &[("unexpected eof token: expected ident", 1, 6)]),
    ("x with input", false, &[("unexpected eof token: expected as keyword", 1, 12)]),
    ("x with input as", false, &[("unexpected eof token", 1, 15)]),
    ("$\"{x\"", false, &[("non-terminated string", 1, 5), ("expected } to end template string expression", 1, 5)]),
    ("-b", false, &[]),
    ("x in y", false, &[]),
    ("{x}", false, &[]),
    ("{x | y}", false, &[]),
    ("\"a", false, &[("non-terminated string", 1, 1), ("illegal token", 1, 1)]),
    ("x := ~", false, &[("illegal token", 1, 6)]),
    ("default x", false, &[("unexpected default keyword", 1, 1)]),
    ("if", false, &[("unexpected if keyword", 1, 1)]),
    ("x if y", false, &[("unexpected if keyword", 1, 3)]),
    (";", true, &[("unexpected ; token", 1, 1)]),
    ("x;;y", true, &[("unexpected ; token", 1, 3)]),
    ("import data.x", true, &[("expected body but got *ast.Import", 1, 1)]),
    ("package x", true, &[("expected body but got *ast.Package", 1, 1)]),
    ("x == ", true, &[("unexpected eof token", 1, 5)]),
    ("not", true, &[("unexpected eof token", 1, 3)]),
    ("some", true, &[("unexpected eof token: expected var", 1, 4)]),
];

#[test]
fn queries_have_the_recorded_errors() {
    let mut problems = Vec::new();
    for (text, v0, want) in QUERIES {
        let version = if *v0 { Version::V0 } else { Version::V1 };
        let read = parse_body(
            &Source::new(SourceId(0), "", *text),
            &ParseOptions::from_version(version),
        );
        let errors = read.err().unwrap_or_default().0;
        let have: Vec<_> = errors
            .iter()
            .map(|error| (error.message.as_str(), error.span.row, error.span.col))
            .collect();
        if have != *want {
            problems.push(format!("  {text}: want {want:?}, have {have:?}"));
        }
    }
    report("queries", QUERIES.len(), &problems);
}
