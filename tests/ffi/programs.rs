//! The programs in `c/` and `cpp/`, linked statically and dynamically.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::compiler::{Language, Linked, attempt, has, libraries, program, run};
use crate::root;

/// Compiles programs of a folder with each compiler, links and runs them. Reports all failures.
fn compile_and_run(language: Language, linked: Linked, are_wanted: impl Fn(&str) -> bool) {
    let mut failed = Vec::new();
    for compiler in language.compilers() {
        let sources = language.sources(language.extension()).into_iter();
        let named = |source: &Path| {
            let name = source.file_stem().unwrap_or_default();
            are_wanted(&name.to_string_lossy())
        };
        for source in sources.filter(|source| named(source)) {
            let made = program(language, compiler, &source, linked);
            let ran = made.and_then(|program| attempt(&mut Command::new(program)));
            failed.extend(ran.err());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn programs_run_with_the_static_library() {
    // linking is slow, and the functions do not depend on the linkage
    let wanted = ["document", "function", "threads", "value"];
    let are_wanted = |name: &str| wanted.contains(&name);
    compile_and_run(Language::C, Linked::Statically, are_wanted);
    let are_wanted = |name: &str| name == "function";
    compile_and_run(Language::Cpp, Linked::Statically, are_wanted);
}

#[test]
#[cfg(target_os = "linux")]
fn programs_run_with_the_installed_library() {
    compile_and_run(Language::C, Linked::Shared, |_| true);
    compile_and_run(Language::Cpp, Linked::Shared, |_| true);
}

#[test]
#[cfg(target_os = "linux")]
fn the_library_exports_what_the_header_declares() {
    if !has("nm") {
        return;
    }
    let symbols = run(Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(libraries().join("libsolon_ffi.so")));
    let exported: BTreeSet<&str> = symbols
        .lines()
        .filter_map(|line| line.split(' ').next())
        // a build of the workspace unifies features: the object stores of the control plane add these, a build of this crate alone
        // does not have them
        .filter(|name| !name.starts_with("crc_fast_"))
        .collect();
    let header = fs::read_to_string(root().join("include/solon.h")).expect("there is a header");
    let declared: BTreeSet<&str> = header
        .split(|c: char| c != '_' && c != '(' && !c.is_alphanumeric())
        .filter_map(|word| word.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("solon_"))
        .collect();
    assert_eq!(exported, declared);
}
