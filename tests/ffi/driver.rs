//! The C API returns the results of the engine: runs OPA's cases and the recorded programs through a C program.

use std::path::Path;

use solon_lines::conformance::Cases;
use solon_lines::{Driver, Native, Process, recorded};

use crate::compiler::{Language, Linked, program};
use crate::root;

/// Returns the program `driven/lines.c`, or `None` without a compiler.
fn lines() -> Option<Process> {
    let compilers = Language::C.compilers();
    let source = root().join("tests/ffi/driven/lines.c");
    let made = program(Language::C, compilers.first()?, &source, Linked::Statically);
    let program = made.unwrap_or_else(|error| panic!("{error}"));
    Some(Process::with(
        program.display().to_string(),
        std::iter::empty::<String>(),
    ))
}

#[test]
fn published_cases_pass_in_c() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let cases = Cases::find(&folder, include_str!("../conformance/exceptions.tsv"));
    if !cases.are_there() {
        eprintln!(
            "SKIPPED: no folder of cases at {}",
            cases.directory.display()
        );
        return;
    }
    let Some(mut driver) = lines() else {
        return;
    };
    let report = cases.run(&mut driver);
    let failed: Vec<String> = report
        .failed
        .iter()
        .map(|(note, reason)| format!("{note}: {reason}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(report.passed > 1000, "only {} passed", report.passed);
}

#[test]
fn recorded_programs_have_equal_results_in_c() {
    let Some(mut driver) = lines() else {
        return;
    };
    let folder = root().join("tests/cases/agreement");
    let comparison = recorded::compare(&folder, &mut driver).expect("there are recorded programs");
    assert!(comparison.differ.is_empty(), "{:#?}", comparison.differ);
    assert!(
        comparison.asked > 2000,
        "only {} were asked",
        comparison.asked
    );
}

#[test]
fn explanations_and_residuals_are_equal_in_c() {
    let Some(mut driver) = lines() else {
        return;
    };
    let policy = r#""modules": {"p.rego": "package p\nallow if { some x in data.xs; x == input.x; trace(\"t\") }\ndeny := 1 / input.n\nf(x) := x + 1\ng contains f(y) if some y in data.xs"}, "data": {"xs": [1, 2, 3]}, "input": {"x": 2, "n": 0}"#;
    for rest in [
        r#""query": "data.p.allow", "explain": "full""#,
        r#""query": "data.p.allow", "explain": "debug", "explain_json": true"#,
        r#""query": "data.p.allow", "explain": "notes""#,
        r#""query": "data.p.deny", "explain": "fails""#,
        r#""query": "data.p.deny", "explain": "full", "strict_builtin_errors": true"#,
        r#""query": "data.p.none", "explain": "notes""#,
        r#""query": "data.p.allow == true", "partial": true"#,
        r#""query": "data.p.allow == true", "partial": true, "unknowns": ["data.xs"]"#,
        r#""query": "data.p.g[x]; x > 2", "partial": true, "unknowns": ["data.xs"], "disable_inlining": ["data.p.g"]"#,
        r#""query": "data.p.g", "partial": true, "unknowns": ["data.xs"], "shallow_inlining": true, "partial_namespace": "left""#,
        r#""query": "data.p.g", "partial": true, "unknowns": ["nothing here"]"#,
        r#""query": "x := input", "input_term": "{1, {2: 3}}""#,
        r#""query": "x := input", "input_term": "{1""#,
        r#""query": "x := time.now_ns()", "now_ns": 77"#,
        r#""query": "x := data.p.xs", "strict": true"#,
        r#""query": """#,
    ] {
        let line = format!("{{{policy}, {rest}}}");
        assert_eq!(Native::Plans.answer(&line), driver.answer(&line), "{rest}");
    }
    assert_eq!(
        Native::Plans.answer("{").map(|_| ()),
        driver.answer("{").map(|_| ())
    );
}
