//! The programs on the pages are complete, and print the output that the pages show.

use std::fs;
use std::process::Command;

use crate::compiler::{Language, Linked, program, run, scratch};
use crate::root;

/// Returns the blocks of a language on a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).expect("the page is there");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1).map(|rest| {
        let (code, _) = rest.split_once("```").expect("blocks end");
        code.to_owned()
    });
    let blocks: Vec<_> = blocks.collect();
    assert!(!blocks.is_empty(), "{page} has no program");
    blocks
}

/// Runs a program and returns its output for each compiler.
fn outputs(page: &str, language: Language, at: usize, code: &str) -> Vec<String> {
    let folder = scratch(&format!("page-{page}-{at}"));
    let source = folder.join(format!("program.{}", language.extension()));
    fs::write(&source, code).expect("it is written");
    let compilers = language.compilers().into_iter();
    let printed = compilers.map(|compiler| {
        let made = program(language, compiler, &source, Linked::Shared);
        run(&mut Command::new(
            made.unwrap_or_else(|error| panic!("{error}")),
        ))
    });
    printed.collect()
}

/// Compares what the programs of a page print.
fn print(page: &str, language: Language, expected: &[&str]) {
    let blocks = blocks(page, language.extension());
    assert_eq!(blocks.len(), expected.len(), "programs of {page}");
    for (at, (code, expected)) in blocks.iter().zip(expected).enumerate() {
        for printed in outputs(page, language, at, code) {
            assert_eq!(printed, *expected, "program {at} of {page}");
        }
    }
}

/// Returns the explanation that `c.md` shows.
#[cfg(target_os = "linux")]
fn explanation() -> String {
    let page = fs::read_to_string(root().join("docs/c.md")).expect("the page is there");
    let (_, steps) = page
        .split_once("```text\nquery:1")
        .expect("it has an explanation");
    let (steps, _) = steps.split_once("```").expect("blocks end");
    format!("query:1{steps}")
}

#[test]
#[cfg(target_os = "linux")]
fn the_programs_in_c_run() {
    let steps = explanation();
    let expected = [
        "1\nfalse\n",
        "SELECT * FROM fruits WHERE fruits.price < $1 -- [11]\n",
        &steps,
        "true\n",
    ];
    print("c.md", Language::C, &expected);
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_of_the_quick_start_runs() {
    print("quick-start.md", Language::C, &["allowed\n"]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_in_cpp_runs() {
    let steps = explanation();
    let expected = [
        "1\n\"hello bob\"\nrego_unsafe_var_error in row 3\n",
        &steps,
        "SELECT * FROM fruits WHERE fruits.price < $1 -- [11]\n",
    ];
    print("cpp.md", Language::Cpp, &expected);
}
