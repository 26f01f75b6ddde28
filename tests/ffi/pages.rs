//! The programs on the pages are complete, and print the output that the pages show.

use std::fs;
use std::process::Command;

use crate::compiler::{Language, Linked, program, run, scratch};
use crate::root;

/// Returns the first block of a language on a page.
fn block(page: &str, language: &str) -> String {
    let text = fs::read_to_string(root().join("docs").join(page)).expect("the page is there");
    let (_, rest) = text
        .split_once(&format!("```{language}\n"))
        .expect("it has a program");
    let (code, _) = rest.split_once("```").expect("which ends");
    code.to_owned()
}

fn prints(page: &str, language: Language) -> Vec<String> {
    let folder = scratch(&format!("page-{page}"));
    let source = folder.join(format!("program.{}", language.extension()));
    fs::write(&source, block(page, language.extension())).expect("it is written");
    let compilers = language.compilers().into_iter();
    let printed = compilers.map(|compiler| {
        let made = program(language, compiler, &source, &folder, Linked::Shared);
        run(&mut Command::new(
            made.unwrap_or_else(|error| panic!("{error}")),
        ))
    });
    printed.collect()
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_in_c_runs() {
    for printed in prints("c.md", Language::C) {
        assert_eq!(printed, "1\nfalse\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_of_the_quick_start_runs() {
    for printed in prints("quick-start.md", Language::C) {
        assert_eq!(printed, "allowed\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_in_cpp_runs() {
    for printed in prints("cpp.md", Language::Cpp) {
        assert_eq!(
            printed,
            "1\n\"hello bob\"\nrego_unsafe_var_error in row 3\n"
        );
    }
}
